//! What a picture is drawn on: a canvas on the page, or an SVG file.

use super::look::Look;
use super::palette::Ink;

/// A rectangle, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) const fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) const fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// Where a text's point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Center,
    Right,
}

/// Words on a picture. Their middle is at the height `y`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) side: Side,
    pub(super) ink: Ink,
    pub(super) bold: bool,
}

/// Size of all text, in pixels.
pub(super) const TEXT_SIZE: i32 = 12;

/// Takes what is drawn. Positions are in pixels of the page.
pub(super) trait Surface {
    /// Fills rectangles with a colour.
    fn fill(&mut self, areas: &[Area], ink: Ink);
    /// Fills rectangles with the colour and pattern of a look.
    fn blocks(&mut self, areas: &[Area], look: Look);
    /// Fills a rectangle with the pattern of a bubble.
    fn bubble(&mut self, area: Area);
    /// Draws a frame inside a rectangle.
    fn frame(&mut self, area: Area, ink: Ink, width: f64);
    /// Draws a line from point to point.
    fn line(&mut self, points: &[(f64, f64)], ink: Ink, dashed: bool);
    /// Fills what is inside a line.
    fn shape(&mut self, points: &[(f64, f64)], ink: Ink);
    /// Writes words.
    fn words(&mut self, words: Words<'_>);
    /// From here on nothing is drawn outside of the rectangle.
    fn clip(&mut self, area: Area);
    /// From here on everything is drawn again.
    fn unclip(&mut self);
}
