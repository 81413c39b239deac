//! Memory per pipeline stage of several designs: bars side by side under their limits.

use plotters_backend::text_anchor::HPos;

use super::{Compared, keys};
use crate::charts::memory::{fullest, peak, stages_title};
use crate::draw::axis::{Axis, Tick};
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, empty, line, svg, text, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend, Swatch};
use crate::draw::text::{TEXT_SIZE, finite, fixed, text_width};
use crate::format;

/// Height of the plot, in pixels.
const PLOT_HEIGHT: i32 = 216;

/// Least width of a bar and of the gap between two stages; with more stages than fit so,
/// neighbours share their bars.
const MIN_BAR: i32 = 3;
const MIN_GAP: i32 = 2;

/// Positions of the bars.
struct Bars {
    /// Stages that share a place; the fullest of them is shown.
    share: usize,
    /// Places along the axis.
    count: usize,
    /// Pixels from one place to the next, and of a bar.
    slot: i32,
    bar: i32,
}

impl Bars {
    fn new(stages: usize, designs: usize, room: i32) -> Self {
        let designs = designs.max(1) as i32;
        let most = (room / (designs * MIN_BAR + MIN_GAP)).max(1).unsigned_abs() as usize;
        let share = stages.div_ceil(most).max(1);
        let count = stages.div_ceil(share).max(1);
        let slot = room / count as i32;
        let gap = (slot / 5).clamp(MIN_GAP, 24);
        Self { share, count, slot, bar: ((slot - gap) / designs).clamp(1, 64) }
    }
}

/// Memory per pipeline stage of several designs, under their limits.
#[must_use]
pub fn compared_memory(designs: &[Compared<'_>], width: u32) -> String {
    let width = drawn_width(width);
    let stages = designs.iter().map(|design| design.estimate.stages.len()).max().unwrap_or(0);
    if stages == 0 {
        return empty(width, "There is no pipeline stage to show");
    }
    let (limits, unit) = (limits(designs), format::memory_unit());
    let y = y_axis(designs, &limits);
    let left = y.label_width() + TEXT_GAP;
    let bars = Bars::new(stages, designs.len(), width - left);
    let mut legend = keys(designs, width, |fill| fill);
    legend.extend(limits.iter().map(|(limit, letters)| Key {
        ink: Ink::Limit,
        swatch: Swatch::Line(None),
        text: match limits.len() {
            1 => format!("Limit {} {unit}", figure(*limit)),
            _ => format!("Limit of {letters}: {} {unit}", figure(*limit)),
        },
    }));
    let legend = Legend::new(width, legend);
    let top = legend.height() + 2 * LINE;
    let bottom = top + PLOT_HEIGHT;
    let right = left + bars.slot * bars.count as i32;
    let x = Axis::places(stages, bars.share, bars.slot, stages_title(bars.share));
    let frame = Frame { left, right, top, bottom, x, y };
    svg(width, bottom + Frame::BELOW, &label(designs), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        for (index, design) in designs.iter().enumerate() {
            draw_design(canvas, &plot, &bars, (index, designs.len()), design);
        }
        for (limit, _) in &limits {
            let (_, y) = plot.map_coordinate(&(0.0, *limit));
            line(canvas, (frame.left, y), (frame.right, y), Ink::Limit);
        }
    })
}

/// The numbers of [`compared_memory()`], the header first.
#[must_use]
pub fn compared_memory_table(designs: &[Compared<'_>]) -> Vec<Vec<String>> {
    let mut header = vec!["Stage".to_owned()];
    let unit = format::memory_unit();
    for design in designs {
        let column = |what| format!("{} {what} ({unit})", design.letter());
        header.extend(["peak", "free"].map(column));
    }
    let stages = designs.iter().map(|design| design.estimate.stages.len()).max().unwrap_or(0);
    let rows = (0..stages).map(|index| {
        let mut row = vec![index.to_string()];
        for design in designs {
            let stage = design.estimate.stages.get(index);
            let cells = stage.map_or_else(
                || ["–", "–"].map(String::from),
                |stage| [figure(peak(stage)), figure(limit(design) - peak(stage))],
            );
            row.extend(cells);
        }
        row
    });
    std::iter::once(header).chain(rows).collect()
}

/// A size in the visitor's unit.
fn figure(size: f64) -> String {
    fixed(finite(size), 1)
}

fn limit(design: &Compared<'_>) -> f64 {
    finite(format::memory_number(design.estimate.metrics.memory_limit))
}

/// Each limit once, with the letters of the designs that have it.
fn limits(designs: &[Compared<'_>]) -> Vec<(f64, String)> {
    let mut limits: Vec<(f64, Vec<String>)> = Vec::new();
    for design in designs {
        let (limit, letter) = (limit(design), design.letter().to_owned());
        match limits.iter_mut().find(|(known, _)| known.total_cmp(&limit).is_eq()) {
            Some((_, letters)) => letters.push(letter),
            None => limits.push((limit, vec![letter])),
        }
    }
    limits.into_iter().map(|(limit, letters)| (limit, format::list(&letters))).collect()
}

fn y_axis(designs: &[Compared<'_>], limits: &[(f64, String)]) -> Axis {
    let peaks = designs.iter().flat_map(|design| &design.estimate.stages).map(peak);
    let top = peaks.chain(limits.iter().map(|(limit, _)| *limit)).fold(0.01_f64, f64::max);
    let mut axis = Axis::linear(0.0, top, 4, &format!("{} per device", format::memory_unit()));
    axis.ticks
        .extend(limits.iter().map(|(limit, _)| Tick::kept(*limit, figure(*limit), Ink::Limit)));
    axis
}

fn draw_design(
    canvas: &Canvas<'_>,
    plot: &Plot<'_>,
    bars: &Bars,
    (index, count): (usize, usize),
    design: &Compared<'_>,
) {
    let (letter, ink, fill) = design.look();
    let (limit, unit) = (limit(design), format::memory_unit());
    let (start, limit_y) = plot.map_coordinate(&(0.0, limit));
    let inset = (bars.slot - bars.bar * count as i32) / 2 + bars.bar * index as i32;
    let groups = design.estimate.stages.chunks(bars.share).filter_map(fullest);
    for (place, stage) in groups.enumerate() {
        let left = start + bars.slot * place as i32 + inset;
        // A pixel sets neighbours apart where there is room.
        let right = left + bars.bar - i32::from(bars.bar > 4);
        let (_, top) = plot.map_coordinate(&(0.0, peak(stage)));
        let (_, foot) = plot.map_coordinate(&(0.0, 0.0));
        let mut marks = vec![Mark { corners: [(left, top), (right, foot)], ink, fill }];
        if peak(stage) > limit {
            let corners = [(left, top), (right, limit_y.max(top + 1))];
            marks.push(Mark { corners, ink: Ink::Over, fill: Fill::Struck });
        }
        let free = limit - peak(stage);
        let verdict = if free < 0.0 { "over the limit" } else { "free" };
        let title = format!(
            "{letter}, stage {}: {} {unit}, {} {unit} {verdict}",
            stage.stage,
            figure(peak(stage)),
            figure(free.abs())
        );
        titled(canvas, &title, &marks);
        if bars.bar >= text_width(letter, TEXT_SIZE) + 2 {
            let middle = (left + bars.bar / 2, top - LINE / 2);
            text(canvas, letter, middle, Ink::Text, HPos::Center);
        }
    }
}

fn label(designs: &[Compared<'_>]) -> String {
    let unit = format::memory_unit();
    let said = designs.iter().filter_map(|design| {
        let stage = fullest(&design.estimate.stages)?;
        Some(format!(
            " {}: stage {} is the fullest, {} {unit} of {} {unit}.",
            design.letter(),
            stage.stage,
            figure(peak(stage)),
            figure(limit(design))
        ))
    });
    format!("Memory per device of each pipeline stage.{}", said.collect::<String>())
}
