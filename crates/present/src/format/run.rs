//! Numbers of a run's budget in their units.

use model::ground::units::Bytes;
use model::run::budget::BudgetMetric;

use crate::format;

/// A value in its unit.
#[must_use]
pub fn shown(metric: BudgetMetric, value: f64) -> String {
    match metric {
        BudgetMetric::goodput_ratio
        | BudgetMetric::checkpoint_stall_ratio
        | BudgetMetric::lost_work_ratio
        | BudgetMetric::restart_ratio => format::percent(value, 1).to_string(),
        BudgetMetric::checkpoint_bytes => format::memory(Bytes::new(value)).to_string(),
        BudgetMetric::cost | BudgetMetric::failures_expected => rounded(value),
        BudgetMetric::device_hours => format!("{} h", rounded(value)),
        BudgetMetric::energy_kwh => energy(value),
        BudgetMetric::days_to_train
        | BudgetMetric::training_days
        | BudgetMetric::checkpoint_seconds
        | BudgetMetric::optimal_checkpoint_interval_seconds => {
            format::in_unit(value, metric.metric().unit).to_string()
        }
    }
}

/// Energy in the largest unit in which it is one or more.
fn energy(kwh: f64) -> String {
    let (size, unit) = match kwh {
        _ if kwh >= 1e6 => (1e6, "GWh"),
        _ if kwh >= 1e3 => (1e3, "MWh"),
        _ => (1.0, "kWh"),
    };
    format!("{} {unit}", format::significant(kwh / size, 4))
}

/// To four digits, with separators.
#[must_use]
pub fn rounded(value: f64) -> String {
    if value.abs() < 1e4 {
        return format::significant(value, 4);
    }
    let unit = 10_f64.powi(value.abs().log10().floor() as i32 - 3);
    let whole = format::whole(((value.abs() / unit).round() * unit) as u64);
    if value < 0.0 { format!("-{whole}") } else { whole }
}
