//! Targets of a run, and what has to be known of it first.

use alloc::vec::Vec;

use super::metric::BudgetMetric;
use super::run::plain;
use crate::design::{Design, KnobId};
use crate::training::estimate::Metrics;
use crate::training::plan::Plan;

/// Target of a run: a metric of its budget, and an upper or lower limit for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunTarget {
    /// The metric.
    pub metric: BudgetMetric,
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

impl BudgetMetric {
    /// Knobs of a run that have no value in a design, and without which this metric isn't known.
    #[must_use]
    pub fn lacks(self, design: &Design) -> Vec<KnobId> {
        let run = &design.run;
        let counts = !matches!(
            self,
            Self::goodput_ratio
                | Self::checkpoint_stall_ratio
                | Self::lost_work_ratio
                | Self::restart_ratio
                | Self::checkpoint_bytes
                | Self::checkpoint_seconds
                | Self::optimal_checkpoint_interval_seconds
        );
        let recovers = self == Self::failures_expected || !counts && self != Self::checkpoint_bytes;
        let watts =
            run.device_watts.is_some() || design.cluster.accelerator.row().rated_watts.is_some();
        let needed = [
            (KnobId::train_tokens, counts && run.train_tokens.is_none()),
            (
                KnobId::price_per_device_hour,
                self == Self::cost && run.price_per_device_hour.is_none(),
            ),
            (KnobId::device_watts, self == Self::energy_kwh && !watts),
            (KnobId::mtbf_device_hours, recovers && run.mtbf_device_hours.is_none()),
            (KnobId::checkpoint_gb_per_sec, recovers && run.checkpoint_gb_per_sec.is_none()),
        ];
        needed.into_iter().filter_map(|(knob, lacks)| lacks.then_some(knob)).collect()
    }
}
