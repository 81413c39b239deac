//! What a device sends, and how much of it compute hides.

use std::fmt::Write as _;

use model::axis::Axis;
use model::estimate::{Estimate, PhaseOverlap};

use super::Width;
use super::figure::Figure;
use crate::charts;
use crate::insight::numbers::Numbers;
use crate::present::{format, html};

/// Per axis, collective and link; below it what each phase of the pipeline hides.
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
    .html(&phases(estimate))
}

/// The hidden share of each axis and phase, with a bar; nothing where nothing runs beside another.
fn phases(estimate: &Estimate) -> String {
    let mut axes = Vec::new();
    let mut phases = Vec::new();
    for part in estimate.overlap.iter().filter(|part| part.time.get() > 0.0) {
        if !axes.contains(&part.axis) {
            axes.push(part.axis);
        }
        if !phases.contains(&part.phase) {
            phases.push(part.phase);
        }
    }
    if axes.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<table class=\"phases\"><caption>Hidden by compute, per axis and phase of the pipeline\
         </caption><thead><tr><th scope=\"col\">Axis</th>",
    );
    for phase in &phases {
        html::element(&mut html, "th", "scope=\"col\"", phase.label());
    }
    html.push_str("</tr></thead><tbody>");
    for axis in axes {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", label(axis));
        for phase in &phases {
            let is_it = |part: &&PhaseOverlap| {
                part.axis == axis && part.phase == *phase && part.time.get() > 0.0
            };
            match estimate.overlap.iter().find(is_it) {
                Some(part) => cell(&mut html, part.ratio()),
                None => html.push_str("<td></td>"),
            }
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    html
}

/// An axis in a heading: `TP`.
fn label(axis: Axis) -> String {
    match axis {
        Axis::Host => "Host".to_owned(),
        Axis::Tp | Axis::Cp | Axis::Ep | Axis::Pp | Axis::Dp | Axis::Edp => {
            axis.name().to_uppercase()
        }
    }
}

fn cell(html: &mut String, ratio: f64) {
    let width = (ratio.clamp(0.0, 1.0) * 100.0).round();
    let _ = write!(
        html,
        "<td>{}<svg class=\"cell-bar\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><rect width=\"{width}\" height=\"4\"></rect></svg></td>",
        format::percent(ratio, 1)
    );
}
