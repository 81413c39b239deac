//! The figure around the picture: caption, legend, buttons, details, the pair, the table, files.
//!
//! The timeline is computed when the figure comes into view or is used, two animation frames after
//! the numbers changed, so that neither numbers nor charts wait for it; one that takes long waits
//! until the knobs rest.

use std::sync::Arc;
use std::time::Duration;

use leptos::html;
use leptos::prelude::*;
use model::schedule::TaskKind;

use super::board::Done;
use super::keys::Command;
use super::lanes::{Lanes, Spot};
use super::pair::pair;
use super::picture::{Handle, Pointed, Spec, picture};
use super::tasks::{self, Stages};
use super::{Scene, Track, files, watch, words};
use crate::browser::Later;

/// A timeline that takes longer than this to compute waits until the knobs rest, in milliseconds.
const QUICK: f64 = 5.0;
/// Knobs rest when they have been still for this long.
const REST: Duration = Duration::from_millis(200);

/// Gives what is shown, or says in a sentence why there is nothing.
pub type Show = Arc<dyn Fn() -> Result<Scene, String> + Send + Sync>;

/// What a figure of a timeline needs. `show` is called untracked.
pub struct TimelineFigure {
    /// The id of its heading, and the start of its files' names.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// One sentence that says what is shown.
    pub caption: Signal<String>,
    /// The timeline.
    pub show: Show,
    /// Notifies when there is another timeline to show.
    pub changes: Signal<()>,
}

/// What is on the page.
#[derive(Clone)]
pub(super) enum Shown {
    /// Not computed yet.
    Waiting,
    /// Nothing, for a reason.
    Nothing(String),
    Scene(Scene),
}

/// The state of a figure.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) shown: RwSignal<Shown>,
    pub(super) lane: RwSignal<usize>,
    pub(super) selected: RwSignal<Option<Spot>>,
    /// Are all details of what is selected open?
    open: RwSignal<bool>,
    /// Is the picture as high as its lanes read best?
    tall: RwSignal<bool>,
    show: StoredValue<Show>,
    /// Is what is shown no longer what it should be?
    stale: StoredValue<bool>,
    in_view: StoredValue<bool>,
    waiting: StoredValue<bool>,
    /// How long it took to compute, in milliseconds.
    took: StoredValue<f64>,
    later: Later,
}

impl State {
    fn new(show: Show) -> Self {
        Self {
            shown: RwSignal::new(Shown::Waiting),
            lane: RwSignal::new(0),
            selected: RwSignal::new(None),
            open: RwSignal::new(false),
            tall: RwSignal::new(false),
            show: StoredValue::new(show),
            stale: StoredValue::new(true),
            in_view: StoredValue::new(false),
            waiting: StoredValue::new(false),
            took: StoredValue::new(0.0),
            later: Later::new(REST),
        }
    }

    /// What is shown, if it is something.
    pub(super) fn scene(self) -> Option<Scene> {
        match self.shown.get() {
            Shown::Scene(scene) => Some(scene),
            Shown::Waiting | Shown::Nothing(_) => None,
        }
    }

    /// There is something else to show.
    fn changed(self, handle: Handle) {
        self.stale.set_value(true);
        self.catch_up(handle);
    }

    /// Computes what is to be seen, when there is time.
    fn catch_up(self, handle: Handle) {
        let wanted = self.stale.get_value() && self.in_view.get_value();
        if !wanted || self.waiting.get_value() {
            return;
        }
        if self.took.get_value() > QUICK {
            self.later.run(move || self.compute_if_there(handle));
            return;
        }
        self.waiting.set_value(true);
        request_animation_frame(move || {
            request_animation_frame(move || self.compute_if_there(handle));
        });
    }

    fn compute_if_there(self, handle: Handle) {
        // The figure may be gone by now.
        if self.waiting.try_set_value(false).is_none() {
            self.compute(handle);
        }
    }

    /// Computes it now.
    fn compute(self, handle: Handle) {
        if !self.stale.get_value() {
            return;
        }
        self.stale.set_value(false);
        let clock = window().performance();
        let now = || clock.as_ref().map_or(0.0, web_sys::Performance::now);
        let start = now();
        let show = self.show.get_value();
        let shown = match untrack(|| show()) {
            Ok(scene) => Shown::Scene(scene),
            Err(reason) => Shown::Nothing(reason),
        };
        self.keep_place(&shown, handle);
        self.shown.set(shown);
        self.took.set_value(now() - start);
    }

    /// Goes to the same task of what is shown now, if there is one.
    fn keep_place(self, shown: &Shown, handle: Handle) {
        let before = self.shown.get_untracked();
        let Shown::Scene(scene) = shown else {
            handle.with(|board| board.show(None));
            self.selected.set(None);
            handle.redraw();
            return;
        };
        let timeline = scene.timeline();
        let count = timeline.lists.stages();
        let lane = match before {
            Shown::Waiting => fullest(scene),
            Shown::Nothing(_) | Shown::Scene(_) => self.lane.get_untracked(),
        };
        let lane = lane.min(count.saturating_sub(1));
        let selected = self.selected.get_untracked().and_then(|spot| {
            let Shown::Scene(before) = &before else { return None };
            let (task, ..) = tasks::task_at(before.timeline(), spot)?;
            let stage = timeline.lists.stage(spot.lane);
            let index = stage.iter().position(|other| *other == task)?;
            Some(Spot { index, ..spot })
        });
        let lanes: Arc<dyn Lanes + Send + Sync> = Arc::new(Stages(scene.clone()));
        handle.with(|board| {
            board.show(Some(lanes));
            board.select_lane(lane);
            board.select(selected);
            board.show_track(track_of(scene, lane));
        });
        self.selected.set(selected);
        self.lane.set(lane);
        handle.redraw();
    }

    /// Something was selected in the picture, or is to be opened.
    fn done(self, handle: Handle, done: Done) {
        let Some((lane, selected)) = handle.with(|board| (board.lane(), board.selected())) else {
            return;
        };
        if self.lane.get_untracked() != lane
            && let Shown::Scene(scene) = self.shown.get_untracked()
        {
            handle.with(|board| board.show_track(track_of(&scene, lane)));
            handle.redraw();
            self.lane.set(lane);
        }
        if selected.is_none() || done == Done::Opened {
            self.open.set(done == Done::Opened);
        }
        if self.selected.get_untracked() != selected {
            self.selected.set(selected);
        }
    }
}

/// The stage that holds most.
fn fullest(scene: &Scene) -> usize {
    let peak = |stage: usize| scene.track(stage).map_or(0.0, |track| track.peak());
    let stages = 0..scene.timeline().lists.stages();
    let mut best = (0, f64::NEG_INFINITY);
    for stage in stages {
        let peak = peak(stage);
        if peak > best.1 {
            best = (stage, peak);
        }
    }
    best.0
}

fn track_of(scene: &Scene, stage: usize) -> Option<(Track, String)> {
    let track = scene.track(stage)?;
    let title = match track.held {
        super::Held::Memory => format!("Memory of stage {stage}"),
        super::Held::MicroBatches => format!("In flight on stage {stage}"),
    };
    Some((track, title))
}

/// Draws a timeline with everything around it.
pub fn timeline(spec: TimelineFigure) -> impl IntoView {
    let TimelineFigure { id, title, caption, show, changes } = spec;
    // The server shows the numbers at once. The browser finds them on the page and computes them
    // when they are looked at; what it would write here is not read when it takes the page over.
    let first = if cfg!(feature = "ssr") { untrack(|| show()).ok() } else { None };
    let state = State::new(show);
    let keys_id = format!("{id}-keys");
    let (handle, canvas) = picture(picture_spec(state, title, keys_id.clone()));
    let figure = NodeRef::<html::Figure>::new();
    Effect::new(move || {
        let Some(figure) = figure.get() else { return };
        watch::sight(&figure, move |seen| {
            if state.in_view.try_set_value(seen).is_none() {
                state.catch_up(handle);
            }
        });
    });
    Effect::new(move |is_first: Option<()>| {
        changes.get();
        if is_first.is_some() {
            state.changed(handle);
        }
    });
    let heading = format!("{id}-title");
    view! {
        <figure class="figure card timeline" aria-labelledby=heading id=id node_ref=figure>
            <figcaption>
                <h2 id=heading.clone()>{title}</h2>
                <p>{move || caption.get()}</p>
            </figcaption>
            {bar(state, handle, first.clone())}
            <div class="timeline-box" class:tall=move || state.tall.get()>
                {canvas}
                {nothing(state)}
            </div>
            {keys(keys_id)}
            {summary(state, first.clone())}
            {details(state)}
            {pair(state)}
            {table(state, title, first)}
            {files::buttons(id, title, caption, state, handle)}
        </figure>
    }
}

impl State {
    /// Computes what a button needs, wherever the figure is.
    pub(super) fn use_now(self, handle: Handle) -> Option<Scene> {
        self.compute(handle);
        untrack(|| self.scene())
    }
}

fn picture_spec(state: State, title: &'static str, described_by: String) -> Spec {
    Spec {
        class: "timeline-stages",
        label: Signal::stored(title.to_owned()),
        described_by,
        has_track: true,
        done: Callback::new(move |(handle, done)| state.done(handle, done)),
        note: Callback::new(move |pointed| note(state, pointed)),
    }
}

/// The words beside the pointer.
fn note(state: State, (spot, moment): Pointed) -> String {
    let Some(scene) = untrack(|| state.scene()) else { return String::new() };
    let timeline = scene.timeline();
    let at = tasks::seconds(moment);
    if let Some(spot) = spot
        && let Some((task, start, end)) = tasks::task_at(timeline, spot)
    {
        let name = tasks::name(timeline, spot.lane, &task);
        return format!(
            "{name}: {} from {} on",
            tasks::seconds(end - start),
            tasks::seconds(start)
        );
    }
    let lane = state.lane.get_untracked();
    match scene.track(lane) {
        Some(track) => format!("{at}: stage {lane} holds {}", track.held.text(track.at(moment))),
        None => at,
    }
}

/// The legend, and the buttons for those who have neither wheel nor keys.
fn bar(state: State, handle: Handle, first: Option<Scene>) -> impl IntoView {
    let legend = NodeRef::<html::Ul>::new();
    let html = |scene: &Scene| {
        let timeline = scene.timeline();
        words::legend(timeline)
    };
    Effect::new(move || {
        if let (Some(scene), Some(legend)) = (state.scene(), legend.get()) {
            legend.set_inner_html(&html(&scene));
        }
    });
    let button = move |label: &'static str, text: &'static str, command: Command| {
        view! {
            <button
                type="button"
                class="button"
                aria-label=label
                title=label
                on:click=move |_| {
                    state.use_now(handle);
                    handle.act(command);
                }
            >
                {text}
            </button>
        }
    };
    view! {
        <div class="timeline-bar">
            <ul class="timeline-legend" node_ref=legend inner_html=first.as_ref().map(html)></ul>
            <div class="timeline-buttons" role="group" aria-label="Part in view">
                {button("Earlier", "←", Command::Earlier)}
                {button("Later", "→", Command::Later)}
                {button("Zoom out", "−", Command::ZoomOut)}
                {button("Zoom in", "+", Command::ZoomIn)}
                {button("Show all of it", "Fit", Command::Fit)}
                <button
                    type="button"
                    class="button"
                    aria-pressed=move || state.tall.get().to_string()
                    on:click=move |_| state.tall.update(|tall| *tall = !*tall)
                >
                    "Taller"
                </button>
            </div>
        </div>
    }
}

/// Why there is nothing to see.
fn nothing(state: State) -> impl IntoView {
    let reason = move || match state.shown.get() {
        Shown::Nothing(reason) => Some(reason),
        Shown::Waiting | Shown::Scene(_) => None,
    };
    view! { <p class="timeline-nothing" hidden=move || reason().is_none()>{reason}</p> }
}

/// Times of all stages in a sentence.
fn summary(state: State, first: Option<Scene>) -> impl IntoView {
    let place = NodeRef::<html::P>::new();
    let html = |scene: &Scene| words::summary(scene.timeline());
    Effect::new(move || {
        if let (Some(scene), Some(place)) = (state.scene(), place.get()) {
            place.set_inner_html(&html(&scene));
        }
    });
    let first = first.as_ref().map(html);
    view! { <p class="timeline-summary muted" node_ref=place inner_html=first></p> }
}

fn keys(id: String) -> impl IntoView {
    let keys: Vec<_> = words::KEYS
        .iter()
        .map(|(key, meaning)| view! { <span><kbd>{*key}</kbd>" "{*meaning}" "</span> })
        .collect();
    view! {
        <p class="timeline-keys muted only-keyboard" id=id>
            "On the picture: "
            {keys}
            "· drag to move, Ctrl and wheel to zoom"
        </p>
    }
}

fn details(state: State) -> impl IntoView {
    let html = move || match (state.scene(), state.selected.get()) {
        (Some(scene), Some(spot)) => words::details(&scene, spot, state.open.get()),
        _ => {
            let mut html = String::new();
            words::element(&mut html, "p", " class=\"muted\"", words::HINT);
            html
        }
    };
    view! { <div class="timeline-details" aria-live="polite" inner_html=html></div> }
}

/// The same as a table: one row for each stage.
fn table(state: State, title: &'static str, first: Option<Scene>) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let details = NodeRef::<html::Details>::new();
    let html = move |scene: &Scene| words::table(title, &tasks::table(scene.timeline()));
    let fill = move || {
        let is_open = details.get_untracked().is_some_and(|details| details.has_attribute("open"));
        if let (true, Some(scene), Some(place)) = (is_open, state.scene(), place.get_untracked()) {
            place.set_inner_html(&html(&scene));
        }
    };
    Effect::new(fill);
    view! {
        <details class="figure-table" node_ref=details on:toggle=move |_| untrack(fill)>
            <summary>"Table"</summary>
            <div
                class="scroll-x"
                role="region"
                tabindex="0"
                aria-label=format!("{title}, table")
                node_ref=place
                inner_html=first.as_ref().map(html)
            ></div>
        </details>
    }
}

/// Has the selected stage pairs, and which chunks do they run? Those of the selected pair, or of
/// the middle of the steady state.
pub(super) fn pair_chunks(
    scene: &Scene,
    stage: usize,
    spot: Option<Spot>,
) -> Option<(usize, usize)> {
    let tasks = scene.timeline().lists.stage(stage);
    let is_pair = |index: &usize| tasks.get(*index).is_some_and(|task| task.kind == TaskKind::Pair);
    let selected = spot.filter(|spot| spot.lane == stage).map(|spot| spot.index).filter(is_pair);
    let middle = tasks.len() / 2;
    let index = selected.or_else(|| (middle..tasks.len()).chain(0..middle).find(is_pair))?;
    let task = tasks.get(index)?;
    Some((usize::from(task.chunk), usize::from(task.backward_chunk)))
}
