//! `sweep`: every design of a space.

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use model::ground::knob::KnobError;
use reports::found::RuledOutBy;
use reports::typed::{KnobValue, Named, Real};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sweep::{
    BestByObjective, Goal, Kept, Overview, Progress, Rounds, Space, Spec, evaluate_with, overview,
    published, run,
};

use operations::{self as said, Number, Refusal, Data};
use crate::mcp::tool::{Answer, MAX_SECONDS, Tool};
use operations::Caller;

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
    knobs: Data<Named<KnobValue>>,
    /// Whether its pipeline was simulated, or taken by its closed form.
    timing: &'static str,
    numbers: Vec<Number>,
}

#[derive(Serialize, JsonSchema)]
struct Objective {
    metric: &'static str,
    /// max or min.
    goal: Data<Goal>,
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
    ruled_out: Data<Vec<RuledOutBy>>,
    objectives: Vec<Objective>,
    /// The Pareto front, 20 designs at most.
    front: Vec<Design>,
    front_size: usize,
    /// Numbers of a sweep have no ranges: `predict` the best ones, and `compare` them.
    advice: &'static str,
    limits: Limits,
    model_version: &'static str,
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

    fn run(input: Input, call: &dyn Caller) -> Answer<Output> {
        let space = space(&input)?;
        let most = if space.spec().find.is_some() { MAX_SEARCHES } else { MAX_PLACES };
        if space.num_points() > most {
            let detail = format!(
                "{} designs are more than the {most} that a call takes; ask for a sample, \
                 \"sampling\": {{\"method\": \"random\", \"count\": {most}, \"seed\": 1}}, or use \
                 `moescape sweep`",
                space.num_points()
            );
            return Err(Refusal::new("too_many_designs", "spec", detail));
        }
        let progress = evaluated(&space, call);
        if call.is_cancelled() {
            return Err(call.ended(""));
        }
        let is_whole = progress.num_points() == space.num_points();
        let closing = is_whole.then(|| sweep::final_simulation(&space, &progress));
        let output = Output::new(overview(&space, &progress, closing.as_ref()), call);
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

/// Progress of a sweep, evaluated until the call has to end.
fn evaluated(space: &Space, call: &dyn Caller) -> Progress {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let (mut progress, mut rounds) = (Progress::new(space), Rounds::new(space));
    let places = 0..space.num_points();
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
                if !call.waits() {
                    stop.store(true, Ordering::Relaxed);
                }
            });
            summary.map(|summary| Progress::with_part(space, chunk, summary))
        };
        run(round.clone(), size, threads, &stop, work, |_, part| {
            if progress.join(space, part).is_err() {
                return ControlFlow::Break(());
            }
            let share = progress.num_points() as f64 / places.end as f64;
            call.hear(share, &|| format!("{} designs", progress.num_points()));
            call.flow()
        });
        let is_cut = !progress.has(&round);
        if is_cut || !rounds.advance(space, &mut progress) {
            break;
        }
    }
    progress
}

impl Output {
    fn new(found: Overview, call: &dyn Caller) -> Self {
        let design = |one: Kept| Design {
            link: call.design(&one.link),
            knobs: Data(one.knobs),
            timing: one.timing,
            numbers: said::numbers(one.metrics, Named::<Real>::none(), &[]),
        };
        let objective = |one: BestByObjective| Objective {
            metric: one.metric,
            goal: Data(one.goal),
            best: one.best.into_iter().map(design).collect(),
        };
        let objectives: Vec<Objective> = found.objectives.into_iter().map(objective).collect();
        let best = objectives.first().and_then(|objective| objective.best.first());
        Self {
            link: best.map(|best| best.link.clone()),
            name: found.name,
            complete: found.complete,
            designs: found.designs,
            asked: found.asked,
            done: found.done,
            legal: found.legal,
            feasible: found.feasible,
            ruled_out: Data(found.ruled_out),
            front_size: found.front.len(),
            front: found.front.into_iter().take(MAX_FRONT).map(design).collect(),
            objectives,
            advice: "numbers of a sweep have no ranges: predict the best designs for them, and \
                     compare two for how sure their order is",
            limits: Limits { seconds: MAX_SECONDS, designs: MAX_PLACES },
            model_version: found.model_version,
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
            let numbers: Vec<String> =
                best.numbers.iter().map(|it| format!("{} {}", it.label, it.text)).collect();
            text += &format!(
                "Best by {} {}: {}\n{}\n{}\n",
                objective.metric,
                objective.goal.0.name(),
                said::settings(&best.knobs.0),
                numbers.join(", "),
                best.link
            );
        }
        let ruled = self.ruled_out.0.iter().take(5);
        let ruled: Vec<String> = ruled.map(|it| format!("{}: {}", it.designs, it.reason)).collect();
        text + &said::titled("Ruled out", &ruled) + self.advice + "\n"
    }
}
