//! How far a prediction of serving may be off, from published runs of sources that no overhead was
//! fitted on.

use super::overheads::{FIRST_SPREAD, SPREADS};
use super::plan::ServingPlan;
use crate::metric::MetricId;
use crate::training::range::{Range, followed};

/// The range of a metric of serving; `None` if it is a count, or nothing published tells.
///
/// A token takes e^x times as long as predicted, x the error of left-out sources with models of
/// this kind; a rate is e^-x times as high. First tokens under load have errors of their own, and
/// of memory nothing is compared yet.
#[must_use]
pub(crate) fn serving_range(plan: &ServingPlan, metric: MetricId) -> Option<Range> {
    let kind = plan.design().transformer.model_kind();
    let spread = if metric == MetricId::ttft_seconds {
        &FIRST_SPREAD
    } else {
        SPREADS.iter().find(|spread| spread.kind == kind)?
    };
    followed(spread, metric.metric().basis, "")
}
