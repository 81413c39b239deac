//! MFU after each change of a ladder: what was there before it, what it adds, what is published.

use plotters_backend::text_anchor::HPos;

use crate::draw::axis::Axis;
use crate::draw::canvas::{
    Canvas, Fill, LINE, Mark, Plot, TEXT_GAP, drawn_width, empty, strong, svg, text, titled,
};
use crate::draw::frame::Frame;
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend};
use crate::draw::text::{TEXT_SIZE, bold_width, finite, percent, text_width};
use crate::format;

/// Height of a bar and distance to the next one of the same change, in pixels.
const BAR: i32 = 12;
const GAP: i32 = 2;

/// A change and where it leads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rung {
    /// The change, with its number.
    pub title: String,
    /// MFU after it, as a ratio.
    pub mfu: f64,
    /// MFU that is published for this design.
    pub published: Option<f64>,
    /// Published range over several designs, if only the range is known.
    pub range: Option<(f64, f64)>,
}

/// A bar below a change's title, in percent.
struct Bar {
    from: f64,
    to: f64,
    ink: Ink,
    fill: Fill,
    title: String,
}

/// MFU after each change of a ladder, with what is published beside.
#[must_use]
pub fn ladder(rungs: &[Rung], width: u32) -> String {
    let width = drawn_width(width);
    if rungs.is_empty() {
        return empty(width, "There is no change to show");
    }
    let bars: Vec<Vec<Vec<Bar>>> = (0..rungs.len()).map(|index| bars(rungs, index)).collect();
    let legend = Legend::new(width, keys(&bars));
    let top = legend.height() + LINE / 2;
    let titles: Vec<Vec<String>> =
        (0..rungs.len()).map(|index| lines(rungs, index, width)).collect();
    let sizes = bars.iter().zip(&titles);
    let heights: Vec<i32> = sizes.map(|(rows, lines)| height(rows.len(), lines.len())).collect();
    let bottom = top + heights.iter().sum::<i32>();
    let ends = bars.iter().flatten().flatten().map(|bar| bar.to.max(bar.from));
    let most = ends.fold(1.0_f64, f64::max);
    let frame = Frame {
        left: 1,
        right: width - 1,
        top,
        bottom,
        x: Axis::linear(0.0, most, 6, "MFU, %"),
        y: Axis { from: 1.0, to: 0.0, ticks: Vec::new(), title: String::new() },
    };
    svg(width, bottom + Frame::BELOW, &label(rungs), &|canvas| {
        legend.draw(canvas);
        let plot = frame.draw(canvas, width);
        let mut y = top;
        for (index, (rows, height)) in bars.iter().zip(&heights).enumerate() {
            strong(canvas, &figure(rungs, index), (width, y + LINE / 2), Ink::Text, HPos::Right);
            draw_rung(canvas, &plot, &titles[index], rows, y);
            y += height;
        }
    })
}

/// A ratio as far as a chart can show it.
fn share(ratio: f64) -> f64 {
    finite(ratio).clamp(0.0, 2.0)
}

/// Height of a change with this many rows of bars below the lines of its title.
fn height(rows: usize, lines: usize) -> i32 {
    lines as i32 * LINE + rows as i32 * (BAR + GAP) + LINE / 2
}

fn draw_rung(canvas: &Canvas<'_>, plot: &Plot<'_>, title: &[String], rows: &[Vec<Bar>], top: i32) {
    for (line, words) in (0..).zip(title) {
        let middle = top + line * LINE + LINE / 2;
        text(canvas, words, (0, middle), Ink::Text, HPos::Left);
    }
    let top = top + title.len() as i32 * LINE;
    for (row, bars) in rows.iter().enumerate() {
        let head = top + row as i32 * (BAR + GAP);
        for bar in bars {
            let at = |share: f64| plot.map_coordinate(&(share, 0.0)).0;
            let (left, right) = (at(bar.from.min(bar.to)), at(bar.from.max(bar.to)));
            let corners = [(left, head), (right.max(left + 2), head + BAR)];
            let mark = Mark { corners, ink: bar.ink, fill: bar.fill };
            titled(canvas, &bar.title, &[mark]);
        }
    }
}

/// MFU after a change, and its gain: `21.3 %, +1.2 pt`; of the first one only its MFU.
fn figure(rungs: &[Rung], index: usize) -> String {
    let now = share(rungs[index].mfu);
    match index.checked_sub(1) {
        Some(before) => {
            format!("{}, {}", percent(now), format::points(now, share(rungs[before].mfu)))
        }
        None => percent(now),
    }
}

/// The rows of bars of a change: the prediction, what is published, the range.
fn bars(rungs: &[Rung], index: usize) -> Vec<Vec<Bar>> {
    let rung = &rungs[index];
    let now = share(rung.mfu) * 100.0;
    let before = index.checked_sub(1).map_or(now, |before| share(rungs[before].mfu) * 100.0);
    let bar = |from, to, ink, fill, title: String| Bar { from, to, ink, fill, title };
    let said = format!("{}: {}", rung.title, figure(rungs, index));
    let mut prediction = vec![bar(0.0, now.min(before), Ink::Kept, Fill::Solid, said.clone())];
    if now > before {
        prediction.push(bar(before, now, Ink::Gain, Fill::Hatched, said));
    } else if now < before {
        prediction.push(bar(now, before, Ink::Loss, Fill::Hollow, said));
    }
    let mut rows = vec![prediction];
    if let Some(published) = rung.published.map(share) {
        let title = format!("{}: {} published", rung.title, percent(published));
        rows.push(vec![bar(0.0, published * 100.0, Ink::Published, Fill::Solid, title)]);
    }
    if let Some((low, high)) = rung.range.map(|(low, high)| (share(low), share(high))) {
        let title = format!("Plausible layouts: {} to {}", percent(low), percent(high));
        rows.push(vec![bar(low * 100.0, high * 100.0, Ink::Range, Fill::Hollow, title)]);
    }
    rows
}

fn keys(bars: &[Vec<Vec<Bar>>]) -> Vec<Key> {
    let kinds = [
        (Ink::Kept, Fill::Solid, "Predicted"),
        (Ink::Gain, Fill::Hatched, "Gained by the change"),
        (Ink::Loss, Fill::Hollow, "Lost by the change"),
        (Ink::Published, Fill::Solid, "Published"),
        (Ink::Range, Fill::Hollow, "Plausible layouts"),
    ];
    let used = kinds
        .into_iter()
        .filter(|(ink, ..)| bars.iter().flatten().flatten().any(|bar| bar.ink == *ink));
    let key = |(ink, fill, text): (Ink, Fill, &str)| Key::bar(ink, fill, text);
    used.map(key).collect()
}

/// Title of a change, wrapped between words; the first line leaves room for [`figure`].
fn lines(rungs: &[Rung], index: usize, width: i32) -> Vec<String> {
    let mut room = width - bold_width(&figure(rungs, index), TEXT_SIZE) - TEXT_GAP;
    let mut lines = vec![String::new()];
    for word in rungs[index].title.split_whitespace() {
        let last = lines.last_mut().map(std::mem::take).unwrap_or_default();
        let longer = if last.is_empty() { word.to_owned() } else { format!("{last} {word}") };
        let count = lines.len();
        if last.is_empty() || text_width(&longer, TEXT_SIZE) <= room {
            lines[count - 1] = longer;
        } else {
            lines[count - 1] = last;
            lines.push(word.to_owned());
            room = width;
        }
    }
    lines
}

fn label(rungs: &[Rung]) -> String {
    let mut label = String::from("MFU after each change.");
    for index in 0..rungs.len() {
        label.push_str(&format!(" {}: {}.", rungs[index].title, figure(rungs, index)));
    }
    label
}
