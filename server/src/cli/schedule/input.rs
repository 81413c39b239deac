//! The arguments as a schedule and its times, or everything that is wrong with them.

use model::ground::choice::{Choice, Method};
use model::ground::text::shorten;
use model::schedule::{ChunkTimes, Fault, Schedule, StageSeconds};
use present::format;

/// Which schedule, and what its tasks take.
///
/// Times are those of a whole stage for one micro-batch; of V chunks each takes 1/V.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The order of forwards and backwards: gpipe, 1f1b, interleaved, 1f1b_overlap, zb_h1, zb_2p,
    /// zb_v, v_half, v_min, dualpipe or dualpipev
    #[arg(long, value_name = "METHOD", allow_hyphen_values = true)]
    pub(super) method: String,
    /// Pipeline stages (PP)
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub(super) stages: String,
    /// Chunks of layers on each stage (VPP) [default: those of the method, 2 for interleaved]
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub(super) chunks: Option<String>,
    /// Micro-batches of a step
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) microbatches: String,
    /// Micro-batches that a chunk runs in a row, with interleaved chunks [default: P]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) group: Option<String>,
    /// Seconds of a forward
    #[arg(long, value_name = "T", default_value = "1", allow_hyphen_values = true)]
    pub(super) forward: String,
    /// Seconds of a backward's gradients of inputs
    #[arg(long, value_name = "T", default_value = "1", allow_hyphen_values = true)]
    pub(super) backward_input: String,
    /// Seconds of a backward's gradients of weights
    #[arg(long, value_name = "T", default_value = "1", allow_hyphen_values = true)]
    pub(super) backward_weight: String,
    /// Seconds of a forward and a backward that run as one [default: one after the other]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(super) forward_backward: Option<String>,
    /// Seconds from the end of a task to a task of another stage that needs it
    #[arg(long, value_name = "T", default_value = "0", allow_hyphen_values = true)]
    pub(super) p2p: String,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Seconds that a task may take.
const MIN_SECONDS: f64 = 1e-9;
const MAX_SECONDS: f64 = 1e9;

/// Arguments of the command, checked.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) schedule: Schedule,
    /// Times of a whole stage, for one micro-batch.
    pub(super) stage: StageSeconds,
    /// A forward and a backward that run as one.
    pub(super) pair: f64,
    pub(super) p2p: f64,
}

impl Input {
    /// Reads the arguments; a line for each thing that is wrong.
    pub(super) fn read(arguments: &Arguments) -> Result<Self, Vec<String>> {
        let mut errors = Vec::new();
        let schedule = Sizes::read(arguments, &mut errors).schedule(&mut errors);
        let mut time = |flag, text: &str, zero| time(flag, text, zero, &mut errors);
        let stage = ChunkTimes {
            forward: time("--forward", &arguments.forward, Zero::Refused),
            input_grad: time("--backward-input", &arguments.backward_input, Zero::Refused),
            weight_grad: time("--backward-weight", &arguments.backward_weight, Zero::Allowed),
        };
        let pair = match &arguments.forward_backward {
            Some(text) => time("--forward-backward", text, Zero::Refused),
            None => stage.forward + stage.backward(),
        };
        let p2p = time("--p2p", &arguments.p2p, Zero::Allowed);
        match schedule {
            Some(schedule) if errors.is_empty() => Ok(Self { schedule, stage, pair, p2p }),
            _ => Err(errors),
        }
    }
}

/// The sizes as far as they could be read.
struct Sizes {
    method: Option<Method>,
    stages: Option<u64>,
    chunks: Option<u64>,
    micro_batches: Option<u64>,
    group: Option<u64>,
}

impl Sizes {
    fn read(arguments: &Arguments, errors: &mut Vec<String>) -> Self {
        let method = method(&arguments.method, errors);
        let mut count = |flag, text: &str| count(flag, text, errors);
        Self {
            method,
            stages: count("--stages", &arguments.stages),
            chunks: match &arguments.chunks {
                Some(text) => count("--chunks", text),
                None => Some(method.map_or(1, default_chunks)),
            },
            micro_batches: count("--microbatches", &arguments.microbatches),
            group: arguments.group.as_ref().and_then(|text| count("--group", text)),
        }
    }

    /// The schedule; errors for the rules that the sizes break. What couldn't be read stands in as
    /// something that no rule minds.
    fn schedule(&self, errors: &mut Vec<String>) -> Option<Schedule> {
        let stages = self.stages.unwrap_or(1);
        let micro_batches = self.micro_batches.unwrap_or_else(|| stages.saturating_mul(2));
        let Some(method) = self.method else {
            // Without a method only the bounds are known.
            let _ = self.check(Method::Interleaved, [stages, 1, micro_batches], None, errors);
            let chunks = self.chunks.unwrap_or(1);
            let _ = self.check(Method::Interleaved, [1, chunks, 1], None, errors);
            return None;
        };
        let chunks = self.chunks.unwrap_or_else(|| default_chunks(method));
        let sizes = [stages, chunks, micro_batches];
        let schedule = self.check(method, sizes, self.group, errors)?;
        let tasks = schedule.num_tasks();
        if tasks > Schedule::MAX_TASKS {
            errors.push(format!(
                "this schedule has {} tasks, and at most {} are simulated; take fewer stages, \
                 chunks or micro-batches",
                format::whole(tasks),
                format::whole(Schedule::MAX_TASKS),
            ));
            return None;
        }
        Some(schedule)
    }

    fn check(
        &self,
        method: Method,
        [stages, chunks, micro_batches]: [u64; 3],
        group: Option<u64>,
        errors: &mut Vec<String>,
    ) -> Option<Schedule> {
        let faults = match Schedule::new(method, stages, chunks, micro_batches, group) {
            Ok(schedule) => return Some(schedule),
            Err(faults) => faults,
        };
        let was_read = |fault: &&Fault| match fault.knob {
            Fault::STAGES => self.stages.is_some(),
            Fault::CHUNKS => self.chunks.is_some(),
            Fault::MICRO_BATCHES => self.micro_batches.is_some(),
            _ => true,
        };
        errors.extend(faults.iter().filter(was_read).map(line));
        None
    }
}

/// A broken rule as a line.
fn line(fault: &Fault) -> String {
    let flag = match fault.knob {
        Fault::STAGES => "--stages",
        Fault::CHUNKS => "--chunks",
        Fault::MICRO_BATCHES => "--microbatches",
        _ => "--group",
    };
    match fault.nearest {
        Some(nearest) => format!("{flag}: {}; nearest: {flag} {nearest}", fault.message),
        None => format!("{flag}: {}", fault.message),
    }
}

/// Chunks per stage where nothing else is asked for.
const fn default_chunks(method: Method) -> u64 {
    match method {
        Method::Gpipe
        | Method::OneForwardOneBackward
        | Method::OneForwardOneBackwardOverlap
        | Method::ZbH1
        | Method::Zb2p
        | Method::DualPipe => 1,
        Method::Interleaved | Method::ZbV | Method::VHalf | Method::VMin | Method::DualPipeV => 2,
    }
}

fn method(text: &str, errors: &mut Vec<String>) -> Option<Method> {
    let method = Method::from_name(text);
    if method.is_none() {
        let mut near = Method::NAMES.to_vec();
        let distance = |name: &str| -strsim::jaro_winkler(name, text);
        near.sort_by(|left, right| distance(left).total_cmp(&distance(right)));
        let near = near.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        errors.push(format!("--method: there is no `{}`; nearest: {near}", shorten(text)));
    }
    method
}

fn count(flag: &str, text: &str, errors: &mut Vec<String>) -> Option<u64> {
    let count = text.trim().parse().ok();
    if count.is_none() {
        let text = shorten(text);
        errors.push(format!("{flag} takes a whole number from 1 on, not `{text}`"));
    }
    count
}

/// Whether a time may be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zero {
    Allowed,
    Refused,
}

fn time(flag: &str, text: &str, zero: Zero, errors: &mut Vec<String>) -> f64 {
    let seconds = text.trim().parse::<f64>().ok();
    let in_bounds = |seconds: &f64| {
        (MIN_SECONDS..=MAX_SECONDS).contains(seconds) || (zero == Zero::Allowed && *seconds == 0.0)
    };
    seconds.filter(in_bounds).unwrap_or_else(|| {
        let or_zero = if zero == Zero::Allowed { "0, or " } else { "" };
        let text = shorten(text);
        errors.push(format!("{flag} takes {or_zero}1e-9 to 1e9 seconds, not `{text}`"));
        1.0
    })
}
