//! From the peak to MFU: what each part of a step takes of the accelerator's peak.
//!
//! MFU is the ideal time over the step's, so that each other part takes as many points of the peak
//! as it has percent of the step: 100 % less all of them is MFU.

use model::estimate::{Estimate, StepPart};
use plotters_backend::text_anchor::HPos;

use super::compared::{Compared, Ghost};
use super::step::{kind_keys, look, loss_id, step_breakdown};
use crate::draw::axis::{Axis, Tick};
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, drawn_width, line, opening, strong, svg, text, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::Legend;
use crate::draw::text::finite;
use crate::present::format;

/// Narrower charts have a row for each part in place of a column.
const MIN_WIDTH: u32 = 560;

/// Height of the plot, in pixels.
const HEIGHT: i32 = 190;

/// Losses below this share of the step stand together.
const MIN_SHARE: f64 = 0.004;

/// Room of a column's label, in pixels.
const COLUMN: i32 = 66;

/// One column.
struct Column {
    label: &'static str,
    title: String,
    /// What a press leads to.
    opens: String,
    ink: Ink,
    fill: Fill,
    /// Where it begins and ends, in percent of the peak.
    from: f64,
    to: f64,
    /// The number at its end.
    value: String,
}

/// From the peak to MFU: a waterfall of what each part of the step takes.
#[must_use]
pub fn peak_to_mfu(estimate: &Estimate, ghost: Ghost<'_>, width: u32) -> String {
    let mut columns = columns(estimate, width);
    let outlines = ghost.map(|it| (it, outlines(&mut columns, it, width)));
    if width < MIN_WIDTH || columns.is_empty() {
        return step_breakdown(estimate, width);
    }
    let width = drawn_width(width);
    let keys = kind_keys(|ink| columns.iter().any(|it| it.ink == ink)).into_iter();
    let legend = Legend::new(width, keys.chain(ghost.map(Compared::key)).collect());
    let top = legend.height() + LINE;
    let ticks = columns.iter().enumerate().map(|(index, it)| Tick {
        at: index as f64 + 0.5,
        text: it.label.to_owned(),
        ink: Ink::Text,
        keep: index == 0 || index + 1 == columns.len(),
        rule: None,
    });
    let x =
        Axis { from: 0.0, to: columns.len() as f64, ticks: ticks.collect(), title: String::new() };
    let y = Axis::linear(0.0, 100.0, 4, "");
    let (left, bottom) = (y.label_width() + 12, top + HEIGHT);
    let frame = Frame { left, right: width, top, bottom, x, y };
    svg(width, bottom + LINE + LINE / 2, &label(estimate, &columns), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        let slot = (width - left) / columns.len() as i32;
        for (index, column) in columns.iter().enumerate() {
            let (x0, high) = plot.map_coordinate(&(index as f64, column.from.max(column.to)));
            let (_, low) = plot.map_coordinate(&(index as f64, column.from.min(column.to)));
            let corners = [(x0 + 4, high), (x0 + slot - 4, low.max(high + 2))];
            let mark = Mark { corners, ink: column.ink, fill: column.fill };
            opening(canvas, &column.title, &column.opens, &[mark]);
            let middle = x0 + slot / 2;
            draw_value(canvas, column, middle, [high, low.max(high + 2)]);
            if let Some((it, [from, to])) =
                outlines.as_ref().and_then(|(it, all)| Some((it, all[index]?)))
            {
                let level = |percent: f64| plot.map_coordinate(&(0.0, percent)).1;
                let corners = [(x0 + 1, level(from.max(to))), (x0 + slot - 1, level(from.min(to)))];
                titled(canvas, "", &[it.outline(corners)]);
            }
            if index + 1 < columns.len() {
                let (_, end) = plot.map_coordinate(&(0.0, column.to));
                line(canvas, (x0 + slot - 4, end), (x0 + slot + 4, end), Ink::Axis);
            }
        }
    })
}

/// Where each column of another design begins and ends, by the labels of these; what it has is
/// said with them. None where it has no such column.
fn outlines(columns: &mut [Column], ghost: &Compared<'_>, width: u32) -> Vec<Option<[f64; 2]>> {
    let others = self::columns(ghost.estimate, width);
    let outline = |column: &mut Column| {
        let other = others.iter().find(|it| it.label == column.label)?;
        column.title.push_str(&ghost.beside(&other.value));
        // The peak is everyone's.
        (column.ink != Ink::Peak).then_some([other.from, other.to])
    };
    columns.iter_mut().map(outline).collect()
}

/// A loss has its points below its column, peak and MFU have theirs above.
fn draw_value(canvas: &Canvas<'_>, column: &Column, middle: i32, [high, low]: [i32; 2]) {
    if column.opens.is_empty() {
        strong(canvas, &column.value, (middle, high - LINE / 2), Ink::Text, HPos::Center);
    } else {
        text(canvas, &column.value, (middle, low + LINE / 2), Ink::Text, HPos::Center);
    }
}

/// Peak, losses in the order of the step, and MFU; none where there is no step.
fn columns(estimate: &Estimate, width: u32) -> Vec<Column> {
    let total = finite(estimate.step.total().get());
    if total <= 0.0 {
        return Vec::new();
    }
    let share = |part| finite(estimate.step.part(part).get()) / total * 100.0;
    let mut losses: Vec<(StepPart, f64)> = estimate
        .step
        .parts()
        .filter(|(part, _)| *part != StepPart::Ideal)
        .map(|(part, _)| (part, share(part)))
        .filter(|(_, points)| points.abs() > 0.0)
        .collect();
    // Two columns are the ends, and one has what is too small for one of its own.
    let room = (width as usize / COLUMN as usize).saturating_sub(3).max(1);
    let mut by_size: Vec<f64> = losses.iter().map(|(_, points)| points.abs()).collect();
    by_size.sort_by(|a, b| b.total_cmp(a));
    let least = by_size.get(room).copied().unwrap_or(0.0).max(MIN_SHARE * 100.0);
    let small: f64 =
        losses.iter().filter(|(_, points)| points.abs() <= least).map(|(_, points)| points).sum();
    losses.retain(|(_, points)| points.abs() > least);
    let end = |label, value: f64, ink, title| Column {
        label,
        title,
        opens: String::new(),
        ink,
        fill: Fill::Solid,
        from: 0.0,
        to: value,
        value: format::percent(value / 100.0, if value > 99.95 { 0 } else { 1 }).to_string(),
    };
    let mut columns =
        vec![end("Peak", 100.0, Ink::Peak, "What the accelerator could do at its peak".into())];
    let mut at = 100.0;
    let rest = (small.abs() > 0.0).then_some((None, small));
    for (part, points) in losses.into_iter().map(|(part, it)| (Some(part), it)).chain(rest) {
        let (label, meaning) = part.map_or(("Other", "What is too small for a column"), |part| {
            (part.label(), part.meaning())
        });
        let (ink, fill) = part.map_or((Ink::Waiting, Fill::Solid), look);
        let opens = part.map_or_else(|| "loss-other".to_owned(), loss_id);
        let value = format::signed(-points, 1);
        let title = format!("{label}: {value} points, {points:.1} % of the step\n{meaning}");
        columns.push(Column { label, title, opens, ink, fill, from: at, to: at - points, value });
        at -= points;
    }
    columns.push(end("MFU", at, Ink::Ideal, "What is left: the ideal time over the step's".into()));
    columns
}

fn label(estimate: &Estimate, columns: &[Column]) -> String {
    let losses = columns.iter().filter(|it| !it.opens.is_empty());
    let words: Vec<String> = losses.map(|it| format!("{} {}", it.label, it.value)).collect();
    let mfu = format::percent(estimate.metrics.mfu, 1);
    format!("From the peak to {mfu} MFU, in points: {}", words.join(", "))
}
