//! The fewest devices that meet a deadline.

use super::BudgetMetric;
use super::run::plain;
use crate::design::{Design, KnobId};
use crate::estimator::Estimator;
use crate::plan::Plan;
use crate::solve::values;

/// A number of devices with what it gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Sized {
    /// The design with it.
    pub design: Design,
    /// Days of the run.
    pub days: f64,
    /// Whether they are within the deadline and the design fits.
    pub is_in_time: bool,
    /// Numbers of devices that were tried.
    pub tried: usize,
}

/// The fewest devices on which a run ends within so many days and fits; the fastest that fits where
/// none does. The layout of a replica stays as it is: replicas come and go.
///
/// None where no number of devices is legal, or tokens aren't known.
#[must_use]
pub fn fewest_devices(plan: &Plan, most_days: f64) -> Option<Sized> {
    let mut estimator = Estimator::new();
    let mut best: Option<Sized> = None;
    let mut tried = 0;
    for value in values(plan.design(), KnobId::num_devices) {
        let mut design = plan.design().clone();
        if design.set(KnobId::num_devices, &value).is_err() {
            continue;
        }
        let Ok(metrics) = estimator.metrics(&design) else { continue };
        let Ok(other) = plan.variant(&design) else { continue };
        tried += 1;
        let Some(days) = plain(&other, &metrics).get(BudgetMetric::days_to_train) else { continue };
        if !metrics.fits {
            continue;
        }
        let is_in_time = days <= most_days;
        if best.as_ref().is_none_or(|best| days < best.days) || is_in_time {
            best = Some(Sized { design, days, is_in_time, tried });
        }
        if is_in_time {
            break;
        }
    }
    best.map(|best| Sized { tried, ..best })
}
