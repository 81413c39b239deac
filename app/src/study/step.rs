//! Where the step goes.

use maud::Markup;

use super::Width;
use super::figure::Figure;
use crate::charts;
use crate::insight::numbers::Numbers;
use crate::present::format;

/// From the ideal time to the whole step.
pub(super) fn html(numbers: &Numbers, width: Width) -> Markup {
    let estimate = &numbers.estimate;
    Figure {
        id: "step",
        title: "Where the step goes",
        caption: &format!(
            "From the ideal time to the step of {}; its parts add up",
            format::duration(estimate.metrics.step_time),
        ),
        chart: &width.chart(|width| charts::step_breakdown(estimate, width)),
        rows: &charts::step_breakdown_table(estimate),
    }
    .html(&Markup::default())
}
