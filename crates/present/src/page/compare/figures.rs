//! The charts of all designs together.

use maud::{Markup, html};

use super::numbers::Column;
use crate::charts::{self, Compared};
use crate::study::figure::Figure;

/// Draws a chart of the designs for a width.
type Draw = fn(&[Compared<'_>], u32) -> String;
/// Gives its table.
type Rows = fn(&[Compared<'_>]) -> Vec<Vec<String>>;

/// A chart: id, heading, caption.
struct Spec {
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    draw: Draw,
    rows: Rows,
}

const FIGURES: [Spec; 3] = [
    Spec {
        id: "compare-memory",
        title: "Memory per pipeline stage",
        caption: "Peak of each stage per device, beside the same stage of the other designs",
        draw: charts::compared_memory,
        rows: charts::compared_memory_table,
    },
    Spec {
        id: "compare-step",
        title: "Where the step goes",
        caption: "The time of a step, from what a perfect machine needs to the whole",
        draw: charts::compared_step,
        rows: charts::compared_step_table,
    },
    Spec {
        id: "compare-axes",
        title: "Bubble and communication",
        caption: "Time per step, mean over devices; hatched: hidden by compute",
        draw: charts::compared_axes,
        rows: charts::compared_axes_table,
    },
];

/// The figures of the designs that run; nothing where none does.
pub(super) fn html(columns: &[Column]) -> Markup {
    let shown: Vec<Compared<'_>> = columns
        .iter()
        .enumerate()
        .filter_map(|(place, column)| {
            let estimate = &column.numbers()?.estimate;
            Some(Compared { place, name: label(column), estimate })
        })
        .collect();
    if shown.is_empty() {
        return Markup::default();
    }
    let figures = FIGURES.iter().map(|spec| {
        Figure {
            id: spec.id,
            title: spec.title,
            caption: spec.caption,
            chart: &charts::for_any_width(|width| (spec.draw)(&shown, width)),
            rows: &(spec.rows)(&shown),
        }
        .html(&Markup::default())
    });
    html! { div.compare-figures { @for figure in figures { (figure) } } }
}

/// Name and changes, as a legend says them.
fn label(column: &Column) -> String {
    match column.changes.as_str() {
        "" | "unchanged" => column.name.clone(),
        changes => format!("{}, {changes}", column.name),
    }
}
