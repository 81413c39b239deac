//! A picture on the page: a canvas with its keys, pointers and the note beside the pointer.
//!
//! What it shows stands in a [`Board`] and in no signal; whatever changes asks for one drawing in
//! the next animation frame. It takes the wheel and keys only while it has the focus.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::board::{Board, Done};
use super::canvas::{Brushes, CanvasSurface, context};
use super::gesture::Gesture;
use super::keys::{Command, command};
use super::lanes::Spot;
use super::palette::Palette;
use super::watch;

/// A turn of the wheel by so many pixels zooms by a factor of two.
const WHEEL: f64 = 240.0;
/// What a line and a page of a wheel count, in pixels.
const LINE: f64 = 16.0;
const PAGE: f64 = 400.0;

/// What a picture needs.
pub(super) struct Spec {
    /// Its class beside `timeline-picture`.
    pub(super) class: &'static str,
    /// What it is called.
    pub(super) label: Signal<String>,
    /// The id of the text that tells its keys.
    pub(super) described_by: String,
    /// Is there a track below its lanes?
    pub(super) has_track: bool,
    /// Called when something was selected or is to be opened.
    pub(super) done: Callback<(Handle, Done)>,
    /// Writes the note beside the pointer.
    pub(super) note: Callback<Pointed, String>,
}

/// What the pointer is on.
pub(super) type Pointed = (Option<Spot>, f64);

/// A picture: what it shows can be changed, and it can be drawn anew.
#[derive(Clone, Copy)]
pub(super) struct Handle {
    state: StoredValue<State, LocalStorage>,
    canvas: NodeRef<html::Canvas>,
    tip: NodeRef<html::Div>,
    note: Callback<Pointed, String>,
}

#[derive(Default)]
struct State {
    board: Board,
    gesture: Gesture,
    brushes: Option<Brushes>,
    context: Option<CanvasRenderingContext2d>,
    ratio: f64,
    /// Is a drawing due already?
    waiting: bool,
    /// Are the canvas's own pixels of another number than they should be?
    resized: bool,
}

impl Handle {
    fn new(spec: &Spec) -> Self {
        let mut state = State::default();
        state.board.has_track = spec.has_track;
        Self {
            state: StoredValue::new_local(state),
            canvas: NodeRef::new(),
            tip: NodeRef::new(),
            note: spec.note,
        }
    }

    /// Reads or changes what is shown; draw it anew after a change.
    pub(super) fn with<T>(self, act: impl FnOnce(&mut Board) -> T) -> Option<T> {
        self.state.try_update_value(|state| act(&mut state.board))
    }

    /// The colours of the page as it is now.
    pub(super) fn palette(self) -> Option<Palette> {
        let read =
            |state: &mut State| state.brushes.as_ref().map(|brushes| brushes.palette.clone());
        self.state.try_update_value(read)?
    }

    /// Draws it in the next animation frame, once.
    pub(super) fn redraw(self) {
        let waits = |state: &mut State| std::mem::replace(&mut state.waiting, true);
        if self.state.try_update_value(waits) == Some(false) {
            request_animation_frame(move || self.draw());
        }
    }

    fn draw(self) {
        // The picture may be gone by now, and its nodes with it.
        let Some(Some(canvas)) = self.canvas.try_get_untracked() else { return };
        let noted = self.state.try_update_value(|state| {
            state.waiting = false;
            state.draw(&canvas);
            let board = &state.board;
            let pointed = board.moment().map(|moment| (board.hovered(), moment));
            pointed
                .filter(|_| !state.gesture.is_moving())
                .zip(board.cursor())
                .map(|pointed| (pointed, board.size))
        });
        self.show_note(noted.flatten());
    }

    /// Puts the note beside the pointer, on the side where there is room, or hides it.
    fn show_note(self, noted: Option<((Pointed, (f64, f64)), (f64, f64))>) {
        let Some(Some(tip)) = self.tip.try_get_untracked() else { return };
        let Some(((pointed, (x, y)), (width, _))) = noted else {
            tip.set_hidden(true);
            return;
        };
        tip.set_hidden(false);
        tip.set_text_content(Some(&self.note.run(pointed)));
        let aside = if x > width / 2.0 {
            format!("calc({x}px - 100% - 12px)")
        } else {
            format!("{}px", x + 12.0)
        };
        let place = format!("translate({aside}, {}px)", y + 16.0);
        // A transform of numbers is always valid.
        let _ = web_sys::HtmlElement::style(&tip).set_property("transform", &place);
    }

    /// The theme has changed.
    fn repaint(self) {
        let _ = self.state.try_update_value(|state| state.brushes = None);
        self.redraw();
    }

    fn resize(self, width: f64, height: f64) {
        let _ = self.state.try_update_value(|state| {
            state.board.size = (width, height);
            state.resized = true;
        });
        // A canvas of another size is empty: it is drawn before the page is seen.
        self.draw();
    }

    fn press(self, event: &ev::KeyboardEvent) -> Option<Done> {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return None;
        }
        let command = command(&event.key())?;
        let done = self.act(command)?;
        // Esc is the page's where there is nothing to clear here.
        if done != Done::NothingToClear {
            event.prevent_default();
            event.stop_propagation();
        }
        Some(done)
    }

    /// Does what a key or a button says.
    pub(super) fn act(self, command: Command) -> Option<Done> {
        let done = self.with(|board| board.act(command));
        self.redraw();
        done
    }

    fn wheel(self, event: &ev::WheelEvent, has_focus: bool) {
        let zooms = event.ctrl_key() || event.meta_key();
        // Elsewhere the wheel is the page's.
        if !zooms && !has_focus {
            return;
        }
        event.prevent_default();
        let unit = match event.delta_mode() {
            web_sys::WheelEvent::DOM_DELTA_LINE => LINE,
            web_sys::WheelEvent::DOM_DELTA_PAGE => PAGE,
            _ => 1.0,
        };
        let (x, y) = (event.delta_x() * unit, event.delta_y() * unit);
        let sideways = !zooms && (event.shift_key() || x.abs() > y.abs());
        let (zoom, pan) = if sideways { (0.0, x + y) } else { (y / WHEEL, 0.0) };
        let at = f64::from(event.offset_x());
        self.with(|board| board.wheel(at, zoom, pan));
        self.redraw();
    }

    fn pointer(self, event: &ev::PointerEvent) -> Option<Done> {
        let (x, y) = (f64::from(event.offset_x()), f64::from(event.offset_y()));
        let id = event.pointer_id();
        let hovers = event.pointer_type() != "touch";
        let done = self.state.try_update_value(|state| match event.type_().as_str() {
            "pointerdown" => {
                state.gesture.down(id, x, y);
                None
            }
            "pointermove" => {
                let turn = state.gesture.turn(id, x, y);
                state.board.turn(turn);
                state.board.point(hovers.then_some((x, y)));
                None
            }
            "pointerup" => state.gesture.up(id).then(|| state.board.tap(x, y)),
            "pointercancel" => {
                state.gesture.cancel(id);
                None
            }
            _ => {
                state.board.point(None);
                None
            }
        });
        self.redraw();
        done.flatten()
    }
}

impl State {
    fn draw(&mut self, canvas: &HtmlCanvasElement) {
        let (width, height) = self.board.size;
        let ratio = window().device_pixel_ratio().clamp(0.5, 4.0);
        if (ratio - self.ratio).abs() > 1e-6 {
            (self.ratio, self.resized, self.brushes) = (ratio, true, None);
        }
        if std::mem::take(&mut self.resized) {
            canvas.set_width((width * ratio).round() as u32);
            canvas.set_height((height * ratio).round() as u32);
        }
        if self.brushes.is_none() {
            self.brushes = Brushes::read(canvas, ratio);
        }
        if self.context.is_none() {
            self.context = context(canvas);
        }
        if let (Some(context), Some(brushes)) = (&self.context, &mut self.brushes) {
            self.board.paint(&mut CanvasSurface::new(context, brushes));
        }
    }
}

/// Draws a picture.
pub(super) fn picture(spec: Spec) -> (Handle, impl IntoView) {
    let handle = Handle::new(&spec);
    let Spec { class, label, described_by, done, .. } = spec;
    let frame = NodeRef::<html::Div>::new();
    Effect::new(move || {
        let Some(frame) = frame.get() else { return };
        watch::size(&frame, move |width, height| handle.resize(width, height));
        watch::theme(move || handle.repaint());
        // The resolution of the screen changes with the page's zoom, or with the screen.
        let listener = window_event_listener(ev::resize, move |_| handle.redraw());
        on_cleanup(move || listener.remove());
    });
    let tell = move |what: Option<Done>| {
        if let Some(what @ (Done::Selected | Done::Opened)) = what {
            done.run((handle, what));
        }
    };
    let pointer = move |event: ev::PointerEvent| {
        if event.type_() == "pointerdown"
            && let Some(canvas) = handle.canvas.get_untracked()
        {
            // A pointer that is gone already can't be kept.
            let _ = canvas.set_pointer_capture(event.pointer_id());
        }
        tell(handle.pointer(&event));
    };
    let has_focus = move || {
        let frame = frame.get_untracked();
        frame.is_some_and(|frame| document().active_element().as_ref() == Some(&frame))
    };
    let view = view! {
        <div
            class=format!("timeline-picture {class}")
            node_ref=frame
            tabindex="0"
            role="application"
            aria-label=move || label.get()
            aria-describedby=described_by
            on:keydown=move |event| tell(handle.press(&event))
            on:wheel=move |event| handle.wheel(&event, has_focus())
        >
            <canvas
                node_ref=handle.canvas
                aria-hidden="true"
                on:pointerdown=pointer
                on:pointermove=pointer
                on:pointerup=pointer
                on:pointercancel=pointer
                on:pointerleave=pointer
            ></canvas>
            <div class="timeline-tip" aria-hidden="true" hidden node_ref=handle.tip></div>
        </div>
    };
    (handle, view)
}
