//! What a device sends.

use super::Width;
use super::figure::Figure;
use crate::numbers::Numbers;
use crate::{charts, format};

/// Per axis, collective and link.
pub(super) fn html(numbers: &Numbers, width: Width) -> String {
    let estimate = &numbers.estimate;
    Figure {
        id: "communication",
        title: "Communication",
        caption: &format!(
            "{} per device and step; {} of the communication time is hidden",
            format::traffic(estimate.metrics.comm_volume),
            format::percent(estimate.metrics.overlap_ratio, 1),
        ),
        chart: &width.chart(|width| charts::communication(estimate, width)),
        rows: &charts::communication_table(estimate),
    }
    .html("")
}
