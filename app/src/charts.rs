//! The explorer's charts, drawn by plotters through a backend of our own.
//!
//! Pure functions: numbers in, a complete `<svg>` out, the same bytes on the server and in the
//! browser, so that a chart is right before the page is interactive. Each chart has a table of the
//! same numbers for those who can't or won't look at it.
//!
//! A chart is drawn for a width in pixels and scales with its container (`viewBox`). Its text is
//! 12 px at the drawn width, so ask for the width that it will really have; before that is known,
//! [`for_any_width`] leaves the choice to the style sheet.
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
mod memory;
mod roofline;
mod scatter;
mod step;
mod tradeoff;
mod treemap;

use model::StageLoad;
use model::estimate::{Estimate, StepPart};
use model::roofline::Roofline;
use model::units::Seconds;

use crate::insight::memory_view::{Composition, Price};

pub use bubble::Bubbles;
pub use compared::Compared;
pub use heatmap::HeatMap;
pub use ladder::Rung;
pub use lines::{Line, Lines};
pub use roofline::{exchange_name, link_words, name as operator_name};
pub use scatter::{Point, Scatter, family_class};

/// Widths among which the style sheet chooses: each suits containers up to the next one.
pub const WIDTHS: [u32; 3] = [320, 480, 680];

/// A chart drawn for each of [`WIDTHS`]; the style sheet shows the one that fits its container.
///
/// For the first paint, when nobody knows yet how wide the page is.
#[must_use]
pub fn for_any_width(draw: impl Fn(u32) -> String) -> String {
    let charts: String = WIDTHS.into_iter().map(draw).collect();
    format!("<div class=\"chart-fit\">{charts}</div>")
}

/// Memory per device of each pipeline stage, in stacked bars under the limit.
#[must_use]
pub fn memory_by_stage(estimate: &Estimate, width: u32) -> String {
    memory::draw(estimate, width)
}

/// The numbers of [`memory_by_stage`], the header first.
#[must_use]
pub fn memory_by_stage_table(estimate: &Estimate) -> Vec<Vec<String>> {
    memory::table(estimate)
}

/// What each pipeline stage computes for one micro-batch, in stacked bars beside their mean.
#[must_use]
pub fn stage_balance(loads: &[StageLoad], width: u32) -> String {
    balance::draw(loads, width)
}

/// The numbers of [`stage_balance`], the header first.
#[must_use]
pub fn stage_balance_table(loads: &[StageLoad]) -> Vec<Vec<String>> {
    balance::table(loads)
}

/// Where a step's time goes, from the ideal to the whole.
#[must_use]
pub fn step_breakdown(estimate: &Estimate, width: u32) -> String {
    let parts: Vec<_> = estimate.step.parts().collect();
    waterfall(&parts, width)
}

/// [`step_breakdown`] of any list of parts.
#[must_use]
pub fn waterfall(parts: &[(StepPart, Seconds)], width: u32) -> String {
    step::draw(parts, width)
}

/// The numbers of [`step_breakdown`], the header first.
#[must_use]
pub fn step_breakdown_table(estimate: &Estimate) -> Vec<Vec<String>> {
    step::table(estimate)
}

/// What a device sends in a step, per axis, collective and link.
#[must_use]
pub fn communication(estimate: &Estimate, width: u32) -> String {
    communication::draw(estimate, width)
}

/// The numbers of [`communication()`], the header first.
#[must_use]
pub fn communication_table(estimate: &Estimate) -> Vec<Vec<String>> {
    communication::table(estimate)
}

/// MFU after each change of a ladder, with what is published beside.
#[must_use]
pub fn ladder(rungs: &[Rung], width: u32) -> String {
    ladder::draw(rungs, width)
}

/// What fills the fullest stage, in areas.
#[must_use]
pub fn memory_composition(composition: &Composition, width: u32) -> String {
    treemap::draw(composition, width)
}

/// The numbers of [`memory_composition`], the header first.
#[must_use]
pub fn memory_composition_table(composition: &Composition) -> Vec<Vec<String>> {
    treemap::table(composition)
}

/// Memory that each module frees against the MFU that it costs.
#[must_use]
pub fn memory_tradeoff(prices: &[Price], width: u32) -> String {
    tradeoff::draw(prices, width)
}

/// The numbers of [`memory_tradeoff`], the header first.
#[must_use]
pub fn memory_tradeoff_table(prices: &[Price]) -> Vec<Vec<String>> {
    tradeoff::table(prices)
}

/// Operators and exchanges under their roofs; the one of that name stands out. `step` is the time
/// of the step in seconds.
#[must_use]
pub fn roofline(roofline: &Roofline, step: f64, chosen: &str, width: u32) -> String {
    roofline::draw(roofline, step, chosen, width)
}

/// The numbers of [`roofline()`], the header first.
#[must_use]
pub fn roofline_table(roofline: &Roofline, step: f64) -> Vec<Vec<String>> {
    roofline::table(roofline, step)
}

/// Lines over a common axis.
#[must_use]
pub fn lines(chart: &Lines, width: u32) -> String {
    lines::draw(chart, width)
}

/// The numbers of [`lines()`], the header first.
#[must_use]
pub fn lines_table(chart: &Lines) -> Vec<Vec<String>> {
    lines::table(chart)
}

/// A field of numbers around 1.
#[must_use]
pub fn heat_map(chart: &HeatMap, width: u32) -> String {
    heatmap::draw(chart, width)
}

/// The ends of each row of [`heat_map`], the header first; `row` and `column` name what is counted.
#[must_use]
pub fn heat_map_table(chart: &HeatMap, row: &str, column: &str) -> Vec<Vec<String>> {
    heatmap::table(chart, row, column)
}

/// Memory per pipeline stage of several designs, under their limits.
#[must_use]
pub fn compared_memory(designs: &[Compared<'_>], width: u32) -> String {
    compared::draw_memory(designs, width)
}

/// The numbers of [`compared_memory`], the header first.
#[must_use]
pub fn compared_memory_table(designs: &[Compared<'_>]) -> Vec<Vec<String>> {
    compared::memory_table(designs)
}

/// Where the time of several designs' steps goes.
#[must_use]
pub fn compared_step(designs: &[Compared<'_>], width: u32) -> String {
    compared::draw_step(designs, width)
}

/// The numbers of [`compared_step`], the header first.
#[must_use]
pub fn compared_step_table(designs: &[Compared<'_>]) -> Vec<Vec<String>> {
    compared::step_table(designs)
}

/// Bubble, and communication per axis, of several designs.
#[must_use]
pub fn compared_axes(designs: &[Compared<'_>], width: u32) -> String {
    compared::draw_axes(designs, width)
}

/// The numbers of [`compared_axes`], the header first.
#[must_use]
pub fn compared_axes_table(designs: &[Compared<'_>]) -> Vec<Vec<String>> {
    compared::axes_table(designs)
}
