//! How far an estimate may be off, from published runs that were kept out of the fit.

use crate::calibration::{BANDS, Band, MEMORY_BAND};
use crate::metric::MetricId;
use crate::plan::Plan;

/// Runs below which a family's own band says less than all families together.
const FEWEST_ROWS: u32 = 8;

/// The expected error of a metric, or none where it is a count that its definition makes exact.
///
/// Relative errors of the step time hold for all that is derived from it. Half of the held-out runs
/// lie within the median, nine of ten within the 90th percentile. The band is the one of the
/// plan's family of accelerators and kind of model; with fewer than eight runs there, the one of
/// all families.
#[must_use]
pub fn error_band(plan: &Plan, metric: MetricId) -> Option<&'static Band> {
    match metric {
        MetricId::mfu
        | MetricId::hfu
        | MetricId::tokens_per_second
        | MetricId::tokens_per_second_per_device
        | MetricId::step_time_seconds
        | MetricId::model_tflops_per_device => step_band(plan),
        MetricId::memory_peak_bytes => Some(&MEMORY_BAND),
        MetricId::params_total
        | MetricId::params_active
        | MetricId::params_total_no_input_embedding
        | MetricId::params_active_no_input_embedding
        | MetricId::flops_per_token
        | MetricId::memory_limit_bytes
        | MetricId::fits
        | MetricId::fit_probability
        | MetricId::bubble_ratio
        | MetricId::bubble_ratio_closed_form
        | MetricId::comm_volume_bytes
        | MetricId::comm_exposed_seconds
        | MetricId::overlap_ratio
        | MetricId::imbalance_ratio
        | MetricId::token_drop_ratio => None,
    }
}

fn step_band(plan: &Plan) -> Option<&'static Band> {
    let experts = plan.shape.moe_layers > 0;
    let of = |family: &str, fewest: u32| {
        BANDS
            .iter()
            .find(|band| band.family == family && band.experts == experts && band.rows >= fewest)
    };
    of(plan.accelerator.kernels.family, FEWEST_ROWS).or_else(|| of("", 0))
}
