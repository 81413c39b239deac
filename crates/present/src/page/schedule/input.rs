//! What a visitor asks for: a schedule's method, sizes and task times.

use model::ground::choice::Method;
use model::ground::decimal;
use model::schedule::{ChunkTimes, Fault, Schedule, StageSeconds, Times};

use super::methods;
use crate::choices::choices;

/// Seconds that a task may take.
const SECONDS: (f64, f64) = (1e-9, 1e9);
/// Bounds of the slow stage's time, as a multiple of the others'.
const FACTORS: (f64, f64) = (1e-3, 1e3);

/// A schedule and its task times; the sizes may break its rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// The order of forwards and backwards.
    pub method: Method,
    /// Pipeline stages (PP).
    pub stages: u64,
    /// Chunks of layers on each stage (VPP); `None` takes the method's usual number.
    pub chunks: Option<u64>,
    /// Micro-batches of a step.
    pub micro_batches: u64,
    /// Micro-batches that a chunk runs in a row; `None` is one per stage.
    pub group: Option<u64>,
    /// Times of a whole stage for one micro-batch, in seconds.
    pub times: StageSeconds,
    /// A forward and a backward that run as one, in seconds; `None`: one after the other.
    pub pair: Option<f64>,
    /// From the end of a task to a task of another stage that needs it, in seconds.
    pub p2p: f64,
    /// The stage that takes longer than the others.
    pub slow_stage: Option<u64>,
    /// Its time as a multiple of the others'.
    pub slow_factor: f64,
}

/// The known example: eight stages, 32 micro-batches, all parts of equal length.
impl Default for Input {
    fn default() -> Self {
        Self {
            method: Method::OneForwardOneBackward,
            stages: 8,
            chunks: None,
            micro_batches: 32,
            group: None,
            times: ChunkTimes { forward: 1.0, input_grad: 1.0, weight_grad: 1.0 },
            pair: None,
            p2p: 0.0,
            slow_stage: None,
            slow_factor: 2.0,
        }
    }
}

choices! {
    /// A number of an [`Input`], in the order of form and address.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "each is the field of the same name")]
    pub enum Field {
        /// The name in the address.
        key: &'static str,
        /// The name that people read.
        label: &'static str;
        Stages = "stages", "Stages (p)";
        Chunks = "chunks", "Chunks per stage (v)";
        MicroBatches = "micro_batches", "Micro-batches (m)";
        Group = "group", "Micro-batch group";
        Forward = "forward", "Forward (F), s";
        BackwardInput = "backward_input", "Input gradient (dX), s";
        BackwardWeight = "backward_weight", "Weight gradient (dW), s";
        ForwardBackward = "forward_backward", "Pair (F and B as one), s";
        P2p = "p2p", "Send between stages, s";
        SlowStage = "slow_stage", "Slow stage";
        SlowFactor = "slow_factor", "It takes, times as long";
    }
}

/// Values that a field takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number; its bounds are the schedule's rules.
    Count,
    /// A whole number, or nothing.
    OptionalCount,
    /// A number between two bounds.
    Real {
        /// The least and the most.
        bounds: (f64, f64),
        /// Whether zero is taken, too.
        zero: bool,
        /// Whether nothing is taken, too.
        empty: bool,
    },
}

impl Field {
    /// Values that it takes.
    #[must_use]
    pub fn kind(self) -> Kind {
        let seconds = |zero, empty| Kind::Real { bounds: SECONDS, zero, empty };
        match self {
            Self::Stages | Self::MicroBatches => Kind::Count,
            Self::Chunks | Self::Group | Self::SlowStage => Kind::OptionalCount,
            Self::Forward | Self::BackwardInput => seconds(false, false),
            Self::ForwardBackward => seconds(false, true),
            Self::BackwardWeight | Self::P2p => seconds(true, false),
            Self::SlowFactor => Kind::Real { bounds: FACTORS, zero: false, empty: false },
        }
    }

    /// Reads a text; nothing where that is allowed.
    fn read(self, text: &str) -> Result<Number, String> {
        let text = text.trim();
        match self.kind() {
            Kind::OptionalCount if text.is_empty() => Ok(Number::Nothing),
            Kind::Count | Kind::OptionalCount => {
                let from = u64::from(self != Self::SlowStage);
                let refused = |_| format!("takes a whole number from {from} on, not {}", cut(text));
                text.parse().map(Number::Count).map_err(refused)
            }
            Kind::Real { empty: true, .. } if text.is_empty() => Ok(Number::Nothing),
            Kind::Real { bounds: (least, most), zero, .. } => {
                let number = decimal::parse(text)
                    .filter(|number| (least..=most).contains(number) || (zero && *number == 0.0));
                // Minus zero is zero.
                number.map(|number| Number::Real(number + 0.0)).ok_or_else(|| {
                    let or_zero = if zero { "0, or " } else { "" };
                    let unit = if self == Self::SlowFactor { "" } else { " seconds" };
                    format!("takes {or_zero}{least:e} to {most:e}{unit}, not {}", cut(text))
                })
            }
        }
    }

    /// Whether both texts have the same value.
    #[must_use]
    pub fn same(self, one: &str, other: &str) -> bool {
        one == other || matches!((self.read(one), self.read(other)), (Ok(a), Ok(b)) if a == b)
    }
}

/// Value of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Nothing,
    Count(u64),
    Real(f64),
}

/// The beginning of something that a person typed, as a sentence quotes it.
pub(super) fn cut(text: &str) -> String {
    const MAX_LEN: usize = 40;
    let more = if text.chars().nth(MAX_LEN).is_some() { "…" } else { "" };
    format!("`{}{more}`", text.chars().take(MAX_LEN).collect::<String>())
}

impl Input {
    /// A field as text; empty where nothing is set.
    #[must_use]
    pub fn get(&self, field: Field) -> String {
        let optional = |number: Option<u64>| number.map_or_else(String::new, |n| n.to_string());
        match field {
            Field::Stages => self.stages.to_string(),
            Field::Chunks => optional(self.chunks),
            Field::MicroBatches => self.micro_batches.to_string(),
            Field::Group => optional(self.group),
            Field::Forward => self.times.forward.to_string(),
            Field::BackwardInput => self.times.input_grad.to_string(),
            Field::BackwardWeight => self.times.weight_grad.to_string(),
            Field::ForwardBackward => self.pair.map_or_else(String::new, |pair| pair.to_string()),
            Field::P2p => self.p2p.to_string(),
            Field::SlowStage => optional(self.slow_stage),
            Field::SlowFactor => self.slow_factor.to_string(),
        }
    }

    /// Sets a field from text.
    ///
    /// # Errors
    ///
    /// What the field takes, when it isn't that.
    pub fn set(&mut self, field: Field, text: &str) -> Result<(), String> {
        let number = field.read(text)?;
        let count = if let Number::Count(count) = number { Some(count) } else { None };
        let real = if let Number::Real(real) = number { Some(real) } else { None };
        match field {
            Field::Stages => self.stages = count.unwrap_or(self.stages),
            Field::Chunks => self.chunks = count,
            Field::MicroBatches => self.micro_batches = count.unwrap_or(self.micro_batches),
            Field::Group => self.group = count,
            Field::Forward => self.times.forward = real.unwrap_or(self.times.forward),
            Field::BackwardInput => self.times.input_grad = real.unwrap_or(self.times.input_grad),
            Field::BackwardWeight => {
                self.times.weight_grad = real.unwrap_or(self.times.weight_grad);
            }
            Field::ForwardBackward => self.pair = real,
            Field::P2p => self.p2p = real.unwrap_or(self.p2p),
            Field::SlowStage => self.slow_stage = count,
            Field::SlowFactor => self.slow_factor = real.unwrap_or(self.slow_factor),
        }
        Ok(())
    }

    /// The field one step further up or down; nothing where it doesn't go further.
    #[must_use]
    pub fn stepped(&self, field: Field, up: bool) -> Option<String> {
        let text = self.get(field);
        if let Kind::Real { .. } = field.kind() {
            // One of the second digit that counts: 1 to 1.1, 0.3 to 0.31.
            let number = decimal::parse(&text).unwrap_or(if field == Field::ForwardBackward {
                self.pair_seconds()
            } else {
                0.0
            });
            let digits = if number > 0.0 { 1.0 - number.log10().floor() } else { 1.0 };
            let scale = 10.0_f64.powf(digits.max(0.0));
            let next = (number * scale).round() + if up { 1.0 } else { -1.0 };
            let next = (next / scale).to_string();
            return field.read(&next).is_ok().then_some(next);
        }
        let least = u64::from(field != Field::SlowStage);
        let number = match (text.parse::<u64>().ok(), field) {
            (Some(number), _) => number,
            (None, Field::Chunks) => self.chunks(),
            (None, Field::Group) => self.stages,
            (None, _) if up => return Some(least.to_string()),
            (None, _) => return None,
        };
        let next = if up { number.checked_add(1) } else { number.checked_sub(1) };
        next.filter(|next| *next >= least).map(|next| next.to_string())
    }

    /// Chunks of each stage: those requested, or the method's usual number.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.chunks.unwrap_or_else(|| methods::usual_chunks(self.method))
    }

    /// A forward and a backward that run as one, in seconds.
    #[must_use]
    pub fn pair_seconds(&self) -> f64 {
        self.pair.unwrap_or_else(|| self.times.forward + self.times.backward())
    }

    /// The stage that takes longer, or shorter, than the others.
    #[must_use]
    pub fn uneven_stage(&self) -> Option<u64> {
        self.slow_stage.filter(|_| (self.slow_factor - 1.0).abs() > f64::EPSILON)
    }

    /// Input under another method; chunks and groups stay where it has a use for them.
    #[must_use]
    pub fn with_method(&self, method: Method) -> Self {
        let takes_any = methods::takes_any_chunks(method);
        // With one chunk interleaved is 1F1B.
        let keeps = |chunks: &u64| takes_any && (method != Method::Interleaved || *chunks > 1);
        let chunks = self.chunks.filter(|chunks| keeps(chunks) || method == self.method);
        let input = Self { method, chunks, ..*self };
        let groups = takes_any && input.chunks() > 1;
        Self { group: input.group.filter(|_| groups || method == self.method), ..input }
    }

    /// The schedule, if the sizes keep its rules.
    ///
    /// # Errors
    ///
    /// Every rule that they break.
    pub fn schedule(&self) -> Result<Schedule, Vec<Fault>> {
        Schedule::new(self.method, self.stages, self.chunks(), self.micro_batches, self.group)
    }

    /// The task times of a schedule of these sizes.
    #[must_use]
    pub fn all_times(&self, schedule: &Schedule) -> Times {
        let mut times = Times::equal(schedule, self.times, self.pair, self.p2p);
        let Some(slow) = self.uneven_stage().and_then(|stage| usize::try_from(stage).ok()) else {
            return times;
        };
        let count = schedule.chunks_per_stage();
        for chunk in times.chunks.iter_mut().skip(slow.saturating_mul(count)).take(count) {
            *chunk = chunk.times(self.slow_factor);
        }
        if let [pair] = times.pairs[..] {
            let stages = 0..schedule.stages();
            let of = |stage| if stage == slow { pair * self.slow_factor } else { pair };
            times.pairs =
                stages.flat_map(|stage| std::iter::repeat_n(of(stage), count * count)).collect();
        }
        times
    }

    /// With the nearest value that a fault names in place of what is wrong.
    #[must_use]
    pub fn mended(&self, fault: &Fault) -> Option<Self> {
        let mut input = *self;
        match (fault.knob, fault.nearest) {
            (Fault::STAGES, Some(stages)) => input.stages = stages,
            (Fault::CHUNKS, Some(chunks)) => {
                let is_usual = chunks == methods::usual_chunks(self.method);
                input.chunks = (!is_usual).then_some(chunks);
            }
            (Fault::MICRO_BATCHES, Some(count)) => input.micro_batches = count,
            (Fault::GROUP, group) => input.group = group,
            _ => return None,
        }
        Some(input)
    }

    /// With every size that breaks a rule replaced by the nearest that keeps it.
    #[must_use]
    pub fn all_mended(&self) -> Option<Self> {
        // One size follows another a few times at most.
        const MAX_ROUNDS: usize = 6;
        let mut input = *self;
        for _ in 0..MAX_ROUNDS {
            let Err(faults) = input.schedule() else {
                input.slow_stage = input.slow_stage.map(|stage| stage.min(input.stages - 1));
                return Some(input);
            };
            for fault in &faults {
                input = input.mended(fault)?;
            }
        }
        None
    }
}
