//! A canvas in the page's colours, in pixels of the page; or a file that is drawn as it.

use std::cell::{OnceCell, RefCell};

use leptos::prelude::{document, window};
use leptos::wasm_bindgen::{Clamped, JsCast, JsValue};
use web_sys::js_sys::Array;
use web_sys::{CanvasPattern, CanvasRenderingContext2d, Element, HtmlCanvasElement, ImageData};

use super::picture::Picture;
use crate::browser::download::on_paper;
use crate::present::provenance::Provenance;

/// What a colour is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Surface,
    Text,
    Quiet,
    Grid,
    Axis,
    /// Designs.
    Mark,
    /// Those on the front.
    Front,
    /// What a pointer is on.
    Accent,
}

impl Ink {
    const ALL: [Self; 8] = [
        Self::Surface,
        Self::Text,
        Self::Quiet,
        Self::Grid,
        Self::Axis,
        Self::Mark,
        Self::Front,
        Self::Accent,
    ];

    const fn property(self) -> &'static str {
        match self {
            Self::Surface => "--chart-surface",
            Self::Text => "--chart-text",
            Self::Quiet => "--chart-quiet",
            Self::Grid => "--chart-grid",
            Self::Axis => "--chart-axis",
            Self::Mark => "--chart-blue",
            Self::Front => "--chart-rust",
            Self::Accent => "--accent",
        }
    }
}

/// Where words stand from their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Center,
    Right,
}

/// A canvas that is drawn on.
pub(super) struct Pen {
    context: CanvasRenderingContext2d,
    /// Where it is drawn instead; the canvas only measures words then.
    file: Option<RefCell<Picture>>,
    pub(super) width: f64,
    pub(super) height: f64,
    colors: [String; Ink::ALL.len()],
    ratio: f64,
    hatch: OnceCell<Option<CanvasPattern>>,
}

/// What doesn't change from frame to frame, drawn once: words take a browser longer than
/// everything else.
pub(super) struct Layer<K> {
    of: K,
    canvas: HtmlCanvasElement,
}

/// A canvas by its id.
pub(super) fn canvas(id: &str) -> Option<HtmlCanvasElement> {
    document().get_element_by_id(id)?.dyn_into().ok()
}

/// A canvas that isn't on the page.
fn sheet(width: u32, height: u32) -> Option<(HtmlCanvasElement, CanvasRenderingContext2d)> {
    let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_width(width);
    canvas.set_height(height);
    let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    Some((canvas, context))
}

/// The size of a canvas on the page.
pub(super) fn size(canvas: &Element) -> (f64, f64) {
    (f64::from(canvas.client_width()), f64::from(canvas.client_height()))
}

/// The colours of each ink where a canvas stands.
fn colors(canvas: &HtmlCanvasElement) -> Option<[String; Ink::ALL.len()]> {
    let style = window().get_computed_style(canvas).ok()??;
    let value = |name: &str| style.get_property_value(name).unwrap_or_default();
    Some(Ink::ALL.map(|ink| value(ink.property()).trim().to_owned()))
}

impl Pen {
    /// Clears a canvas and makes it as sharp as the screen; none while it isn't shown.
    pub(super) fn on(canvas: &HtmlCanvasElement) -> Option<Self> {
        let (width, height) = size(canvas);
        if width < 1.0 || height < 1.0 {
            return None;
        }
        let ratio = window().device_pixel_ratio().clamp(1.0, 3.0);
        let (wide, high) = ((width * ratio).round() as u32, (height * ratio).round() as u32);
        if canvas.width() != wide || canvas.height() != high {
            canvas.set_width(wide);
            canvas.set_height(high);
        }
        let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        // Fails only on what is no number.
        let _ = context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0);
        context.clear_rect(0.0, 0.0, width, height);
        let style = window().get_computed_style(canvas).ok()??;
        let font = style.get_property_value("font-family").unwrap_or_default();
        context.set_font(&format!("12px {font}"));
        context.set_text_baseline("middle");
        let colors = colors(canvas)?;
        Some(Self { context, file: None, width, height, colors, ratio, hatch: OnceCell::new() })
    }

    /// A file of the size that a canvas has, in the light colours: it goes on paper.
    pub(super) fn in_file(canvas: &HtmlCanvasElement) -> Option<Self> {
        let (width, height) = size(canvas);
        let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        let colors = on_paper(|| colors(canvas))??;
        let file = Some(RefCell::new(Picture::new()));
        Some(Self { context, file, width, height, colors, ratio: 1.0, hatch: OnceCell::new() })
    }

    /// Draws a layer: as it is kept, where it is of the same, else anew. A file has no layers.
    pub(super) fn layer<K: PartialEq>(
        &self,
        kept: &mut Option<Layer<K>>,
        of: K,
        draw: impl FnOnce(&Self),
    ) {
        if self.file.is_some() {
            return draw(self);
        }
        let (wide, high) = (self.width * self.ratio, self.height * self.ratio);
        if kept.as_ref().is_none_or(|layer| layer.of != of) {
            let Some((canvas, context)) = sheet(wide.round() as u32, high.round() as u32) else {
                return draw(self);
            };
            let _ = context.set_transform(self.ratio, 0.0, 0.0, self.ratio, 0.0, 0.0);
            context.set_font(&self.context.font());
            context.set_text_baseline("middle");
            let (width, height, ratio) = (self.width, self.height, self.ratio);
            let (colors, hatch) = (self.colors.clone(), OnceCell::new());
            draw(&Self { context, file: None, width, height, colors, ratio, hatch });
            *kept = Some(Layer { of, canvas });
        }
        if let Some(Layer { canvas, .. }) = kept {
            // Fails only on an image without pixels.
            let _ = self.context.draw_image_with_html_canvas_element_and_dw_and_dh(
                canvas,
                0.0,
                0.0,
                self.width,
                self.height,
            );
        }
    }

    /// The file; none of a pen that drew on the canvas.
    pub(super) fn finish(self, title: &str, from: &Provenance) -> Option<String> {
        let [ground, ..] = &self.colors;
        let file = self.file?.into_inner();
        Some(file.finish((self.width, self.height), title, ground, from))
    }

    /// Draws in the file, if it is one.
    fn in_picture(&self, draw: impl FnOnce(&mut Picture)) -> bool {
        self.file.as_ref().map(|file| draw(&mut file.borrow_mut())).is_some()
    }

    /// Diagonals that repeat, for what is not there.
    fn tile(&self) -> Option<CanvasPattern> {
        const SIZE: f64 = 7.0;
        let size = (SIZE * self.ratio).round();
        let (canvas, context) = sheet(size as u32, size as u32)?;
        context.set_stroke_style_str(self.color(Ink::Axis));
        context.set_line_width(1.0);
        context.begin_path();
        for [x0, y0, x1, y1] in [
            [0.0, size, size, 0.0],
            [-1.0, 1.0, 1.0, -1.0],
            [size - 1.0, size + 1.0, size + 1.0, size - 1.0],
        ] {
            context.move_to(x0, y0);
            context.line_to(x1, y1);
        }
        context.stroke();
        context.create_pattern_with_html_canvas_element(&canvas, "repeat").ok()?
    }

    fn color(&self, ink: Ink) -> &str {
        &self.colors[ink as usize]
    }

    pub(super) fn alpha(&self, alpha: f64) {
        self.in_picture(|picture| picture.alpha(alpha));
        self.context.set_global_alpha(alpha);
    }

    pub(super) fn fill(&self, ink: Ink, x: f64, y: f64, width: f64, height: f64) {
        let (color, size) = (self.color(ink), (width, height));
        if self.in_picture(|it| it.rectangles(color, size, std::iter::once((x, y)))) {
            return;
        }
        self.context.set_fill_style_str(self.color(ink));
        self.context.fill_rect(x, y, width, height);
    }

    /// Squares side by side, in rows of so many, each as opaque as its byte says.
    ///
    /// They are pixels of an image that is drawn larger: thousands of them take one call.
    pub(super) fn squares(&self, ink: Ink, size: f64, across: usize, opacities: &[u8]) {
        if let Some(file) = &self.file {
            return file.borrow_mut().squares(self.color(ink), size, across, opacities);
        }
        let down = opacities.len() / across.max(1);
        let Some((canvas, context)) = sheet(across as u32, down as u32) else { return };
        let mut pixels = vec![0; 4 * opacities.len()];
        for (pixel, opacity) in pixels.as_chunks_mut::<4>().0.iter_mut().zip(opacities) {
            pixel[3] = *opacity;
        }
        let data = Clamped(pixels.as_slice());
        let Ok(image) = ImageData::new_with_u8_clamped_array(data, across as u32) else { return };
        // These fail only on what is no number and on images without pixels.
        let _ = context.put_image_data(&image, 0.0, 0.0);
        let _ = context.set_global_composite_operation("source-in");
        context.set_fill_style_str(self.color(ink));
        context.fill_rect(0.0, 0.0, across as f64, down as f64);
        self.context.set_image_smoothing_enabled(false);
        let (width, height) = (across as f64 * size, down as f64 * size);
        let _ = self
            .context
            .draw_image_with_html_canvas_element_and_dw_and_dh(&canvas, 0.0, 0.0, width, height);
        self.context.set_image_smoothing_enabled(true);
    }

    pub(super) fn hatch(&self, x: f64, y: f64, width: f64, height: f64) {
        let color = self.color(Ink::Axis);
        if self.in_picture(|picture| picture.hatch(color, (x, y), (width, height))) {
            return;
        }
        // Made when it is needed first: most pictures have none.
        if let Some(pattern) = self.hatch.get_or_init(|| self.tile()) {
            self.alpha(0.55);
            self.context.set_fill_style_canvas_pattern(pattern);
            self.context.fill_rect(x, y, width, height);
            self.alpha(1.0);
        }
    }

    pub(super) fn frame(&self, ink: Ink, x: f64, y: f64, width: f64, height: f64) {
        let color = self.color(ink);
        if self.in_picture(|picture| picture.frame(color, (x, y), (width, height))) {
            return;
        }
        self.context.set_stroke_style_str(self.color(ink));
        self.context.set_line_width(2.0);
        self.context.stroke_rect(x, y, width.max(1.0), height.max(1.0));
    }

    /// Dots, all of one size.
    pub(super) fn dots(&self, ink: Ink, radius: f64, points: impl Iterator<Item = (f64, f64)>) {
        if let Some(file) = &self.file {
            return file.borrow_mut().dots(self.color(ink), radius, points);
        }
        self.context.set_fill_style_str(self.color(ink));
        self.context.begin_path();
        for (x, y) in points {
            self.context.move_to(x + radius, y);
            // Fails only on a radius below zero.
            let _ = self.context.arc(x, y, radius, 0.0, std::f64::consts::TAU);
        }
        self.context.fill();
    }

    /// A mark that is told from a dot by its shape.
    pub(super) fn diamond(&self, ink: Ink, radius: f64, x: f64, y: f64) {
        if self.in_picture(|picture| picture.diamond(self.color(ink), radius, x, y)) {
            return;
        }
        self.context.set_fill_style_str(self.color(ink));
        self.context.begin_path();
        self.context.move_to(x, y - radius);
        self.context.line_to(x + radius, y);
        self.context.line_to(x, y + radius);
        self.context.line_to(x - radius, y);
        self.context.fill();
    }

    /// A ring around a point.
    pub(super) fn ring(&self, ink: Ink, radius: f64, x: f64, y: f64) {
        if self.in_picture(|picture| picture.ring(self.color(ink), radius, x, y)) {
            return;
        }
        self.context.set_stroke_style_str(self.color(ink));
        self.context.set_line_width(2.5);
        self.context.begin_path();
        let _ = self.context.arc(x, y, radius, 0.0, std::f64::consts::TAU);
        self.context.stroke();
    }

    /// A line from point to point.
    pub(super) fn line(&self, ink: Ink, width: f64, points: impl Iterator<Item = (f64, f64)>) {
        if let Some(file) = &self.file {
            return file.borrow_mut().line(self.color(ink), width, points);
        }
        self.context.set_stroke_style_str(self.color(ink));
        self.context.set_line_width(width);
        self.context.begin_path();
        for (place, (x, y)) in points.enumerate() {
            if place == 0 {
                self.context.move_to(x, y);
            } else {
                self.context.line_to(x, y);
            }
        }
        self.context.stroke();
    }

    /// Lines from point to point as one path.
    pub(super) fn pieces(&self, ink: Ink, width: f64, all: &[[(f64, f64); 2]]) {
        self.context.set_stroke_style_str(self.color(ink));
        self.context.set_line_width(width);
        self.context.begin_path();
        for [from, to] in all {
            self.context.move_to(from.0, from.1);
            self.context.line_to(to.0, to.1);
        }
        self.context.stroke();
    }

    pub(super) fn dashes(&self, on: bool) {
        self.in_picture(|picture| picture.dashes(on));
        let dashes = if on { Array::of2(&4.into(), &3.into()) } else { Array::new() };
        // Fails only on what is no list of numbers.
        let _ = self.context.set_line_dash(&JsValue::from(dashes));
    }

    pub(super) fn words(&self, ink: Ink, side: Side, text: &str, x: f64, y: f64) {
        let anchor = match side {
            Side::Left => "start",
            Side::Center => "middle",
            Side::Right => "end",
        };
        let color = self.color(ink);
        if self.in_picture(|picture| picture.words(color, anchor, text, (x, y), false)) {
            return;
        }
        self.context.set_fill_style_str(self.color(ink));
        self.context.set_text_align(match side {
            Side::Left => "left",
            Side::Center => "center",
            Side::Right => "right",
        });
        // Fails only on places that aren't finite.
        let _ = self.context.fill_text(text, x, y);
    }

    /// Words with a rim of the surface, to be read over lines.
    pub(super) fn words_over(&self, ink: Ink, side: Side, text: &str, x: f64, y: f64) {
        let wide = self.text_width(text) + 4.0;
        let left = match side {
            Side::Left => x - 2.0,
            Side::Center => x - wide / 2.0,
            Side::Right => x - wide + 2.0,
        };
        self.alpha(0.8);
        self.fill(Ink::Surface, left, y - 7.0, wide, 14.0);
        self.alpha(1.0);
        self.words(ink, side, text, x, y);
    }

    /// Words from below to above.
    pub(super) fn words_up(&self, ink: Ink, text: &str, x: f64, y: f64) {
        let color = self.color(ink);
        if self.in_picture(|picture| picture.words(color, "middle", text, (x, y), true)) {
            return;
        }
        self.context.save();
        // These fail only on what is no number.
        let _ = self.context.translate(x, y);
        let _ = self.context.rotate(-std::f64::consts::FRAC_PI_2);
        self.words(ink, Side::Center, text, 0.0, 0.0);
        self.context.restore();
    }

    pub(super) fn text_width(&self, text: &str) -> f64 {
        self.context.measure_text(text).map_or(0.0, |measured| measured.width())
    }

    /// Draws only inside a rectangle until [`Self::unclip`].
    pub(super) fn clip(&self, x: f64, y: f64, width: f64, height: f64) {
        if self.in_picture(|picture| picture.clip((x, y), (width, height))) {
            return;
        }
        self.context.save();
        self.context.begin_path();
        self.context.rect(x, y, width, height);
        self.context.clip();
    }

    pub(super) fn unclip(&self) {
        if self.in_picture(Picture::unclip) {
            return;
        }
        self.context.restore();
    }
}
