//! A profile of one's software in words.

use model::metric::MetricId;
use present::format;
use present::page::trust::words;
use validation::own::Calibration;
use validation::own::report::{Agreement, ConstantChange, Measured, Unused};
use validation::report::Score;

use crate::columns::table_below;

/// Half of the runs are farther off than this only where they are of another design: no constant
/// of a family makes so much of a difference.
const TOO_FAR: f64 = 0.4;

/// The profile, and how far the runs agree with it, for people.
pub(super) fn text(found: &Calibration) -> String {
    let mut text = format!("Profile: {}\n", found.name);
    let lines: Vec<Vec<String>> = found.constants.iter().map(constant).collect();
    let heads = ["", "family's", "own", "nine of ten", "told", ""];
    text.push_str(&table_below(heads, "lrrlrl", lines));
    if let Some(agreed) = &found.agreement {
        text.push_str("\nRuns: predicted before and with the profile, errors of the step time\n");
        let heads = ["run", "measured", "before", "", "with it", "", "left out"];
        text.push_str(&table_below(heads, "lrrrrrr", found.runs.iter().map(measured)));
        text.push_str(&format!("\n{}\n", agreement(found.runs.len(), agreed)));
    }
    for remark in &found.remarks {
        text.push_str(&format!("not told: {remark}\n"));
    }
    for Unused { id, reason } in &found.refused {
        text.push_str(&format!("not used: {id}: {reason}\n"));
    }
    if let Some(verdict) = verdict(found) {
        text.push_str(&format!("\n{verdict}\n"));
    }
    if found.knobs.is_empty() {
        return text;
    }
    let set = found.knobs.iter().map(|knob| format!("--set {}", word(knob)));
    let set: Vec<String> = set.collect();
    text.push_str(&format!("\nSet {}\nLink {}\n", set.join(" "), found.link));
    text
}

/// A word as a shell takes it.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.=-".contains(c);
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn constant(told: &ConstantChange) -> Vec<String> {
    let number = |value: f64| format::significant(value, 3);
    let unit = if told.unit.is_empty() { String::new() } else { format!(" {}", told.unit) };
    let [least, most] = told.range;
    let is_own = told.from != "family";
    vec![
        told.knob.clone(),
        format!("{}{unit}", number(told.before)),
        if is_own { format!("{}{unit}", number(told.value)) } else { words::NOTHING.to_owned() },
        if is_own { format!("{} to {}{unit}", number(least), number(most)) } else { String::new() },
        format::percent(told.told, 0).to_string(),
        told.why.to_owned(),
    ]
}

/// A run in cells: its name, measured, without the profile and with it, each with its error, and
/// the error where its design is left out.
#[must_use]
pub fn measured(run: &Measured) -> Vec<String> {
    let value = |value: f64| match MetricId::find(run.metric) {
        Some(id) => format::measured(id, value).to_string(),
        None => format::significant(value, 4),
    };
    vec![
        run.id.clone(),
        value(run.measured),
        value(run.before),
        words::error(run.time_error_before),
        value(run.after),
        words::error(run.time_error),
        run.left_out_error.map_or_else(|| words::NOTHING.to_owned(), words::error),
    ]
}

/// Sentences on how well that many runs are predicted.
#[must_use]
pub fn agreement(runs: usize, agreement: &Agreement) -> String {
    let half = |score: &Score| words::share(score.median);
    let who = match runs {
        1 => "The run is".to_owned(),
        _ => format!("Half of {} runs are", format::whole(runs as u64)),
    };
    let left_out = match &agreement.left_out {
        Some(score) => {
            format!("Where each is left out of its own fit, half are within {}.", half(score))
        }
        None => "With fewer than three designs nothing is left out to check it with.".to_owned(),
    };
    let [before, after] = [&agreement.before, &agreement.after].map(half);
    format!("{who} within {before} before, within {after} with the profile. {left_out}")
}

/// Caveat to know before a profile is used, or why there is none.
#[must_use]
pub fn verdict(found: &Calibration) -> Option<&'static str> {
    if found.agreement.as_ref().is_some_and(|it| it.after.median > TOO_FAR) {
        return Some(
            "No constant makes up for such an error: is this the runs' design, batch and \
             accelerator?",
        );
    }
    let agrees = "The runs agree with the family's constants: there is nothing to set.";
    found.knobs.is_empty().then_some(agrees)
}
