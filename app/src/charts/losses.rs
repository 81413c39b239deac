//! From the peak to MFU: what each part of a step takes of the accelerator's peak.
//!
//! MFU is the ideal time over the step's, so that each other part takes as many points of the peak
//! as it has percent of the step: 100 % less all of them is MFU. Where devices compute at another
//! peak than the one that MFU counts against, as FP8 against BF16's, all of it is as much higher:
//! the peak stands at 200 % then.

use model::estimate::{Estimate, StepPart};
use plotters_backend::text_anchor::HPos;

use super::compared::{Compared, Ghost};
use super::step::{kind_keys, look, loss_id, step_breakdown};
use crate::draw::axis::Axis;
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, TEXT_GAP, drawn_width, line, opening, strong, svg, text, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::Legend;
use crate::draw::text::{TEXT_SIZE, bold_width, finite};
use crate::present::format;

/// Narrower charts have a row for each part in place of a column.
const MIN_WIDTH: u32 = 560;

/// Height of the plot, in pixels.
const HEIGHT: i32 = 190;

/// Losses below this share of the step stand together.
const MIN_SHARE: f64 = 0.004;

/// Peaks that differ by less are the same.
const SAME_PEAK: f64 = 1e-6;

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
    let (from, to) = (0.0, columns.len() as f64);
    let x = Axis { from, to, ticks: vec![], title: String::new() };
    let y = Axis::linear(0.0, columns[0].to, 4, "");
    let (left, bottom) = (y.label_width() + 12, top + HEIGHT);
    let frame = Frame { left, right: width, top, bottom, x, y };
    let slot = (width - left) / columns.len() as i32;
    let rows = label_rows(&columns, slot);
    // Room for a second row whether or not there is one: the page below stays where it is.
    let height = bottom + 2 * LINE + LINE / 2;
    svg(width, height, &label(estimate, &columns), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        for (index, column) in columns.iter().enumerate() {
            let (x0, high) = plot.map_coordinate(&(index as f64, column.from.max(column.to)));
            let (_, low) = plot.map_coordinate(&(index as f64, column.from.min(column.to)));
            let corners = [(x0 + 4, high), (x0 + slot - 4, low.max(high + 2))];
            let mark = Mark { corners, ink: column.ink, fill: column.fill };
            opening(canvas, &column.title, &column.opens, &[mark]);
            let middle = x0 + slot / 2;
            draw_value(canvas, column, middle, [high, low.max(high + 2)]);
            let write = if column.opens.is_empty() { strong } else { text };
            let below = (middle, bottom + LINE / 2 + 2 + rows[index] * LINE);
            write(canvas, column.label, below, Ink::Text, HPos::Center);
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

/// The row of each label below the plot: one that would touch the label before it stands lower.
fn label_rows(columns: &[Column], slot: i32) -> Vec<i32> {
    let mut end = i32::MIN;
    let mut row = 0;
    let rows = columns.iter().zip(0..).map(|(column, index)| {
        let (middle, half) = (index * slot, bold_width(column.label, TEXT_SIZE) / 2);
        row = if middle - half < end + TEXT_GAP / 2 { 1 - row } else { 0 };
        end = middle + half;
        row
    });
    rows.collect()
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
    // The peak that devices compute at over the one that MFU counts against.
    let ideal = finite(estimate.step.part(StepPart::Ideal).get()) / total;
    let peak = if ideal > 0.0 { finite(estimate.metrics.mfu) / ideal } else { 1.0 };
    let peak = if (peak - 1.0).abs() < SAME_PEAK { 100.0 } else { peak * 100.0 };
    let share = |part| finite(estimate.step.part(part).get()) / total * peak;
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
        value: format::percent(value / 100.0, if ink == Ink::Peak { 0 } else { 1 }).to_string(),
    };
    let more = if peak.total_cmp(&100.0).is_eq() {
        ""
    } else {
        " in what it computes in, over the peak that MFU counts against"
    };
    let mut columns = vec![end(
        "Peak",
        peak,
        Ink::Peak,
        format!("What the accelerator could do at its peak{more}"),
    )];
    let mut at = peak;
    let rest = (small.abs() > 0.0).then_some((None, small));
    for (part, points) in losses.into_iter().map(|(part, it)| (Some(part), it)).chain(rest) {
        let (label, meaning) = part.map_or(("Other", "What is too small for a column"), |part| {
            (part.label(), part.meaning())
        });
        let (ink, fill) = part.map_or((Ink::Waiting, Fill::Solid), look);
        let opens = part.map_or_else(|| "loss-other".to_owned(), loss_id);
        let (value, share) = (format::signed(-points, 1), points / peak * 100.0);
        let title = format!("{label}: {value} points, {share:.1} % of the step\n{meaning}");
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

#[cfg(test)]
mod tests {
    use model::preset::Preset;
    use model::{Plan, estimate};

    use super::*;

    #[test]
    fn losses_lead_from_the_peak_to_mfu_whatever_peak_mfu_counts_against() {
        for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
            let mut design = preset.design();
            for peak in [None, Some(1_234.5)] {
                design.training.peak_for_mfu = peak.or(design.training.peak_for_mfu);
                let Ok(plan) = Plan::new(&design) else { continue };
                let estimate = estimate(&plan);
                let columns = columns(&estimate, 1_000);
                let [first, .., last] = columns.as_slice() else { panic!("{}", preset.id) };
                let mfu = estimate.metrics.mfu * 100.0;
                assert!((last.to - mfu).abs() < 1e-6, "{}: {} is not {mfu}", preset.id, last.to);
                let own = design.training.peak_for_mfu.is_none();
                assert!(!own || (first.to - 100.0).abs() < 1e-9, "{}: {}", preset.id, first.to);
            }
        }
    }
}
