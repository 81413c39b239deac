//! What all charts draw with: the SVG element, texts, lines, and marks with a title.

use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Drawable, PathElement, PointCollection, Text};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, TextStyle};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{BackendCoord, DrawingBackend};

use super::backend::{Drawn, SvgBackend};
use super::ink::Ink;
use super::text::TEXT_SIZE;
use crate::html::escape_into;

/// Height of a line of text with its distance to the next, in pixels.
pub(crate) const LINE: i32 = 18;

/// Least distance between two texts in a row, in pixels.
pub(crate) const TEXT_GAP: i32 = 8;

/// The whole chart, addressed in pixels.
pub(crate) type Canvas<'a> = DrawingArea<SvgBackend<'a>, Shift>;

/// Axes of real numbers; one type for all charts keeps the code small.
pub(crate) type Cartesian = Cartesian2d<RangedCoordf64, RangedCoordf64>;

/// The part inside the axes, addressed in the axes' units.
pub(crate) type Plot<'a> = DrawingArea<SvgBackend<'a>, Cartesian>;

/// Widths that a chart can be drawn for, in pixels: from a phone of 320 on; wider would be coarse.
pub(crate) fn drawn_width(width: u32) -> i32 {
    width.clamp(288, 1200) as i32
}

/// A complete SVG element of that size; `label` says in words what `draw` draws.
pub(crate) fn svg(width: i32, height: i32, label: &str, draw: &dyn Fn(&Canvas<'_>)) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"100%\" \
         viewBox=\"0 0 {width} {height}\" font-size=\"{TEXT_SIZE}\" role=\"img\" aria-label=\""
    );
    escape_into(&mut svg, label);
    svg.push_str("\">");
    let size = (width.unsigned_abs(), height.unsigned_abs());
    draw(&SvgBackend::new(&mut svg, size).into_drawing_area());
    svg.push_str("</svg>");
    svg
}

/// A chart of nothing: a sentence in its place.
pub(crate) fn empty(width: i32, sentence: &str) -> String {
    svg(width, 3 * LINE, sentence, &|canvas| {
        text(canvas, sentence, (0, 3 * LINE / 2), Ink::Quiet, HPos::Left);
    })
}

/// Draws an element.
pub(crate) fn put<'e, E>(canvas: &Canvas<'_>, element: &'e E)
where
    &'e E: PointCollection<'e, (i32, i32)>,
    E: for<'s> Drawable<SvgBackend<'s>>,
{
    let drawn = canvas.draw(element);
    debug_assert!(drawn.is_ok(), "the backend can't fail and nothing else borrows it");
}

/// Writes a text whose middle is at that height.
pub(crate) fn text(canvas: &Canvas<'_>, words: &str, at: (i32, i32), ink: Ink, side: HPos) {
    write(canvas, words, at, ink, side, FontStyle::Normal);
}

/// Writes a text in bold, as [`text`] does.
pub(crate) fn strong(canvas: &Canvas<'_>, words: &str, at: (i32, i32), ink: Ink, side: HPos) {
    write(canvas, words, at, ink, side, FontStyle::Bold);
}

fn write(canvas: &Canvas<'_>, words: &str, at: (i32, i32), ink: Ink, side: HPos, font: FontStyle) {
    let font = FontDesc::new(FontFamily::SansSerif, f64::from(TEXT_SIZE), font);
    let style = TextStyle::from(font).color(&ink).pos(Pos::new(side, VPos::Center));
    put(canvas, &Text::new(words, at, style));
}

/// Draws a straight line.
pub(crate) fn line(canvas: &Canvas<'_>, from: (i32, i32), to: (i32, i32), ink: Ink) {
    put(canvas, &PathElement::new(vec![from, to], ink.stroke_width(1)));
}

/// Draws a line from point to point.
pub(crate) fn polyline(canvas: &Canvas<'_>, points: Vec<(i32, i32)>, ink: Ink) {
    put(canvas, &PathElement::new(points, ink.stroke_width(2)));
}

/// Draws marks that share a title; an empty one isn't written.
pub(crate) fn titled(canvas: &Canvas<'_>, title: &str, marks: &[Mark]) {
    opening(canvas, title, "", marks);
}

/// Draws marks that share a title and open something: the step of the link beside the chart that a
/// press takes, or the subject of the marks, as `stage-3`, if the page handles that.
pub(crate) fn opening(canvas: &Canvas<'_>, title: &str, opens: &str, marks: &[Mark]) {
    let write = |backend: &mut SvgBackend<'_>| {
        if !title.is_empty() {
            backend.open(title, opens);
        }
        marks.iter().try_for_each(|mark| draw_mark(backend, mark))?;
        if !title.is_empty() {
            backend.close();
        }
        Ok(())
    };
    put(canvas, &Written(write));
}

/// Draws cells of a field that have the same step of color, as one path.
pub(crate) fn cells(canvas: &Canvas<'_>, step: usize, path: &str) {
    let write = |backend: &mut SvgBackend<'_>| {
        backend.cells(step, path);
        Ok(())
    };
    put(canvas, &Written(write));
}

/// Says where the part inside the axes is, between two corners.
pub(crate) fn inside(canvas: &Canvas<'_>, from: (i32, i32), to: (i32, i32)) {
    let write = |backend: &mut SvgBackend<'_>| {
        backend.plot(from, to);
        Ok(())
    };
    put(canvas, &Written(write));
}

/// Filling of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// All of it.
    Solid,
    /// All of it, with diagonal lines on top.
    Hatched,
    /// Diagonal lines inside an outline.
    Hollow,
    /// An outline and diagonal lines in the color of the surface, over other marks.
    Struck,
    /// All of the circle inside it.
    Round,
    /// An outline alone: what something else has, or had.
    Outline,
}

/// A bar or dot between two corners, upper left and lower right, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) corners: [(i32, i32); 2],
    pub(crate) ink: Ink,
    pub(crate) fill: Fill,
}

/// Element that the backend writes by itself, at its place in the drawing.
struct Written<F>(F);

impl<F> PointCollection<'_, (i32, i32)> for &Written<F> {
    type Point = (i32, i32);
    type IntoIter = std::iter::Empty<(i32, i32)>;

    fn point_iter(self) -> Self::IntoIter {
        std::iter::empty()
    }
}

impl<F: Fn(&mut SvgBackend<'_>) -> Drawn> Drawable<SvgBackend<'_>> for Written<F> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        _: I,
        backend: &mut SvgBackend<'_>,
        _: (u32, u32),
    ) -> Drawn {
        (self.0)(backend)
    }
}

fn draw_mark(backend: &mut SvgBackend<'_>, mark: &Mark) -> Drawn {
    let ([from, to], color) = (mark.corners, mark.ink.to_rgba());
    match mark.fill {
        Fill::Solid => backend.draw_rect(from, to, &color, true)?,
        Fill::Outline => backend.ghost(from, to, mark.ink),
        Fill::Hatched => {
            backend.draw_rect(from, to, &color, true)?;
            backend.hatch(None, from, to);
        }
        Fill::Hollow => {
            backend.draw_rect(from, to, &color, false)?;
            backend.hatch(Some(mark.ink), from, to);
        }
        Fill::Struck => {
            backend.hatch(None, from, to);
            backend.draw_rect(from, to, &color, false)?;
        }
        Fill::Round => {
            let center = ((from.0 + to.0) / 2, (from.1 + to.1) / 2);
            backend.draw_circle(center, ((to.0 - from.0) / 2).unsigned_abs(), &color, true)?;
        }
    }
    Ok(())
}
