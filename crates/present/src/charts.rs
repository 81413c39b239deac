//! The explorer's charts, drawn by plotters through a backend of our own.
//!
//! Pure functions: numbers in, a complete `<svg>` out, the same bytes on the server and in the
//! browser, so that a chart is right before the page is interactive. Each chart has a table of the
//! same numbers for those who can't or won't look at it.
//!
//! A chart is drawn for a width in pixels and scales with its container (`viewBox`). Its text is
//! 12 px at the drawn width, so ask for the width that it will really have; before that is known,
//! [`for_any_width`] leaves the choice to the style sheet, and [`for_later`] draws one that does
//! until the browser has come to it.
//!
//! What a mark looks like is decided by its classes in `style/charts.css`: `chart-fill` or
//! `chart-stroke` with one class of `charts/ink.rs`, `chart-strong` for text that stands out, and
//! `chart-hatch` for the diagonal lines that repeat in a pattern what the color says.

mod balance;
mod bubble;
mod communication;
mod compared;
mod heatmap;
mod ladder;
mod lines;
mod losses;
mod memory;
mod roofline;
mod scatter;
mod step;
mod tradeoff;
mod treemap;

pub use balance::{stage_balance, stage_balance_table};
pub use bubble::Bubbles;
pub use communication::{communication, communication_table};
pub use compared::{
    Compared, Ghost, compared_axes, compared_axes_table, compared_memory, compared_memory_table,
    compared_step, compared_step_table,
};
pub use heatmap::{HeatMap, heat_map, heat_map_table};
pub use ladder::{Rung, ladder};
pub use lines::{Line, Lines, lines, lines_table};
pub use losses::peak_to_mfu;
pub use memory::{memory_by_stage, memory_by_stage_table};
pub use roofline::{
    PinnedRoofline, exchange_name, link_words, name as operator_name, roofline, roofline_table,
};
pub use scatter::{Point, Scatter, family_class};
pub use step::{loss_id, step_breakdown, step_breakdown_table, waterfall};
pub use tradeoff::{memory_tradeoff, memory_tradeoff_table};
pub use treemap::{memory_composition, memory_composition_table};

/// Widths among which the style sheet chooses: each suits containers up to the next one.
pub const WIDTHS: [u32; 3] = [320, 480, 680];

/// The width beside them for a chart that has the page's whole width.
const WIDE: u32 = 1_000;

/// A chart drawn for each of [`WIDTHS`]; the style sheet shows the one that fits its container.
///
/// For the first paint, when the page's width isn't known yet.
#[must_use]
pub fn for_any_width(draw: impl Fn(u32) -> String) -> String {
    fit(WIDTHS.into_iter().map(draw))
}

/// Width of a chart that is no wider than its words need, in pixels.
const PLAIN: u32 = 400;

/// A chart for what lies below the first screen: one width, where there is less room scaled down.
///
/// A browser draws it anew for its real width before it is in view.
#[must_use]
pub fn for_later(draw: impl Fn(u32) -> String) -> String {
    format!("<div class=\"chart-plain\">{}</div>", draw(PLAIN))
}

/// A chart that has the page's whole width, drawn as by [`for_any_width`] and for that width.
#[must_use]
pub fn for_any_page(draw: impl Fn(u32) -> String) -> String {
    fit(WIDTHS.into_iter().chain([WIDE]).map(draw))
}

fn fit(charts: impl Iterator<Item = String>) -> String {
    let charts: String = charts.collect();
    format!("<div class=\"chart-fit\">{charts}</div>")
}
