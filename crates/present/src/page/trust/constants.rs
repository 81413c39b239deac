//! The constants that predictions rest on, as HTML text.

mod origin;
mod hosts;
mod kernels;

use maud::{Markup, html};
use model::catalogue::accelerator::{Accelerator, AcceleratorId};
use model::ground::choice::Choice;
use validation::report::Row;

use super::sheet::{Cell, folded, table};
use super::words::NOTHING;
use crate::format;

/// All of them: what kernels reach, what a framework costs, what the hardware has. The runs say
/// which constants have runs that depend on them.
pub(super) fn html(rows: &[Row]) -> Markup {
    let intro = format!(
        "The whole of what is fitted: one set for each family of accelerators and one for each \
         framework. They hold for every run, model and source. {}",
        origin::LEGEND,
    );
    let scored: Vec<&Row> = rows.iter().filter(|row| row.scored).collect();
    let accelerators = AcceleratorId::ALL.iter().map(|id| accelerator_row(id.row()));
    let content = html! {
        div.constants { (kernels::html(&scored)) (hosts::html(&scored)) }
        (table("Rates of one device", &ACCELERATOR_COLUMNS, accelerators))
    };
    folded("Constants", &intro, &content)
}

const ACCELERATOR_COLUMNS: [&str; 9] = [
    "Rates of one device, dense",
    "BF16 peak, TFLOPS",
    "FP8 peak, TFLOPS",
    "Memory, GB/s",
    "In the node, GB/s",
    "Reached",
    "Between nodes, GB/s",
    "Reached",
    "Source",
];

fn accelerator_row(row: &Accelerator) -> Vec<Cell> {
    let link = Some(row.source.url.to_owned()).filter(|url| !url.is_empty());
    let rate = |rate: f64| Cell::text(&number(rate));
    let peak = |peak: Option<f64>| peak.map_or_else(|| Cell::text(NOTHING), rate);
    let share = |share: f64| Cell::text(&format::percent(share, 1).to_string());
    vec![
        Cell::text(row.title),
        peak(row.bf16_tflops),
        peak(row.fp8_tflops),
        rate(row.hbm_gb_per_sec),
        rate(row.intra_node_gb_per_sec),
        share(row.intra_node_fraction),
        rate(row.inter_node_gb_per_sec),
        share(row.inter_node_fraction),
        Cell { link, ..Cell::words(row.source.title) },
    ]
}

/// Without a fraction where it has none.
fn number(number: f64) -> String {
    let places = usize::from(number.fract() != 0.0);
    format::decimals(number, places)
}
