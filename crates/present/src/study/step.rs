//! Where the step goes.

use maud::Markup;

use super::Width;
use super::figure::Figure;
use crate::charts::{self, Ghost};
use crate::format;
use crate::insight::numbers::Numbers;
use crate::insight::utilisation::is_narrow;

/// Breakdown from the ideal time to the whole step.
pub(super) fn html(numbers: &Numbers, ghost: Ghost<'_>, width: Width) -> Markup {
    let (plan, estimate) = (&numbers.plan, &numbers.estimate);
    let narrow = if is_narrow(plan.design().training.precision) {
        " Attention stays in 16 bits: what it takes beyond this peak counts as kernels."
    } else {
        ""
    };
    Figure {
        id: "step",
        title: &format!("Why {} MFU", format::percent(estimate.metrics.mfu, 1)),
        caption: &format!(
            "Waterfall from the accelerator's peak to MFU: what each part of the step of {} takes, \
             in points. Press one for what moves it.{narrow}",
            format::duration(estimate.metrics.step_time),
        ),
        chart: &width.wide_chart(|width| charts::peak_to_mfu(plan, estimate, ghost, width)),
        rows: &charts::step_breakdown_table(estimate),
    }
    .html(&Markup::default())
}
