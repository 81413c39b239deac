//! Keeps the page's studies up to date: asks the worker for one after the other, first for those
//! that follow each change, and only for those in view.
//!
//! While the worker is at one study, changes only move the goal: the next request is always for the
//! newest design. Its answer is written in the next animation frame, so that the numbers of a
//! change never wait for the charts of the one before. Nothing here runs on the server.

mod edits;
mod write;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem;
use std::rc::{Rc, Weak};

use leptos::html::Div;
use leptos::prelude::*;
use leptos::wasm_bindgen::closure::Closure;
use leptos::wasm_bindgen::{JsCast, JsValue};
use present::format::MemoryUnit;
use present::study::{Pace, Study};
use present::words::about::About;
use web_sys::js_sys::{Array, Float64Array, Function, Uint8Array};
use web_sys::{
    Element, Event, HtmlElement, IntersectionObserver, IntersectionObserverEntry,
    IntersectionObserverInit, MessageEvent, ResizeObserver, Worker, WorkerOptions, WorkerType,
};

pub use write::link_of;
use write::write;

/// The name of the document's field that holds the worker's address.
pub const WORKER_FIELD: &str = "study-worker";

/// Distance from the window within which a study already counts as seen.
const MARGIN: &str = "300px";

/// Events on the knobs that precede a change of one.
const SIGNS: [&str; 2] = ["pointerover", "focusin"];

/// Least and largest width of charts, in pixels.
const BOUNDS: (u32, u32) = (280, 1_200);

/// Inputs that a study is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Goal {
    query: String,
    width: u32,
    /// The reader's choice of options.
    options: String,
    /// The designs that are pinned, as the browser keeps them.
    pins: String,
}

/// A study's place on the page.
struct Place {
    study: Study,
    host: HtmlElement,
    in_view: bool,
    /// Zero until the browser has reported it.
    width: u32,
    options: String,
    shown: Option<Goal>,
    /// HTML from the worker that no frame has written yet.
    drawn: Option<JsValue>,
    /// Element that was written last.
    written: Option<Element>,
}

impl Place {
    fn new(study: Study, host: HtmlElement) -> Self {
        Self {
            study,
            host,
            in_view: false,
            width: 0,
            options: String::new(),
            shown: None,
            drawn: None,
            written: None,
        }
    }
}

/// Something to do for the page before studies.
pub enum Errand {
    /// To read a trace from a file's bytes.
    Read(Uint8Array),
    /// To say what the trace does to the design in a link.
    Effect(String),
    /// To write every cell of that heat map of the design that is shown.
    Cells(String),
    /// To say what each knob is.
    Abouts,
}

/// Result of an errand.
pub enum Done {
    /// The trace's hash, or what is wrong with it.
    Read(Result<String, Vec<String>>),
    /// The design in the link, and the trace's effect on it; `None` if they don't match.
    Effect(String, Option<Vec<f64>>),
    /// That heat map, as CSV; `None` if it no longer exists.
    Cells(String, Option<String>),
    /// Text of each knob, in the order of the registry.
    Abouts(Vec<About>),
}

/// Task that the worker is busy with.
enum Task {
    /// The study of that place.
    Study(usize, Goal),
    Read,
    Effect(String),
    Cells(String),
    Abouts,
}

/// The places, and the worker after the first request to it.
struct State {
    places: Vec<Place>,
    worker: Option<Worker>,
    at: Option<Task>,
    errands: VecDeque<Errand>,
    query: String,
    pins: String,
    rests: bool,
    /// Whether a frame is due that writes.
    is_due: bool,
}

thread_local! {
    /// A page has one client; it can't be in a signal, as it belongs to one thread.
    static CURRENT: RefCell<Weak<StudyClient>> = const { RefCell::new(Weak::new()) };
}

/// Keeps the studies up to date as long as it lives.
pub struct StudyClient {
    state: RefCell<State>,
    handler: Closure<dyn FnMut(JsValue)>,
    /// Told what came of errands.
    hear: Box<dyn Fn(Done)>,
    observers: RefCell<Option<(IntersectionObserver, ResizeObserver)>>,
}

impl StudyClient {
    /// A client for the studies whose place is on the page.
    #[must_use]
    pub fn new(
        hosts: impl Iterator<Item = (Study, NodeRef<Div>)>,
        hear: impl Fn(Done) + 'static,
    ) -> Rc<Self> {
        let places = hosts.filter_map(|(study, host)| {
            Some(Place::new(study, host.get_untracked()?.unchecked_into()))
        });
        let state = State {
            places: places.collect(),
            worker: None,
            at: None,
            errands: VecDeque::new(),
            query: String::new(),
            pins: String::new(),
            rests: true,
            is_due: false,
        };
        let client = Rc::new_cyclic(|client: &Weak<Self>| {
            let client = client.clone();
            let handler = Closure::<dyn FnMut(JsValue)>::new(move |what: JsValue| {
                if let Some(client) = client.upgrade() {
                    client.told(&what);
                }
            });
            let hear = Box::new(hear);
            Self { state: RefCell::new(state), handler, hear, observers: RefCell::new(None) }
        });
        client.observers.replace(client.observe().ok());
        client.expect_changes();
        CURRENT.set(Rc::downgrade(&client));
        client
    }

    /// The page's client, once it is there.
    #[must_use]
    pub fn current() -> Option<Rc<Self>> {
        CURRENT.with_borrow(Weak::upgrade)
    }

    fn callback(&self) -> &Function {
        self.handler.as_ref().unchecked_ref()
    }

    fn observe(&self) -> Result<(IntersectionObserver, ResizeObserver), JsValue> {
        let options = IntersectionObserverInit::new();
        options.set_root_margin(MARGIN);
        let sight = IntersectionObserver::new_with_options(self.callback(), &options)?;
        let size = ResizeObserver::new(self.callback())?;
        for place in &self.state.borrow().places {
            sight.observe(&place.host);
            size.observe(&place.host);
        }
        Ok((sight, size))
    }

    /// Has a worker ready when a hand comes to the knobs: to load it takes longer than a drag does.
    fn expect_changes(&self) {
        let Some(knobs) = document().get_element_by_id("knobs") else { return };
        for sign in SIGNS {
            // Fails only without a callback.
            let _ = knobs.add_event_listener_with_callback(sign, self.callback());
        }
    }

    /// A hand is at the knobs.
    fn get_ready(&self) {
        if let Some(knobs) = document().get_element_by_id("knobs") {
            for sign in SIGNS {
                let _ = knobs.remove_event_listener_with_callback(sign, self.callback());
            }
        }
        let is_missing = self.state.borrow().worker.is_none();
        if is_missing && let Some(worker) = self.start() {
            self.state.borrow_mut().worker = Some(worker);
        }
    }

    /// The design that the page shows, as a link, and whether its knobs rest.
    pub fn follow(&self, query: String, rests: bool) {
        {
            let mut state = self.state.borrow_mut();
            state.query = query;
            state.rests = rests;
        }
        self.ask();
    }

    /// Notes the pinned designs, to be shown beside the one of the page.
    pub fn pin(&self, pins: String) {
        self.state.borrow_mut().pins = pins;
        self.ask();
    }

    /// Shows a study of this pace in a host that has come onto the page for it.
    pub fn show(&self, study: Study, host: HtmlElement, options: String) {
        {
            let mut state = self.state.borrow_mut();
            let known = state.places.iter().position(|place| place.study == study);
            let place =
                Place { in_view: true, width: BOUNDS.0, options, ..Place::new(study, host) };
            match known {
                Some(index) => state.places[index] = place,
                None => state.places.push(place),
            }
        }
        self.ask();
    }

    /// Keeps a study no longer up to date.
    pub fn hide(&self, study: Study) {
        let mut state = self.state.borrow_mut();
        let places = state.places.iter_mut().filter(|place| place.study == study);
        places.for_each(|place| place.in_view = false);
    }

    /// Notes the reader's choice of options in a study.
    pub fn choose(&self, study: Study, options: String) {
        if let Some(place) =
            self.state.borrow_mut().places.iter_mut().find(|place| place.study == study)
        {
            place.options = options;
        }
        self.ask();
    }

    /// Hears the observers and the worker.
    fn told(&self, what: &JsValue) {
        if let Some(message) = what.dyn_ref::<MessageEvent>() {
            self.answered(&message.data());
        } else if let Some(entries) = what.dyn_ref::<Array>() {
            let mut state = self.state.borrow_mut();
            for entry in entries.iter() {
                state.seen(&entry);
            }
        } else if what
            .dyn_ref::<Event>()
            .is_some_and(|event| SIGNS.contains(&event.type_().as_str()))
        {
            self.get_ready();
        } else {
            // The worker's script could not be loaded or run.
            self.failed("part of the page failed to load");
        }
        self.ask();
    }

    fn answered(&self, data: &JsValue) {
        let data = data.unchecked_ref::<Array>();
        if let Some(error) = data.get(1).as_string() {
            return self.failed(&error);
        }
        let (answer, at) = (data.get(0), self.state.borrow_mut().at.take());
        match at {
            Some(Task::Study(index, goal)) => {
                let mut state = self.state.borrow_mut();
                let Some(place) = state.places.get_mut(index) else { return };
                // The request may be for another number by now, whose name is above it.
                if place.study.pace() == Pace::Asked && place.options != goal.options {
                    return;
                }
                place.shown = Some(goal);
                place.drawn = Some(answer);
                if !mem::replace(&mut state.is_due, true) {
                    request_animation_frame(|| {
                        if let Some(client) = Self::current() {
                            client.draw();
                        }
                    });
                }
            }
            Some(Task::Read) => {
                let mut texts =
                    answer.unchecked_ref::<Array>().iter().filter_map(|it| it.as_string());
                let hash = texts.next().filter(|hash| !hash.is_empty());
                (self.hear)(Done::Read(hash.ok_or_else(|| texts.collect())));
            }
            Some(Task::Effect(query)) => {
                let numbers = answer.dyn_ref::<Float64Array>().map(Float64Array::to_vec);
                (self.hear)(Done::Effect(query, numbers));
            }
            Some(Task::Cells(map)) => (self.hear)(Done::Cells(map, answer.as_string())),
            Some(Task::Abouts) => (self.hear)(Done::Abouts(abouts(&answer))),
            None => {}
        }
    }

    /// Writes what the worker has made.
    fn draw(&self) {
        let mut state = self.state.borrow_mut();
        state.is_due = false;
        for place in &mut state.places {
            let Some(html) = place.drawn.take() else { continue };
            // A fixed, valid attribute name can always be removed.
            let _ = place.host.remove_attribute("aria-busy");
            // Without an answer, of a design that can't be estimated, what is shown stays.
            if let Some(html) = html.as_string()
                && let Ok(fresh) = document().create_element("div")
            {
                fresh.set_inner_html(&html);
                if !fresh.is_equal_node(place.written.as_deref()) {
                    write(&place.host, place.written.as_ref(), &fresh);
                    place.written = Some(fresh);
                }
            }
        }
    }

    /// Does something for the page as soon as the worker is free.
    pub fn send(&self, errand: Errand) {
        self.state.borrow_mut().errands.push_back(errand);
        self.ask();
    }

    /// Says where a study is missing that it is, and begins with a new worker at the next change.
    fn failed(&self, why: &str) {
        self.draw();
        let (worker, at) = {
            let mut state = self.state.borrow_mut();
            (state.worker.take(), state.at.take())
        };
        if let Some(worker) = worker {
            worker.terminate();
        }
        let why = format!("Couldn't update: {why}.");
        match at {
            Some(Task::Study(index, goal)) => {
                let host = self.state.borrow_mut().gives_up(index, goal);
                let problem = document().create_element("p");
                if let (Some(host), Ok(problem)) = (host, problem) {
                    problem.set_class_name("study-problem");
                    problem.set_text_content(Some(&why));
                    let _ = host.prepend_with_node_1(&problem);
                }
            }
            Some(Task::Read) => (self.hear)(Done::Read(Err(vec![why]))),
            Some(Task::Effect(query)) => (self.hear)(Done::Effect(query, None)),
            Some(Task::Cells(map)) => (self.hear)(Done::Cells(map, None)),
            Some(Task::Abouts) => (self.hear)(Done::Abouts(Vec::new())),
            None => {}
        }
    }

    /// Gives the worker what is next, unless it is at something.
    fn ask(&self) {
        let mut state = self.state.borrow_mut();
        if state.at.is_some() {
            return;
        }
        let Some((task, message, given)) = state.next() else { return };
        let Some(worker) = state.worker.take().or_else(|| self.start()) else { return };
        // Strings, numbers and bytes can always be sent. Those of a file are given away: to copy
        // them takes a while.
        let _ = worker.post_message_with_transfer(&message, &given);
        state.worker = Some(worker);
        state.at = Some(task);
    }

    fn start(&self) -> Option<Worker> {
        let field = document().query_selector(&format!("meta[name={WORKER_FIELD}]")).ok()??;
        let address = field.get_attribute("content")?;
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        // The only word that reaches the worker in front of everything else.
        options.set_name(MemoryUnit::chosen().id());
        let worker = Worker::new_with_options(&address, &options).ok()?;
        worker.set_onmessage(Some(self.callback()));
        worker.set_onerror(Some(self.callback()));
        Some(worker)
    }
}

impl Drop for StudyClient {
    fn drop(&mut self) {
        if let Some((sight, size)) = self.observers.take() {
            sight.disconnect();
            size.disconnect();
        }
        if let Some(worker) = self.state.borrow_mut().worker.take() {
            worker.terminate();
        }
    }
}

impl State {
    /// The next task, the message that requests it, and the buffers that are transferred.
    fn next(&mut self) -> Option<(Task, Array, Array)> {
        if let Some(Errand::Read(bytes)) = self.errands.front() {
            let message = Array::of2(&"trace".into(), bytes);
            let given = Array::of1(&bytes.buffer());
            self.errands.pop_front();
            return Some((Task::Read, message, given));
        }
        self.words().map(|(task, message)| (task, message, Array::new()))
    }

    /// The next task whose request is plain text, and its message.
    fn words(&mut self) -> Option<(Task, Array)> {
        match self.errands.pop_front() {
            Some(Errand::Read(_)) => None,
            Some(Errand::Effect(query)) => {
                let message = Array::of2(&"effect".into(), &query.as_str().into());
                Some((Task::Effect(query), message))
            }
            Some(Errand::Cells(map)) => {
                let [query, name] = [&self.query, &map].map(|text| JsValue::from_str(text));
                Some((Task::Cells(map), Array::of3(&"cells".into(), &query, &name)))
            }
            Some(Errand::Abouts) => Some((Task::Abouts, Array::of1(&"abouts".into()))),
            None => {
                let (index, goal) = self.due()?;
                let place = &self.places[index];
                // What follows each change is there in a moment; to dim it would be more work.
                if place.study.pace() == Pace::AtRest {
                    let _ = place.host.set_attribute("aria-busy", "true");
                }
                let [study, query] = [place.study.id(), &goal.query].map(JsValue::from_str);
                let (width, options) = (goal.width.into(), goal.options.as_str().into());
                let message = Array::of5(&"study".into(), &study, &query, &width, &options);
                message.push(&goal.pins.as_str().into());
                Some((Task::Study(index, goal), message))
            }
        }
    }

    /// The first place in view that shows something else than it should, and what it should. Of
    /// those that take long the one that is looked at comes before those around it.
    fn due(&self) -> Option<(usize, Goal)> {
        let goal = |place: &Place| {
            let (query, options) = (self.query.clone(), place.options.clone());
            let width = if place.study.has_chart() { place.width } else { BOUNDS.0 };
            Goal { query, width, options, pins: self.pins.clone() }
        };
        let due = |pace: Pace| {
            self.places.iter().enumerate().filter(move |(_, place)| {
                let is_due = place.study.pace() == pace && place.in_view && place.width > 0;
                is_due && place.shown.as_ref() != Some(&goal(place))
            })
        };
        let first = due(Pace::Asked).chain(due(Pace::Live)).next().or_else(|| {
            let far = |place: &(usize, &Place)| from_window(&place.1.host);
            due(Pace::AtRest).filter(|_| self.rests).min_by_key(far)
        });
        first.map(|(index, place)| (index, goal(place)))
    }

    /// Notes that what a place should show can't be made.
    fn gives_up(&mut self, index: usize, goal: Goal) -> Option<HtmlElement> {
        let place = self.places.get_mut(index)?;
        place.shown = Some(goal);
        place.written = None;
        // A fixed, valid attribute name can always be removed.
        let _ = place.host.remove_attribute("aria-busy");
        Some(place.host.clone())
    }

    /// An observer tells of a place that it is in view, or how wide it is.
    fn seen(&mut self, entry: &JsValue) {
        let sight = entry.dyn_ref::<IntersectionObserverEntry>();
        let target: Option<Element> = match sight {
            Some(sight) => Some(sight.target()),
            None => entry.dyn_ref::<web_sys::ResizeObserverEntry>().map(|entry| entry.target()),
        };
        let Some(target) = target else { return };
        let is_it = |place: &&mut Place| -> bool { *place.host == target };
        let Some(place) = self.places.iter_mut().find(is_it) else { return };
        if let Some(sight) = sight {
            place.in_view = sight.is_intersecting();
        } else {
            let chart = target.query_selector(".chart").ok().flatten().unwrap_or(target);
            let width = u32::try_from(chart.client_width()).unwrap_or(0);
            place.width = if width == 0 { 0 } else { width.clamp(BOUNDS.0, BOUNDS.1) };
        }
    }
}

/// Meaning and HTML of each knob, from the alternating texts of the module's answer.
fn abouts(answer: &JsValue) -> Vec<About> {
    let mut texts = answer.unchecked_ref::<Array>().iter().filter_map(|it| it.as_string());
    let about = || Some(About { meaning: texts.next()?, html: texts.next()? });
    std::iter::from_fn(about).collect()
}

/// Distance of a place above or below the window, in pixels; 0 if some of it is in there.
fn from_window(host: &HtmlElement) -> i32 {
    let at = host.get_bounding_client_rect();
    let height = window().inner_height().ok().and_then(|height| height.as_f64());
    (at.top() - height.unwrap_or(0.0)).max(-at.bottom()).max(0.0) as i32
}
