//! How far a prediction of serving may be off, from published runs of sources that no overhead was
//! fitted on.

use super::metric::ServingMetric;
use super::overheads::{FIRST_SPREAD, SPREADS};
use super::plan::ServingPlan;
use crate::catalogue::calibration::Spread;
use crate::metric::Basis;
use crate::training::range::Range;

/// The range of a metric of serving; `None` if it is a count, or nothing published tells.
///
/// A token takes e^x times as long as predicted, x the error of left-out sources with models of
/// this kind; a rate is e^-x times as high. First tokens under load have errors of their own, and
/// of memory nothing is compared yet.
#[must_use]
pub fn serving_range(plan: &ServingPlan, metric: ServingMetric) -> Option<Range> {
    let kind = plan.design().transformer.model_kind();
    let spread = if metric == ServingMetric::ttft_seconds {
        &FIRST_SPREAD
    } else {
        SPREADS.iter().find(|spread| spread.kind == kind)?
    };
    let factors = |spread: &'static Spread, way: fn([f64; 2]) -> [f64; 2]| Range {
        half: way(spread.half).map(libm::exp),
        most: way(spread.most).map(libm::exp),
        basis: spread,
        family: "",
    };
    match metric.metric().basis {
        Basis::Time => Some(factors(spread, |ends| ends)),
        Basis::Rate => Some(factors(spread, |[low, high]| [-high, -low])),
        Basis::Memory | Basis::Verdict | Basis::Exact | Basis::Derived => None,
    }
}
