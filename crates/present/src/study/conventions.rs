//! What other papers would call the MFU of this run: one step time, counted in several ways.

use maud::{Markup, html};
use model::ground::choice::AttentionFlops;
use model::training::convention::Convention;
use model::{Plan, conventions};

use crate::format;
use crate::html::table_head;
use crate::insight::numbers::Numbers;

/// The columns of the table.
pub const COLUMNS: [&str; 8] = [
    "Counted as",
    "Utilisation",
    "FLOPs per token",
    "Peak",
    "Attention",
    "MTP layer",
    "Recomputed work",
    "Used by",
];

/// A row of the table: its cells, and whether it counts as the design does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// One text for each of [`COLUMNS`].
    pub cells: [String; 8],
    /// Whether this is the design's own convention, or counts the same; `None` for every other one.
    pub own: Option<Own>,
}

/// Reason for the mark of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// It is the design's own way.
    Itself,
    /// It counts the same under a name of its own.
    Twin,
}

impl Own {
    const fn label(self) -> &'static str {
        match self {
            Self::Itself => "This design",
            Self::Twin => "Counts the same",
        }
    }
}

/// The ways, the design's own first.
#[must_use]
pub fn rows(plan: &Plan, estimate: &model::training::estimate::Estimate) -> Vec<Row> {
    let all = conventions(plan, estimate);
    let own = |(index, way): (usize, &Convention)| match index {
        0 => Some(Own::Itself),
        _ => same(way, &all[0]).then_some(Own::Twin),
    };
    let row = |way: (usize, &Convention)| Row { cells: cells(way.1), own: own(way) };
    all.iter().enumerate().map(row).collect()
}

/// Whether both count the same.
fn same(one: &Convention, other: &Convention) -> bool {
    let is = |one: f64, other: f64| one.total_cmp(&other).is_eq();
    one.attention == other.attention
        && one.counts_mtp == other.counts_mtp
        && one.counts_recompute == other.counts_recompute
        && is(one.flops_per_token.get(), other.flops_per_token.get())
        && is(one.peak.get(), other.peak.get())
}

fn cells(way: &Convention) -> [String; 8] {
    let attention = match (way.counts_recompute, way.attention) {
        (true, _) => "as it runs",
        (false, Some(AttentionFlops::Full)) => "full",
        (false, Some(AttentionFlops::Causal)) => "causal half",
        (false, None) => "left out",
    };
    let counted = |counted| if counted { "counted" } else { "left out" };
    [
        way.name.to_owned(),
        format::percent(way.utilisation, 1).to_string(),
        format::flops(way.flops_per_token.get()).to_string(),
        format!("{} TFLOPS", format::significant(way.peak.get() / 1e12, 4)),
        attention.to_owned(),
        counted(way.counts_mtp).to_owned(),
        counted(way.counts_recompute).to_owned(),
        way.used_by.to_owned(),
    ]
}

/// The ways to count as a table.
pub(super) fn html(numbers: &Numbers) -> Markup {
    let rows = rows(&numbers.plan, &numbers.estimate);
    html! {
        table.conventions {
            caption.visually-hidden { "Utilisation by each way to count" }
            (table_head(&COLUMNS))
            tbody {
                @for Row { cells: [name, rest @ ..], own } in &rows {
                    (row(name, rest, *own))
                }
            }
        }
    }
}

fn row(name: &str, cells: &[String], own: Option<Own>) -> Markup {
    html! {
        tr class=[own.map(|_| "own")] {
            th scope="row" {
                (name) " " @if let Some(own) = own { span.own-mark { (own.label()) } }
            }
            @for cell in cells { td { (cell) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::design::Design;
    use model::estimate;

    use super::*;

    fn rows_of(preset: &str) -> Vec<Row> {
        let plan = Plan::new(&Design::from_preset(preset).expect("a preset")).expect("legal");
        rows(&plan, &estimate(&plan))
    }

    #[test]
    fn the_designs_own_way_comes_first_and_its_twin_is_marked_too() {
        let rows = rows_of("pangu-ultra-moe-6k");
        assert_eq!(rows.len(), 8);
        let own: Vec<Option<Own>> = rows.iter().map(|row| row.own).collect();
        assert_eq!(own[..4], [Some(Own::Itself), None, None, Some(Own::Twin)]);
        assert!(own[4..].iter().all(Option::is_none));
        assert_eq!(rows_of("llama-3-8b").len(), 7, "a dense model has one width");
        assert_eq!(rows[0].cells[1], rows[3].cells[1]);
    }

    #[test]
    fn every_cell_says_something() {
        for row in rows_of("deepseek-v3-2k-h800") {
            assert!(row.cells.iter().all(|cell| !cell.is_empty()), "{row:?}");
        }
    }
}
