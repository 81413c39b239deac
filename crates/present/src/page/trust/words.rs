//! Runs and scores as text.

use model::catalogue::accelerator::AcceleratorId;
use model::ground::choice::Choice;
use model::metric::MetricId;
use model::training::range::MIN_SOURCES;
use validation::report::{LeftOutScore, Row, Score, Summary, Target};

use crate::format;

/// Placeholder for a missing number.
pub const NOTHING: &str = "–";

/// A metric's name, by its id.
#[must_use]
pub fn metric_label(id: &str) -> &str {
    MetricId::find(id).map_or(id, |id| id.metric().label)
}

/// An accelerator's name, by its id.
#[must_use]
pub fn accelerator_label(id: &str) -> &str {
    AcceleratorId::from_name(id).map_or(id, |id| id.row().title)
}

/// The value of a row's metric with its unit.
#[must_use]
pub fn value(row: &Row, value: Option<f64>) -> String {
    let id = row.metric.as_deref().and_then(MetricId::find);
    match (id, value) {
        (Some(id), Some(value)) => format::measured(id, value).to_string(),
        _ => NOTHING.to_owned(),
    }
}

/// An error with its sign: `+4.2 %`.
#[must_use]
pub fn error(error: f64) -> String {
    format!("{} %", format::signed(error * 100.0, 1))
}

/// The size of an error: `4.2 %`.
#[must_use]
pub fn share(share: f64) -> String {
    format::percent(share, 1).to_string()
}

/// The run in a few words: `bridge_perf-003, Qwen3 30B, 8 devices`.
#[must_use]
pub fn run(row: &Row) -> String {
    let devices = row.num_devices.map(devices);
    let words = [Some(row.id.clone()), Some(row.model.clone()), devices];
    let words: Vec<_> = words.into_iter().flatten().filter(|word| !word.is_empty()).collect();
    words.join(", ")
}

/// `1 device`, `256 devices`.
#[must_use]
pub fn devices(count: u64) -> String {
    format::counted(count, "device", "devices")
}

/// Sentence on the errors of some runs.
#[must_use]
pub fn score(score: &Score) -> String {
    format!(
        "Half are predicted within {}, nine of ten within {}; {} are within 10 %. {}",
        share(score.median),
        share(score.p90),
        format::percent(score.within_tenth, 0),
        bias(score),
    )
}

/// On which side predictions are, in a sentence.
#[must_use]
pub fn bias(score: &Score) -> String {
    if share(score.bias.abs()) == share(0.0) {
        return format!("No systematic bias: the median error is {}.", share(0.0));
    }
    let side = if score.bias < 0.0 { "short" } else { "long" };
    format!("Median bias: predicted step times are {} too {side}.", share(score.bias.abs()))
}

/// Headline of all runs: the errors on sources that the model hasn't seen.
#[must_use]
pub fn headline(summary: &Summary) -> String {
    let Some(all) = summary.left_out.iter().find(|score| score.kind.is_none()) else {
        return "No published run is compared yet.".to_owned();
    };
    format!(
        "Half of {} are predicted within {}, nine of ten within {}, by constants that were fitted \
         without their source.",
        format::counted(all.rows as u64, "published run", "published runs"),
        share(all.median),
        share(all.p90),
    )
}

/// Errors by the constants as they are, which may have been fitted on these runs.
#[must_use]
pub fn fitted(summary: &Summary) -> String {
    let score = &summary.all;
    let left_out = summary.left_out.iter().find(|score| score.kind.is_none());
    let is_fitted = left_out.is_none_or(|left_out| (left_out.p90 - score.p90).abs() > 1e-9);
    let errors = if is_fitted {
        format!("With them in the fit it is {} and {}; ", share(score.median), share(score.p90))
    } else {
        String::new()
    };
    let within = format::percent(score.within_tenth, 0);
    format!("{errors}{within} are within 10 %. {}", bias(score))
}

/// The runs of a score of sources that were left out: `dense, Ascend 910`.
#[must_use]
pub fn left_out(score: &LeftOutScore) -> String {
    let family = if score.family.is_empty() { "All accelerators" } else { &score.family };
    match score.kind.as_deref() {
        None => "All runs but those of layers that differ".to_owned(),
        Some("experts") => format!("{family}, mixture of experts"),
        Some("mixed") => format!("{family}, layers that differ"),
        Some(kind) => format!("{family}, {kind}"),
    }
}

/// The coverage of its ranges: `51 %, 89 %`.
#[must_use]
pub fn coverage(score: &LeftOutScore) -> String {
    score.coverage.map_or_else(
        || format!("fewer than {MIN_SOURCES} sources"),
        |shares| {
            let [half, most] = shares.map(|share| format::percent(share, 0));
            format!("{half}, {most}")
        },
    )
}

/// Value that a target reached.
#[must_use]
pub fn reached(target: &Target) -> String {
    format::percent(target.reached, 2).to_string()
}

/// Limit of a target: `at most 8.00 %`.
#[must_use]
pub fn limit(target: &Target) -> String {
    // Whichever of the two explains the verdict.
    let is_least = target.met == (target.reached >= target.limit);
    let direction = if is_least { "at least" } else { "at most" };
    format!("{direction} {}", format::percent(target.limit, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_its_metrics_unit() {
        let row = |metric: &str| Row { metric: Some(metric.to_owned()), ..Row::default() };
        assert_eq!(value(&row("mfu"), Some(0.412)), "41.2 %");
        assert_eq!(value(&row("step_time_seconds"), Some(12.5)), "12.5 s");
        assert_eq!(value(&row("tokens_per_second_per_device"), Some(8_224.0)), "8,224 tokens/s");
        assert_eq!(value(&row("mfu"), None), NOTHING);
        assert_eq!(value(&row("no_such_metric"), Some(1.0)), NOTHING);
    }

    #[test]
    fn a_target_says_in_which_direction_it_is_met() {
        let target = |reached, limit, met| {
            let (name, asked) = (String::new(), String::from("share in order"));
            super::limit(&Target { name, asked, reached, limit, met })
        };
        assert_eq!(target(0.95, 0.9, true), "at least 90.00 %");
        assert_eq!(target(0.5, 0.9, false), "at least 90.00 %");
        assert_eq!(target(0.05, 0.08, true), "at most 8.00 %");
        assert_eq!(target(0.1, 0.08, false), "at most 8.00 %");
    }
}
