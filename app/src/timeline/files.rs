//! The timeline as files: a trace for Perfetto, pictures as SVG.

use leptos::prelude::*;
use model::trace::{Event, Trace};

use super::download::download;
use super::figure::{State, pair_chunks};
use super::operators::{Operators, pass_words};
use super::picture::Handle;
use super::svg::Svg;
use super::window::Window;
use super::{Scene, tasks};

/// A trace of more tasks than this has no parts beside them: they would be most of the file.
const MOST_DETAILED: usize = 100_000;
/// How wide a block is on average in the picture of all of it, and how wide it may be as a whole.
const BLOCK: f64 = 20.0;
const WIDTHS: (f64, f64) = (1_200.0, 16_000.0);

/// Buttons that save the timeline.
pub(super) fn buttons(
    id: &'static str,
    title: &'static str,
    caption: Signal<String>,
    state: State,
    handle: Handle,
) -> impl IntoView {
    let trace = move |_| {
        if let Some(scene) = state.use_now(handle) {
            let json = trace(&scene, state.lane.get_untracked());
            download(&format!("moescape-{id}.json"), "application/json", &json);
        }
    };
    let picture = move |all: bool| {
        move |_| {
            state.use_now(handle);
            if let Some(svg) = svg(handle, title, &caption.get_untracked(), all) {
                let part = if all { "" } else { "-part" };
                download(&format!("moescape-{id}{part}.svg"), "image/svg+xml", &svg);
            }
        }
    };
    view! {
        <div class="timeline-files">
            <span class="muted">"Save"</span>
            <button type="button" class="button way" on:click=trace>
                "Trace for Perfetto (JSON)"
            </button>
            <button type="button" class="button way" on:click=picture(false)>
                "SVG of what is in view"
            </button>
            <button type="button" class="button way" on:click=picture(true)>
                "SVG of all of it"
            </button>
        </div>
    }
}

/// The trace of all stages, and of a pair of one of them where there are pairs.
pub(super) fn trace(scene: &Scene, lane: usize) -> String {
    let timeline = scene.timeline();
    let detailed = timeline.lists.tasks.len() <= MOST_DETAILED;
    let mut trace = Trace::new(timeline, &mut |stage, task| {
        let detail = if detailed { scene.explain(stage, task) } else { None };
        let parts = detail.map(|detail| detail.parts).unwrap_or_default().into_iter();
        parts.map(|part| (part.0, part.2.get())).collect()
    });
    if let Some((forward, backward)) = pair_chunks(scene, lane, None) {
        let operators = Operators::new(scene.pair(lane, forward, backward));
        trace.begin_process(&format!("One pair of stage {lane}, from its own start on"));
        for (thread, (name, operators)) in operators.lanes().enumerate() {
            trace.name_thread(thread, name);
            for operator in operators {
                let (start, end) = (operator.start, operator.end);
                let category = pass_words(operator.pass);
                trace.add(thread, &Event { name: operator.name, category, start, end }, &[]);
            }
        }
    }
    trace.finish()
}

/// The picture as it is in view, or of all of it at a width at which blocks can be read.
fn svg(handle: Handle, title: &str, about: &str, all: bool) -> Option<String> {
    let palette = handle.palette()?;
    handle.with(|board| {
        let window = board.window()?;
        let wide = (window.total() / board.mean_block() * BLOCK).clamp(WIDTHS.0, WIDTHS.1);
        let (window, width) =
            if all { (Window::all(window.total()), wide) } else { (window, board.size.0) };
        let mut svg = Svg::new(&palette);
        board.paint_still(&mut svg, window, width);
        let part = format!(
            "{title}, from {} to {}",
            tasks::seconds(window.from()),
            tasks::seconds(window.to()),
        );
        Some(svg.finish(width, board.best_height(), &part, about))
    })?
}
