//! `--solve KNOB=TARGET`: one knob moves until a target is reached.

use std::str::FromStr;

use app::insight::memory_state;
use app::present::format;
use model::design::KnobId;
use model::file::{Tree, json};
use model::metric::MetricId;
use model::solve::{Solution, Target, Tried, Wish};
use model::{Plan, link};

use crate::cli::output::table_below;

/// What is asked: `micro_batch_size=fits`, `tp=mfu>=0.3`, `num_devices=step_time_seconds<=30`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Question {
    knob: KnobId,
    target: Target,
}

impl FromStr for Question {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (knob, asked) = text.split_once('=').ok_or(
            "write KNOB=TARGET, such as micro_batch_size=fits or tp=mfu>=0.3 (quote the sign)",
        )?;
        let knob = KnobId::find(knob.trim()).map_err(|error| error.to_string())?;
        Ok(Self { knob, target: target(asked.trim())? })
    }
}

fn target(text: &str) -> Result<Target, String> {
    if text == "fits" {
        return Ok(Target::Fits);
    }
    let parts = [">=", "<="].map(|sign| text.split_once(sign));
    let (metric, value, at_least) = match parts {
        [Some((metric, value)), _] => (metric, value, true),
        [_, Some((metric, value))] => (metric, value, false),
        [None, None] => {
            return Err(format!("`{text}` is no target: fits, METRIC>=NUMBER or METRIC<=NUMBER"));
        }
    };
    let metric = metric.trim();
    let id = MetricId::find(metric).ok_or_else(|| {
        let known: Vec<&str> = MetricId::ALL.iter().map(|id| id.metric().name).collect();
        format!("no metric `{metric}`; one of {}", known.join(", "))
    })?;
    let value = value.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value.ok_or_else(|| format!("`{text}` ends with no number"))?;
    Ok(if at_least { Target::AtLeast(id, value) } else { Target::AtMost(id, value) })
}

/// What was found, for people.
pub(super) fn text(plan: &Plan, question: Question) -> String {
    let solution = solve(plan, question);
    let count = format::counted(solution.tried.len() as u64, "legal value", "legal values");
    let name = solution.knob.id();
    let text = match (solution.found(), solution.nearest()) {
        (Some(found), _) => format!(
            "{name}={} reaches it: the {} of {} that do, of {count}\n  link /?{}\n",
            found.value,
            solution.wish.name(),
            solution.tried.iter().filter(|tried| tried.reached).count(),
            link::encode(&found.design),
        ),
        (None, Some(nearest)) => format!(
            "no value of {name} reaches it, of {count}; the best is {}\n  link /?{}\n",
            nearest.value,
            link::encode(&nearest.design),
        ),
        (None, None) => format!("{name} has no legal value\n"),
    };
    let head = ["value", "reached", "memory", "MFU", "step", "peak memory"];
    text + &table_below(head, "rllrrr", solution.tried.iter().map(row))
}

fn row(tried: &Tried) -> Vec<String> {
    let yes = |is: bool| String::from(if is { "yes" } else { "no" });
    vec![
        tried.value.to_string(),
        yes(tried.reached),
        memory_state::word(tried.metrics.memory_state()).to_owned(),
        format::percent(tried.metrics.mfu, 2).to_string(),
        format::duration(tried.metrics.step_time).to_string(),
        format::memory(tried.metrics.memory_peak).to_string(),
    ]
}

/// The same as JSON.
pub(super) fn data(plan: &Plan, question: Question) -> String {
    let solution = solve(plan, question);
    let tried = |tried: &Tried| {
        Tree::map([
            ("value", Tree::Text(tried.value.to_string())),
            ("reached", Tree::Flag(tried.reached)),
            ("fits", Tree::Flag(tried.metrics.fits)),
            ("fit_probability", Tree::number(tried.metrics.fit_probability)),
            ("mfu", Tree::number(tried.metrics.mfu)),
            ("step_time_seconds", Tree::number(tried.metrics.step_time.get())),
            ("memory_peak_bytes", Tree::number(tried.metrics.memory_peak.get())),
            ("link", Tree::Text(format!("/?{}", link::encode(&tried.design)))),
        ])
    };
    let or_null = |one: Option<&Tried>| one.map_or(Tree::Null, tried);
    json::print(&Tree::map([
        ("knob", Tree::Text(solution.knob.id())),
        ("wish", Tree::Text(solution.wish.name().to_owned())),
        ("found", or_null(solution.found())),
        ("nearest", or_null(solution.nearest())),
        ("tried", Tree::List(solution.tried.iter().map(tried).collect())),
    ]))
}

fn solve(plan: &Plan, Question { knob, target }: Question) -> Solution {
    model::solve(plan, knob, target, Wish::of(knob))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_a_knob_and_what_to_reach() {
        let question: Question = "tp=mfu>=0.3".parse().expect("a question");
        assert_eq!(question.target, Target::AtLeast(MetricId::mfu, 0.3));
        assert_eq!("mbs=fits".parse::<Question>().expect("a question").target, Target::Fits);
        for junk in ["", "tp", "tp=", "tp=mfu", "tp=mfu>=x", "tp=nothing>=1", "nothing=fits"] {
            assert!(junk.parse::<Question>().is_err(), "{junk}");
        }
    }
}
