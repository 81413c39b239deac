//! `find`: which design should run?
//!
//! Steps of some tens of milliseconds are taken until the search is done or nobody waits any more.

mod amount;
mod summary;

use interchange::{Assumed, Import};
use model::design::{Design, KnobId, KnobSet};
use model::ground::knob::KnobError;
use model::search::find::{
    self, Domain, LayoutSearch, Phase, Progress, Query, STRATEGY, Search, StrategySearch,
};
use model::serving::Inference;
use model::training::estimate::Metrics;
use present::insight::transfer::{Keep, moved};
use reports::Cores;
use reports::found::{self, Missed, Recommended, Reported, RuledOutBy, Size, Terms};
use reports::typed::{Flat, KnobValue, May, Named, Real, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::{Caller, Limits};
use crate::input::{DesignInput, Start};
use crate::names::Names;
use crate::numbers::{self, Data, HEADLINE, Number};
use crate::operation::Operation;
use crate::refusal::{Origin, Refusal, Wrong};
use crate::remarks::{assumed, question, unknown};

/// Help on FILE, which may be more than other commands read.
const FILE_HELP: &str = "Design file, JSON or TOML, or what `moescape import` reads, such as a \
                         config.json; `-` reads stdin";

/// The verb.
pub struct Find;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "FindInput")]
pub struct Input {
    /// Design.
    #[command(flatten)]
    #[serde(flatten)]
    of: DesignInput,
    /// Find layouts and loads that serve the model, not strategies that train it: targets such as
    /// `tpot_seconds<=0.05`; tp, ep and other short names mean knobs of section `serving`.
    #[arg(
        long,
        conflicts_with_all = ["any_schedule", "tokens"],
        help = "Find layouts and loads that serve the model, not strategies that train it: \
                targets such as 'tpot_seconds<=0.05', and short names, are those of serving"
    )]
    #[serde(default)]
    serve: bool,
    /// Devices of the cluster
    #[arg(long, value_name = "N")]
    #[serde(skip)]
    devices: Option<String>,
    /// Accelerator of the cluster; what belongs to the design's own machine alone is left out
    #[arg(long, value_name = "ID")]
    #[serde(skip)]
    accelerator: Option<String>,
    /// What the first design is best at: fastest, safest or simplest; fastest unless said.
    #[arg(
        long,
        value_name = "GOAL",
        help = "What the first design is best at: fastest, safest or simplest [default: fastest]"
    )]
    goal: Option<String>,
    /// What is asked: layout, `fewest_devices`, `largest_batch` or `longest_sequence`; layout
    /// unless said.
    #[arg(
        long,
        value_name = "QUESTION",
        help = "What is asked of the machine: layout, fewest_devices, largest_batch or \
                longest_sequence [default: layout]"
    )]
    question: Option<String>,
    /// What every design must reach: `mfu>=0.4`, `step_time_seconds<=20`, `spare>=0.1`,
    /// `num_devices<=512`, `days_to_train<=90`.
    #[arg(
        long = "target",
        value_name = "TARGET",
        help = "What every design must reach, such as 'mfu>=0.4', 'step_time_seconds<=20', \
                'spare>=0.1' or 'num_devices<=512'; once for each"
    )]
    #[serde(default)]
    targets: Vec<String>,
    /// Knobs that stay as they are.
    #[arg(
        long,
        value_name = "KNOBS",
        value_delimiter = ',',
        help = "Knobs that stay as they are, with commas between"
    )]
    #[serde(default)]
    keep: Vec<String>,
    /// Propose also what the design's framework can't be told.
    #[arg(long = "any-framework", visible_alias = "any-schedule")]
    #[serde(default)]
    any_schedule: bool,
    /// Train on so many tokens, such as 15T, within --days: a target of tokens per second
    #[arg(long, value_name = "TOKENS", requires = "days")]
    #[serde(skip)]
    tokens: Option<String>,
    /// Days for --tokens
    #[arg(long, value_name = "DAYS", requires = "tokens")]
    #[serde(skip)]
    days: Option<String>,
    /// End the search after about so many estimates, with what it has by then.
    #[arg(skip)]
    evaluations: Option<u64>,
}

/// Result of a search, and the time that it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<M = Metrics> {
    /// The best designs.
    pub answer: find::Answer<M>,
    /// Seconds of the search.
    pub seconds: f64,
    /// Whether it came to its end.
    pub is_complete: bool,
}

/// Result of a search in either domain, with its query.
pub struct Answer {
    query: Query,
    found: InDomain,
    /// Whether it might have ended early.
    is_bounded: bool,
}

enum InDomain {
    Training(Found),
    Serving(Found<Inference>),
}

reports::said! {
    /// The object of `moescape find --json`.
    #[derive(Clone, Debug, JsonSchema)]
    #[schemars(rename = "Found")]
    pub struct FoundAnswer {
        #[schemars(flatten)]
        found: Flat<found::Found>,
        /// What the search took.
        seconds: Real,
        /// With `evaluations`: whether the search came to its end.
        #[schemars(skip_serializing_if = "Option::is_none")]
        complete: May<bool>,
    }
}

/// A design that was found.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Design")]
struct FoundDesign {
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

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
    designs: Vec<FoundDesign>,
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
    /// With `evaluations`: whether the search came to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    limits: Limits,
    model_version: &'static str,
}

impl Operation for Find {
    const NAME: &'static str = "find";
    const SUMMARY: &'static str = "Find a layout: the fastest, the safest and the simplest design \
                                   for a model and a machine";
    const TITLE: &'static str = "Find a layout";
    const DESCRIPTION: &'static str = "Finds which layout should run for a model, a machine and a \
        batch: the fastest, the safest and the simplest design that fits, each with its reason, or \
        the nearest miss. Also the fewest devices, the largest batch, the longest sequence. With \
        `serve` the layout and load that serve it. Takes \
        seconds; at most 25 s and 20 million estimates, after which it is refused with advice. \
        Cancellable; tells its progress.";
    const IS_SEARCH: bool = true;
    type Input = Input;
    type Answer = Answer;
    type Output = FoundAnswer;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let (query, import) = input.query(caller)?;
        if let Some(import) = &import {
            let lines = remarks(import, &input.settled());
            lines.iter().for_each(|line| caller.remark(line));
        }
        let most = input.evaluations;
        let found = match query.domain {
            Domain::Training => InDomain::Training(search::<StrategySearch>(&query, most, caller)?),
            Domain::Serving => InDomain::Serving(search::<LayoutSearch>(&query, most, caller)?),
        };
        Ok(Answer { query, found, is_bounded: most.is_some() })
    }

    fn output(answer: &Answer) -> Written<FoundAnswer> {
        Written::of(answer.found())
    }

    fn text(answer: &Answer) -> String {
        match &answer.found {
            InDomain::Training(found) => summary::text(&answer.query, found),
            InDomain::Serving(found) => summary::text(&answer.query, found),
        }
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let headline: &[&str] = match answer.query.domain {
            Domain::Training => &HEADLINE,
            Domain::Serving => &[],
        };
        let brief = Brief::new(answer.found(), headline, caller);
        let text = brief.text();
        (brief, text)
    }

    fn command(command: clap::Command) -> clap::Command {
        command.mut_arg("file", |file| file.help(FILE_HELP))
    }
}

/// Searches to the end, until there are about so many estimates, or until nobody waits.
///
/// # Errors
/// Rules that no layout can mend, or that it was ended.
pub fn search<S: Search>(
    query: &Query,
    max_estimates: Option<u64>,
    caller: &dyn Caller,
) -> Result<Found<S::Metrics>, Refusal> {
    let (began, cores) = (caller.seconds(), Cores::all());
    let mut search = S::new(query.clone()).map_err(|rules| Refusal::broken(&rules))?;
    let limit = caller.limits().estimates;
    let is_complete = loop {
        let progress = search.step(&cores);
        caller.hear(progress.share, &|| shown(progress));
        if progress.evaluated > limit || caller.flow().is_break() {
            return Err(caller.ended("name more knobs in `keep`, or ask for a smaller cluster"));
        }
        if progress.phase == Phase::Done {
            break true;
        }
        if max_estimates.is_some_and(|most| progress.evaluated >= most) {
            break false;
        }
    };
    let seconds = caller.seconds() - began;
    Ok(Found { answer: search.answer(), seconds, is_complete })
}

/// Progress of the search, in words.
fn shown(progress: Progress) -> String {
    let at = match progress.phase {
        Phase::Screening => "screening grids",
        Phase::Refining => "refining",
        Phase::Simulating => "simulating",
        Phase::Sizing => "trying sizes",
        Phase::Done => "done",
    };
    let designs = present::format::counted(progress.evaluated, "estimate", "estimates");
    format!("{at}, {designs}")
}

impl Input {
    /// Query of the arguments, or everything that is wrong with them.
    fn query(&self, caller: &dyn Caller) -> Result<(Query, Option<Import>), Refusal> {
        let Start { mut design, mut errors, import } = self.of.start_imported(caller)?;
        let cluster =
            [(KnobId::accelerator, &self.accelerator), (KnobId::num_devices, &self.devices)];
        for (knob, value) in cluster {
            let Some(value) = value else { continue };
            match with_cluster(&design, knob, value) {
                Ok(other) => design = other,
                Err(error) => errors.push(error.into()),
            }
        }
        errors.extend(self.of.set_on(&mut design, self.names()).1);
        let mut terms = Terms {
            serve: self.serve,
            goal: self.goal.clone(),
            question: self.question.clone(),
            targets: self.targets.clone(),
            keep: self.keep.clone(),
            any_schedule: self.any_schedule,
        };
        if let (Some(tokens), Some(days)) = (&self.tokens, &self.days) {
            match amount::rate(tokens, days) {
                Ok(rate) => terms.targets.push(format!("tokens_per_second>={rate}")),
                Err(wrong) => errors.extend(wrong),
            }
        }
        let of_terms = |error: KnobError| Wrong { origin: Origin::Request, ..error.into() };
        match terms.query(design) {
            Ok(query) if errors.is_empty() => Ok((query, import)),
            Ok(_) => Err(Refusal::of(errors)),
            Err(wrong) => {
                errors.extend(wrong.into_iter().map(of_terms));
                Err(Refusal::of(errors))
            }
        }
    }

    /// Short names that settings have.
    fn names(&self) -> Names {
        if self.serve { Names::Serving } else { Names::Training }
    }

    /// The knobs whose values the arguments have.
    fn settled(&self) -> KnobSet {
        let accelerator = self.accelerator.as_ref().map(|_| KnobId::accelerator);
        let devices = self.devices.as_ref().map(|_| KnobId::num_devices);
        let set = self.of.knobs(self.names());
        KnobSet::of(&accelerator.into_iter().chain(devices).chain(set).collect::<Vec<_>>())
    }
}

/// The design on another accelerator, or on another number of devices.
fn with_cluster(design: &Design, knob: KnobId, value: &str) -> Result<Design, KnobError> {
    let mut other = design.clone();
    other.set_text(knob, value)?;
    let accelerator = other.cluster.accelerator;
    if accelerator == design.cluster.accelerator {
        return Ok(other);
    }
    Ok(moved(design, accelerator, Keep::Devices))
}

/// Remarks on an imported file: what isn't known of it, and what was assumed of the model, the
/// machine and the batch.
fn remarks(import: &Import, settled: &KnobSet) -> Vec<String> {
    let matters = |assumed: &&Assumed| {
        let Some(knob) = assumed.knob else { return true };
        !STRATEGY.has(knob) && !settled.has(knob)
    };
    // What the search decides, or the arguments have, needn't be answered.
    let open = import.questions.iter().filter(|asked| {
        KnobId::find(&asked.name).map_or(true, |knob| !STRATEGY.has(knob) && !settled.has(knob))
    });
    let mut lines: Vec<String> = open.map(question).collect();
    lines.extend(import.unknown.iter().map(unknown));
    lines.extend(import.assumed.iter().filter(matters).map(assumed));
    lines
}

impl Answer {
    fn found(&self) -> FoundAnswer {
        match &self.found {
            InDomain::Training(found) => self.answer(found),
            InDomain::Serving(found) => self.answer(found),
        }
    }

    fn answer<M: Reported>(&self, found: &Found<M>) -> FoundAnswer {
        FoundAnswer {
            found: Flat(found::found(&self.query, &found.answer)),
            seconds: Real(found.seconds),
            complete: May(self.is_bounded.then_some(found.is_complete)),
        }
    }
}

impl Brief {
    fn new(answer: FoundAnswer, headline: &[&str], caller: &dyn Caller) -> Self {
        let FoundAnswer { found: Flat(found), seconds: Real(seconds), complete: May(complete) } =
            answer;
        let design = |found: Recommended| FoundDesign {
            label: found.label,
            link: caller.link(&found.link),
            knobs: Data(found.knobs),
            numbers: numbers::numbers(found.metrics, found.ranges, headline),
            why: found.why,
            binds: found.binds,
            margin: found.margin,
            behind: found.behind,
        };
        let miss = |miss: Missed| Miss {
            link: caller.link(&miss.link),
            knobs: Data(miss.knobs),
            numbers: numbers::numbers(miss.metrics, miss.ranges, headline),
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
            complete,
            limits: caller.limits(),
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
                numbers::settings(&design.knobs.0),
                numbers::titled("why", &design.why),
                numbers::lines(&design.numbers),
                design.binds,
                design.link
            );
        }
        if let Some(miss) = &self.miss {
            text += &format!(
                "No design reaches all; the nearest misses:\n{}{}{}\n",
                numbers::titled("misses", &miss.misses),
                numbers::lines(&miss.numbers),
                miss.link
            );
            if let Some(fewest) = miss.fewest_devices {
                text += &format!("Something fits on {fewest} devices\n");
            }
        }
        if self.complete == Some(false) {
            text += "It was ended before its end, at the `evaluations` asked for\n";
        }
        text + &format!(
            "{} estimates and {} simulations in {:.1} s\n",
            self.evaluated, self.simulated, self.seconds
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use model::search::find::OneThread;

    use super::*;

    /// A caller that hears of progress, and leaves once the search is this far.
    struct Listener {
        heard: Mutex<f64>,
        leaves_at: f64,
    }

    impl Caller for Listener {
        fn waits(&self) -> bool {
            *self.heard.lock().expect("the share") < self.leaves_at
        }

        fn hear(&self, share: f64, _: &dyn Fn() -> String) {
            let mut before = self.heard.lock().expect("the share");
            assert!((*before..=1.0).contains(&share), "{share} after {before}");
            *before = share;
        }

        fn seconds(&self) -> f64 {
            0.0
        }

        fn today(&self) -> String {
            String::new()
        }
    }

    fn query() -> Query {
        Query::new(Design::from_preset("qwen3-30b-a3b").unwrap())
    }

    #[test]
    fn an_answer_is_that_of_one_thread_and_its_progress_never_goes_back() {
        let caller = Listener { heard: Mutex::new(0.0), leaves_at: f64::INFINITY };
        let found = search::<StrategySearch>(&query(), None, &caller).unwrap();
        assert!(found.is_complete && found.answer.designs.len() > 2);
        assert_eq!(Ok(found.answer), StrategySearch::find(query(), &OneThread));
    }

    #[test]
    fn a_search_whose_caller_is_gone_ends_with_its_next_step() {
        let caller = Listener { heard: Mutex::new(0.0), leaves_at: 0.0 };
        let refusal = search::<StrategySearch>(&query(), None, &caller).unwrap_err();
        assert_eq!(refusal.errors[0].rule, "cancelled");
        assert!(*caller.heard.lock().unwrap() < 1.0);
    }

    #[test]
    fn a_design_on_another_accelerator_has_that_ones_machine() {
        let mut design = Design::from_preset("pangu-ultra-moe-6k@2").unwrap();
        design.set_text(KnobId::hbm_usable_gib, "60").unwrap();
        let other = with_cluster(&design, KnobId::accelerator, "h100-sxm-80gb").unwrap();
        assert_eq!(other.get(KnobId::hbm_usable_gib), model::ground::knob::Value::None);
        let same = with_cluster(&design, KnobId::accelerator, "ascend-910b3").unwrap();
        assert_eq!(same, design);
        let fewer = with_cluster(&other, KnobId::num_devices, "256").unwrap();
        assert_eq!(fewer.cluster.num_devices, 256);
        let error = with_cluster(&design, KnobId::accelerator, "h100").unwrap_err();
        assert!(!error.nearest.is_empty(), "{error}");
    }
}
