//! What takes the figure over in the browser: it computes the timeline when it is looked at, draws
//! its pictures and answers to keys, pointers and buttons.
//!
//! It works on the page's own nodes and keeps its state in one place: a signal for each of its
//! parts would make the module heavy, and nothing else on the page follows them.
//!
//! The timeline is computed two animation frames after the numbers changed, so that neither numbers
//! nor charts wait for it; one that takes long waits until the knobs rest.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use present::html;
use present::timeline::board::{Board, Done};
use present::timeline::keys::Command;
use present::timeline::lanes::{Lanes, Spot};
use present::timeline::operators::{self, Operators};
use present::timeline::tasks::{self, Stages};
use present::timeline::{Scene, Track, TrackUnit, labels};
use web_sys::js_sys::Array;
use web_sys::{
    Element, Event, HtmlElement, IntersectionObserverEntry, KeyboardEvent, MutationRecord,
    PointerEvent, ResizeObserverEntry, WheelEvent,
};

use super::figure::{LIVE, Subject};
use super::picture::Picture;
use super::save;
use super::watch::Watch;
use crate::browser::canvas::paper_palette;

/// A timeline that takes longer than this to compute waits until the knobs rest, in milliseconds.
const MAX_LIVE_MILLIS: f64 = 5.0;
/// Knobs rest when they have been still for this long, in milliseconds.
const DEBOUNCE_MILLIS: f64 = 200.0;

/// A figure that has been taken over.
pub(super) struct Live {
    widget: Rc<RefCell<Widget>>,
    _watch: Watch,
}

/// Contents of the figure.
enum FigureState {
    /// Not computed yet.
    Waiting,
    /// Nothing, for a reason.
    Nothing,
    Scene(Scene),
}

struct Widget {
    figure: Element,
    what: Subject,
    shown: FigureState,
    stages: Picture,
    resources: Picture,
    /// Operators of the open pair; `None` while it is closed.
    pair: Option<Arc<Operators>>,
    selected: Option<Spot>,
    lane: usize,
    /// Frames to wait before it is computed anew; `None` if what is shown is up to date.
    stale: Option<u8>,
    in_view: bool,
    /// Whether an animation frame is due.
    is_due: bool,
    /// Time of the last move of the knobs, in milliseconds, while the widget waits for their rest.
    moved: Option<f64>,
    /// Duration of the last computation, in milliseconds.
    took: f64,
}

impl Live {
    /// Takes over what the server wrote.
    pub(super) fn new(figure: &Element, what: Subject) -> Option<Self> {
        let frame = |class: &str| figure.query_selector(class).ok().flatten();
        let stages = Picture::new(frame(".timeline-stages")?, true)?;
        let resources = Picture::new(frame(".timeline-resources")?, false)?;
        let frames = [stages.frame.clone(), resources.frame.clone()];
        let widget = Rc::new(RefCell::new(Widget {
            figure: figure.clone(),
            what,
            shown: FigureState::Waiting,
            stages,
            resources,
            pair: None,
            selected: None,
            lane: 0,
            stale: Some(0),
            in_view: false,
            is_due: false,
            moved: None,
            took: 0.0,
        }));
        let told = widget.clone();
        let watch = Watch::new(figure, &frames, move |what| tell(&told, what));
        // A fixed, valid attribute name can always be set.
        let _ = figure.set_attribute(LIVE, "");
        Some(Self { widget, _watch: watch })
    }

    /// There is another timeline to show.
    pub(super) fn change(&self) {
        self.widget.borrow_mut().change(&self.widget);
        go_on(&self.widget);
    }
}

/// Waits until the knobs rest.
fn wait(widget: Rc<RefCell<Widget>>) {
    let act = move || {
        let moved = widget.try_borrow().ok().and_then(|state| state.moved).unwrap_or(0.0);
        if now() - moved < DEBOUNCE_MILLIS {
            return wait(widget);
        }
        if let Ok(mut state) = widget.try_borrow_mut() {
            state.moved = None;
        }
        go_on(&widget);
    };
    set_timeout(act, Duration::from_millis(DEBOUNCE_MILLIS as u64));
}

/// The page's clock, in milliseconds.
fn now() -> f64 {
    window().performance().as_ref().map_or(0.0, web_sys::Performance::now)
}

/// The browser tells something.
fn tell(widget: &Rc<RefCell<Widget>>, what: &JsValue) {
    // A handler that runs inside another one, as by a click from a script, has nothing to add.
    if let Ok(mut state) = widget.try_borrow_mut() {
        if let Some(entries) = what.dyn_ref::<Array>() {
            entries.iter().for_each(|entry| state.observe(widget, &entry));
        } else if let Some(event) = what.dyn_ref::<Event>() {
            state.handle(event);
        }
    }
    go_on(widget);
}

/// Asks for an animation frame if there is something to do.
fn go_on(widget: &Rc<RefCell<Widget>>) {
    let Ok(mut state) = widget.try_borrow_mut() else { return };
    if state.is_due || !(state.computes() || state.stages.is_dirty || state.resources.is_dirty) {
        return;
    }
    state.is_due = true;
    let widget = widget.clone();
    request_animation_frame(move || {
        if let Ok(mut state) = widget.try_borrow_mut() {
            state.is_due = false;
            state.frame();
        }
        go_on(&widget);
    });
}

impl Widget {
    /// Computes if it is time to, and draws; runs in an animation frame.
    fn frame(&mut self) {
        match self.stale {
            Some(0) if self.computes() => self.compute(),
            Some(frames) if self.computes() => self.stale = Some(frames - 1),
            _ => {}
        }
        self.draw();
    }

    /// Whether to compute now or in the frames to come.
    fn computes(&self) -> bool {
        self.stale.is_some() && self.in_view && self.moved.is_none()
    }

    fn draw(&mut self) {
        let Self { stages, resources, shown, lane, pair, .. } = self;
        if stages.is_dirty {
            stages.draw(&|board, moment| stage_note(shown, *lane, board, moment));
        }
        if resources.is_dirty {
            resources.draw(&|board, moment| {
                let operator = pair.as_ref().zip(board.hovered());
                let words = operator.and_then(|(pair, spot)| pair.at(spot).map(operators::words));
                words.unwrap_or_else(|| tasks::seconds(moment))
            });
        }
    }

    /// There is another timeline to show, which may have to wait.
    fn change(&mut self, own: &Rc<RefCell<Self>>) {
        self.stale = Some(1);
        if self.took > MAX_LIVE_MILLIS && self.moved.replace(now()).is_none() {
            wait(own.clone());
        }
    }

    /// Something came into view, has another size, or there is another timeline or theme.
    fn observe(&mut self, own: &Rc<RefCell<Self>>, entry: &JsValue) {
        if let Some(entry) = entry.dyn_ref::<ResizeObserverEntry>() {
            let bounds = entry.content_rect();
            for picture in [&mut self.stages, &mut self.resources] {
                if picture.frame == entry.target() {
                    picture.resize(bounds.width(), bounds.height());
                    picture.is_dirty = true;
                }
            }
            self.draw();
        } else if let Some(entry) = entry.dyn_ref::<IntersectionObserverEntry>() {
            self.in_view = entry.is_intersecting();
        } else if is_of(entry, &self.figure) {
            self.change(own);
        } else {
            // At once: paper waits for no frame.
            self.repaint();
            self.draw();
        }
    }

    fn repaint(&mut self) {
        for picture in [&mut self.stages, &mut self.resources] {
            picture.surface = None;
            picture.is_dirty = true;
        }
    }

    fn handle(&mut self, event: &Event) {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        match (event.type_().as_str(), target) {
            ("change" | "resize", _) => self.repaint(),
            ("click", Some(target)) => self.click(&target),
            ("toggle", _) => self.toggle(),
            (_, Some(target)) => self.handle_on_picture(event, &target),
            _ => {}
        }
    }

    fn handle_on_picture(&mut self, event: &Event, target: &Element) {
        let is_stages = self.stages.frame.contains(Some(target));
        let picture = if is_stages { &mut self.stages } else { &mut self.resources };
        if !picture.frame.contains(Some(target)) {
            return;
        }
        let done = if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
            picture.press(event)
        } else if let Some(event) = event.dyn_ref::<WheelEvent>() {
            picture.wheel(event);
            Done::Nothing
        } else if let Some(event) = event.dyn_ref::<PointerEvent>() {
            picture.point(event)
        } else {
            Done::Nothing
        };
        if matches!(done, Done::Selected | Done::Opened) {
            if is_stages {
                self.select(done == Done::Opened);
            } else {
                self.say_operator();
            }
        }
    }

    /// A button is pressed.
    fn click(&mut self, target: &Element) {
        let Some(button) = target.closest("[data-act]").ok().flatten() else { return };
        let act = button.get_attribute("data-act").unwrap_or_default();
        let (picture, act) = match act.strip_prefix("pair-") {
            Some(act) => (&mut self.resources, act),
            None => (&mut self.stages, act.as_str()),
        };
        let command = match act {
            "earlier" => Command::Earlier,
            "later" => Command::Later,
            "out" => Command::ZoomOut,
            "in" => Command::ZoomIn,
            "fit" => Command::Fit,
            "tall" => return self.grow(&button),
            file => return self.save(file),
        };
        picture.board.act(command);
        picture.is_dirty = true;
    }

    /// Makes the picture higher, or as it was.
    fn grow(&self, button: &Element) {
        if let Some(frame) = self.part(".timeline-box")
            && let Ok(is_tall) = frame.class_list().toggle("tall")
        {
            // A fixed, valid attribute name can always be set.
            let _ = button.set_attribute("aria-pressed", if is_tall { "true" } else { "false" });
        }
    }

    fn save(&mut self, file: &str) {
        self.compute();
        let FigureState::Scene(scene) = &self.shown else { return };
        match file {
            "trace" => save::save_trace(self.what.id, scene, self.lane),
            "part" | "all" => {
                let (title, about) = (self.what.title, (self.what.caption)());
                let is_all = file == "all";
                if let Some(palette) = paper_palette(&self.stages.canvas) {
                    let board = &self.stages.board;
                    save::save_picture(self.what.id, board, &palette, (title, &about), is_all);
                }
            }
            _ => {}
        }
    }

    /// A part of the figure.
    fn part(&self, class: &str) -> Option<HtmlElement> {
        self.figure.query_selector(class).ok()??.dyn_into().ok()
    }

    fn write(&self, class: &str, html: &str) {
        if let Some(part) = self.part(class) {
            part.set_inner_html(html);
        }
    }

    /// Computes what is to be shown, unless it is shown already.
    fn compute(&mut self) {
        if self.stale.take().is_none() {
            return;
        }
        let start = now();
        let reason = match (self.what.show)() {
            Ok(scene) => {
                self.show_scene(scene);
                String::new()
            }
            Err(reason) => {
                self.shown = FigureState::Nothing;
                self.stages.board.show(None);
                self.stages.board.select(None);
                self.write(".timeline-legend", "");
                self.write(".timeline-summary", "");
                self.write(".timeline-rows", "");
                reason
            }
        };
        if let Some(nothing) = self.part(".timeline-nothing") {
            nothing.set_hidden(reason.is_empty());
            nothing.set_text_content(Some(&reason));
        }
        self.stages.is_dirty = true;
        self.say_details(true);
        self.toggle();
        self.took = now() - start;
    }

    /// Shows it, at the task that was selected if there is one like it.
    fn show_scene(&mut self, scene: Scene) {
        let timeline = scene.timeline();
        let selected = self.selected.and_then(|spot| {
            let FigureState::Scene(before) = &self.shown else { return None };
            let (task, ..) = tasks::task_at(before.timeline(), spot)?;
            let stage = timeline.lists.stage(spot.lane);
            let index = stage.iter().position(|other| *other == task)?;
            Some(Spot { index, ..spot })
        });
        if matches!(self.shown, FigureState::Waiting) {
            self.lane = tasks::fullest(&scene);
        }
        self.lane = self.lane.min(timeline.lists.stages().saturating_sub(1));
        self.selected = selected;
        self.write(".timeline-legend", &labels::legend(timeline));
        self.write(".timeline-summary", &labels::summary(timeline));
        let board = &mut self.stages.board;
        board.show(Some(Arc::new(Stages(scene.clone()))));
        board.select_lane(self.lane);
        board.select(selected);
        board.show_track(track_of(&scene, self.lane));
        self.shown = FigureState::Scene(scene);
    }

    /// Another block or stage was selected in the picture, or is to be opened.
    fn select(&mut self, opens: bool) {
        let board = &mut self.stages.board;
        let (lane, selected) = (board.lane(), board.selected());
        if lane != self.lane
            && let FigureState::Scene(scene) = &self.shown
        {
            board.show_track(track_of(scene, lane));
        }
        let stays = lane == self.lane && selected == self.selected;
        (self.lane, self.selected) = (lane, selected);
        if opens || !stays {
            self.say_details(opens);
            self.toggle();
        }
    }

    /// Writes what is selected; all of it or only its name and times.
    fn say_details(&self, all: bool) {
        let html = match (&self.shown, self.selected) {
            (FigureState::Scene(scene), Some(spot)) => labels::details(scene, spot, all),
            _ => labels::hint(),
        };
        self.write(".timeline-details", &html);
    }

    /// A table or the pair was opened or closed, or holds something else now.
    fn toggle(&mut self) {
        let FigureState::Scene(scene) = &self.shown else { return self.show_pair(None) };
        let is_open = |part: &Option<Element>| {
            part.as_ref().is_some_and(|details| details.has_attribute("open"))
        };
        let rows = self.part(".timeline-rows");
        let details = |part: &HtmlElement| part.closest("details").ok().flatten();
        if let Some(rows) = rows.filter(|rows| is_open(&details(rows))) {
            rows.set_inner_html(&tasks::table_html(self.what.title, scene.timeline()));
        }
        let chunks = tasks::pair_chunks(scene, self.lane, self.selected);
        let pair: Option<Element> = self.part(".timeline-pair").map(Into::into);
        if let Some(pair) = &pair {
            let _ = pair.toggle_attribute_with_force("hidden", chunks.is_none());
        }
        self.write(".timeline-pair > summary", &tasks::pair_heading(self.lane));
        let operators = chunks
            .filter(|_| is_open(&pair))
            .map(|(forward, backward)| Operators::new(scene.pair(self.lane, forward, backward)));
        if let Some((operators, (forward, backward))) = operators.as_ref().zip(chunks) {
            let name = tasks::pair_name(scene.timeline(), self.lane, forward, backward);
            self.write(".timeline-pair-words", &format!("{name}: {}", operators.summary()));
            let table = html::table("Operators of the pair", &operators.table());
            self.write(".timeline-operators", &table);
        }
        self.show_pair(operators);
    }

    fn show_pair(&mut self, pair: Option<Operators>) {
        self.pair = pair.map(Arc::new);
        let lanes = self.pair.clone();
        self.resources.board.select(None);
        self.resources.board.show(lanes.map(|lanes| lanes as Arc<dyn Lanes + Send + Sync>));
        self.resources.is_dirty = true;
        self.say_operator();
    }

    fn say_operator(&self) {
        let operator = self.pair.as_ref().zip(self.resources.board.selected());
        let words = operator.and_then(|(pair, spot)| pair.at(spot).map(operators::words));
        self.write(".timeline-said", &html::escaped(&words.unwrap_or_default()));
    }
}

/// Whether an observer's entry is a change of that element.
fn is_of(entry: &JsValue, element: &Element) -> bool {
    let target = entry.dyn_ref::<MutationRecord>().and_then(MutationRecord::target);
    target.is_some_and(|target| element.is_same_node(Some(&target)))
}

/// The words beside the pointer.
fn stage_note(shown: &FigureState, lane: usize, board: &Board, moment: f64) -> String {
    let FigureState::Scene(scene) = shown else { return String::new() };
    let timeline = scene.timeline();
    if let Some(spot) = board.hovered()
        && let Some((task, start, end)) = tasks::task_at(timeline, spot)
    {
        let (name, long) = (tasks::name(timeline, spot.lane, &task), tasks::seconds(end - start));
        return format!("{name}: {long} from {} on", tasks::moment(start));
    }
    let at = tasks::moment(moment);
    match board.track() {
        Some(track) => format!("{at}: stage {lane} holds {}", track.held.text(track.at(moment))),
        None => at,
    }
}

fn track_of(scene: &Scene, stage: usize) -> Option<(Track, String)> {
    let track = scene.track(stage)?;
    let peak = track.held.text(track.peak());
    let title = match track.held {
        TrackUnit::Memory => format!("Memory of stage {stage}: peak {peak}"),
        TrackUnit::MicroBatches => format!("In flight on stage {stage}: at most {peak}"),
    };
    Some((track, title))
}
