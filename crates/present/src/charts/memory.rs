//! Memory per pipeline stage: stacked bars under the limit.

use std::ops::Range;

use model::training::estimate::{Estimate, StageEstimate, StageMemory};
use plotters_backend::text_anchor::HPos;

use super::compared::{Compared, Ghost};
use crate::draw::axis::{Axis, Tick};
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, empty, line, opening, strong, svg, text,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend, Swatch};
use crate::draw::text::{TEXT_SIZE, bold_width, finite, fixed, sentence, text_width};
use crate::format;

/// The parts of a bar from its foot up: ink and the letter on it.
const PARTS: [(Ink, &str); StageMemory::LABELS.len()] = [
    (Ink::Weights, "W"),
    (Ink::Gradients, "G"),
    (Ink::Optimizer, "O"),
    (Ink::Activations, "A"),
    (Ink::Buffers, "B"),
    (Ink::Reserve, "R"),
];

/// A size in the visitor's unit, as the rest of the page spells it.
fn figure(size: f64) -> String {
    fixed(size, 1)
}

/// Height of the plot, in pixels.
const PLOT_HEIGHT: i32 = 216;

/// Least width of a bar with the gap beside it; with more stages than fit, neighbours share one.
const MIN_SLOT: i32 = 3;

/// Bars of the chart, their ghosts and their limit.
struct Bars<'e> {
    stages: &'e [StageEstimate],
    /// A design with as many stages.
    ghost: Ghost<'e>,
    /// Stages that share a bar; it shows the fullest of them.
    share: usize,
    limit: f64,
    /// Pixels from one bar to the next, and of a bar.
    slot: i32,
    bar: i32,
}

/// Memory per device of each pipeline stage, in stacked bars under the limit.
#[must_use]
pub fn memory_by_stage(estimate: &Estimate, ghost: Ghost<'_>, width: u32) -> String {
    let width = drawn_width(width);
    let stages = estimate.stages.as_slice();
    let Some(fullest) = fullest(stages) else {
        return empty(width, "There is no pipeline stage to show");
    };
    let limit = finite(format::memory_number(estimate.metrics.memory_limit));
    let other = ghost.and_then(|it| self::fullest(&it.estimate.stages)).map_or(0.0, peak);
    let y = y_axis(peak(fullest).max(other), limit);
    let left = y.label_width() + TEXT_GAP;
    let room = width - left;
    let share = stages.len().div_ceil((room / MIN_SLOT).max(1).unsigned_abs() as usize).max(1);
    let num_bars = stages.len().div_ceil(share) as i32;
    let slot = room / num_bars;
    let ghost = ghost.filter(|it| it.estimate.stages.len() == stages.len());
    let bars = Bars { stages, ghost, share, limit, slot, bar: bar_width(slot) };

    let keys = keys(limit).into_iter().chain(ghost.map(Compared::key));
    let legend = Legend::new(width, keys.collect());
    let top = legend.height() + 2 * LINE;
    let bottom = top + PLOT_HEIGHT;
    let x = bars.x_axis();
    let frame = Frame { left, right: left + slot * num_bars, top, bottom, x, y };
    svg(width, bottom + Frame::BELOW, &label(stages, fullest, limit), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        bars.draw(canvas, &plot);
        bars.draw_letters(canvas, &plot);
        let (_, limit_y) = plot.map_coordinate(&(0.0, limit));
        line(canvas, (frame.left, limit_y), (frame.right, limit_y), Ink::Limit);
        bars.draw_peak(canvas, &plot, fullest, limit_y, left..width);
    })
}

/// The numbers of [`memory_by_stage()`], the header first.
#[must_use]
pub fn memory_by_stage_table(estimate: &Estimate) -> Vec<Vec<String>> {
    let mut header = vec![String::from("Stage"), String::from("Layers")];
    let unit = format::memory_unit();
    header.extend(StageMemory::LABELS.map(|part| format!("{} ({unit})", sentence(part))));
    header.extend([format!("Peak ({unit})"), format!("Free ({unit})")]);
    let limit = format::memory_number(estimate.metrics.memory_limit);
    let rows = estimate.stages.iter().map(|stage| {
        let mut row = vec![stage.stage.to_string(), stage.num_layers.to_string()];
        row.extend(stage.memory.parts().map(|part| figure(finite(format::memory_number(part)))));
        row.extend([figure(peak(stage)), figure(finite(limit - peak(stage)))]);
        row
    });
    std::iter::once(header).chain(rows).collect()
}

pub(super) fn peak(stage: &StageEstimate) -> f64 {
    finite(format::memory_number(stage.memory.peak()))
}

pub(super) fn fullest(stages: &[StageEstimate]) -> Option<&StageEstimate> {
    // The first of equals: later ones replace it only when they are larger.
    stages.iter().reduce(|best, stage| if peak(stage) > peak(best) { stage } else { best })
}

fn label(stages: &[StageEstimate], fullest: &StageEstimate, limit: f64) -> String {
    let over = stages.iter().filter(|stage| peak(stage) > limit).count();
    let verdict = match over {
        0 => String::from("all fit"),
        1 => String::from("one is over the limit"),
        _ => format!("{over} are over the limit"),
    };
    let unit = format::memory_unit();
    format!(
        "Memory per device of each pipeline stage, {} in all. Stage {} is the fullest: \
         {} {unit} of {} {unit}; {verdict}.",
        stages.len(),
        fullest.stage,
        figure(peak(fullest)),
        figure(limit)
    )
}

fn keys(limit: f64) -> Vec<Key> {
    let parts = PARTS.iter().zip(StageMemory::LABELS);
    let mut keys: Vec<Key> = parts
        .map(|((ink, letter), part)| Key {
            ink: *ink,
            swatch: Swatch::Bar(Fill::Solid, letter),
            text: sentence(part),
        })
        .collect();
    keys.push(Key::line(
        Ink::Limit,
        None,
        format!("Limit {} {}", figure(limit), format::memory_unit()),
    ));
    keys
}

fn y_axis(peak: f64, limit: f64) -> Axis {
    let top = peak.max(limit).max(0.01);
    let mut axis = Axis::linear(0.0, top, 4, &format!("{} per device", format::memory_unit()));
    axis.ticks.push(Tick::kept(limit, figure(limit), Ink::Limit));
    axis
}

/// Axis title of stages of which `share` have a bar in common.
pub(super) fn stages_title(share: usize) -> String {
    match share {
        1 => String::from("Pipeline stage"),
        share => format!("Pipeline stage; a bar is the fullest of {share}"),
    }
}

/// Width of a bar among slots of that width.
pub(super) fn bar_width(slot: i32) -> i32 {
    let gap = match slot {
        ..3 => 0,
        3..6 => 1,
        6..12 => 2,
        _ => slot / 5,
    };
    (slot - gap).min(96)
}

impl Bars<'_> {
    /// The stages along the chart; those over the limit keep their labels.
    fn x_axis(&self) -> Axis {
        let title = stages_title(self.share);
        let mut axis = Axis::places(self.stages.len(), self.share, self.slot, title);
        let over = self.stages.iter().enumerate().filter(|(_, stage)| peak(stage) > self.limit);
        for (place, _) in over.filter(|_| self.share == 1) {
            let at = place as f64 + 0.5;
            if let Some(tick) = axis.ticks.iter_mut().find(|tick| tick.at.total_cmp(&at).is_eq()) {
                *tick = Tick::kept(at, place.to_string(), Ink::Over);
            }
        }
        axis
    }

    /// The stage that each bar shows, with the bar's left edge.
    fn shown(&self, plot: &Plot<'_>) -> Vec<(&StageEstimate, i32)> {
        let (left, _) = plot.map_coordinate(&(0.0, 0.0));
        let groups = self.stages.chunks(self.share).filter_map(fullest);
        let inset = (self.slot - self.bar) / 2;
        let edge = |index: usize| left + self.slot * index as i32 + inset;
        groups.enumerate().map(|(index, stage)| (stage, edge(index))).collect()
    }

    fn draw(&self, canvas: &Canvas<'_>, plot: &Plot<'_>) {
        let (_, limit_y) = plot.map_coordinate(&(0.0, self.limit));
        for (stage, left) in self.shown(plot) {
            let right = left + self.bar;
            let mut marks: Vec<Mark> = Vec::with_capacity(PARTS.len() + 1);
            for ((ink, _), span) in PARTS.iter().zip(spans(stage, plot)) {
                if span.is_empty() {
                    continue;
                }
                // A gap of a pixel sets neighbours apart, whatever their colours.
                let top = if span.len() > 3 { span.start + 1 } else { span.start };
                let corners = [(left, top), (right, span.end)];
                marks.push(Mark { corners, ink: *ink, fill: Fill::Solid });
            }
            let top = spans(stage, plot).iter().map(|span| span.start).min().unwrap_or(limit_y);
            if peak(stage) > self.limit {
                let corners = [(left, top), (right, limit_y.max(top + 1))];
                marks.push(Mark { corners, ink: Ink::Over, fill: Fill::Struck });
            }
            if let Some((ghost, other)) = self.other(stage) {
                let (_, top) = plot.map_coordinate(&(0.0, peak(other)));
                let (_, foot) = plot.map_coordinate(&(0.0, 0.0));
                marks.push(ghost.outline([(left - 1, top), (right + 1, foot)]));
            }
            let opens = format!("stage-{}", stage.stage);
            opening(canvas, &self.title(stage), &opens, &marks);
        }
    }

    /// The other design, and its stage of the same number.
    fn other(&self, stage: &StageEstimate) -> Option<(&Compared<'_>, &StageEstimate)> {
        let ghost = self.ghost?;
        Some((ghost, ghost.estimate.stages.iter().find(|it| it.stage == stage.stage)?))
    }

    fn title(&self, stage: &StageEstimate) -> String {
        let peak = peak(stage);
        let free = self.limit - peak;
        let verdict = if free < 0.0 { "over the limit" } else { "free" };
        let unit = format::memory_unit();
        let mut title = format!(
            "Stage {}: {} {unit}, {} {unit} {verdict}",
            stage.stage,
            figure(peak),
            figure(free.abs())
        );
        for (part, bytes) in StageMemory::LABELS.iter().zip(stage.memory.parts()) {
            let size = figure(finite(format::memory_number(bytes)));
            title.push_str(&format!("\n{} {size} {unit}", sentence(part)));
        }
        if let Some((ghost, other)) = self.other(stage) {
            title.push_str(&ghost.beside(&format!("{} {unit}", figure(self::peak(other)))));
        }
        title
    }

    /// The letter of each part: on every bar where bars are wide enough, else once where the part
    /// runs through as many bars as the letter is wide.
    fn draw_letters(&self, canvas: &Canvas<'_>, plot: &Plot<'_>) {
        let shown = self.shown(plot);
        let (_, limit_y) = plot.map_coordinate(&(0.0, self.limit));
        for (part, (_, letter)) in PARTS.iter().enumerate() {
            let width = text_width(letter, TEXT_SIZE);
            let reach = ((width + 2 + self.slot - self.bar) / self.slot + 1) as usize;
            let wide = self.bar >= width + 2;
            let reach = if wide { 1 } else { reach };
            let places = shown.windows(reach.min(shown.len())).filter_map(|bars| {
                let all = bars.iter().map(|(stage, _)| spans(stage, plot)[part].clone());
                let band = all.reduce(|a, b| a.start.max(b.start)..a.end.min(b.end))?;
                // Neither on the line of the limit nor on what is struck above it.
                let band = band.start.max(limit_y + 1)..band.end;
                let (first, last) = (bars.first()?.1, bars.last()?.1 + self.bar);
                let center = ((first + last) / 2, (band.start + band.end + 1) / 2);
                let thickness = band.end - band.start;
                (thickness >= TEXT_SIZE + 2).then_some((thickness, center))
            });
            let mark = |(_, center): (i32, (i32, i32))| {
                text(canvas, letter, center, Ink::OnMark, HPos::Center);
            };
            if wide {
                places.for_each(mark);
            } else if let Some(thickest) = places.reduce(|a, b| if b.0 > a.0 { b } else { a }) {
                mark(thickest);
            }
        }
    }

    /// The value of the fullest stage above its bar.
    fn draw_peak(
        &self,
        canvas: &Canvas<'_>,
        plot: &Plot<'_>,
        fullest: &StageEstimate,
        limit_y: i32,
        room: Range<i32>,
    ) {
        let (_, top) = plot.map_coordinate(&(0.0, peak(fullest)));
        let shown = self.shown(plot);
        let bar = shown.iter().find(|(stage, _)| stage.stage == fullest.stage);
        let Some((_, left)) = bar else { return };
        let over = peak(fullest) > self.limit;
        // Above the line of the limit where it would run through the label.
        let foot = if !over && limit_y > top - LINE { limit_y } else { top };
        let words = format!("{} {}", figure(peak(fullest)), format::memory_unit());
        let half = bold_width(&words, TEXT_SIZE) / 2 + 1;
        let middle = (left + self.bar / 2).clamp(room.start + half, room.end - half);
        let ink = if over { Ink::Over } else { Ink::Text };
        strong(canvas, &words, (middle, foot - LINE / 2), ink, HPos::Center);
    }
}

/// Range of each part from its top to its foot, in pixels.
fn spans(stage: &StageEstimate, plot: &Plot<'_>) -> Vec<Range<i32>> {
    let mut sum = 0.0;
    let at = |value| plot.map_coordinate(&(0.0, value)).1;
    let parts = stage.memory.parts().into_iter().map(|part| {
        let foot = at(sum);
        sum += finite(format::memory_number(part)).max(0.0);
        at(sum)..foot
    });
    parts.collect()
}
