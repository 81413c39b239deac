//! The axes of columns: their units, and what is written beside them.

use model::answer::measure::Measure;
use model::ground::units::Bytes;
use model::metric::MetricId;
use model::run::budget::BudgetMetric;
use model::serving::ServingMetric;

use super::data::{Data, Dim};
use crate::draw::scale::Scale;
use crate::format;

/// The unit that an axis is in: how much one of it is, and its name.
#[must_use]
pub fn unit(id: Measure) -> (f64, &'static str) {
    match id {
        Measure::Training(id) => unit_of_training(id),
        Measure::Serving(ServingMetric::tpot_seconds | ServingMetric::itl_seconds) => (1e-3, "ms"),
        Measure::Serving(ServingMetric::weights_bytes | ServingMetric::kv_cache_bytes) => {
            of_memory()
        }
        Measure::Serving(ServingMetric::kv_bytes_per_token) => (1e3, "kB"),
        Measure::Run(BudgetMetric::checkpoint_bytes) => of_memory(),
        Measure::Run(
            BudgetMetric::goodput_ratio
            | BudgetMetric::checkpoint_stall_ratio
            | BudgetMetric::lost_work_ratio
            | BudgetMetric::restart_ratio,
        ) => (0.01, "%"),
        Measure::Serving(_) | Measure::Run(_) | Measure::Quality(_) => (1.0, id.metric().unit),
    }
}

fn of_memory() -> (f64, &'static str) {
    let unit = format::MemoryUnit::chosen();
    (1.0 / unit.count(Bytes::new(1.0)), unit.name())
}

fn unit_of_training(id: MetricId) -> (f64, &'static str) {
    match id {
        MetricId::mfu
        | MetricId::hfu
        | MetricId::bubble_ratio
        | MetricId::bubble_ratio_closed_form
        | MetricId::overlap_ratio
        | MetricId::fit_probability
        | MetricId::token_drop_ratio => (0.01, "%"),
        MetricId::memory_peak_bytes | MetricId::memory_limit_bytes => of_memory(),
        MetricId::comm_volume_bytes => (1e9, "GB"),
        MetricId::params_total
        | MetricId::params_active
        | MetricId::params_total_no_input_embedding
        | MetricId::params_active_no_input_embedding => (1e9, "B"),
        MetricId::flops_per_token => (1e9, "GFLOP"),
        MetricId::fits
        | MetricId::tokens_per_second
        | MetricId::tokens_per_second_per_device
        | MetricId::step_time_seconds
        | MetricId::model_tflops_per_device
        | MetricId::comm_exposed_seconds
        | MetricId::imbalance_ratio => (1.0, id.metric().unit),
    }
}

/// The axis of a column with these ends.
pub(super) fn scale(dim: Dim, ends: (f64, f64), log: bool) -> Scale {
    Scale::new(ends, matches!(dim, Dim::Knob(_)), log)
}

/// The numbers that are written beside a column's axis, with their words, about `most` of them.
pub(super) fn ticks(scale: &Scale, data: &Data, dim: Dim, most: usize) -> Vec<(f64, String)> {
    match dim {
        Dim::Knob(_) => {
            let count = (scale.to - scale.from).round().max(1.0) as usize;
            let stride = count.div_ceil(most.max(1)).max(1);
            let all = (0..count).step_by(stride);
            all.map(|at| (at as f64, data.spelled(dim, at as f64))).collect()
        }
        Dim::Metric(place) => {
            let (factor, _) = data.metrics.get(place).map_or((1.0, ""), |id| unit(*id));
            let largest = scale.from.abs().max(scale.to.abs()) / factor;
            if largest < MANY {
                return scale.numbers(factor, most);
            }
            // Seven digits are wider than the room beside an axis.
            let ticks = scale.numbers(factor * MANY, most);
            ticks.into_iter().map(|(at, text)| (at, format!("{text} M"))).collect()
        }
    }
}

/// From this number on those beside an axis are in millions.
const MANY: f64 = 1e6;

/// Title of an axis: its column, with the unit.
#[must_use]
pub fn title(data: &Data, dim: Dim) -> String {
    match dim {
        Dim::Knob(_) => data.label(dim).to_owned(),
        Dim::Metric(place) => {
            let unit = data.metrics.get(place).map_or("", |id| unit(*id).1);
            let label = data.label(dim);
            if unit.is_empty() { label.to_owned() } else { format!("{label}, {unit}") }
        }
    }
}
