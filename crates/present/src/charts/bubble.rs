//! The bubble over the number of micro-batches: by the published formula and with real stages.

use model::design::KnobId;
use model::ground::knob::Value;
use model::training::estimate::Estimate;
use model::{Plan, estimate as predict};
use plotters_backend::text_anchor::HPos;

use super::compared::Compared;
use crate::draw::axis::{Axis, Tick};
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, line, polyline, strong, svg, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend, POINT};
use crate::draw::text::{TEXT_SIZE, bold_width, finite};
use crate::format::{self, whole};

/// Height of the plot, in pixels.
const PLOT_HEIGHT: i32 = 180;

/// Right end of the line, as a multiple of the design's micro-batches.
const MAX_BATCH_MULTIPLE: u64 = 8;

/// The two lines: ink, mark of a point, words.
const LINES: [(Ink, Fill, &str); 2] = [
    (Ink::ClosedForm, Fill::Solid, "Published formula, equal stages"),
    (Ink::Simulated, Fill::Round, "Actual stage times"),
];

/// The design with another number of micro-batches, everything else the same.
struct Point {
    num_microbatches: u64,
    /// In the order of [`LINES`], as ratios.
    bubbles: [f64; 2],
}

impl Point {
    fn new(num_microbatches: u64, estimate: &Estimate) -> Self {
        let metrics = &estimate.metrics;
        let bubbles = [metrics.bubble_ratio_closed_form, metrics.bubble_ratio];
        Self { num_microbatches, bubbles: bubbles.map(|bubble| finite(bubble).clamp(0.0, 1.0)) }
    }
}

/// A bubble as the rest of the page spells it.
fn percent(ratio: f64) -> String {
    format::percent(ratio, 2).to_string()
}

/// The bubble of a design over the number of micro-batches, all else as in its plan.
pub struct Bubbles {
    points: Vec<Point>,
    /// Micro-batches of the design itself.
    current: u64,
}

impl Bubbles {
    /// Evaluates the model for each of about a dozen numbers.
    #[must_use]
    pub fn new(plan: &Plan, estimate: &Estimate) -> Self {
        Self { points: points(plan, estimate), current: plan.num_microbatches() }
    }

    /// Draws the bubbles, and the point of a pinned design with its number of micro-batches.
    #[must_use]
    pub fn chart(&self, ghost: Option<(&Compared<'_>, u64)>, width: u32) -> String {
        draw(&self.points, self.current, ghost, width)
    }

    /// The chart's numbers as rows, the header first.
    #[must_use]
    pub fn table(&self) -> Vec<Vec<String>> {
        table(&self.points, self.current)
    }
}

fn draw(points: &[Point], current: u64, ghost: Option<(&Compared<'_>, u64)>, width: u32) -> String {
    let width = drawn_width(width);
    let ends = [points.first(), points.last()].map(|end| end.map_or(0, |it| it.num_microbatches));
    let ghost = ghost.filter(|(_, count)| (ends[0]..=ends[1]).contains(count));
    let other = ghost.map(|(it, count)| (it, Point::new(count, it.estimate)));
    let keys = LINES.map(key).into_iter().chain(ghost.map(|(it, _)| it.key()));
    let legend = Legend::new(width, keys.collect());
    let all = points.iter().chain(other.iter().map(|(_, point)| point));
    let most = all.flat_map(|point| point.bubbles).fold(0.01_f64, f64::max);
    let y = Axis::linear(0.0, most * 100.0, 4, "Bubble, % of device time");
    let top = legend.height() + 2 * LINE;
    let bottom = top + PLOT_HEIGHT;
    let x = x_axis(points, current);
    let frame =
        Frame { left: y.label_width() + TEXT_GAP, right: width - 2 * POINT.0, top, bottom, x, y };
    svg(width, bottom + Frame::BELOW, &label(points, current), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        draw_current(canvas, &plot, &frame, points, current, width);
        for (index, (ink, fill, words)) in LINES.into_iter().enumerate() {
            let path: Vec<_> = points
                .iter()
                .map(|point| {
                    let bubble = point.bubbles[index] * 100.0;
                    plot.map_coordinate(&(octave(point.num_microbatches), bubble))
                })
                .collect();
            polyline(canvas, path.clone(), ink);
            for (point, (x, y)) in points.iter().zip(path) {
                let size = if point.num_microbatches == current { POINT.0 + 2 } else { POINT.0 };
                let corners = [(x - size, y - size), (x + size, y + size)];
                let bubble = percent(point.bubbles[index]);
                let title =
                    format!("{} micro-batches: {bubble}\n{words}", whole(point.num_microbatches));
                titled(canvas, &title, &[Mark { corners, ink, fill }]);
            }
        }
        if let Some((ghost, point)) = &other {
            let bubble = point.bubbles[1];
            let at = (octave(point.num_microbatches), bubble * 100.0);
            let ((x, y), size) = (plot.map_coordinate(&at), POINT.0 + 4);
            let mark = ghost.outline([(x - size, y - size), (x + size, y + size)]);
            titled(canvas, ghost.beside(&percent(bubble)).trim(), &[mark]);
        }
    })
}

fn table(points: &[Point], current: u64) -> Vec<Vec<String>> {
    let header = ["Micro-batches", LINES[0].2, LINES[1].2, ""].map(String::from).to_vec();
    let rows = points.iter().map(|point| {
        let [closed_form, simulated] = point.bubbles.map(percent);
        let note = if point.num_microbatches == current { "this design" } else { "" };
        vec![whole(point.num_microbatches), closed_form, simulated, note.to_owned()]
    });
    std::iter::once(header).chain(rows).collect()
}

/// The design itself and legal ones around it, by number of micro-batches.
fn points(plan: &Plan, estimate: &Estimate) -> Vec<Point> {
    let current = plan.num_microbatches();
    let mut points = vec![Point::new(current, estimate)];
    let mut design = plan.design().clone();
    let per_microbatch = plan.data_parallel_size() * design.training.micro_batch_size;
    for count in candidates(current, design.parallel.pipeline_model_parallel_size) {
        let is_near = |point: &Point| {
            let other = point.num_microbatches;
            count.abs_diff(other) <= count.max(other) / 8
        };
        if points.iter().any(is_near) {
            continue;
        }
        // A count that the schedule doesn't take is left out.
        let Some(global_batch) = count.checked_mul(per_microbatch) else { continue };
        if design.set(KnobId::global_batch_size, &Value::Integer(global_batch)).is_err() {
            continue;
        }
        if let Ok(plan) = plan.variant(&design) {
            let place = points.partition_point(|point| point.num_microbatches < count);
            points.insert(place, Point::new(count, &predict(&plan)));
        }
    }
    points
}

/// Numbers of micro-batches to try, in order of preference, from as many as there are stages on:
/// halves and doubles of the current one, then of the number of stages, then some between them
/// where that is not too many.
fn candidates(current: u64, num_stages: u64) -> Vec<u64> {
    let (current, num_stages) = (current.max(1), num_stages.max(1));
    let most = current.saturating_mul(MAX_BATCH_MULTIPLE);
    let least = num_stages.max(current / 64).min(current);
    let mut all = Vec::new();
    for start in [current, num_stages] {
        let mut count = start;
        while count > least && count.is_multiple_of(2) {
            count /= 2;
        }
        while count <= most && count < u64::MAX {
            all.push(count);
            count = count.saturating_mul(2);
        }
    }
    if most / least <= 32 {
        let between: Vec<u64> = all.iter().map(|count| count / 2 * 3).collect();
        all.extend(between);
    }
    all.retain(|count| (least..=most).contains(count));
    all
}

/// Place on an axis where each doubling is as wide as the next, straight in between.
///
/// A logarithm would do as well, but its last bits differ between machines.
fn octave(count: u64) -> f64 {
    let whole = count.max(1).ilog2();
    f64::from(whole) + count.max(1) as f64 / (1_u64 << whole) as f64 - 1.0
}

fn key((ink, fill, words): (Ink, Fill, &str)) -> Key {
    Key::line(ink, Some(fill), words)
}

fn label(points: &[Point], current: u64) -> String {
    let mut label = String::from("Bubble over the number of micro-batches.");
    if let Some(point) = points.iter().find(|point| point.num_microbatches == current) {
        let [closed_form, simulated] = point.bubbles.map(percent);
        label.push_str(&format!(
            " At the {} of this design: {closed_form} by the published formula, \
             {simulated} with actual stage times.",
            whole(current)
        ));
    }
    if let Some(last) = points.last().filter(|last| last.num_microbatches > current) {
        let [_, simulated] = last.bubbles.map(percent);
        label.push_str(&format!(" At {}: {simulated}.", whole(last.num_microbatches)));
    }
    label
}

fn x_axis(points: &[Point], current: u64) -> Axis {
    let ends = [points.first(), points.last()];
    let [from, to] = ends.map(|point| octave(point.map_or(1, |point| point.num_microbatches)));
    // The last one before the others: an end without a number is hard to read.
    let last_first = points.iter().rev().take(1).chain(points.iter().rev().skip(1).rev());
    let ticks = last_first.map(|point| {
        let count = point.num_microbatches;
        let is_current = count == current;
        Tick {
            at: octave(count),
            text: whole(count),
            ink: if is_current { Ink::Current } else { Ink::Quiet },
            keep: is_current,
            rule: None,
        }
    });
    // A single point is in the middle.
    let to_apart = if to > from { 0.0 } else { 0.5 };
    Axis {
        from: from - to_apart,
        to: to + to_apart,
        ticks: ticks.collect(),
        title: String::from("Micro-batches per step and data-parallel rank"),
    }
}

/// A line through the design's own number, with its two values above.
fn draw_current(
    canvas: &Canvas<'_>,
    plot: &Plot<'_>,
    frame: &Frame,
    points: &[Point],
    current: u64,
    width: i32,
) {
    let Some(point) = points.iter().find(|point| point.num_microbatches == current) else { return };
    let (x, _) = plot.map_coordinate(&(octave(current), 0.0));
    line(canvas, (x, frame.top - 2), (x, frame.bottom), Ink::Current);
    let [closed_form, simulated] = point.bubbles.map(percent);
    let mut words = format!("Now {closed_form} by formula, {simulated} real");
    if bold_width(&words, TEXT_SIZE) > width - frame.left - 2 {
        words = format!("{closed_form}, {simulated} real");
    }
    let half = bold_width(&words, TEXT_SIZE) / 2 + 1;
    let least = frame.left + half;
    let middle = x.clamp(least, (width - half).max(least));
    strong(canvas, &words, (middle, frame.top - LINE / 2), Ink::Current, HPos::Center);
}
