//! `sweep`: every design of a space.

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use model::knob::KnobError;
use reports::typed::Said;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sweep::{Progress, Rounds, Space, Spec, evaluate_with, overview, published, run};

use super::find::RuledOut;
use crate::mcp::said::{self, Number, Refusal};
use crate::mcp::tool::{Answer, Call, MAX_SECONDS, Tool};

/// Designs of one sweep, at most.
const MAX_PLACES: u64 = 1_000_000;

/// Designs of one that searches a layout for each, at most.
const MAX_SEARCHES: u64 = 16;

/// Designs of the front that are answered, at most.
const MAX_FRONT: usize = 20;

pub(in crate::mcp) struct Sweep;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    /// The space: `{"schema": 1, "name": "...", "design": {"preset": "..."}, "space": {"parallel":
    /// {"tensor_model_parallel_size": [1, 2, 4, 8]}}, "objectives": ["mfu max"], "constraints":
    /// ["fits"]}`; of a large one a sample by `"sampling": {"method": "random", "count": 100000,
    /// "seed": 1}`. See `moescape://guide/sweeps`.
    spec: Option<Map<String, Value>>,
    /// In place of `spec` one that comes with the program: pangu-strategy, pangu-architecture,
    /// pangu-pro-800i-a2, pangu-pro-300i-duo.
    name: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Design {
    link: String,
    knobs: Map<String, Value>,
    /// Whether its pipeline was simulated, or taken by its closed form.
    timing: String,
    numbers: Vec<Number>,
}

#[derive(Serialize, JsonSchema)]
struct Objective {
    metric: String,
    /// max or min.
    goal: String,
    best: Vec<Design>,
}

#[derive(Serialize, JsonSchema)]
struct Limits {
    seconds: u64,
    designs: u64,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    /// The best design by the first objective.
    link: Option<String>,
    name: String,
    /// Whether all that was asked is done; if not, the time was over, and others may be better.
    complete: bool,
    /// Designs of the space, asked for, and done.
    designs: u64,
    asked: u64,
    done: u64,
    legal: u64,
    feasible: u64,
    ruled_out: Vec<RuledOut>,
    objectives: Vec<Objective>,
    /// The Pareto front, 20 designs at most.
    front: Vec<Design>,
    front_size: usize,
    /// Numbers of a sweep have no ranges: `predict` the best ones, and `compare` them.
    advice: String,
    limits: Limits,
    model_version: String,
}

#[derive(Deserialize)]
struct Report {
    name: String,
    model_version: String,
    complete: bool,
    designs: u64,
    asked: u64,
    done: u64,
    legal: u64,
    feasible: u64,
    ruled_out: Vec<RuledOut>,
    objectives: Vec<ReportObjective>,
    front: Vec<ReportDesign>,
}

#[derive(Deserialize)]
struct ReportObjective {
    metric: String,
    goal: String,
    best: Vec<ReportDesign>,
}

#[derive(Deserialize)]
struct ReportDesign {
    knobs: Map<String, Value>,
    timing: String,
    metrics: Value,
    link: String,
}

impl Tool for Sweep {
    const NAME: &'static str = "sweep";
    const TITLE: &'static str = "Sweep a space of designs";
    const DESCRIPTION: &'static str = "Evaluates every design of a space: the best by each \
        objective, the Pareto front, and what rules out the rest. At most 1,000,000 designs and \
        25 s: a sweep that takes longer is answered as far as it came, with `complete` false. \
        Cancellable; tells its progress.";
    const IS_SEARCH: bool = true;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &Call) -> Answer<Output> {
        let space = space(&input)?;
        let most = if space.spec().find.is_some() { MAX_SEARCHES } else { MAX_PLACES };
        if space.places() > most {
            let detail = format!(
                "{} designs are more than the {most} that a call takes; ask for a sample, \
                 \"sampling\": {{\"method\": \"random\", \"count\": {most}, \"seed\": 1}}, or use \
                 `moescape sweep`",
                space.places()
            );
            return Err(Refusal::new("too_many_designs", "spec", detail));
        }
        let progress = evaluated(&space, call);
        if call.stop.load(Ordering::Relaxed) {
            return Err(call.ended(""));
        }
        let is_whole = progress.places() == space.places();
        let closing = is_whole.then(|| sweep::close(&space, &progress));
        let report: Report = said::typed(&overview(&space, &progress, closing.as_ref()).said())?;
        let output = Output::new(report, call);
        let text = output.text();
        Ok((output, text))
    }
}

fn space(input: &Input) -> Result<Space, Refusal> {
    let spec = match (&input.spec, &input.name) {
        (Some(spec), None) => Spec::from_json(&serde_json::to_string(spec).unwrap_or_default()),
        (None, Some(name)) => {
            let known = published().iter().find(|spec| spec.name == name);
            let known = known.ok_or_else(|| {
                let names: Vec<&str> = published().iter().map(|spec| spec.name).collect();
                let detail = format!("there is no such sweep; there are {}", names.join(", "));
                Refusal::new("unknown_name", "name", detail)
            })?;
            Spec::from_toml(known.text)
        }
        _ => {
            let detail = "give a `spec` or the `name` of one that comes with the program";
            return Err(Refusal::new("missing_spec", "spec", detail));
        }
    };
    let space = spec.and_then(|spec| Space::new(spec).map_err(|error: KnobError| vec![error]));
    space.map_err(Refusal::from)
}

/// What can be done of a sweep until the call has to end.
fn evaluated(space: &Space, call: &Call) -> Progress {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let (mut progress, mut rounds) = (Progress::new(space), Rounds::new(space));
    let places = 0..space.places();
    while let Some(open) = progress.first_open(&places) {
        let round = open..places.end.min(rounds.known());
        // Short chunks, so that an end is soon heard of.
        let size = match space.spec().find {
            Some(_) => 1,
            None => ((round.end - round.start) / (8 * threads.get() as u64)).clamp(16, 2_048),
        };
        let stop = AtomicBool::new(false);
        let work = |chunk: Range<u64>| {
            let batch = rounds.batch(chunk.clone())?;
            let summary = evaluate_with(space, batch, &stop, |_| {
                if call.beat().is_break() {
                    stop.store(true, Ordering::Relaxed);
                }
            });
            summary.map(|summary| Progress::with_part(space, chunk, summary))
        };
        run(round.clone(), size, threads, &stop, work, |_, part| {
            if progress.join(space, part).is_err() {
                return ControlFlow::Break(());
            }
            let share = progress.places() as f64 / places.end as f64;
            (call.hear)(share, format!("{} designs", progress.places()));
            call.beat()
        });
        let is_cut = !progress.has(&round);
        if is_cut || !rounds.advance(space, &mut progress) {
            break;
        }
    }
    progress
}

impl Output {
    fn new(report: Report, call: &Call) -> Self {
        let design = |one: ReportDesign| Design {
            link: call.design(&one.link),
            knobs: one.knobs,
            timing: one.timing,
            numbers: said::numbers(&one.metrics, &Value::Null, &[]),
        };
        let objective = |one: ReportObjective| Objective {
            metric: one.metric,
            goal: one.goal,
            best: one.best.into_iter().map(design).collect(),
        };
        let objectives: Vec<Objective> = report.objectives.into_iter().map(objective).collect();
        let best = objectives.first().and_then(|objective| objective.best.first());
        Self {
            link: best.map(|best| best.link.clone()),
            name: report.name,
            complete: report.complete,
            designs: report.designs,
            asked: report.asked,
            done: report.done,
            legal: report.legal,
            feasible: report.feasible,
            ruled_out: report.ruled_out,
            front_size: report.front.len(),
            front: report.front.into_iter().take(MAX_FRONT).map(design).collect(),
            objectives,
            advice: "numbers of a sweep have no ranges: predict the best designs for them, and \
                     compare two for how sure their order is"
                .to_owned(),
            limits: Limits { seconds: MAX_SECONDS, designs: MAX_PLACES },
            model_version: report.model_version,
        }
    }

    fn text(&self) -> String {
        let whole = if self.complete { "" } else { ", cut off by the time limit" };
        let mut text = format!(
            "{}: {} of {} designs done{whole}; {} legal, {} feasible\n",
            self.name, self.done, self.asked, self.legal, self.feasible
        );
        for objective in &self.objectives {
            let Some(best) = objective.best.first() else { continue };
            let knobs: Vec<String> = best
                .knobs
                .iter()
                .map(|(knob, value)| format!("{knob}={}", said::spelled(value)))
                .collect();
            let numbers: Vec<String> =
                best.numbers.iter().map(|it| format!("{} {}", it.label, it.text)).collect();
            text += &format!(
                "Best by {} {}: {}\n{}\n{}\n",
                objective.metric,
                objective.goal,
                knobs.join(", "),
                numbers.join(", "),
                best.link
            );
        }
        let ruled = self.ruled_out.iter().take(5);
        let ruled: Vec<String> = ruled.map(|it| format!("{}: {}", it.designs, it.reason)).collect();
        text + &said::said("Ruled out", &ruled) + &self.advice + "\n"
    }
}
