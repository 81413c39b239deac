//! `--solve KNOB=TARGET`: one knob moves until a target is reached.

use std::str::FromStr;

use app::insight::memory_state;
use app::present::{format, run};
use model::budget::BudgetMetric;
use model::design::KnobId;
use model::file::{Tree, json};
use model::find;
use model::metric::{MetricId, MetricValue};
use model::solve::{Solution, Target, Tried, Wish};
use model::{MODEL_VERSION, Plan, link};

use super::Failure;
use super::output::table_below;

/// What is asked: `micro_batch_size=fits`, `tp=mfu>=0.3`, `num_devices=days_to_train<=90`.
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

/// A target of a step or of its run, read as `find` reads its own.
fn target(text: &str) -> Result<Target, String> {
    if text == "fits" {
        return Ok(Target::Fits);
    }
    let asked = find::Target::parse(text).map_err(|error| {
        let names = MetricId::ALL.iter().map(|id| id.metric().name);
        let of_run = BudgetMetric::ALL.iter().map(|id| id.metric().name);
        let known: Vec<&str> = names.chain(of_run).collect();
        format!("{error}; a target is fits, or one of {} with >= or <=", known.join(", "))
    })?;
    match asked {
        find::Target::AtLeast(metric, least) => Ok(Target::AtLeast(metric, least)),
        find::Target::AtMost(metric, most) => Ok(Target::AtMost(metric, most)),
        find::Target::Run(target) => Ok(Target::Run(target)),
        find::Target::Spare(_) | find::Target::Devices(_) => {
            Err(format!("`{text}` is a target of `find`; here it is one of a metric"))
        }
    }
}

/// What a question comes to, as JSON or for people.
///
/// # Errors
/// Where its target is of a run of which too little is said.
pub(super) fn answer(plan: &Plan, question: Question, as_json: bool) -> Result<String, Failure> {
    if let Target::Run(target) = question.target {
        let lacking: Vec<String> =
            target.metric.lacks(plan.design()).into_iter().map(KnobId::id).collect();
        if !lacking.is_empty() {
            let name = target.metric.metric().name;
            let detail = format!("{name} isn't known: set {}", lacking.join(", "));
            return Err(Failure::user(detail));
        }
    }
    let solution = model::solve(plan, question.knob, question.target, Wish::of(question.knob));
    Ok(if as_json { data(&solution) } else { text(&solution) })
}

/// The name of what a target looks at, and a number of it in its unit; none of memory, which
/// stands beside every value.
fn asked(target: Target, number: f64) -> Option<(&'static str, String)> {
    match target {
        Target::Run(target) => {
            Some((target.metric.metric().label, run::shown(target.metric, number)))
        }
        Target::AtLeast(metric, _) | Target::AtMost(metric, _) => {
            let shown = format::metric(metric, MetricValue::Number(number)).to_string();
            Some((metric.metric().label, shown))
        }
        Target::Fits => None,
    }
}

/// What was found, for people.
fn text(solution: &Solution) -> String {
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
    let label = asked(solution.target, 0.0).map_or("", |(label, _)| label);
    let head = ["value", "reached", "memory", "MFU", "step", "peak memory", label];
    text + &table_below(head, "rllrrrr", solution.tried.iter().map(|it| row(solution.target, it)))
}

fn row(target: Target, tried: &Tried) -> Vec<String> {
    let number = tried.number.and_then(|number| asked(target, number));
    let yes = |is: bool| String::from(if is { "yes" } else { "no" });
    vec![
        tried.value.to_string(),
        yes(tried.reached),
        memory_state::word(tried.metrics.memory_state()).to_owned(),
        format::percent(tried.metrics.mfu, 2).to_string(),
        format::duration(tried.metrics.step_time).to_string(),
        format::memory(tried.metrics.memory_peak).to_string(),
        number.map_or_else(String::new, |(_, shown)| shown),
    ]
}

/// The same as JSON.
fn data(solution: &Solution) -> String {
    let tried = |tried: &Tried| {
        Tree::map([
            ("value", Tree::Text(tried.value.to_string())),
            ("reached", Tree::Flag(tried.reached)),
            ("number", tried.number.map_or(Tree::Null, Tree::number)),
            ("fits", Tree::Flag(tried.metrics.fits)),
            ("fit_probability", Tree::number(tried.metrics.fit_probability)),
            ("mfu", Tree::number(tried.metrics.mfu)),
            ("step_time_seconds", Tree::number(tried.metrics.step_time.get())),
            ("memory_peak_bytes", Tree::number(tried.metrics.memory_peak.get())),
            ("link", Tree::Text(format!("/?{}", link::encode(&tried.design)))),
        ])
    };
    let name = match solution.target {
        Target::Fits => MetricId::memory_peak_bytes.metric().name,
        Target::AtLeast(metric, _) | Target::AtMost(metric, _) => metric.metric().name,
        Target::Run(target) => target.metric.metric().name,
    };
    let or_null = |one: Option<&Tried>| one.map_or(Tree::Null, tried);
    json::print(&Tree::map([
        ("knob", Tree::Text(solution.knob.id())),
        ("wish", Tree::Text(solution.wish.name().to_owned())),
        ("metric", name.into()),
        ("found", or_null(solution.found())),
        ("nearest", or_null(solution.nearest())),
        ("tried", Tree::List(solution.tried.iter().map(tried).collect())),
        ("model_version", MODEL_VERSION.into()),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_a_knob_and_what_to_reach() {
        let question: Question = "tp=mfu>=0.3".parse().expect("a question");
        assert_eq!(question.target, Target::AtLeast(MetricId::mfu, 0.3));
        assert_eq!("mbs=fits".parse::<Question>().expect("a question").target, Target::Fits);
        let question: Question = "num_devices=days_to_train<=90".parse().expect("a question");
        assert!(matches!(question.target, Target::Run(it) if it.is_most), "{question:?}");
        for junk in [
            "tp=spare>=0.1",
            "",
            "tp",
            "tp=",
            "tp=mfu",
            "tp=mfu>=x",
            "tp=nothing>=1",
            "nothing=fits",
        ] {
            assert!(junk.parse::<Question>().is_err(), "{junk}");
        }
    }
}
