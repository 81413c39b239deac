//! What is said beside a number of how far it may be off.

use model::Plan;
use model::calibration::Band;
use model::estimate::Metrics;
use model::metric::{MetricId, MetricValue};

use crate::format;

/// What is known of a metric's error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// Errors on published runs that the constants were not fitted on.
    Band(&'static Band),
    /// Such runs would tell, but none has been compared.
    Unknown,
    /// A verdict on the peak memory.
    AsPeakMemory,
    /// A count or a formula: its definition makes it exact.
    Exact,
    /// Follows from the model's parts; runs that publish it are too few to compare.
    Derived,
}

/// What is known of the error of a metric of this plan.
#[must_use]
pub fn expected(plan: &Plan, metric: MetricId) -> Expected {
    if let Some(band) = model::error_band(plan, metric) {
        return if band.rows == 0 { Expected::Unknown } else { Expected::Band(band) };
    }
    match metric {
        MetricId::params_total
        | MetricId::params_active
        | MetricId::params_total_no_input_embedding
        | MetricId::params_active_no_input_embedding
        | MetricId::flops_per_token
        | MetricId::memory_limit_bytes
        | MetricId::bubble_ratio_closed_form => Expected::Exact,
        MetricId::fits | MetricId::fit_probability => Expected::AsPeakMemory,
        MetricId::mfu
        | MetricId::hfu
        | MetricId::tokens_per_second
        | MetricId::tokens_per_second_per_device
        | MetricId::step_time_seconds
        | MetricId::model_tflops_per_device
        | MetricId::memory_peak_bytes
        | MetricId::bubble_ratio
        | MetricId::comm_volume_bytes
        | MetricId::comm_exposed_seconds
        | MetricId::overlap_ratio
        | MetricId::imbalance_ratio
        | MetricId::token_drop_ratio => Expected::Derived,
    }
}

impl Expected {
    /// In a few words, to stand below a number: `± 8 % typical`.
    #[must_use]
    pub fn short(self) -> String {
        match self {
            Self::Band(band) => format!("± {} typical", rounded(band.median)),
            Self::Unknown => "error not known".to_owned(),
            Self::AsPeakMemory => "as peak memory".to_owned(),
            Self::Exact => "exact count".to_owned(),
            Self::Derived => "not validated".to_owned(),
        }
    }

    /// In a sentence.
    #[must_use]
    pub fn sentence(self) -> String {
        match self {
            Self::Band(band) => format!(
                "Half of {} lie within {}, nine of ten within {}.",
                runs(band),
                format::percent(band.median, 1),
                format::percent(band.p90, 1),
            ),
            Self::AsPeakMemory => {
                "Follows from the peak memory and how far that may be off.".to_owned()
            }
            Self::Unknown => "No published run has been compared with predictions like this one \
                              yet, so its error isn't known."
                .to_owned(),
            Self::Exact => "An exact count: it follows from the definition and the knobs, without \
                            any measured constant."
                .to_owned(),
            Self::Derived => "Derived from the same model as the step time, but not validated by \
                              itself: hardly any published run states it."
                .to_owned(),
        }
    }

    /// What the band means for a value: the range of half of the runs and of nine in ten.
    #[must_use]
    pub fn ranges(self, metric: MetricId, metrics: &Metrics) -> Option<String> {
        let (Self::Band(band), MetricValue::Number(value)) = (self, metrics.get(metric)) else {
            return None;
        };
        let range = |share: f64| {
            let [low, high] = [1.0 - share, 1.0 + share]
                .map(|factor| format::metric(metric, MetricValue::Number(value * factor.max(0.0))));
            if low.unit == high.unit {
                format!("{} to {high}", low.number)
            } else {
                format!("{low} to {high}")
            }
        };
        Some(format!("Here: {}, or {}.", range(band.median), range(band.p90)))
    }
}

/// The runs of a band: `8 held-out published runs of dense models on NVIDIA Hopper (2 sources)`.
fn runs(band: &Band) -> String {
    let sources = match band.sources {
        0 => String::new(),
        count => format!(" ({})", format::counted(count.into(), "source", "sources")),
    };
    let count = |one, many| format::counted(band.rows.into(), one, many);
    if *band == model::calibration::MEMORY_BAND {
        let runs = count("run with a published", "runs with a published");
        return format!("{runs} peak memory{sources}");
    }
    let runs = count("held-out published run", "held-out published runs");
    let models = if band.experts { "mixture-of-experts models" } else { "dense models" };
    format!("{runs} of {models} on {}{sources}", family(band))
}

/// The accelerators that a band is about.
#[must_use]
pub fn family(band: &Band) -> &'static str {
    if band.family.is_empty() { "all accelerators" } else { band.family }
}

/// A share in as few digits as tell it from its neighbours.
fn rounded(share: f64) -> String {
    format::percent(share, usize::from(share < 0.02)).to_string()
}

#[cfg(test)]
mod tests {
    use model::calibration::MEMORY_BAND;
    use model::design::Design;

    use super::*;

    const BAND: Band = Band {
        family: "NVIDIA Hopper",
        experts: true,
        median: 0.078,
        p90: 0.191,
        rows: 212,
        sources: 14,
    };

    #[test]
    fn a_band_is_said_short_and_in_a_sentence() {
        static SHOWN: Band = BAND;
        let expected = Expected::Band(&SHOWN);
        assert_eq!(expected.short(), "± 8 % typical");
        assert_eq!(
            expected.sentence(),
            "Half of 212 held-out published runs of mixture-of-experts models on NVIDIA Hopper \
             (14 sources) lie within 7.8 %, nine of ten within 19.1 %."
        );
    }

    #[test]
    fn a_small_error_keeps_a_decimal() {
        static SMALL: Band = Band { median: 0.0046, rows: 1, sources: 1, family: "", ..BAND };
        let expected = Expected::Band(&SMALL);
        assert_eq!(expected.short(), "± 0.5 % typical");
        let sentence = expected.sentence();
        assert!(sentence.contains("1 held-out published run of"), "{sentence}");
        assert!(sentence.contains("on all accelerators (1 source)"), "{sentence}");
    }

    #[test]
    fn memory_speaks_of_memory() {
        static MEMORY: Band = MEMORY_BAND;
        assert!(Expected::Band(&MEMORY).sentence().contains("peak memory"));
    }

    #[test]
    fn the_ranges_are_those_of_the_value_and_never_negative() {
        static WIDE: Band = Band { median: 0.1, p90: 1.5, ..BAND };
        let design = Design::from_preset("pangu-ultra-moe-6k").expect("a preset");
        let plan = Plan::new(&design).expect("a legal preset");
        let mut metrics = model::estimate(&plan).metrics;
        metrics.mfu = 0.3;
        let ranges = Expected::Band(&WIDE).ranges(MetricId::mfu, &metrics);
        assert_eq!(ranges.as_deref(), Some("Here: 27.0 to 33.0 %, or 0.0 to 75.0 %."));
        assert_eq!(Expected::Band(&WIDE).ranges(MetricId::fits, &metrics), None);
        assert_eq!(Expected::Exact.ranges(MetricId::mfu, &metrics), None);
    }

    #[test]
    fn every_metric_says_something() {
        let design = Design::from_preset("pangu-ultra-moe-6k").expect("a preset");
        let plan = Plan::new(&design).expect("a legal preset");
        for metric in MetricId::ALL {
            let expected = expected(&plan, *metric);
            assert!(!expected.short().is_empty() && expected.sentence().ends_with('.'));
        }
        assert_eq!(expected(&plan, MetricId::flops_per_token), Expected::Exact);
        assert_eq!(expected(&plan, MetricId::bubble_ratio), Expected::Derived);
    }
}
