//! The metrics by which designs are compared, and which way is better.

use std::cmp::Ordering;

use model::metric::{Better, MetricId};
use model::training::estimate::Metrics;

use crate::format;

/// A metric that designs are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Objective {
    /// The metric.
    pub metric: MetricId,
}

/// The metrics to choose from; the first is the usual one.
pub const OBJECTIVES: [Objective; 6] = [
    Objective { metric: MetricId::mfu },
    Objective { metric: MetricId::tokens_per_second_per_device },
    Objective { metric: MetricId::step_time_seconds },
    Objective { metric: MetricId::memory_peak_bytes },
    Objective { metric: MetricId::bubble_ratio },
    Objective { metric: MetricId::comm_exposed_seconds },
];

impl Objective {
    /// The one of that metric's id, else the usual one.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let found = OBJECTIVES.into_iter().find(|it| it.metric.metric().name == name);
        found.unwrap_or(OBJECTIVES[0])
    }

    /// The metric's value.
    #[must_use]
    pub fn value(self, metrics: &Metrics) -> f64 {
        format::number(metrics.get(self.metric))
    }

    /// A value with its unit.
    #[must_use]
    pub fn text(self, value: f64) -> String {
        format::measured(self.metric, value).to_string()
    }

    /// A value's change against another: in points for shares, else relative.
    #[must_use]
    pub fn change(self, now: f64, then: f64) -> String {
        format::change(self.metric, now, then)
    }

    /// Order of two values; the better one is greater.
    #[must_use]
    pub fn compare(self, one: f64, other: f64) -> Ordering {
        match self.metric.metric().better {
            Some(Better::Lower) => other.total_cmp(&one),
            Some(Better::Higher) | None => one.total_cmp(&other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_is_found_by_its_metric_and_knows_what_is_better() {
        let memory = Objective::named("memory_peak_bytes");
        assert_eq!(memory.compare(1.0, 2.0), Ordering::Greater);
        assert_eq!(memory.change(1.5, 1.0), "+50.0 %");
        let mfu = Objective::named("no such metric");
        assert_eq!(mfu.metric, MetricId::mfu);
        assert_eq!(mfu.compare(0.4, 0.3), Ordering::Greater);
        assert_eq!(mfu.change(0.4, 0.3), "+10.0 pt");
    }
}
