//! What a device sends, and how much of it compute hides.

use maud::{Markup, html};
use model::ground::axis::Axis;
use model::training::estimate::{Estimate, PhaseOverlap};

use super::Width;
use super::figure::Figure;
use crate::charts::{self, Ghost};
use crate::format;
use crate::html::cell_bar;
use crate::insight::numbers::Numbers;

/// Per axis, collective and link; below it what each phase of the pipeline hides.
pub(super) fn html(numbers: &Numbers, ghost: Ghost<'_>, width: Width) -> Markup {
    let estimate = &numbers.estimate;
    Figure {
        id: "communication",
        title: "Communication",
        caption: &format!(
            "{} per device and step; {} of the communication time is hidden",
            format::traffic(estimate.metrics.comm_volume),
            format::percent(estimate.metrics.overlap_ratio, 1),
        ),
        chart: &width.chart(|width| charts::communication(estimate, ghost, width)),
        rows: &charts::communication_table(estimate),
    }
    .html(&phases(estimate))
}

/// The hidden share of each axis and phase, with a bar; empty if nothing overlaps.
fn phases(estimate: &Estimate) -> Markup {
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
        return Markup::default();
    }
    let cell = |axis: Axis, phase| {
        let mut parts = estimate.overlap.iter().filter(|part| part.time.get() > 0.0);
        let ratio = parts.find(|it| it.axis == axis && it.phase == phase).map(PhaseOverlap::ratio);
        html! {
            td { @if let Some(it) = ratio { (format::percent(it, 1)) (cell_bar(it)) } }
        }
    };
    html! {
        table.phases {
            caption { "Hidden by compute, per axis and phase of the pipeline" }
            thead {
                tr {
                    th scope="col" { "Axis" }
                    @for phase in &phases { th scope="col" { (phase.label()) } }
                }
            }
            tbody {
                @for axis in axes {
                    tr {
                        th scope="row" { (label(axis)) }
                        @for phase in &phases { (cell(axis, *phase)) }
                    }
                }
            }
        }
    }
}

/// An axis in a heading: `TP`.
fn label(axis: Axis) -> String {
    match axis {
        Axis::Host => "Host".to_owned(),
        Axis::Tp | Axis::Cp | Axis::Ep | Axis::Pp | Axis::Dp | Axis::Edp => {
            axis.name().to_ascii_uppercase()
        }
    }
}
