//! `sweep`: every design of a space.
//!
//! A call waits for the whole answer. What takes longer than that has a runner of its own: the
//! command line with files and checkpoints, and a server with jobs.

mod space;

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use reports::found::RuledOutBy;
use reports::typed::{KnobValue, Named, Real, Written};
use schemars::JsonSchema;
use serde::Serialize;
use sweep::{
    BestByObjective, Goal, Kept, Overview, Progress, Rounds, Space, evaluate_with, overview, run,
};

pub use space::Input;

use crate::caller::Caller;
use crate::numbers::{Data, Number, numbers, settings, titled};
use crate::operation::Operation;
use crate::refusal::Refusal;

/// Maximum number of designs of one sweep.
const MAX_PLACES: u64 = 1_000_000;

/// Maximum number of designs of a sweep that searches a layout for each.
const MAX_SEARCHES: u64 = 16;

/// Maximum number of designs of the front that an agent is told of.
const MAX_FRONT: usize = 20;

/// The verb.
pub struct Sweep;

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
    /// Null where nothing ends a call.
    seconds: Option<u64>,
    designs: u64,
}

/// Sweep as far as it came.
pub struct Answer {
    found: Overview,
}

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
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

impl Operation for Sweep {
    const NAME: &'static str = "sweep";
    const SUMMARY: &'static str =
        "Evaluate every design of a space: the best, the Pareto front, what rules out the rest";
    const TITLE: &'static str = "Sweep a space of designs";
    const DESCRIPTION: &'static str = "Evaluates every design of a space: the best by each \
        objective, the Pareto front, and what rules out the rest. At most 1,000,000 designs and \
        25 s: a sweep that takes longer is answered as far as it came, with `complete` false. \
        Cancellable; tells its progress.";
    const IS_SEARCH: bool = true;
    const HAS_COMMAND: bool = false;
    const HAS_ROUTE: bool = false;
    type Input = Input;
    type Answer = Answer;
    type Output = Overview;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let space = input.space(caller)?;
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
        let progress = evaluated(&space, caller);
        if caller.is_cancelled() {
            return Err(caller.ended(""));
        }
        let is_whole = progress.num_points() == space.num_points();
        let closing = is_whole.then(|| sweep::final_simulation(&space, &progress));
        Ok(Answer { found: overview(&space, &progress, closing.as_ref()) })
    }

    fn output(answer: &Answer) -> Written<Overview> {
        Written::of(answer.found.clone())
    }

    fn text(answer: &Answer) -> String {
        Brief::new(answer.found.clone(), None, &|query| format!("/?{query}")).text()
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let link = |query: &str| caller.design(query);
        let seconds = Some(caller.limits().seconds).filter(|seconds| *seconds != u64::MAX);
        let brief = Brief::new(answer.found.clone(), seconds, &link);
        let text = brief.text();
        (brief, text)
    }
}

/// Progress of a sweep, evaluated until the call has to end.
fn evaluated(space: &Space, caller: &dyn Caller) -> Progress {
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
                if !caller.waits() {
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
            caller.hear(share, &|| format!("{} designs", progress.num_points()));
            caller.flow()
        });
        let is_cut = !progress.has(&round);
        if is_cut || !rounds.advance(space, &mut progress) {
            break;
        }
    }
    progress
}

impl Brief {
    fn new(found: Overview, seconds: Option<u64>, link: &dyn Fn(&str) -> String) -> Self {
        let design = |one: Kept| Design {
            link: link(&one.link),
            knobs: Data(one.knobs),
            timing: one.timing,
            numbers: numbers(one.metrics, Named::<Real>::none(), &[]),
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
            limits: Limits { seconds, designs: MAX_PLACES },
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
            let named: Vec<String> =
                best.numbers.iter().map(|it| format!("{} {}", it.label, it.text)).collect();
            text += &format!(
                "Best by {} {}: {}\n{}\n{}\n",
                objective.metric,
                objective.goal.0.name(),
                settings(&best.knobs.0),
                named.join(", "),
                best.link
            );
        }
        let ruled = self.ruled_out.0.iter().take(5);
        let ruled: Vec<String> = ruled.map(|it| format!("{}: {}", it.designs, it.reason)).collect();
        text + &titled("Ruled out", &ruled) + self.advice + "\n"
    }
}
