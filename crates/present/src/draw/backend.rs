//! A plotters backend that writes SVG for a page: classes in place of colours, text measured by
//! one fixed table, and titles on marks.
//!
//! The same input gives the same bytes on every machine: coordinates are whole pixels and nothing
//! asks a font, a browser or a locale. There is no colour, no inline style and no id in the
//! output, so a strict content security policy and several charts on one page are no trouble.

use std::convert::Infallible;
use std::fmt::Write as _;

use plotters::style::Color as _;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontStyle,
};

use super::ink::Ink;
use super::surface::Side;
use super::svg;
use super::text::{bold_width, text_width};
use crate::html::escape_into;

/// Distance between two lines of a hatch, in pixels.
const HATCH_PITCH: i32 = 5;

/// Result of drawing: this backend can't fail.
pub(crate) type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// Writes the marks of a chart to a string.
pub(crate) struct SvgBackend<'a> {
    svg: &'a mut String,
    size: (u32, u32),
}

impl<'a> SvgBackend<'a> {
    /// A backend of that size in pixels that appends to `svg`.
    pub(crate) fn new(svg: &'a mut String, size: (u32, u32)) -> Self {
        Self { svg, size }
    }

    /// Starts a group whose title shows while the pointer is over it. A press on it opens a link
    /// beside the chart, or the subject of its mark, if `opens` names one.
    pub(crate) fn open(&mut self, title: &str, opens: &str) {
        self.svg.push_str("<g");
        if !opens.is_empty() {
            self.svg.push_str(" data-opens=\"");
            escape_into(self.svg, opens);
            self.svg.push('"');
        }
        self.svg.push_str("><title>");
        escape_into(self.svg, title);
        self.svg.push_str("</title>");
    }

    /// Says where the part inside the axes is, for those who point at it. Nothing is seen of it.
    pub(crate) fn plot(&mut self, (x0, y0): BackendCoord, (x1, y1): BackendCoord) {
        svg::rect(self.svg, [x0, y0, x1 - x0, y1 - y0], "class=\"chart-plot\"");
    }

    /// Ends the group.
    pub(crate) fn close(&mut self) {
        self.svg.push_str("</g>");
    }

    /// Diagonal lines over a rectangle, as one path: a pattern would need an id.
    ///
    /// In the ink, or in the color of the surface where there is none.
    pub(crate) fn hatch(
        &mut self,
        ink: Option<Ink>,
        (x0, y0): BackendCoord,
        (x1, y1): BackendCoord,
    ) {
        let (width, height) = (x1 - x0, y1 - y0);
        let class = ink.map_or("chart-hatch", |ink| Ink::class(ink.to_backend_color()));
        let _ = write!(self.svg, "<path class=\"chart-stroke {class}\" d=\"");
        // The phase follows the page and not the rectangle, so neighbours continue each other.
        let mut along = HATCH_PITCH - (x0 + y0).rem_euclid(HATCH_PITCH);
        while along < width + height {
            let start = (x0 + (along - height).max(0), y0 + along.min(height));
            let end = (x0 + along.min(width), y0 + (along - width).max(0));
            let _ = write!(self.svg, "M{} {}L{} {}", start.0, start.1, end.0, end.1);
            along += HATCH_PITCH;
        }
        self.svg.push_str("\"/>");
    }

    /// An outline behind the marks of the page's own design.
    pub(crate) fn ghost(&mut self, (x0, y0): BackendCoord, (x1, y1): BackendCoord, ink: Ink) {
        let look = format!("class=\"chart-stroke chart-ghost {}\"", ink.name());
        svg::rect(self.svg, [x0, y0, (x1 - x0).max(0), (y1 - y0).max(0)], &look);
    }

    /// Cells of a field that have the same step of color, as one path.
    pub(crate) fn cells(&mut self, step: usize, path: &str) {
        let _ = write!(self.svg, "<path class=\"chart-fill chart-heat-{step}\" d=\"{path}\"/>");
    }

    /// The attributes of a mark: its class, and the width of its line unless it is filled.
    fn look(color: BackendColor, width: Option<u32>) -> String {
        let kind = if width.is_some() { "chart-stroke" } else { "chart-fill" };
        let mut look = format!("class=\"{kind} {}\"", Ink::class(color));
        if let Some(width) = width.filter(|width| *width > 1) {
            // Writing to a string can't fail.
            let _ = write!(look, " stroke-width=\"{width}\"");
        }
        look
    }
}

impl DrawingBackend for SvgBackend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        svg::rect(self.svg, [x, y, 1, 1], &Self::look(color, None));
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let (width, height) = ((right - left).max(0), (bottom - top).max(0));
        let look = Self::look(style.color(), (!fill).then(|| style.stroke_width()));
        svg::rect(self.svg, [left, top, width, height], &look);
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let look = Self::look(style.color(), Some(style.stroke_width()));
        svg::points(self.svg, "polyline", path, &look);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let look = Self::look(style.color(), (!fill).then(|| style.stroke_width()));
        svg::circle(self.svg, center, radius as i32, &look);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vertices: I,
        style: &S,
    ) -> Drawn {
        svg::points(self.svg, "polygon", vertices, &Self::look(style.color(), None));
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Drawn {
        let size = style.size() as i32;
        // Half the height of a capital below the middle; ascent and descent of the usual fonts.
        let baseline = y + match style.anchor().v_pos {
            VPos::Top => size * 93 / 100,
            VPos::Center => size * 36 / 100,
            VPos::Bottom => -(size * 24 / 100),
        };
        let side = match style.anchor().h_pos {
            HPos::Left => Side::Left,
            HPos::Center => Side::Center,
            HPos::Right => Side::Right,
        };
        let strong = if is_bold(style) { " chart-strong" } else { "" };
        let class = Ink::class(style.color());
        let look = format!("class=\"{class}{strong}\"");
        svg::text(self.svg, text, (x, baseline), side, &look);
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = style.size() as i32;
        let width = if is_bold(style) { bold_width(text, size) } else { text_width(text, size) };
        Ok((width.unsigned_abs(), size.unsigned_abs()))
    }
}

fn is_bold(style: &impl BackendTextStyle) -> bool {
    matches!(style.style(), FontStyle::Bold)
}
