//! What each pipeline stage computes for one micro-batch: stacked bars beside their mean.

use model::StageLoad;
use plotters_backend::text_anchor::HPos;

use super::memory::bar_width;
use crate::draw::axis::Axis;
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, empty, line, strong, svg, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend};
use crate::draw::text::{TEXT_SIZE, bold_width, figure, finite, fixed, sentence};

/// The parts of a bar from its foot up.
const PARTS: [Ink; StageLoad::LABELS.len()] = [
    Ink::EmbeddingPart,
    Ink::DensePart,
    Ink::MoePart,
    Ink::HeadPart,
    Ink::MtpPart,
    Ink::MtpHeadPart,
];

/// Height of the plot, in pixels.
const PLOT_HEIGHT: i32 = 132;

/// Least width of a bar with the gap beside it; with more stages than fit, neighbours share one.
const MIN_SLOT: i32 = 3;

/// Milliseconds of each part of a stage.
type Load = [f64; StageLoad::LABELS.len()];

fn milliseconds(load: &StageLoad) -> Load {
    load.parts().map(|seconds| finite(seconds * 1e3).max(0.0))
}

fn sum(load: &Load) -> f64 {
    load.iter().sum()
}

/// Compute time of each pipeline stage for one micro-batch, in stacked bars beside their mean.
#[must_use]
pub fn stage_balance(loads: &[StageLoad], width: u32) -> String {
    let width = drawn_width(width);
    let loads: Vec<Load> = loads.iter().map(milliseconds).collect();
    let Some((longest, top)) = longest(&loads) else {
        return empty(width, "There is no pipeline stage to show");
    };
    let mean = loads.iter().map(sum).sum::<f64>() / loads.len() as f64;
    let y = Axis::linear(0.0, top.max(1e-6) * 1.02, 3, "Milliseconds per micro-batch");
    let left = y.label_width() + TEXT_GAP;
    let room = width - left;
    let share = loads.len().div_ceil((room / MIN_SLOT).max(1).unsigned_abs() as usize).max(1);
    let num_bars = loads.len().div_ceil(share) as i32;
    let slot = room / num_bars;
    let bars = Bars { loads: &loads, share, slot };

    let legend = Legend::new(width, keys(&loads, mean));
    let head = legend.height() + 2 * LINE;
    let bottom = head + PLOT_HEIGHT;
    let title = match bars.share {
        1 => String::from("Pipeline stage"),
        share => format!("Pipeline stage; a bar is the longest of {share}"),
    };
    let x = Axis::places(loads.len(), bars.share, slot, title);
    let frame = Frame { left, right: left + slot * num_bars, top: head, bottom, x, y };
    svg(width, bottom + Frame::BELOW, &label(&loads, longest, mean), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        bars.draw(canvas, &plot);
        let (_, at) = plot.map_coordinate(&(0.0, mean));
        line(canvas, (frame.left, at), (frame.right, at), Ink::Current);
        let words = format!("{} ms", figure(sum(&loads[longest])));
        let half = bold_width(&words, TEXT_SIZE) / 2 + 1;
        let middle = bars.middle(longest, left).clamp(left + half, width - half);
        let (_, top) = plot.map_coordinate(&(0.0, sum(&loads[longest])));
        strong(canvas, &words, (middle, top - LINE / 2), Ink::Text, HPos::Center);
    })
}

/// The numbers of [`stage_balance()`], the header first.
#[must_use]
pub fn stage_balance_table(loads: &[StageLoad]) -> Vec<Vec<String>> {
    let mut header = vec![String::from("Stage")];
    header.extend(StageLoad::LABELS.map(|part| format!("{} (ms)", sentence(part))));
    header.extend([String::from("Sum (ms)"), String::from("To the mean")]);
    let all: Vec<Load> = loads.iter().map(milliseconds).collect();
    let mean = all.iter().map(sum).sum::<f64>() / all.len().max(1) as f64;
    let rows = all.iter().enumerate().map(|(stage, load)| {
        let mut row = vec![stage.to_string()];
        row.extend(load.map(|part| fixed(part, 1)));
        row.push(fixed(sum(load), 1));
        row.push(crate::format::relative(sum(load), mean));
        row
    });
    std::iter::once(header).chain(rows).collect()
}

/// The first of the longest stages, and how long it is.
fn longest(loads: &[Load]) -> Option<(usize, f64)> {
    let all = loads.iter().map(sum).enumerate();
    all.reduce(|best, stage| if stage.1 > best.1 { stage } else { best })
}

fn label(loads: &[Load], longest: usize, mean: f64) -> String {
    format!(
        "Compute of each pipeline stage for one micro-batch, {} in all. Stage {longest} takes \
         longest: {} ms; the mean is {} ms.",
        loads.len(),
        figure(sum(&loads[longest])),
        figure(mean),
    )
}

/// The parts that are there, and the mean.
fn keys(loads: &[Load], mean: f64) -> Vec<Key> {
    let is_there = |part: usize| loads.iter().any(|load| load[part] > 0.0);
    let parts = PARTS.iter().zip(StageLoad::LABELS).enumerate();
    let parts = parts
        .filter(|(part, _)| is_there(*part))
        .map(|(_, (ink, name))| Key::bar(*ink, Fill::Solid, sentence(name)));
    let mean = Key::line(Ink::Current, None, format!("Mean {} ms", figure(mean)));
    parts.chain([mean]).collect()
}

/// The bars; where stages share one it shows the longest of them.
struct Bars<'l> {
    loads: &'l [Load],
    share: usize,
    /// Pixels from one bar to the next.
    slot: i32,
}

impl Bars<'_> {
    fn middle(&self, stage: usize, left: i32) -> i32 {
        left + self.slot * (stage / self.share) as i32 + self.slot / 2
    }

    fn draw(&self, canvas: &Canvas<'_>, plot: &Plot<'_>) {
        let (left, _) = plot.map_coordinate(&(0.0, 0.0));
        let bar = bar_width(self.slot);
        for (group, loads) in self.loads.chunks(self.share).enumerate() {
            let Some((index, _)) = longest(loads) else { continue };
            let (stage, load) = (group * self.share + index, &loads[index]);
            let left = self.middle(stage, left) - bar / 2;
            let at = |value| plot.map_coordinate(&(0.0, value)).1;
            let mut foot = 0.0;
            let mut marks = Vec::with_capacity(PARTS.len());
            let mut title = format!("Stage {stage}: {} ms", fixed(sum(load), 1));
            for ((ink, part), name) in PARTS.iter().zip(load).zip(StageLoad::LABELS) {
                let (bottom, top) = (at(foot), at(foot + part));
                foot += part;
                if *part > 0.0 {
                    title.push_str(&format!("\n{} {} ms", sentence(name), fixed(*part, 1)));
                }
                if top >= bottom {
                    continue;
                }
                // A gap of a pixel sets neighbours apart, whatever their colours.
                let top = if bottom - top > 3 { top + 1 } else { top };
                let corners = [(left, top), (left + bar, bottom)];
                marks.push(Mark { corners, ink: *ink, fill: Fill::Solid });
            }
            titled(canvas, &title, &marks);
        }
    }
}
