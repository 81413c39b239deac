//! The arguments as a schedule and its times, or everything that is wrong with them.

use std::convert::Infallible;
use std::str::FromStr;

use model::design::file::Tree;
use model::ground::choice::{Choice, Method};
use model::ground::text::shorten;
use model::schedule::{ChunkTimes, Fault, Schedule, StageSeconds};
use present::format;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::refusal::{Origin, Refusal, Wrong};

/// Arguments of the verb. Times are those of a whole stage for one micro-batch; of V chunks each
/// takes 1/V.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "ScheduleInput")]
pub struct Input {
    /// The order of forwards and backwards: gpipe, 1f1b, interleaved, 1f1b_overlap, zb_h1, zb_2p,
    /// zb_v, v_half, v_min, dualpipe or dualpipev.
    #[arg(long, value_name = "METHOD", allow_hyphen_values = true)]
    #[schemars(extend("enum" = Method::NAMES))]
    method: String,
    /// Pipeline stages (PP).
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    #[schemars(with = "u64")]
    stages: Text,
    /// Chunks of layers on each stage (VPP) [default: those of the method, 2 for interleaved].
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    #[schemars(with = "Option<u64>")]
    chunks: Option<Text>,
    /// Micro-batches of a step.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    #[schemars(with = "u64")]
    microbatches: Text,
    /// Micro-batches that a chunk runs in a row, with interleaved chunks [default: P].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    #[schemars(with = "Option<u64>")]
    group: Option<Text>,
    /// Seconds of a forward.
    #[arg(long, value_name = "T", default_value = "1", allow_hyphen_values = true)]
    #[serde(default = "one")]
    #[schemars(with = "f64", extend("default" = 1))]
    forward: Text,
    /// Seconds of a backward's gradients of inputs.
    #[arg(long, value_name = "T", default_value = "1", allow_hyphen_values = true)]
    #[serde(default = "one")]
    #[schemars(with = "f64", extend("default" = 1))]
    backward_input: Text,
    /// Seconds of a backward's gradients of weights.
    #[arg(long, value_name = "T", default_value = "1", allow_hyphen_values = true)]
    #[serde(default = "one")]
    #[schemars(with = "f64", extend("default" = 1))]
    backward_weight: Text,
    /// Seconds of a forward and a backward that run as one [default: one after the other].
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    #[schemars(with = "Option<f64>")]
    forward_backward: Option<Text>,
    /// Seconds from the end of a task to a task of another stage that needs it.
    #[arg(long, value_name = "T", default_value = "0", allow_hyphen_values = true)]
    #[serde(default)]
    #[schemars(with = "f64", extend("default" = 0))]
    p2p: Text,
}

/// A number as it was written, so that everything that is wrong is said at once.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Tree")]
struct Text(String);

/// Zero.
impl Default for Text {
    fn default() -> Self {
        Self("0".to_owned())
    }
}

fn one() -> Text {
    Text("1".to_owned())
}

impl FromStr for Text {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<Tree> for Text {
    type Error = &'static str;

    fn try_from(tree: Tree) -> Result<Self, Self::Error> {
        match tree {
            Tree::Text(text) => Ok(Self(text)),
            Tree::Unsigned(number) => Ok(Self(number.to_string())),
            Tree::Negative(number) => Ok(Self(number.to_string())),
            Tree::Real(number) => Ok(Self(number.to_string())),
            Tree::Null | Tree::Flag(_) | Tree::List(_) | Tree::Map(_) => Err("not a number"),
        }
    }
}

/// Seconds that a task may take.
const MIN_SECONDS: f64 = 1e-9;
const MAX_SECONDS: f64 = 1e9;

/// Arguments, checked.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) schedule: Schedule,
    /// Times of a whole stage, for one micro-batch.
    pub(super) stage: StageSeconds,
    /// A forward and a backward that run as one; one after the other unless given.
    pub(super) given_pair: Option<f64>,
    pub(super) p2p: f64,
    /// Micro-batches that a chunk runs in a row, where that is given.
    pub(super) group: Option<u64>,
}

impl Input {
    /// The schedule and its times.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub(super) fn checked(&self) -> Result<Checked, Refusal> {
        let mut errors = Vec::new();
        let sizes = Sizes::read(self, &mut errors);
        let (group, schedule) = (sizes.group, sizes.schedule(&mut errors));
        let mut time = |name, text: &Text, zero| time(name, text, zero, &mut errors);
        let stage = ChunkTimes {
            forward: time("forward", &self.forward, Zero::Refused),
            input_grad: time("backward_input", &self.backward_input, Zero::Refused),
            weight_grad: time("backward_weight", &self.backward_weight, Zero::Allowed),
        };
        let pair = self.forward_backward.as_ref();
        let given_pair = pair.map(|text| time("forward_backward", text, Zero::Refused));
        let p2p = time("p2p", &self.p2p, Zero::Allowed);
        match schedule {
            Some(schedule) if errors.is_empty() => {
                Ok(Checked { schedule, stage, given_pair, p2p, group })
            }
            _ => Err(Refusal::of(errors)),
        }
    }
}

impl Checked {
    /// Seconds of a forward and a backward that run as one.
    pub(super) fn pair(&self) -> f64 {
        self.given_pair.unwrap_or(self.stage.forward + self.stage.backward())
    }
}

/// An error of an argument.
fn wrong(name: &str, detail: String, nearest: Vec<String>) -> Wrong {
    Wrong { nearest, origin: Origin::Option, ..Wrong::new("wrong_schedule", name, detail) }
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
    fn read(input: &Input, errors: &mut Vec<Wrong>) -> Self {
        let method = method(&input.method, errors);
        let mut count = |name, text: &Text| count(name, text, errors);
        Self {
            method,
            stages: count("stages", &input.stages),
            chunks: match &input.chunks {
                Some(text) => count("chunks", text),
                None => Some(method.map_or(1, default_chunks)),
            },
            micro_batches: count("microbatches", &input.microbatches),
            group: input.group.as_ref().and_then(|text| count("group", text)),
        }
    }

    /// The schedule; errors for the rules that the sizes break. What couldn't be read stands in as
    /// something that no rule minds.
    fn schedule(&self, errors: &mut Vec<Wrong>) -> Option<Schedule> {
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
            let detail = format!(
                "this schedule has {} tasks, and at most {} are simulated; take fewer stages, \
                 chunks or micro-batches",
                format::whole(tasks),
                format::whole(Schedule::MAX_TASKS),
            );
            errors.push(Wrong::new("too_many_tasks", "", detail));
            return None;
        }
        Some(schedule)
    }

    fn check(
        &self,
        method: Method,
        [stages, chunks, micro_batches]: [u64; 3],
        group: Option<u64>,
        errors: &mut Vec<Wrong>,
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
        errors.extend(faults.iter().filter(was_read).map(broken));
        None
    }
}

/// A broken rule of a schedule.
fn broken(fault: &Fault) -> Wrong {
    let name = match fault.knob {
        Fault::STAGES => "stages",
        Fault::CHUNKS => "chunks",
        Fault::MICRO_BATCHES => "microbatches",
        _ => "group",
    };
    let nearest = fault.nearest.iter().map(u64::to_string).collect();
    wrong(name, format!("`{name}`: {}", fault.message), nearest)
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

fn method(text: &str, errors: &mut Vec<Wrong>) -> Option<Method> {
    let method = Method::from_name(text);
    if method.is_none() {
        let mut near = Method::NAMES.to_vec();
        let distance = |name: &str| -strsim::jaro_winkler(name, text);
        near.sort_by(|left, right| distance(left).total_cmp(&distance(right)));
        let near = near.into_iter().take(3).map(str::to_owned).collect();
        errors.push(wrong("method", format!("`method`: there is no `{}`", shorten(text)), near));
    }
    method
}

fn count(name: &str, Text(text): &Text, errors: &mut Vec<Wrong>) -> Option<u64> {
    let count = text.trim().parse().ok();
    if count.is_none() {
        let text = shorten(text);
        let detail = format!("`{name}` takes a whole number from 1 on, not `{text}`");
        errors.push(wrong(name, detail, vec![]));
    }
    count
}

/// Whether a time may be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zero {
    Allowed,
    Refused,
}

fn time(name: &str, Text(text): &Text, zero: Zero, errors: &mut Vec<Wrong>) -> f64 {
    let seconds = text.trim().parse::<f64>().ok();
    let in_bounds = |seconds: &f64| {
        (MIN_SECONDS..=MAX_SECONDS).contains(seconds) || (zero == Zero::Allowed && *seconds == 0.0)
    };
    seconds.filter(in_bounds).unwrap_or_else(|| {
        let or_zero = if zero == Zero::Allowed { "0, or " } else { "" };
        let text = shorten(text);
        let detail = format!("`{name}` takes {or_zero}1e-9 to 1e9 seconds, not `{text}`");
        errors.push(wrong(name, detail, vec![]));
        1.0
    })
}
