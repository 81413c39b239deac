//! From the peak to MFU: what each part of a step takes of the accelerator's peak.
//!
//! The peak is that of the design's number format, 100 %. The ideal time over the step's is MFU
//! over it, so that each other part takes as many points as it has percent of the step: 100 % less
//! all of them is MFU. Where MFU counts against another peak, as FP8's often does against BF16's, a
//! line says it over both.

use model::Plan;
use model::ground::sorting::sort_short;
use model::training::estimate::{Estimate, StepPart};
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
use crate::format;
use crate::insight::utilisation::Utilisation;

/// Narrower charts have a row for each part in place of a column.
const MIN_WIDTH: u32 = 560;

/// Height of the plot, in pixels.
const HEIGHT: i32 = 190;

/// Share of the step below which losses are shown together.
const MIN_SHARE: f64 = 0.004;

/// Room of a column's label, in pixels.
const COLUMN: i32 = 66;

/// One column.
struct Column {
    label: String,
    title: String,
    /// Id of the row in the list of losses that a press opens; empty without one.
    opens: String,
    ink: Ink,
    fill: Fill,
    /// Start and end of the column, in percent of the peak.
    from: f64,
    to: f64,
    /// The number at its end.
    value: String,
}

/// Waterfall from the peak to MFU, with the part that each loss of the step takes.
#[must_use]
pub fn peak_to_mfu(plan: &Plan, estimate: &Estimate, ghost: Ghost<'_>, width: u32) -> String {
    let utilisation = Utilisation::of(plan, &estimate.metrics);
    let mut columns = columns(estimate, width);
    if let (Some(last), Some(_)) = (columns.last_mut(), utilisation.other) {
        last.label = format!("MFU, {}", utilisation.computed.peak);
    }
    let note = utilisation.note();
    let outlines = ghost.map(|it| (it, outlines(&mut columns, it, width)));
    if width < MIN_WIDTH || columns.is_empty() {
        return step_breakdown(estimate, width);
    }
    let width = drawn_width(width);
    let keys = kind_keys(|ink| columns.iter().any(|it| it.ink == ink)).into_iter();
    let legend = Legend::new(width, keys.chain(ghost.map(Compared::key)).collect());
    let above = legend.height() + if note.is_some() { LINE } else { 0 };
    let top = above + LINE;
    let (from, to) = (0.0, columns.len() as f64);
    let x = Axis { from, to, ticks: vec![], title: String::new() };
    let y = Axis::linear(0.0, columns[0].to, 4, "");
    let (left, bottom) = (y.label_width() + 12, top + HEIGHT);
    let frame = Frame { left, right: width, top, bottom, x, y };
    let slot = (width - left) / columns.len() as i32;
    let rows = label_rows(&columns, slot);
    // Room for a second row whether or not there is one: the page below stays where it is.
    let height = bottom + 2 * LINE + LINE / 2;
    svg(width, height, &label(&columns, note.as_deref()), &|canvas| {
        legend.draw(canvas);
        if let Some(note) = &note {
            text(canvas, note, (0, above - LINE / 2), Ink::Text, HPos::Left);
        }
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
            write(canvas, &column.label, below, Ink::Text, HPos::Center);
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

/// Start and end of each column in another design, matched by label; its value goes into the
/// column's title. `None` without such a column.
fn outlines(columns: &mut [Column], ghost: &Compared<'_>, width: u32) -> Vec<Option<[f64; 2]>> {
    let others = self::columns(ghost.estimate, width);
    let outline = |column: &mut Column| {
        // The ends may have labels of their own peaks.
        let is_end = matches!(column.ink, Ink::Peak | Ink::Ideal);
        let is_same = |it: &&Column| {
            if is_end { it.ink == column.ink } else { it.label == column.label }
        };
        let other = others.iter().find(is_same)?;
        column.title.push_str(&ghost.beside(&other.value));
        // The peak is everyone's.
        (column.ink != Ink::Peak).then_some([other.from, other.to])
    };
    columns.iter_mut().map(outline).collect()
}

/// Row of each label below the plot: one that would touch the label before it is lower.
fn label_rows(columns: &[Column], slot: i32) -> Vec<i32> {
    let mut end = i32::MIN;
    let mut row = 0;
    let rows = columns.iter().zip(0..).map(|(column, index)| {
        let (middle, half) = (index * slot, bold_width(&column.label, TEXT_SIZE) / 2);
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

/// Peak, losses in the order of the step, and MFU; empty without a step.
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
    sort_short(&mut by_size, |a, b| b.total_cmp(a));
    let least = by_size.get(room).copied().unwrap_or(0.0).max(MIN_SHARE * 100.0);
    let small: f64 =
        losses.iter().filter(|(_, points)| points.abs() <= least).map(|(_, points)| points).sum();
    losses.retain(|(_, points)| points.abs() > least);
    let end = |label: &str, value: f64, ink, title: &str| Column {
        label: label.to_owned(),
        title: title.to_owned(),
        opens: String::new(),
        ink,
        fill: Fill::Solid,
        from: 0.0,
        to: value,
        value: format::percent(value / 100.0, if ink == Ink::Peak { 0 } else { 1 }).to_string(),
    };
    let peak = 100.0;
    let could = "What the accelerator could do at its peak in this number format";
    let mut columns = vec![end("Peak", peak, Ink::Peak, could)];
    let mut at = peak;
    let rest = (small.abs() > 0.0).then_some((None, small));
    for (part, points) in losses.into_iter().map(|(part, it)| (Some(part), it)).chain(rest) {
        let (label, meaning) = part.map_or(("Other", "What is too small for a column"), |part| {
            (part.label(), part.meaning())
        });
        let (ink, fill) = part.map_or((Ink::Waiting, Fill::Solid), look);
        let opens = part.map_or_else(|| "loss-other".to_owned(), loss_id);
        let value = format::signed(-points, 1);
        let title = format!("{label}: {value} points, {points:.1} % of the step\n{meaning}");
        let (label, to) = (label.to_owned(), at - points);
        columns.push(Column { label, title, opens, ink, fill, from: at, to, value });
        at = to;
    }
    columns.push(end("MFU", at, Ink::Ideal, "What is left: the ideal time over the step's"));
    columns
}

fn label(columns: &[Column], note: Option<&str>) -> String {
    let losses = columns.iter().filter(|it| !it.opens.is_empty());
    let words: Vec<String> = losses.map(|it| format!("{} {}", it.label, it.value)).collect();
    let mfu = columns.last().map_or("", |last| &last.value);
    let label = format!("From the peak to {mfu} MFU, in points: {}", words.join(", "));
    note.map_or_else(|| label.clone(), |note| format!("{label}. {note}"))
}

#[cfg(test)]
mod tests {
    use model::catalogue::preset::Preset;
    use model::design::KnobId;
    use model::estimate;

    use super::*;

    #[test]
    fn losses_lead_from_all_of_the_peak_to_mfu_in_any_number_format() {
        let formats = ["bf16", "fp16", "fp8_blockwise", "mxfp8", "nvfp4"];
        let mut tried = [0; 5];
        for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
            for (tried, format) in tried.iter_mut().zip(formats) {
                let mut design = preset.design();
                if format == "nvfp4" || format == "mxfp8" {
                    design.set_text(KnobId::accelerator, "b200").expect("an accelerator");
                }
                design.set_text(KnobId::precision, format).expect("a number format");
                for peak in [None, Some(1_234.5)] {
                    design.training.peak_for_mfu = peak.or(design.training.peak_for_mfu);
                    let Ok(plan) = Plan::new(&design) else { continue };
                    check(&plan, &format!("{} {format} {peak:?}", preset.id));
                    *tried += 1;
                }
            }
        }
        assert!(tried.iter().all(|count| *count > 4), "{tried:?}");
    }

    /// The first column is 100 %, each begins where the one before ends, and the last is MFU over
    /// the peak of the design's number format.
    fn check(plan: &Plan, name: &str) {
        let estimate = estimate(plan);
        let columns = columns(&estimate, 1_000);
        let [first, .., last] = columns.as_slice() else { panic!("{name}") };
        assert!((first.to - 100.0).abs() < 1e-9, "{name}: {}", first.to);
        let losses: f64 =
            columns[1..columns.len() - 1].iter().map(|column| column.from - column.to).sum();
        assert!((first.to - losses - last.to).abs() < 1e-6, "{name}: {losses}");
        let mfu = Utilisation::of(plan, &estimate.metrics).computed.mfu * 100.0;
        assert!((last.to - mfu).abs() < 1e-6, "{name}: {} is not {mfu}", last.to);
    }
}
