//! A calibration as data: what `moescape calibrate --json` prints and `POST /api/v1/calibrate`
//! answers.

use model::metric::MetricId;
use present::format;
use present::page::trust::words;
use present::words::provenance::Provenance;
use validation::own::Calibration;
use validation::own::report::{Agreement, Measured};
use validation::report::Score;

use crate::{answers::validated, ground::calendar};

/// Files of one call, at most.
pub(crate) const MAX_FILES: usize = 200;

/// The profile with what it rests on.
#[must_use]
pub(crate) fn json(found: &Calibration) -> String {
    validated::json(found, &Provenance { design: found.link.clone(), date: calendar::today() })
}

/// A run in cells: its name, measured, without the profile and with it, each with its error, and
/// the error where its design is left out.
pub(crate) fn measured(run: &Measured) -> Vec<String> {
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
pub(crate) fn agreement(runs: usize, agreement: &Agreement) -> String {
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

/// Half of the runs are farther off than this only where they are of another design: no constant
/// of a family makes so much of a difference.
const TOO_FAR: f64 = 0.4;

/// Caveat to know before a profile is used, or why there is none.
pub(crate) fn verdict(found: &Calibration) -> Option<&'static str> {
    if found.agreement.as_ref().is_some_and(|it| it.after.median > TOO_FAR) {
        return Some(
            "No constant makes up for such an error: is this the runs' design, batch and \
             accelerator?",
        );
    }
    let agrees = "The runs agree with the family's constants: there is nothing to set.";
    found.knobs.is_empty().then_some(agrees)
}
