//! Targets of a run, and what has to be known of it first.

use alloc::vec::Vec;

use super::published::rated_watts;
use super::run::plain;
use crate::design::{Design, KnobId};
use crate::ground::knob::Value;
use crate::metric::{BudgetMetrics, MetricId, Regime};
use crate::training::estimate::Metrics;
use crate::training::plan::Plan;

/// Target of a run: a metric of its budget, and an upper or lower limit for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunTarget {
    /// The metric.
    pub metric: MetricId,
    /// Whether the limit is the most; the least otherwise.
    pub is_most: bool,
    /// The limit, in the metric's unit.
    pub limit: f64,
}

impl RunTarget {
    /// The metric's value for a design with these metrics of a step; `None` if the design is
    /// illegal or the value isn't known.
    #[must_use]
    pub fn number(&self, design: &Design, metrics: &Metrics) -> Option<f64> {
        let plan = Plan::new(design).ok()?;
        plain(&plan, metrics).get(self.metric)
    }

    /// Whether a value is within the limit.
    #[must_use]
    pub fn is_reached(&self, value: f64) -> bool {
        if self.is_most { value <= self.limit } else { value >= self.limit }
    }

    /// Order of values by the target: more is nearer.
    #[must_use]
    pub fn nearness(&self, value: f64) -> f64 {
        if self.is_most { -value } else { value }
    }

    /// Relative distance of a value from the limit; zero within it.
    #[must_use]
    pub fn shortfall(&self, value: f64) -> f64 {
        let ratio = value / self.limit.max(1e-300);
        (if self.is_most { ratio - 1.0 } else { 1.0 - ratio }).max(0.0)
    }
}

impl core::fmt::Display for RunTarget {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let way = if self.is_most { "<=" } else { ">=" };
        write!(f, "{}{way}{}", self.metric.metric().name, self.limit)
    }
}

const TOKENS: &[KnobId] = &[KnobId::train_tokens];
const RECOVERY: &[KnobId] = &[KnobId::mtbf_device_hours, KnobId::checkpoint_gb_per_sec];

/// Knobs of a run without which a metric isn't known.
const NEEDS: BudgetMetrics<&[KnobId]> = BudgetMetrics {
    days_to_train: TOKENS,
    training_days: TOKENS,
    device_hours: TOKENS,
    cost: &[KnobId::train_tokens, KnobId::price_per_device_hour],
    energy_kwh: &[KnobId::train_tokens, KnobId::device_watts],
    goodput_ratio: RECOVERY,
    checkpoint_stall_ratio: RECOVERY,
    lost_work_ratio: RECOVERY,
    restart_ratio: RECOVERY,
    failures_expected: &[
        KnobId::train_tokens,
        KnobId::mtbf_device_hours,
        KnobId::checkpoint_gb_per_sec,
    ],
    checkpoint_bytes: &[],
    checkpoint_seconds: RECOVERY,
    optimal_checkpoint_interval_seconds: RECOVERY,
};

/// Knobs of a run that have no value in a design, and without which a metric isn't known.
#[must_use]
pub fn lacks(metric: MetricId, design: &Design) -> Vec<KnobId> {
    let needs = match metric.regime() {
        Regime::Budget => NEEDS.get(metric).copied().unwrap_or_default(),
        Regime::Quality => TOKENS,
        Regime::Model | Regime::Training | Regime::Serving => &[],
    };
    let is_rated = rated_watts(design.cluster.accelerator).is_some();
    let is_known =
        |knob: KnobId| knob == KnobId::device_watts && is_rated || design.get(knob) != Value::None;
    needs.iter().copied().filter(|knob| !is_known(*knob)).collect()
}
