//! The frame of a chart: two axes around the plot.

use plotters_backend::text_anchor::HPos;

use super::axis::{Axis, apart};
use super::canvas::{Canvas, Cartesian, LINE, Plot, TEXT_GAP, inside, line, text};
use super::ink::Ink;
use super::text::{TEXT_SIZE, text_width};

/// Bounds of the plot, in pixels, and its axes.
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
        inside(canvas, (self.left, self.top), (self.right, self.bottom));
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
