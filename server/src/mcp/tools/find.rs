//! `find`: which design should run?

use std::ops::ControlFlow;

use reports::found::{Missed, Recommended, RuledOutBy, Size, Terms};
use reports::typed::{Flat, KnobValue, Named, Real};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::predict::HEADLINE;
use crate::answers::find::{FoundAnswer, found};
use operations::Names;
use operations::DesignInput;
use operations::{self as said, Number, Data};
use crate::mcp::tool::{Answer, MAX_SECONDS, Tool};
use operations::{Caller, Refusal};

/// Estimates of one search, at most.
const MAX_ESTIMATES: u64 = 20_000_000;

pub(in crate::mcp) struct Find;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    #[serde(flatten)]
    of: DesignInput,
    /// What the first design is best at: fastest, safest or simplest; fastest unless said.
    goal: Option<String>,
    /// What is asked: layout, `fewest_devices`, `largest_batch` or `longest_sequence`; layout
    /// unless said.
    question: Option<String>,
    /// What every design must reach: `mfu>=0.4`, `step_time_seconds<=20`, `spare>=0.1`,
    /// `num_devices<=512`, `days_to_train<=90`.
    #[serde(default)]
    targets: Vec<String>,
    /// Knobs that stay as they are.
    #[serde(default)]
    keep: Vec<String>,
    /// Propose also what the design's framework can't be told.
    #[serde(default)]
    any_schedule: bool,
    /// Find layouts and loads that serve the model, not strategies that train it: targets such as
    /// `tpot_seconds<=0.05`; tp, ep and other short names mean knobs of section `serving`.
    #[serde(default)]
    serve: bool,
}

/// A design that was found.
#[derive(Serialize, JsonSchema)]
struct Design {
    /// fastest, safest or simplest; null for others.
    label: Option<&'static str>,
    link: String,
    /// The knobs in which it differs from the design that was given.
    knobs: Data<Named<KnobValue>>,
    numbers: Vec<Number>,
    why: Vec<String>,
    /// What holds it back.
    binds: String,
    /// Share of the memory to spare.
    margin: f64,
    /// How far it is behind the fastest, as a share.
    behind: f64,
}

/// The nearest design that misses, where none reaches all.
#[derive(Serialize, JsonSchema)]
struct Miss {
    link: String,
    knobs: Data<Named<KnobValue>>,
    numbers: Vec<Number>,
    /// What it misses, and by how much.
    misses: Vec<String>,
    fewest_devices: Option<u64>,
}

/// What a search may take.
#[derive(Serialize, JsonSchema)]
struct Limits {
    seconds: u64,
    estimates: u64,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    designs: Vec<Design>,
    miss: Option<Miss>,
    /// The size that was asked for: knob and value.
    size: Data<Option<Size>>,
    /// What it would take for more.
    for_more: Vec<String>,
    ruled_out: Data<Vec<RuledOutBy>>,
    /// Estimates by closed forms, and simulated.
    evaluated: u64,
    simulated: u64,
    seconds: f64,
    limits: Limits,
    model_version: &'static str,
}

impl Tool for Find {
    const NAME: &'static str = "find";
    const TITLE: &'static str = "Find a layout";
    const DESCRIPTION: &'static str = "Finds which layout should run for a model, a machine and a \
        batch: the fastest, the safest and the simplest design that fits, each with its reason, or \
        the nearest miss. Also the fewest devices, the largest batch, the longest sequence. With \
        `serve` the layout and load that serve it. Takes \
        seconds; at most 25 s and 20 million estimates, after which it is refused with advice. \
        Cancellable; tells its progress.";
    const IS_SEARCH: bool = true;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &dyn Caller) -> Answer<Output> {
        let names = if input.serve { Names::Serving } else { Names::Training };
        let (design, _) = input.of.read(names, call)?;
        let terms = Terms {
            serve: input.serve,
            goal: input.goal,
            question: input.question,
            targets: input.targets,
            keep: input.keep,
            any_schedule: input.any_schedule,
        };
        let query = terms.query(design)?;
        let found = found(&query, |progress| {
            call.hear(progress.share, &|| format!("{} estimates", progress.evaluated));
            let is_enough = progress.evaluated > MAX_ESTIMATES;
            if is_enough { ControlFlow::Break(()) } else { call.flow() }
        });
        let found = found.map_err(|rules| Refusal::broken(&rules))?;
        let advice = "name more knobs in `keep`, or ask for a smaller cluster";
        let found = found.ok_or_else(|| call.ended(advice))?;
        let output = Output::new(found, if input.serve { &[] } else { &HEADLINE }, call);
        let text = output.text();
        Ok((output, text))
    }
}

impl Output {
    fn new(answer: FoundAnswer, headline: &[&str], call: &dyn Caller) -> Self {
        let FoundAnswer { found: Flat(found), seconds: Real(seconds) } = answer;
        let design = |found: Recommended| Design {
            label: found.label,
            link: call.link(&found.link),
            knobs: Data(found.knobs),
            numbers: said::numbers(found.metrics, found.ranges, headline),
            why: found.why,
            binds: found.binds,
            margin: found.margin,
            behind: found.behind,
        };
        let miss = |miss: Missed| Miss {
            link: call.link(&miss.link),
            knobs: Data(miss.knobs),
            numbers: said::numbers(miss.metrics, miss.ranges, headline),
            misses: miss.misses,
            fewest_devices: miss.fewest_devices,
        };
        Self {
            designs: found.designs.into_iter().map(design).collect(),
            miss: found.miss.map(miss),
            size: Data(found.size),
            for_more: found.for_more,
            ruled_out: Data(found.ruled_out),
            evaluated: found.evaluated,
            simulated: found.simulated,
            seconds,
            limits: Limits { seconds: MAX_SECONDS, estimates: MAX_ESTIMATES },
            model_version: found.model_version,
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if let Some(size) = &self.size.0 {
            text += &format!("{} = {}\n", size.knob, size.value);
        }
        for design in self.designs.iter().filter(|design| design.label.is_some()) {
            let label = design.label.unwrap_or_default();
            text += &format!(
                "{label}: {}\n{}{}Held back by {}\n{}\n",
                said::settings(&design.knobs.0),
                said::titled("why", &design.why),
                said::lines(&design.numbers),
                design.binds,
                design.link
            );
        }
        if let Some(miss) = &self.miss {
            text += &format!(
                "No design reaches all; the nearest misses:\n{}{}{}\n",
                said::titled("misses", &miss.misses),
                said::lines(&miss.numbers),
                miss.link
            );
            if let Some(fewest) = miss.fewest_devices {
                text += &format!("Something fits on {fewest} devices\n");
            }
        }
        text + &format!(
            "{} estimates and {} simulations in {:.1} s\n",
            self.evaluated, self.simulated, self.seconds
        )
    }
}
