//! What a picture of many marks is drawn on: a canvas on the page, or an SVG file.
//!
//! Marks of one look come in one call, so that a frame of thousands of marks costs no call each.

use super::palette::{Hue, Tile};
use super::text::{TEXT_SIZE, text_width};

/// A rectangle, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Area {
    /// A rectangle by its left and upper edge and its size.
    pub const fn new(left: f64, top: f64, width: f64, height: f64) -> Self {
        Self { left, top, width, height }
    }

    /// Right edge.
    pub const fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Lower edge.
    pub const fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Middle.
    pub const fn center(&self) -> (f64, f64) {
        (self.left + self.width / 2.0, self.top + self.height / 2.0)
    }

    /// The rectangle without a margin on each side.
    pub const fn inset(&self, by: f64) -> Self {
        let (width, height) = (self.width - 2.0 * by, self.height - 2.0 * by);
        Self { left: self.left + by, top: self.top + by, width, height }
    }
}

/// Filling of a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paint {
    /// One colour.
    Plain(Hue),
    /// A pattern.
    Tiled(Tile),
}

/// Style of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Colour.
    pub hue: Hue,
    /// Width in pixels.
    pub width: f64,
    /// Whether it is dashed.
    pub is_dashed: bool,
}

impl Stroke {
    /// A line of that width in pixels.
    pub const fn new(hue: Hue, width: f64) -> Self {
        Self { hue, width, is_dashed: false }
    }

    /// A dashed line of that width.
    pub const fn dashed(hue: Hue, width: f64) -> Self {
        Self { hue, width, is_dashed: true }
    }
}

/// Side of a text on which its point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At its left end.
    Left,
    /// In its middle.
    Center,
    /// At its right end.
    Right,
}

/// Weight or direction of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// As running text.
    Plain,
    /// In bold letters.
    Bold,
    /// Upward text.
    Upward,
}

/// Words on a picture. Their middle is at the height `y`.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The words.
    pub text: &'a str,
    /// Place of the point across.
    pub x: f64,
    /// Height of the middle.
    pub y: f64,
    /// Place of the point in the text.
    pub side: Side,
    /// Colour.
    pub hue: Hue,
    /// Letters.
    pub face: Face,
}

impl<'a> Words<'a> {
    /// Words as most are written.
    pub const fn new(text: &'a str, (x, y): (f64, f64), side: Side, hue: Hue) -> Self {
        Self { text, x, y, side, hue, face: Face::Plain }
    }
}

/// Takes what is drawn. Positions are in pixels of the page.
pub trait Surface {
    /// Fills rectangles.
    fn fill(&mut self, areas: &[Area], paint: Paint);
    /// Fills squares side by side, `across` to a row, each as opaque as its byte.
    fn squares(&mut self, size: f64, across: usize, opacities: &[u8], hue: Hue);
    /// Draws a frame inside a rectangle.
    fn frame(&mut self, area: Area, hue: Hue, width: f64);
    /// Draws a line from point to point.
    fn line(&mut self, points: &[(f64, f64)], stroke: Stroke);
    /// Draws lines between two points each.
    fn lines(&mut self, all: &[[(f64, f64); 2]], stroke: Stroke);
    /// Fills what is inside a line.
    fn shape(&mut self, points: &[(f64, f64)], hue: Hue);
    /// Fills circles.
    fn dots(&mut self, centers: &[(f64, f64)], radius: f64, hue: Hue);
    /// Draws a circle's outline.
    fn ring(&mut self, center: (f64, f64), radius: f64, hue: Hue);
    /// Writes words.
    fn words(&mut self, words: Words<'_>);
    /// Marks are as opaque from here on; words and lines, too.
    fn opacity(&mut self, opacity: f64);
    /// Clips to the rectangle from here on.
    fn clip(&mut self, area: Area);
    /// Ends the clipping.
    fn unclip(&mut self);

    /// Writes words with a rim of the surface, to be read over lines.
    fn words_over(&mut self, words: Words<'_>) {
        let wide = f64::from(text_width(words.text, TEXT_SIZE)) + 4.0;
        let left = match words.side {
            Side::Left => words.x - 2.0,
            Side::Center => words.x - wide / 2.0,
            Side::Right => words.x - wide + 2.0,
        };
        self.opacity(0.8);
        self.fill(&[Area::new(left, words.y - 7.0, wide, 14.0)], Paint::Plain(Hue::Surface));
        self.opacity(1.0);
        self.words(words);
    }
}
