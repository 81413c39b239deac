//! The server's answer to a spec in words: what the sweep would cost, or what is wrong with it.

use maud::html;
use model::design::file::Tree;

use super::form::Problem;
use super::server_html;
use crate::format;
use crate::insight::spec::shown;

/// Everything that a problem names.
#[must_use]
pub fn problems(problem: &Tree) -> Vec<Problem> {
    let Some(Tree::List(errors)) = problem.get("errors") else { return vec![] };
    let text = |error: &Tree, key: &str| {
        error.get(key).and_then(Tree::as_text).unwrap_or_default().to_owned()
    };
    let problem = |error: &Tree| {
        let nearest = match error.get("nearest") {
            Some(Tree::List(nearest)) if !nearest.is_empty() => {
                let names: Vec<String> = nearest.iter().map(shown).collect();
                format!(". Near: {}", names.join(", "))
            }
            _ => String::new(),
        };
        Problem {
            place: text(error, "pointer"),
            detail: format!("{}{nearest}", text(error, "detail")),
        }
    };
    errors.iter().map(problem).collect()
}

/// Why it can't start, and what is wrong with the spec.
#[must_use]
pub fn problems_text(detail: &str, problems: &[Problem]) -> String {
    let markup = html! {
        p.build-wrong { strong { "It can't start: " (detail.trim_end_matches('.')) "." } }
        ul {
            @for problem in problems {
                @let place = problem.place.trim_start_matches('/').replace('/', ".");
                li.build-wrong {
                    @if !place.is_empty() { code { (place) } " " }
                    (problem.detail)
                }
            }
        }
    };
    markup.into_string()
}

/// Cost that can be told before it starts.
#[must_use]
pub fn cost_text(cost: &Tree) -> String {
    let number = |key: &str| match cost.get(key) {
        Some(Tree::Unsigned(number)) => *number as f64,
        Some(Tree::Real(number)) => *number,
        _ => 0.0,
    };
    let (asked, tried) = (number("asked"), number("tried"));
    let counted = cost.get("counted") == Some(&Tree::Flag(true));
    let about = |key: &str| {
        let count = number(key);
        if count == 0.0 && !counted {
            "few or none".to_owned()
        } else {
            let share = count / asked.max(1.0);
            let sign = if counted { "" } else { "about " };
            format!("{sign}{} ({})", format::whole(count as u64), format::percent(share, 1))
        }
    };
    let values = [
        format::whole(number("designs") as u64),
        format::whole(asked as u64),
        about("about_legal"),
        about("about_feasible"),
        format::lasting(number("about_seconds")),
    ];
    let tried = format::counted(tried as u64, "design", "designs");
    let how = if counted {
        "Every design was counted.".to_owned()
    } else {
        format!("Estimated from {tried} that were tried.")
    };
    server_html::cost(&values.each_ref().map(String::as_str), &how)
}
