//! Where a step's time goes: a waterfall from the ideal to the whole step.

use model::ground::units::Seconds;
use model::training::estimate::{Estimate, StepPart};
use plotters_backend::text_anchor::HPos;

use crate::draw::axis::{Axis, Tick};
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, empty, line, opening, strong, svg, text,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend};
use crate::draw::text::{TEXT_SIZE, bold_width, figure, finite};
use crate::format;

/// Distance from one row to the next and height of a bar, in pixels.
const ROW: i32 = 24;
const BAR: i32 = 16;

/// One bar of the waterfall.
struct Row {
    label: &'static str,
    /// Id of the row in the list of losses that a press opens.
    opens: String,
    meaning: &'static str,
    ink: Ink,
    fill: Fill,
    /// Start and end of the bar, in seconds since the step's start.
    from: f64,
    to: f64,
}

impl Row {
    fn seconds(&self) -> f64 {
        self.to - self.from
    }
}

/// Seconds or milliseconds, whichever suits the whole step.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub(super) per_second: f64,
    pub(super) symbol: &'static str,
}

impl Unit {
    pub(super) fn of(total: f64) -> Self {
        if total < 1.0 {
            Self { per_second: 1e3, symbol: "ms" }
        } else {
            Self { per_second: 1.0, symbol: "s" }
        }
    }

    pub(super) fn figure(self, seconds: f64) -> String {
        figure(seconds * self.per_second)
    }
}

/// The name of a loss, as its row in the list of losses has it.
#[must_use]
pub fn loss_id(part: StepPart) -> String {
    format!("loss-{}", part.label().to_ascii_lowercase())
}

/// Breakdown of a step's time, from the ideal to the whole.
#[must_use]
pub fn step_breakdown(estimate: &Estimate, width: u32) -> String {
    waterfall(&estimate.step.parts().collect::<Vec<_>>(), width)
}

/// [`step_breakdown`] of any list of parts.
#[must_use]
pub fn waterfall(parts: &[(StepPart, Seconds)], width: u32) -> String {
    let width = drawn_width(width);
    let rows = rows(parts);
    let total = rows.last().map_or(0.0, |row| row.to);
    if total <= 0.0 {
        return empty(width, "There is no step time to show");
    }
    let unit = Unit::of(total);
    let legend = Legend::new(width, kind_keys(|ink| rows.iter().any(|row| row.ink == ink)));
    let shares = shares(&rows);
    let values: Vec<[String; 2]> = rows
        .iter()
        .zip(&shares)
        .map(|(row, share)| {
            [format!("{} {}", unit.figure(row.seconds()), unit.symbol), share.clone()]
        })
        .collect();
    let columns = [column(&values, 0), column(&values, 1)];
    let top = legend.height() + LINE / 2;
    let bottom = top + ROW * rows.len() as i32;
    let y = y_axis(&rows);
    let frame = Frame {
        left: y.label_width() + TEXT_GAP,
        right: width - columns[0] - columns[1] - 2 * TEXT_GAP,
        top,
        bottom,
        x: x_axis(&rows, unit),
        y,
    };
    svg(width, bottom + Frame::BELOW, &label(&rows, &shares, unit), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        draw_bars(canvas, &plot, &rows, &values);
        for (index, [time, share]) in values.iter().enumerate() {
            let middle = top + ROW * index as i32 + ROW / 2;
            let write = if index + 1 == values.len() { strong } else { text };
            write(canvas, time, (width - columns[1] - TEXT_GAP, middle), Ink::Text, HPos::Right);
            write(canvas, share, (width, middle), Ink::Text, HPos::Right);
        }
    })
}

/// The numbers of [`step_breakdown`], the header first.
#[must_use]
pub fn step_breakdown_table(estimate: &Estimate) -> Vec<Vec<String>> {
    let parts: Vec<_> = estimate.step.parts().collect();
    let rows = rows(&parts);
    let total = rows.last().map_or(0.0, |row| row.to);
    let unit = Unit::of(total);
    let header = ["Part", "What it is"].map(String::from).into_iter();
    let header = header.chain([format!("Time ({})", unit.symbol), String::from("Share of step")]);
    let shares = shares(&rows);
    let rows = rows.iter().zip(shares).map(|(row, share)| {
        vec![row.label.into(), row.meaning.into(), unit.figure(row.seconds()), share]
    });
    std::iter::once(header.collect()).chain(rows).collect()
}

/// Parts of the step, each from the end of the one before, and at last the sum.
fn rows(parts: &[(StepPart, Seconds)]) -> Vec<Row> {
    let mut end = 0.0;
    let mut rows = Vec::with_capacity(parts.len() + 1);
    for (part, time) in parts {
        let seconds = finite(time.get());
        if seconds.abs() > 0.0 {
            let (ink, fill) = look(*part);
            let fill = if seconds < 0.0 { Fill::Hollow } else { fill };
            let (from, to) = (end, end + seconds);
            let opens = if *part == StepPart::Ideal { String::new() } else { loss_id(*part) };
            let (label, meaning) = (part.label(), part.meaning());
            rows.push(Row { label, opens, meaning, ink, fill, from, to });
            end = to;
        }
    }
    let (label, meaning) = ("Step", "The whole step: the sum of its parts");
    let (opens, ink) = (String::new(), Ink::Total);
    rows.push(Row { label, opens, meaning, ink, fill: Fill::Solid, from: 0.0, to: end });
    rows
}

/// Share of the step in each row; the last row is the step, to which the others add up.
fn shares(rows: &[Row]) -> Vec<String> {
    let parts = rows.split_last().map_or(&[][..], |(_, parts)| parts);
    let seconds: Vec<f64> = parts.iter().map(Row::seconds).collect();
    let whole = if seconds.is_empty() { "0 %" } else { "100.0 %" };
    format::shares(&seconds, 1).into_iter().chain([whole.to_owned()]).collect()
}

/// Each kind of time by color and filling: what the device does, or what it waits for.
pub(super) fn look(part: StepPart) -> (Ink, Fill) {
    match part {
        StepPart::Ideal => (Ink::Ideal, Fill::Solid),
        StepPart::Kernels | StepPart::Recompute | StepPart::Contention => {
            (Ink::Compute, Fill::Solid)
        }
        StepPart::Vector | StepPart::Optimizer => (Ink::Bandwidth, Fill::Solid),
        StepPart::TensorParallel => (Ink::IntraNode, Fill::Hatched),
        StepPart::ContextParallel
        | StepPart::ExpertParallel
        | StepPart::PipelineParallel
        | StepPart::DataParallel
        | StepPart::Migration => (Ink::InterNode, Fill::Hatched),
        StepPart::Swap | StepPart::Host => (Ink::Host, Fill::Hatched),
        StepPart::Bubble | StepPart::Stragglers | StepPart::Imbalance => {
            (Ink::Waiting, Fill::Hollow)
        }
    }
}

/// The kinds of time, in the order of a legend.
pub(super) const KINDS: [(Ink, Fill, &str); 7] = [
    (Ink::Ideal, Fill::Solid, "At peak"),
    (Ink::Compute, Fill::Solid, "Compute"),
    (Ink::Bandwidth, Fill::Solid, "Memory bandwidth"),
    (Ink::IntraNode, Fill::Hatched, "Inside the node"),
    (Ink::InterNode, Fill::Hatched, "Between nodes"),
    (Ink::Host, Fill::Hatched, "Host"),
    (Ink::Waiting, Fill::Hollow, "Idle"),
];

/// The kinds of time that are used, for a legend.
pub(super) fn kind_keys(used: impl Fn(Ink) -> bool) -> Vec<Key> {
    let key = |(ink, fill, text): (Ink, Fill, &str)| Key::bar(ink, fill, text);
    KINDS.into_iter().filter(|(ink, ..)| used(*ink)).map(key).collect()
}

fn label(rows: &[Row], shares: &[String], unit: Unit) -> String {
    let total = rows.last().map_or(0.0, |row| row.to);
    let mut losses: Vec<(&Row, &String)> = rows
        .iter()
        .zip(shares)
        .filter(|(row, _)| !matches!(row.ink, Ink::Ideal | Ink::Total))
        .collect();
    let mut label = format!("A step takes {} {}.", unit.figure(total), unit.symbol);
    for start in [" Largest beyond the ideal: ", ", ", ", "] {
        let seconds = |index: &usize| losses[*index].0.seconds();
        let Some(largest) =
            (0..losses.len()).reduce(|a, b| if seconds(&b) > seconds(&a) { b } else { a })
        else {
            return label;
        };
        let (row, share) = losses.remove(largest);
        label.push_str(&format!("{start}{} {share}", row.label));
    }
    label.push('.');
    label
}

fn x_axis(rows: &[Row], unit: Unit) -> Axis {
    let ends = rows.iter().map(|row| row.to * unit.per_second);
    let (least, most) = ends.fold((0.0_f64, 0.0_f64), |(a, b), end| (a.min(end), b.max(end)));
    let title = if unit.symbol == "s" { "Seconds" } else { "Milliseconds" };
    Axis::linear(least, most, 5, title)
}

fn y_axis(rows: &[Row]) -> Axis {
    let last = rows.len() - 1;
    let ticks = rows.iter().enumerate().map(|(index, row)| Tick {
        at: index as f64 + 0.5,
        text: row.label.to_owned(),
        ink: Ink::Text,
        keep: index == last,
        rule: None,
    });
    Axis { from: rows.len() as f64, to: 0.0, ticks: ticks.collect(), title: String::new() }
}

/// Room for the widest text of a column, which may be in bold.
fn column(values: &[[String; 2]], index: usize) -> i32 {
    values.iter().map(|value| bold_width(&value[index], TEXT_SIZE)).max().unwrap_or(0)
}

fn draw_bars(canvas: &Canvas<'_>, plot: &Plot<'_>, rows: &[Row], values: &[[String; 2]]) {
    for (index, (row, [time, share])) in rows.iter().zip(values).enumerate() {
        let at = |seconds: f64| {
            let scale = Unit::of(rows.last().map_or(0.0, |row| row.to)).per_second;
            plot.map_coordinate(&(seconds * scale, index as f64)).0
        };
        let (_, top) = plot.map_coordinate(&(0.0, index as f64));
        let (top, foot) = (top + (ROW - BAR) / 2, top + (ROW + BAR) / 2);
        let (left, right) = (at(row.from.min(row.to)), at(row.from.max(row.to)));
        let corners = [(left, top), (right.max(left + 2), foot)];
        let title = format!("{}: {time}, {share} of the step\n{}", row.label, row.meaning);
        let marks = [Mark { corners, ink: row.ink, fill: row.fill }];
        opening(canvas, &title, &row.opens, &marks);
        if index + 1 < rows.len() {
            // From the end of this bar to the start of the next.
            let x = at(row.to);
            line(canvas, (x, foot), (x, foot + ROW - BAR), Ink::Axis);
        }
    }
}
