//! `moescape find`: which design should run?

mod amount;
mod summary;

use std::ops::ControlFlow;

use interchange::{Assumed, Import};
use operations::Names;
use operations::import::{assumed, question, unknown};
use model::design::file::json;
use model::design::{Design, KnobId, KnobSet};
use model::ground::knob::KnobError;
use model::search::find::{
    Domain, LayoutSearch, Phase, Progress, Query, STRATEGY, Search, StrategySearch,
};
use present::insight::transfer::{Keep, moved};
use reports::found::Terms;
use reports::typed::Said as _;

use super::input::{Source, Start};
use super::progress::ProgressLine;
use super::{Failure, output};
use crate::answers::find::search;
use summary::Summarized;

/// Help on FILE, which may be more than other commands read.
pub(super) const FILE_HELP: &str = "Design file, JSON or TOML, or what `moescape import` reads, \
                                    such as a config.json; `-` reads stdin";

/// What to search and how to say what is found.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Find layouts and loads that serve the model, not strategies that train it: targets such as
    /// 'tpot_seconds<=0.05', and short names, are those of serving
    #[arg(long, conflicts_with_all = ["any_schedule", "tokens"])]
    serve: bool,
    /// Devices of the cluster
    #[arg(long, value_name = "N")]
    devices: Option<String>,
    /// Accelerator of the cluster; what belongs to the design's own machine alone is left out
    #[arg(long, value_name = "ID")]
    accelerator: Option<String>,
    /// What the first design is best at: fastest, safest or simplest [default: fastest]
    #[arg(long, value_name = "GOAL")]
    goal: Option<String>,
    /// What is asked of the machine: layout, fewest_devices, largest_batch or longest_sequence
    /// [default: layout]
    #[arg(long, value_name = "QUESTION")]
    question: Option<String>,
    /// What every design must reach, such as 'mfu>=0.4', 'step_time_seconds<=20', 'spare>=0.1' or
    /// 'num_devices<=512'; once for each
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    /// Knobs that stay as they are, with commas between
    #[arg(long, value_name = "KNOBS", value_delimiter = ',')]
    keep: Vec<String>,
    /// Propose also what the design's framework can't be told
    #[arg(long = "any-framework", visible_alias = "any-schedule")]
    any_schedule: bool,
    /// Train on so many tokens, such as 15T, within --days: a target of tokens per second
    #[arg(long, value_name = "TOKENS", requires = "days")]
    tokens: Option<String>,
    /// Days for --tokens
    #[arg(long, value_name = "DAYS", requires = "tokens")]
    days: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints three designs and what else was found.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (query, import) = query(arguments)?;
    if let Some(import) = &import {
        remarks(import, &settled(arguments)).iter().for_each(|line| output::message(line));
    }
    match query.domain {
        Domain::Training => found::<StrategySearch>(arguments, &query),
        Domain::Serving => found::<LayoutSearch>(arguments, &query),
    }
}

fn found<S: Search<Metrics: Summarized>>(
    arguments: &Arguments,
    query: &Query,
) -> Result<(), Failure> {
    let mut line = ProgressLine::new();
    let found = search::<S>(query, |progress| {
        line.show(|| shown(progress));
        ControlFlow::Continue(())
    });
    line.clear();
    let found =
        found.map_err(|broken| Failure::User(broken.iter().map(output::broken_rule).collect()))?;
    // Nobody stops it.
    let Some(found) = found else { return Ok(()) };
    output::result(&if arguments.json {
        json::print(&found.answer(query).said())
    } else {
        summary::text(query, &found)
    })
}

/// Query of the arguments, or everything that is wrong with them.
fn query(arguments: &Arguments) -> Result<(Query, Option<Import>), Failure> {
    let Start { mut design, mut errors, import } = arguments.source.start()?;
    let cluster =
        [(KnobId::accelerator, &arguments.accelerator), (KnobId::num_devices, &arguments.devices)];
    for (knob, value) in cluster {
        let Some(value) = value else { continue };
        match with_cluster(&design, knob, value) {
            Ok(other) => design = other,
            Err(error) => errors.push(error.to_string()),
        }
    }
    errors.extend(arguments.source.set_all(&mut design, names(arguments)));
    let mut terms = Terms {
        serve: arguments.serve,
        goal: arguments.goal.clone(),
        question: arguments.question.clone(),
        targets: arguments.targets.clone(),
        keep: arguments.keep.clone(),
        any_schedule: arguments.any_schedule,
    };
    if let (Some(tokens), Some(days)) = (&arguments.tokens, &arguments.days) {
        match amount::rate(tokens, days) {
            Ok(rate) => terms.targets.push(format!("tokens_per_second>={rate}")),
            Err(wrong) => errors.extend(wrong),
        }
    }
    match terms.query(design) {
        Ok(query) if errors.is_empty() => Ok((query, import)),
        Ok(_) => Err(Failure::User(errors)),
        Err(wrong) => {
            errors.extend(wrong.iter().map(KnobError::to_string));
            Err(Failure::User(errors))
        }
    }
}

/// Short names that settings have.
fn names(arguments: &Arguments) -> Names {
    if arguments.serve { Names::Serving } else { Names::Training }
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

/// The knobs whose values the command line has.
fn settled(arguments: &Arguments) -> KnobSet {
    let accelerator = arguments.accelerator.as_ref().map(|_| KnobId::accelerator);
    let devices = arguments.devices.as_ref().map(|_| KnobId::num_devices);
    let all =
        accelerator.into_iter().chain(devices).chain(arguments.source.knobs(names(arguments)));
    KnobSet::of(&all.collect::<Vec<_>>())
}

/// Remarks on an imported file: what isn't known of it, and what was assumed of the model, the
/// machine and the batch.
fn remarks(import: &Import, settled: &KnobSet) -> Vec<String> {
    let matters = |assumed: &&Assumed| {
        let Some(knob) = assumed.knob else { return true };
        !STRATEGY.has(knob) && !settled.has(knob)
    };
    // What the search decides, or the command line has, needn't be answered.
    let open = import.questions.iter().filter(|asked| {
        KnobId::find(&asked.name).map_or(true, |knob| !STRATEGY.has(knob) && !settled.has(knob))
    });
    let mut lines: Vec<String> = open.map(question).collect();
    lines.extend(import.unknown.iter().map(unknown));
    lines.extend(import.assumed.iter().filter(matters).map(assumed));
    lines
}

/// Progress of the search, in a line.
fn shown(progress: Progress) -> String {
    let at = match progress.phase {
        Phase::Screening => "screening grids",
        Phase::Refining => "refining",
        Phase::Simulating => "simulating",
        Phase::Sizing => "trying sizes",
        Phase::Done => "done",
    };
    let designs = present::format::counted(progress.evaluated, "estimate", "estimates");
    format!("{:5.1} %  {at}, {designs}", progress.share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
