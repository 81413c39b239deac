//! A picture on the page: a board on a canvas, and the note beside the pointer.

use leptos::prelude::document;
use leptos::wasm_bindgen::JsCast;
use present::timeline::board::{Board, Done};
use present::timeline::gesture::Gesture;
use present::timeline::keys::command;
use web_sys::{Element, HtmlCanvasElement, HtmlElement};

use crate::browser::canvas::{Canvas, screen_ratio};

/// Turn of the wheel that zooms by a factor of two, in pixels.
const WHEEL_ZOOM_PIXELS: f64 = 240.0;
/// Pixels of a wheel's line and page.
const WHEEL_LINE_PIXELS: f64 = 16.0;
const WHEEL_PAGE_PIXELS: f64 = 400.0;

/// A picture. Whatever changes it makes it dirty; it is drawn once in the next animation frame.
pub(super) struct Picture {
    pub(super) board: Board,
    gesture: Gesture,
    pub(super) frame: Element,
    pub(super) canvas: HtmlCanvasElement,
    tip: HtmlElement,
    /// Surface that it is drawn on, in the colours of the theme.
    pub(super) surface: Option<Canvas>,
    /// Whether the canvas needs another number of pixels.
    resized: bool,
    pub(super) is_dirty: bool,
}

impl Picture {
    /// The picture in a frame, which holds a canvas and the place of the note.
    pub(super) fn new(frame: Element, has_track: bool) -> Option<Self> {
        let canvas: HtmlCanvasElement = frame.query_selector("canvas").ok()??.dyn_into().ok()?;
        let tip = frame.query_selector(".timeline-tip").ok()??.dyn_into().ok()?;
        Some(Self {
            board: Board::new(has_track),
            gesture: Gesture::default(),
            frame,
            canvas,
            tip,
            surface: None,
            resized: true,
            is_dirty: true,
        })
    }

    /// It has another size, in pixels of the page. A canvas of another size is empty, so draw it
    /// before the page is seen.
    pub(super) fn resize(&mut self, width: f64, height: f64) {
        self.board.size = (width, height);
        self.resized = true;
    }

    /// Draws it. `note` writes the text beside the pointer.
    pub(super) fn draw(&mut self, note: &dyn Fn(&Board, f64) -> String) {
        self.is_dirty = false;
        self.surface.take_if(|surface| (surface.ratio() - screen_ratio()).abs() > 1e-6);
        if self.surface.is_none() {
            self.surface = Canvas::sized(&self.canvas, self.board.size);
        }
        if let Some(surface) = &mut self.surface {
            if std::mem::take(&mut self.resized) {
                surface.resize(&self.canvas, self.board.size);
            }
            self.board.paint(surface);
        }
        self.show_note(note);
    }

    /// Puts the note beside the pointer, on the side where there is room, or hides it.
    fn show_note(&self, note: &dyn Fn(&Board, f64) -> String) {
        let at = self.board.moment().zip(self.board.cursor());
        let Some((moment, (x, y))) = at.filter(|_| !self.gesture.is_moving()) else {
            self.tip.set_hidden(true);
            return;
        };
        self.tip.set_text_content(Some(&note(&self.board, moment)));
        let (width, height) = self.board.size;
        let aside = if x > width / 2.0 { "calc(-100% - 12px)" } else { "12px" };
        let below = if y > height - 48.0 { "calc(-100% - 8px)" } else { "16px" };
        let place = format!("translate({x}px,{y}px) translate({aside},{below})");
        // A transform of numbers is always valid.
        let _ = self.tip.style().set_property("transform", &place);
        self.tip.set_hidden(false);
    }

    /// A key is pressed while the picture has the focus; whatever it doesn't know is the page's.
    pub(super) fn press(&mut self, event: &web_sys::KeyboardEvent) -> Done {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return Done::Nothing;
        }
        let Some(command) = command(&event.key()) else { return Done::Nothing };
        let done = self.board.act(command);
        // Esc is the page's where there is nothing to clear here.
        if done != Done::NothingToClear {
            event.prevent_default();
            event.stop_propagation();
            self.is_dirty = true;
        }
        done
    }

    /// The wheel turns over the picture. Without Ctrl it is the page's unless the picture has the
    /// focus.
    pub(super) fn wheel(&mut self, event: &web_sys::WheelEvent) {
        let zooms = event.ctrl_key() || event.meta_key();
        if !zooms && document().active_element().as_ref() != Some(&self.frame) {
            return;
        }
        event.prevent_default();
        let unit = match event.delta_mode() {
            web_sys::WheelEvent::DOM_DELTA_LINE => WHEEL_LINE_PIXELS,
            web_sys::WheelEvent::DOM_DELTA_PAGE => WHEEL_PAGE_PIXELS,
            _ => 1.0,
        };
        let (x, y) = (event.delta_x() * unit, event.delta_y() * unit);
        let sideways = !zooms && (event.shift_key() || x.abs() > y.abs());
        let (zoom, pan) = if sideways { (0.0, x + y) } else { (y / WHEEL_ZOOM_PIXELS, 0.0) };
        self.board.wheel(f64::from(event.offset_x()), zoom, pan);
        self.is_dirty = true;
    }

    /// A pointer does something over the picture.
    pub(super) fn point(&mut self, event: &web_sys::PointerEvent) -> Done {
        let (x, y) = (f64::from(event.offset_x()), f64::from(event.offset_y()));
        let id = event.pointer_id();
        self.is_dirty = true;
        match event.type_().as_str() {
            "pointerdown" => {
                self.gesture.down(id, x, y);
                // A pointer that is gone already can't be kept.
                let _ = self.canvas.set_pointer_capture(id);
            }
            "pointermove" => {
                let turn = self.gesture.turn(id, x, y);
                self.board.turn(turn);
                // A finger hides what is under it.
                let hovers = event.pointer_type() != "touch";
                self.board.point(hovers.then_some((x, y)));
            }
            "pointerup" if self.gesture.up(id) => return self.board.tap(x, y),
            "pointercancel" => self.gesture.cancel(id),
            "pointerout" => self.board.point(None),
            _ => {}
        }
        Done::Nothing
    }
}
