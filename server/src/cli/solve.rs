//! `--solve KNOB=TARGET`: one knob moves until a target is reached.

use model::design::file::json;
use model::run::budget::RunTarget;
use model::search::solve::{Solution, Target, Tried};
use model::{Plan, design::link};
use present::format;
use present::insight::memory_state;
use reports::typed::Said;

use super::Failure;
use super::output::table_below;
pub(super) use crate::answers::solved::Question;
use crate::answers::solved::solved;

/// Answer to a question, as JSON or for people.
///
/// # Errors
/// The knobs that the target's metric of a run lacks.
pub(super) fn answer(plan: &Plan, question: Question, as_json: bool) -> Result<String, Failure> {
    let solution = question.solve(plan).map_err(Failure::user)?;
    Ok(if as_json { json::print(&solved(&solution).said()) } else { text(&solution) })
}

/// The name of what a target looks at, and a number of it in its unit; `None` for memory, which is
/// beside every value.
fn asked(target: Target, number: f64) -> Option<(&'static str, String)> {
    match target {
        Target::AtLeast(metric, _)
        | Target::AtMost(metric, _)
        | Target::Run(RunTarget { metric, .. }) => {
            Some((metric.metric().label, format::measured(metric, number).to_string()))
        }
        Target::Fits => None,
    }
}

/// Solution, for people.
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
