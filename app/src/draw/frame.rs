//! The frame of a chart: legend above, two axes around, labels that never collide.

use plotters::element::PathElement;
use plotters::style::Color as _;
use plotters_backend::text_anchor::HPos;

use super::canvas::{
    Canvas, Cartesian, Fill, Inside, LINE, Mark, Plot, Titled, line, put, strong, text,
};
use super::ink::Ink;
use super::shape::Shape;
use super::text::{TEXT_SIZE, bold_width, fixed, text_width};

/// Size of a legend's swatch, in pixels.
const SWATCH: (i32, i32) = (16, 14);

/// Least distance between two texts in a row, in pixels.
pub(crate) const TEXT_GAP: i32 = 8;

/// One entry of a legend.
pub(crate) struct Key {
    pub(crate) ink: Ink,
    pub(crate) swatch: Swatch,
    pub(crate) text: String,
}

/// What a legend shows before the words.
pub(crate) enum Swatch {
    /// A piece of a bar, with the letter that stands on it.
    Bar(Fill, &'static str),
    /// A piece of a line, with the mark of its points.
    Line(Option<Fill>),
    /// A point of a scatter.
    Point(Shape),
}

/// The entries of a legend with their places, in as many rows as they need.
pub(crate) struct Legend {
    keys: Vec<(i32, i32, Key)>,
    rows: i32,
}

impl Legend {
    /// Places the entries from the left, row after row.
    pub(crate) fn new(width: i32, keys: Vec<Key>) -> Self {
        let (mut x, mut row) = (0, 0);
        let keys = keys.into_iter().map(|key| {
            let room = SWATCH.0 + TEXT_GAP / 2 + text_width(&key.text, TEXT_SIZE);
            if x > 0 && x + room > width {
                (x, row) = (0, row + 1);
            }
            let place = (x, row, key);
            x += room + TEXT_GAP + TEXT_GAP / 2;
            place
        });
        Self { keys: keys.collect(), rows: row + 1 }
    }

    /// Its height in pixels.
    pub(crate) fn height(&self) -> i32 {
        self.rows * LINE
    }

    /// Draws it at the top of the chart.
    pub(crate) fn draw(&self, canvas: &Canvas<'_>) {
        for (x, row, key) in &self.keys {
            let middle = row * LINE + LINE / 2;
            draw_swatch(canvas, key, (*x, middle));
            let words = (x + SWATCH.0 + TEXT_GAP / 2, middle);
            text(canvas, &key.text, words, Ink::Quiet, HPos::Left);
        }
    }
}

fn draw_swatch(canvas: &Canvas<'_>, key: &Key, (x, middle): (i32, i32)) {
    let mark = |half: (i32, i32), fill| {
        let center = x + SWATCH.0 / 2;
        let corners = [(center - half.0, middle - half.1), (center + half.0, middle + half.1)];
        put(
            canvas,
            &Titled {
                title: String::new(),
                opens: String::new(),
                marks: vec![Mark { corners, ink: key.ink, fill }],
            },
        );
    };
    match key.swatch {
        Swatch::Bar(fill, letter) => {
            mark((SWATCH.0 / 2, SWATCH.1 / 2), fill);
            if !letter.is_empty() {
                let center = (x + SWATCH.0 / 2, middle);
                text(canvas, letter, center, Ink::OnMark, HPos::Center);
            }
        }
        Swatch::Line(point) => {
            let path = vec![(x, middle), (x + SWATCH.0, middle)];
            put(canvas, &PathElement::new(path, key.ink.stroke_width(2)));
            if let Some(fill) = point {
                mark(POINT, fill);
            }
        }
        Swatch::Point(shape) => shape.draw(canvas, (x + SWATCH.0 / 2, middle), key.ink),
    }
}

/// Half the size of a point on a line, in pixels.
pub(crate) const POINT: (i32, i32) = (3, 3);

/// A label at a place of an axis.
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) text: String,
    pub(crate) ink: Ink,
    /// Shown before any other that would collide with it.
    pub(crate) keep: bool,
    /// The line from there across the plot.
    pub(crate) rule: Option<Ink>,
}

/// One direction of a plot; `from` may lie above `to`.
pub(crate) struct Axis {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) ticks: Vec<Tick>,
    /// What the labels count, with the unit.
    pub(crate) title: String,
}

impl Axis {
    /// An axis with labels at round numbers, about `wanted` of them.
    pub(crate) fn linear(from: f64, to: f64, wanted: u32, title: &str) -> Self {
        let (step, decimals) = round_step(to - from, wanted);
        let ticks = ((from / step).ceil() as i64..=(to / step).floor() as i64).map(|index| {
            let at = index as f64 * step;
            let rule = if index == 0 { Ink::Axis } else { Ink::Grid };
            Tick { at, text: fixed(at, decimals), ink: Ink::Quiet, keep: false, rule: Some(rule) }
        });
        Self { from, to, ticks: ticks.collect(), title: title.to_owned() }
    }

    /// Room for the widest label.
    pub(crate) fn label_width(&self) -> i32 {
        self.ticks.iter().map(Tick::width).max().unwrap_or(0)
    }
}

impl Tick {
    /// Room for the label; those that are kept stand in bold.
    fn width(&self) -> i32 {
        if self.keep {
            bold_width(&self.text, TEXT_SIZE)
        } else {
            text_width(&self.text, TEXT_SIZE)
        }
    }

    fn draw(&self, canvas: &Canvas<'_>, at: (i32, i32), side: HPos) {
        let write = if self.keep { strong } else { text };
        write(canvas, &self.text, at, self.ink, side);
    }
}

/// The smallest of 1, 2, 5, 10, ... that cuts `span` in at most `wanted` pieces, and its decimals.
fn round_step(span: f64, wanted: u32) -> (f64, usize) {
    let least = span.max(1e-6) / f64::from(wanted);
    let (mut power, mut decimals) = (1.0, 0);
    while power * 10.0 <= least {
        power *= 10.0;
    }
    while power > least {
        power /= 10.0;
        decimals += 1;
    }
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| power * factor >= least);
    match factor {
        Some(factor) => (power * factor, decimals),
        None => (power * 10.0, decimals.saturating_sub(1)),
    }
}

/// Where the plot stands, in pixels, and its axes.
pub(crate) struct Frame {
    pub(crate) left: i32,
    pub(crate) right: i32,
    pub(crate) top: i32,
    pub(crate) bottom: i32,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Frame {
    /// Room below the plot for labels and title, in pixels.
    pub(crate) const BELOW: i32 = 2 * LINE;

    /// Draws axes and labels; what it returns takes marks.
    pub(crate) fn draw<'a>(&self, canvas: &Canvas<'a>, width: i32) -> Plot<'a> {
        let pixels = (self.left..self.right, self.bottom..self.top);
        let plot = canvas.apply_coord_spec(Cartesian::new(
            self.x.from..self.x.to,
            self.y.from..self.y.to,
            pixels,
        ));
        put(canvas, &Inside([(self.left, self.top), (self.right, self.bottom)]));
        self.draw_y(canvas, &plot);
        self.draw_x(canvas, &plot, width);
        plot
    }

    fn draw_y(&self, canvas: &Canvas<'_>, plot: &Plot<'_>) {
        let spans = self.y.ticks.iter().map(|tick| {
            let (_, y) = plot.map_coordinate(&(self.x.from, tick.at));
            (y, y - LINE / 2, y + LINE / 2)
        });
        for (tick, y) in apart(&self.y.ticks, spans, 0) {
            if let Some(ink) = tick.rule {
                line(canvas, (self.left, y), (self.right, y), ink);
            }
            tick.draw(canvas, (self.left - TEXT_GAP, y), HPos::Right);
        }
        if !self.y.title.is_empty() {
            let above = (0, self.top - LINE - LINE / 2);
            text(canvas, &self.y.title, above, Ink::Quiet, HPos::Left);
        }
    }

    fn draw_x(&self, canvas: &Canvas<'_>, plot: &Plot<'_>, width: i32) {
        let spans = self.x.ticks.iter().map(|tick| {
            let (x, _) = plot.map_coordinate(&(tick.at, self.y.from));
            let half = (tick.width() + 1) / 2;
            let x = x.clamp(half, (width - half).max(half));
            (x, x - half, x + half)
        });
        for (tick, middle) in apart(&self.x.ticks, spans, TEXT_GAP) {
            if let Some(ink) = tick.rule {
                let (x, _) = plot.map_coordinate(&(tick.at, self.y.from));
                line(canvas, (x, self.top), (x, self.bottom), ink);
            }
            tick.draw(canvas, (middle, self.bottom + LINE / 2 + 2), HPos::Center);
        }
        let half = (text_width(&self.x.title, TEXT_SIZE) + 1) / 2;
        let middle = ((self.left + self.right) / 2).clamp(half, (width - half).max(half));
        let below = (middle, self.bottom + LINE + LINE / 2);
        text(canvas, &self.x.title, below, Ink::Quiet, HPos::Center);
    }
}

/// The ticks whose labels keep that distance, each with the middle of its label.
///
/// `spans` gives middle, start and end of each label in pixels.
fn apart(
    ticks: &[Tick],
    spans: impl Iterator<Item = (i32, i32, i32)>,
    distance: i32,
) -> Vec<(&Tick, i32)> {
    let all: Vec<_> = ticks.iter().zip(spans).collect();
    let mut shown: Vec<(&Tick, (i32, i32, i32))> = Vec::with_capacity(all.len());
    for keep in [true, false] {
        for (tick, (middle, start, end)) in &all {
            let is_clear = |(_, other): &(&Tick, (i32, i32, i32))| {
                *start >= other.2 + distance || end + distance <= other.1
            };
            if tick.keep == keep && shown.iter().all(is_clear) {
                shown.push((tick, (*middle, *start, *end)));
            }
        }
    }
    shown.into_iter().map(|(tick, (middle, ..))| (tick, middle)).collect()
}
