//! A canvas that is drawn on, in the page's colours and at the screen's own resolution.

use leptos::prelude::{document, window};
use leptos::wasm_bindgen::{Clamped, JsCast};
use present::draw::palette::{Hue, Palette, Tile};
use present::draw::surface::{Area, Face, Paint, Side, Stroke, Surface, Words};
use present::draw::svg::DASHES;
use present::draw::text::TEXT_SIZE;
use web_sys::js_sys::Array;
use web_sys::{CanvasPattern, CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

use super::download::on_paper;

/// The colours that hold for a canvas.
fn palette(canvas: &HtmlCanvasElement) -> Option<Palette> {
    let style = window().get_computed_style(canvas).ok()??;
    let is_dark = style.get_property_value("color-scheme").is_ok_and(|it| it == "dark");
    Some(Palette::read(is_dark, &|name| style.get_property_value(name).ok()))
}

/// The colours that a canvas has in files: the light ones.
pub(crate) fn paper_palette(canvas: &HtmlCanvasElement) -> Option<Palette> {
    on_paper(|| palette(canvas))?
}

/// Pixels of the screen in one pixel of the page.
pub(crate) fn screen_ratio() -> f64 {
    window().device_pixel_ratio().clamp(0.5, 4.0)
}

/// The size of a canvas on the page.
pub(crate) fn size(canvas: &HtmlCanvasElement) -> (f64, f64) {
    (f64::from(canvas.client_width()), f64::from(canvas.client_height()))
}

/// Drawing context of a canvas.
fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// A canvas that isn't on the page.
fn sheet(width: f64, height: f64) -> Option<(HtmlCanvasElement, CanvasRenderingContext2d)> {
    let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_width(width.round() as u32);
    canvas.set_height(height.round() as u32);
    let context = context(&canvas)?;
    Some((canvas, context))
}

/// Layer of marks that don't change from frame to frame, drawn once: text takes a browser longer
/// than everything else.
pub(crate) struct Layer<K> {
    of: K,
    canvas: HtmlCanvasElement,
}

/// A canvas that is being drawn on, as long as its colours stay.
pub(crate) struct Canvas {
    context: CanvasRenderingContext2d,
    palette: Palette,
    /// The page's fonts.
    family: String,
    ratio: f64,
    size: (f64, f64),
    /// Patterns, each made when it is first wanted.
    tiles: Vec<(Tile, Option<CanvasPattern>)>,
    /// Style of the text that was written last: a browser takes its time to set it.
    writing: Option<(Side, Hue, Face)>,
}

impl Canvas {
    /// An empty canvas of its size on the page; `None` while it isn't shown.
    pub(crate) fn on(canvas: &HtmlCanvasElement) -> Option<Self> {
        let size = size(canvas);
        (size.0 >= 1.0 && size.1 >= 1.0).then(|| Self::sized(canvas, size))?
    }

    /// An empty canvas that is drawn in that size.
    pub(crate) fn sized(canvas: &HtmlCanvasElement, size: (f64, f64)) -> Option<Self> {
        let style = window().get_computed_style(canvas).ok()??;
        let family = style.get_property_value("font-family").unwrap_or_default();
        let (context, palette, ratio) = (context(canvas)?, palette(canvas)?, screen_ratio());
        let (tiles, writing) = (Vec::new(), None);
        let mut own = Self { context, palette, family, ratio, size, tiles, writing };
        own.resize(canvas, size);
        Some(own)
    }

    /// The canvas has another size, in pixels of the page; it is empty then.
    pub(crate) fn resize(&mut self, canvas: &HtmlCanvasElement, (width, height): (f64, f64)) {
        let pixels = [width, height].map(|side| (side * self.ratio).round());
        let [wide, high] = pixels.map(|side| side as u32);
        if canvas.width() != wide || canvas.height() != high {
            canvas.set_width(wide);
            canvas.set_height(high);
        }
        self.context.clear_rect(0.0, 0.0, pixels[0], pixels[1]);
        self.context.set_text_baseline("middle");
        (self.size, self.writing) = ((width, height), None);
    }

    /// Its size in pixels of the page.
    pub(crate) const fn size(&self) -> (f64, f64) {
        self.size
    }

    /// Pixels of the screen in one pixel of the page when it was made.
    pub(crate) const fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Draws a layer: as it is kept, where it is of the same, else anew.
    pub(crate) fn layer<K: PartialEq>(
        &mut self,
        kept: &mut Option<Layer<K>>,
        of: K,
        draw: impl FnOnce(&mut Self),
    ) {
        let (wide, high) = (self.size.0 * self.ratio, self.size.1 * self.ratio);
        if kept.as_ref().is_none_or(|layer| layer.of != of) {
            let Some((canvas, context)) = sheet(wide, high) else { return draw(self) };
            context.set_text_baseline("middle");
            let own = std::mem::replace(&mut self.context, context);
            self.writing = None;
            draw(self);
            self.context = own;
            *kept = Some(Layer { of, canvas });
        }
        self.writing = None;
        if let Some(Layer { canvas, .. }) = kept {
            // Fails only on an image without pixels.
            let _ = self.context.draw_image_with_html_canvas_element(canvas, 0.0, 0.0);
        }
    }

    /// A pattern that repeats.
    fn tile(&self, tile: &Tile) -> Option<CanvasPattern> {
        let size = (Tile::SIZE * self.ratio).round().max(2.0);
        let [ground, lines] = self.palette.tile(tile);
        let (canvas, context) = sheet(size, size)?;
        context.set_fill_style_str(&ground);
        context.fill_rect(0.0, 0.0, size, size);
        context.set_stroke_style_str(&lines);
        let scale = size / Tile::SIZE;
        context.set_line_width(scale);
        context.begin_path();
        for [x0, y0, x1, y1] in tile.hatch.lines() {
            context.move_to(x0 * scale, y0 * scale);
            context.line_to(x1 * scale, y1 * scale);
        }
        context.stroke();
        context.create_pattern_with_html_canvas_element(&canvas, "repeat").ok()?
    }

    /// Sides of a rectangle on whole pixels of the screen, so that they are sharp.
    fn pixels(&self, area: Area) -> (f64, f64, f64, f64) {
        let ratio = self.ratio;
        let (left, top) = ((area.left * ratio).round(), (area.top * ratio).round());
        let right = (area.right() * ratio).round().max(left + 1.0);
        let bottom = (area.bottom() * ratio).round().max(top + 1.0);
        (left, top, right - left, bottom - top)
    }

    /// Begins a line. `half` puts level and upright lines of one pixel on whole pixels.
    fn path(&self, points: &[(f64, f64)], half: f64) {
        for (index, (x, y)) in points.iter().enumerate() {
            let (x, y) = ((x * self.ratio).round() + half, (y * self.ratio).round() + half);
            if index == 0 {
                self.context.move_to(x, y);
            } else {
                self.context.line_to(x, y);
            }
        }
    }

    fn fill_style(&mut self, hue: Hue) {
        self.writing = None;
        self.context.set_fill_style_str(self.palette.color(hue));
    }

    /// Takes a line's colour and width; gives the width in pixels of the screen.
    fn stroke_style(&self, hue: Hue, width: f64) -> f64 {
        let pixels = width * self.ratio;
        // The thinnest line is sharp, whatever the screen.
        let width = if width <= 1.0 { pixels.round().max(1.0) } else { pixels };
        self.context.set_stroke_style_str(self.palette.color(hue));
        self.context.set_line_width(width);
        width
    }

    fn stroke(&self, is_dashed: bool) {
        // These fail only on what is no list of numbers.
        if is_dashed {
            let [dash, gap] = DASHES.map(|pixels| (pixels * self.ratio).into());
            let _ = self.context.set_line_dash(&Array::of2(&dash, &gap));
        }
        self.context.stroke();
        if is_dashed {
            let _ = self.context.set_line_dash(&Array::new());
        }
    }

    /// A circle of the path.
    fn circle(&self, (x, y): (f64, f64), radius: f64) {
        let (x, y, radius) = (x * self.ratio, y * self.ratio, radius * self.ratio);
        self.context.move_to(x + radius, y);
        // Fails only on a radius below zero.
        let _ = self.context.arc(x, y, radius, 0.0, std::f64::consts::TAU);
    }
}

impl Surface for Canvas {
    fn fill(&mut self, areas: &[Area], paint: Paint) {
        match paint {
            Paint::Plain(hue) => self.fill_style(hue),
            Paint::Tiled(tile) => {
                self.writing = None;
                let known = self.tiles.iter().position(|(known, _)| *known == tile);
                let place = known.unwrap_or(self.tiles.len());
                if known.is_none() {
                    self.tiles.push((tile, self.tile(&tile)));
                }
                let Some(pattern) = &self.tiles[place].1 else { return };
                self.context.set_fill_style_canvas_pattern(pattern);
            }
        }
        for area in areas {
            let (left, top, width, height) = self.pixels(*area);
            self.context.fill_rect(left, top, width, height);
        }
    }

    /// They are pixels of an image that is drawn larger: thousands of them take one call.
    fn squares(&mut self, size: f64, across: usize, opacities: &[u8], hue: Hue) {
        let (wide, high) = (across as f64, (opacities.len() / across.max(1)) as f64);
        let Some((canvas, context)) = sheet(wide, high) else { return };
        let mut pixels = vec![0; 4 * opacities.len()];
        for (pixel, opacity) in pixels.as_chunks_mut::<4>().0.iter_mut().zip(opacities) {
            pixel[3] = *opacity;
        }
        let data = Clamped(pixels.as_slice());
        let Ok(image) = ImageData::new_with_u8_clamped_array(data, across as u32) else { return };
        // These fail only on what is no number and on images without pixels.
        let _ = context.put_image_data(&image, 0.0, 0.0);
        let _ = context.set_global_composite_operation("source-in");
        context.set_fill_style_str(self.palette.color(hue));
        context.fill_rect(0.0, 0.0, wide, high);
        self.context.set_image_smoothing_enabled(false);
        let (wide, high) = (wide * size * self.ratio, high * size * self.ratio);
        let _ = self
            .context
            .draw_image_with_html_canvas_element_and_dw_and_dh(&canvas, 0.0, 0.0, wide, high);
        self.context.set_image_smoothing_enabled(true);
    }

    fn frame(&mut self, area: Area, hue: Hue, width: f64) {
        let (left, top, wide, high) = self.pixels(area);
        let width = self.stroke_style(hue, width);
        let half = width / 2.0;
        let (wide, high) = ((wide - width).max(0.0), (high - width).max(0.0));
        self.context.stroke_rect(left + half, top + half, wide, high);
    }

    fn line(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        let width = self.stroke_style(stroke.hue, stroke.width);
        self.context.begin_path();
        self.path(points, (width.round() / 2.0).fract());
        self.stroke(stroke.is_dashed);
    }

    fn lines(&mut self, all: &[[(f64, f64); 2]], stroke: Stroke) {
        self.stroke_style(stroke.hue, stroke.width);
        self.context.begin_path();
        for points in all {
            self.path(points, 0.0);
        }
        self.stroke(stroke.is_dashed);
    }

    fn shape(&mut self, points: &[(f64, f64)], hue: Hue) {
        self.fill_style(hue);
        self.context.begin_path();
        self.path(points, 0.0);
        self.context.fill();
    }

    fn dots(&mut self, centers: &[(f64, f64)], radius: f64, hue: Hue) {
        self.fill_style(hue);
        self.context.begin_path();
        for center in centers {
            self.circle(*center, radius);
        }
        self.context.fill();
    }

    fn ring(&mut self, center: (f64, f64), radius: f64, hue: Hue) {
        self.stroke_style(hue, 2.5);
        self.context.begin_path();
        self.circle(center, radius);
        self.context.stroke();
    }

    fn words(&mut self, Words { text, x, y, side, hue, face }: Words<'_>) {
        if self.writing != Some((side, hue, face)) {
            self.fill_style(hue);
            self.writing = Some((side, hue, face));
            let weight = if face == Face::Bold { "600 " } else { "" };
            let size = f64::from(TEXT_SIZE) * self.ratio;
            self.context.set_font(&format!("{weight}{size:.1}px {}", self.family));
            self.context.set_text_align(match side {
                Side::Left => "left",
                Side::Center => "center",
                Side::Right => "right",
            });
        }
        let (x, y) = (x * self.ratio, y * self.ratio);
        // These fail only on what is no number.
        if face == Face::Upward {
            self.context.save();
            let _ = self.context.translate(x, y);
            let _ = self.context.rotate(-std::f64::consts::FRAC_PI_2);
            let _ = self.context.fill_text(text, 0.0, 0.0);
            self.context.restore();
        } else {
            let _ = self.context.fill_text(text, x, y);
        }
    }

    fn opacity(&mut self, opacity: f64) {
        self.context.set_global_alpha(opacity);
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
