//! One knob moves until the run is within a target.

use super::metric::BudgetMetric;
use super::run::plain;
use crate::design::{Design, KnobId};
use crate::estimator::Estimator;
use crate::knob::Value;
use crate::plan::Plan;
use crate::solve::{Wish, values};

/// What is asked of a run: a metric of its budget, at most or at least so much.
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
    fn is_reached(&self, value: f64) -> bool {
        if self.is_most { value <= self.limit } else { value >= self.limit }
    }

    /// How near a value is: more is nearer.
    fn nearness(&self, value: f64) -> f64 {
        if self.is_most { -value } else { value }
    }
}

/// A value of the knob with what it gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Sized {
    /// The value.
    pub value: Value,
    /// The design with it.
    pub design: Design,
    /// The metric that was asked for.
    pub number: f64,
    /// Whether the target is reached.
    pub is_reached: bool,
    /// Values that were tried, those that fit.
    pub tried: usize,
}

/// The value of a knob that is wanted ([`Wish::of`]: the fewest devices, the largest batch, else
/// the shortest run) of those with which a run reaches a target and fits; the nearest that fits
/// where none does. All else of the design stays as it is: of devices, replicas come and go.
///
/// None where no value fits, or where the metric isn't known.
#[must_use]
pub fn solve_run(plan: &Plan, knob: KnobId, target: RunTarget) -> Option<Sized> {
    let mut estimator = Estimator::new();
    let wish = Wish::of(knob);
    let mut best: Option<((bool, f64), Sized)> = None;
    let mut tried = 0;
    for (place, value) in values(plan.design(), knob).into_iter().enumerate() {
        let mut design = plan.design().clone();
        if design.set(knob, &value).is_err() {
            continue;
        }
        let Ok(metrics) = estimator.metrics(&design) else { continue };
        let Ok(other) = plan.variant(&design) else { continue };
        if !metrics.fits {
            continue;
        }
        let budget = plain(&other, &metrics);
        let Some(number) = budget.get(target.metric) else { continue };
        tried += 1;
        let is_reached = target.is_reached(number);
        // Values ascend.
        let merit = match (is_reached, wish) {
            (false, _) => target.nearness(number),
            (true, Wish::Largest) => place as f64,
            (true, Wish::Smallest) => -(place as f64),
            (true, Wish::Fastest) => -budget.get(BudgetMetric::days_to_train).unwrap_or(f64::MAX),
        };
        let key = (is_reached, merit);
        let is_better = best
            .as_ref()
            .is_none_or(|(known, _)| key.0.cmp(&known.0).then(key.1.total_cmp(&known.1)).is_gt());
        if is_better {
            best = Some((key, Sized { value, design, number, is_reached, tried }));
        }
    }
    best.map(|(_, best)| Sized { tried, ..best })
}

/// The fewest devices on which a run ends within so many days and fits; the fastest that fits where
/// none does.
#[must_use]
pub fn fewest_devices(plan: &Plan, most_days: f64) -> Option<Sized> {
    let metric = BudgetMetric::days_to_train;
    solve_run(plan, KnobId::num_devices, RunTarget { metric, is_most: true, limit: most_days })
}
