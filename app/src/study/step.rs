//! Where the step goes.

use maud::Markup;

use super::Width;
use super::figure::Figure;
use crate::charts::{self, Ghost};
use crate::insight::numbers::Numbers;
use crate::present::format;

/// From the ideal time to the whole step.
pub(super) fn html(numbers: &Numbers, ghost: Ghost<'_>, width: Width) -> Markup {
    let estimate = &numbers.estimate;
    Figure {
        id: "step",
        title: &format!("Why {} MFU", format::percent(estimate.metrics.mfu, 1)),
        caption: &format!(
            "Waterfall from the accelerator's peak to MFU: what each part of the step of {} takes, \
             in points. Press one for what moves it.",
            format::duration(estimate.metrics.step_time),
        ),
        chart: &width.wide_chart(|width| charts::peak_to_mfu(estimate, ghost, width)),
        rows: &charts::step_breakdown_table(estimate),
    }
    .html(&Markup::default())
}
