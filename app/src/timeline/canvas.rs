//! A picture on a canvas, at the screen's own resolution.

use leptos::prelude::document;
use leptos::wasm_bindgen::JsCast;
use web_sys::js_sys::Array;
use web_sys::{CanvasPattern, CanvasRenderingContext2d, HtmlCanvasElement};

use super::look::{Hatch, Look};
use super::palette::{Color, Ink, Palette};
use super::surface::{Area, Side, Surface, TEXT_SIZE, Words};
use crate::browser::download::on_paper;

/// Colours and patterns of a theme at a resolution.
pub(super) struct Brushes {
    pub(super) palette: Palette,
    /// Pixels of the screen in one pixel of the page.
    ratio: f64,
    /// The page's fonts.
    family: String,
    looks: Vec<Option<CanvasPattern>>,
    bubble: Option<CanvasPattern>,
}

/// The colours that a canvas has in files: the light ones.
pub(super) fn paper_palette(canvas: &HtmlCanvasElement) -> Option<Palette> {
    let style = leptos::prelude::window().get_computed_style(canvas).ok()??;
    on_paper(|| Palette::read(&|name| style.get_property_value(name).ok()))
}

impl Brushes {
    /// Reads the colours that hold for a canvas: once for each theme.
    pub(super) fn read(canvas: &HtmlCanvasElement, ratio: f64) -> Option<Self> {
        let style = leptos::prelude::window().get_computed_style(canvas).ok()??;
        let palette = Palette::read(&|name| style.get_property_value(name).ok());
        let family = style.get_property_value("font-family").unwrap_or_default();
        let (ground, lines) = (palette.ink(Ink::Surface), palette.ink(Ink::Axis));
        let bubble = tile(ground, lines, Hatch::Rising, ratio);
        Some(Self { palette, ratio, family, looks: vec![None; Look::COUNT], bubble })
    }

    /// The pattern of a look, drawn when it is first wanted.
    fn look(&mut self, look: Look) -> Option<&CanvasPattern> {
        let place = self.looks.get_mut(look.index())?;
        if place.is_none() {
            let (ground, lines) = (self.palette.look(look), self.palette.hatch(look));
            *place = tile(ground, lines, look.kind.hatch(), self.ratio);
        }
        place.as_ref()
    }
}

/// A pattern that repeats.
fn tile(ground: Color, lines: Color, hatch: Hatch, ratio: f64) -> Option<CanvasPattern> {
    let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
    let size = (Hatch::TILE * ratio).round().max(2.0);
    canvas.set_width(size as u32);
    canvas.set_height(size as u32);
    let context = context(&canvas)?;
    context.set_fill_style_str(&ground.css());
    context.fill_rect(0.0, 0.0, size, size);
    context.set_stroke_style_str(&lines.css());
    let scale = size / Hatch::TILE;
    context.set_line_width(scale);
    context.begin_path();
    for [x0, y0, x1, y1] in hatch.lines() {
        context.move_to(x0 * scale, y0 * scale);
        context.line_to(x1 * scale, y1 * scale);
    }
    context.stroke();
    context.create_pattern_with_html_canvas_element(&canvas, "repeat").ok()?
}

/// What draws on a canvas.
pub(super) fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// A canvas that is being drawn on.
pub(super) struct CanvasSurface<'a> {
    context: &'a CanvasRenderingContext2d,
    brushes: &'a mut Brushes,
    /// How words were written last: a browser takes its time to set it.
    writing: Option<(Side, Ink, bool)>,
}

impl<'a> CanvasSurface<'a> {
    pub(super) fn new(context: &'a CanvasRenderingContext2d, brushes: &'a mut Brushes) -> Self {
        context.set_text_baseline("middle");
        Self { context, brushes, writing: None }
    }

    /// Sides of a rectangle on whole pixels of the screen, so that they are sharp.
    fn pixels(&self, area: Area) -> (f64, f64, f64, f64) {
        let ratio = self.brushes.ratio;
        let (left, top) = ((area.left * ratio).round(), (area.top * ratio).round());
        let right = (area.right() * ratio).round().max(left + 1.0);
        let bottom = (area.bottom() * ratio).round().max(top + 1.0);
        (left, top, right - left, bottom - top)
    }

    fn fill_all(&self, areas: &[Area]) {
        for area in areas {
            let (left, top, width, height) = self.pixels(*area);
            self.context.fill_rect(left, top, width, height);
        }
    }

    /// Begins a line. `half` puts level and upright lines of one pixel on whole pixels.
    fn path(&self, points: &[(f64, f64)], half: f64) {
        let ratio = self.brushes.ratio;
        self.context.begin_path();
        for (index, (x, y)) in points.iter().enumerate() {
            let (x, y) = ((x * ratio).round() + half, (y * ratio).round() + half);
            if index == 0 {
                self.context.move_to(x, y);
            } else {
                self.context.line_to(x, y);
            }
        }
    }

    fn fill_style(&self, ink: Ink) {
        self.context.set_fill_style_str(&self.brushes.palette.ink(ink).css());
    }

    fn stroke_style(&self, ink: Ink, width: f64) {
        self.context.set_stroke_style_str(&self.brushes.palette.ink(ink).css());
        self.context.set_line_width((width * self.brushes.ratio).round().max(1.0));
    }
}

impl Surface for CanvasSurface<'_> {
    fn fill(&mut self, areas: &[Area], ink: Ink) {
        self.writing = None;
        self.fill_style(ink);
        self.fill_all(areas);
    }

    fn blocks(&mut self, areas: &[Area], look: Look) {
        self.writing = None;
        if let Some(pattern) = self.brushes.look(look) {
            self.context.set_fill_style_canvas_pattern(pattern);
            self.fill_all(areas);
        }
    }

    fn bubble(&mut self, area: Area) {
        self.writing = None;
        if let Some(pattern) = &self.brushes.bubble {
            self.context.set_fill_style_canvas_pattern(pattern);
            self.fill_all(&[area]);
        }
    }

    fn frame(&mut self, area: Area, ink: Ink, width: f64) {
        self.stroke_style(ink, width);
        let (left, top, w, h) = self.pixels(area);
        let width = (width * self.brushes.ratio).round().max(1.0);
        let half = width / 2.0;
        self.context.stroke_rect(left + half, top + half, (w - width).max(0.0), h - width);
    }

    fn line(&mut self, points: &[(f64, f64)], ink: Ink, dashed: bool) {
        self.stroke_style(ink, 1.0);
        let ratio = self.brushes.ratio;
        self.path(points, (ratio.round().max(1.0) / 2.0).fract());
        // Fails only on what is no list of numbers.
        if dashed {
            let dashes = Array::of2(&(5.0 * ratio).into(), &(3.0 * ratio).into());
            let _ = self.context.set_line_dash(&dashes);
        }
        self.context.stroke();
        if dashed {
            let _ = self.context.set_line_dash(&Array::new());
        }
    }

    fn shape(&mut self, points: &[(f64, f64)], ink: Ink) {
        self.writing = None;
        self.fill_style(ink);
        self.path(points, 0.0);
        self.context.fill();
    }

    fn words(&mut self, words: Words<'_>) {
        let ratio = self.brushes.ratio;
        let wanted = (words.side, words.ink, words.bold);
        if self.writing != Some(wanted) {
            self.writing = Some(wanted);
            self.fill_style(words.ink);
            let weight = if words.bold { "600 " } else { "" };
            let size = f64::from(TEXT_SIZE) * ratio;
            self.context.set_font(&format!("{weight}{size:.1}px {}", self.brushes.family));
            self.context.set_text_align(match words.side {
                Side::Left => "left",
                Side::Center => "center",
                Side::Right => "right",
            });
        }
        // Fails only on places that aren't finite.
        let _ = self.context.fill_text(words.text, words.x * ratio, words.y * ratio);
    }

    fn clip(&mut self, area: Area) {
        self.context.save();
        let (left, top, width, height) = self.pixels(area);
        self.context.begin_path();
        self.context.rect(left, top, width, height);
        self.context.clip();
    }

    fn unclip(&mut self) {
        self.writing = None;
        self.context.restore();
    }
}
