//! The bubble against the number of micro-batches.

use maud::Markup;

use super::Width;
use super::figure::Figure;
use crate::charts::{Bubbles, Compared};
use crate::format;
use crate::insight::numbers::Numbers;

/// Bubble by the published formula and with actual stage times.
pub(super) fn html(numbers: &Numbers, ghost: Option<(&Compared<'_>, u64)>, width: Width) -> Markup {
    let Numbers { plan, estimate } = numbers;
    let bubbles = Bubbles::new(plan, estimate);
    Figure {
        id: "bubble",
        title: "Bubble against micro-batches",
        caption: &format!(
            "At {}: {} by the closed form, {} with actual stage times",
            format::counted(plan.num_microbatches(), "micro-batch", "micro-batches"),
            format::percent(estimate.metrics.bubble_ratio_closed_form, 2),
            format::percent(estimate.metrics.bubble_ratio, 2),
        ),
        chart: &width.chart(|width| bubbles.chart(ghost, width)),
        rows: &bubbles.table(),
    }
    .html(&Markup::default())
}
