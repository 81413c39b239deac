//! The legend of a chart: the meaning of its inks, fills and shapes.

use plotters_backend::text_anchor::HPos;

use super::canvas::{Canvas, Fill, LINE, Mark, TEXT_GAP, cells, polyline, text, titled};
use super::ink::Ink;
use super::shape::Shape;
use super::text::{TEXT_SIZE, text_width};

/// Size of a legend's swatch, in pixels.
const SWATCH: (i32, i32) = (16, 14);

/// Side of the swatch of a step of color, in pixels.
const HEAT: i32 = 12;

/// One entry of a legend.
pub(crate) struct Key {
    pub(crate) ink: Ink,
    pub(crate) swatch: Swatch,
    pub(crate) text: String,
}

impl Key {
    /// A bar or dot with its words.
    pub(crate) fn bar(ink: Ink, fill: Fill, text: impl Into<String>) -> Self {
        Self { ink, swatch: Swatch::Bar(fill, ""), text: text.into() }
    }

    /// A line with its words, with a mark of its points where they have one.
    pub(crate) fn line(ink: Ink, fill: Option<Fill>, text: impl Into<String>) -> Self {
        Self { ink, swatch: Swatch::Line(fill), text: text.into() }
    }
}

/// Sample mark in front of a legend's text.
pub(crate) enum Swatch {
    /// A piece of a bar, with its letter.
    Bar(Fill, &'static str),
    /// A piece of a line, with the mark of its points.
    Line(Option<Fill>),
    /// A point of a scatter.
    Point(Shape),
    /// A cell of a field, in a step of color.
    Heat(usize),
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
    let center = x + SWATCH.0 / 2;
    let mark = |half: (i32, i32), fill| {
        let corners = [(center - half.0, middle - half.1), (center + half.0, middle + half.1)];
        titled(canvas, "", &[Mark { corners, ink: key.ink, fill }]);
    };
    match key.swatch {
        Swatch::Bar(fill, letter) => {
            mark((SWATCH.0 / 2, SWATCH.1 / 2), fill);
            if !letter.is_empty() {
                text(canvas, letter, (center, middle), Ink::OnMark, HPos::Center);
            }
        }
        Swatch::Line(point) => {
            polyline(canvas, vec![(x, middle), (x + SWATCH.0, middle)], key.ink);
            if let Some(fill) = point {
                mark(POINT, fill);
            }
        }
        Swatch::Point(shape) => shape.draw(canvas, (center, middle), key.ink),
        Swatch::Heat(step) => {
            let (left, top, side) = (center - HEAT / 2, middle - HEAT / 2, HEAT);
            cells(canvas, step, &format!("M{left} {top}h{side}v{side}h-{side}z"));
        }
    }
}

/// Half the size of a point on a line, in pixels.
pub(crate) const POINT: (i32, i32) = (3, 3);
