//! One pair of the selected stage: which operator runs when on which resource.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use super::board::Done;
use super::figure::{State, pair_chunks};
use super::keys::Command;
use super::lanes::{Lanes, Spot};
use super::operators::{self, Operators};
use super::picture::{Handle, Pointed, Spec, picture};
use super::{Scene, tasks, words};

/// What is shown of a pair.
type Pair = Option<(String, Arc<Operators>)>;

/// Draws it, closed at first; it is hidden while the selected stage runs no pairs.
pub(super) fn pair(state: State) -> impl IntoView {
    // Which pair there is; what is in it is computed once it is opened.
    let which = Memo::new(move |_| {
        let scene = state.scene()?;
        let stage = state.lane.get();
        let chunks = pair_chunks(&scene, stage, state.selected.get())?;
        Some((stage, chunks))
    });
    let open = RwSignal::new(false);
    let shown = RwSignal::new(None::<(String, Arc<Operators>)>);
    let said = RwSignal::new(String::new());
    let (handle, canvas) = picture(picture_spec(shown, said));
    Effect::new(move || {
        if open.get() {
            let scene = state.scene();
            let pair = which.get().zip(scene).map(|((stage, (forward, backward)), scene)| {
                let operators = Operators::new(scene.pair(stage, forward, backward));
                (title(&scene, stage, forward, backward), Arc::new(operators))
            });
            handle.with(|board| {
                let lanes = pair.as_ref().map(|(_, operators)| operators.clone());
                board.select(None);
                board.show(lanes.map(|lanes| lanes as Arc<dyn Lanes + Send + Sync>));
            });
            handle.redraw();
            said.set(String::new());
            shown.set(pair);
        }
    });
    let details = NodeRef::<html::Details>::new();
    let toggle = move |_| {
        open.set(details.get_untracked().is_some_and(|details| details.has_attribute("open")));
    };
    let heading = move || {
        which.get().map(|(stage, _)| format!("One pair of stage {stage}: what runs on what"))
    };
    let caption = move || {
        shown.with(|pair: &Pair| {
            let (title, operators) = pair.as_ref()?;
            Some(format!("{title}: {}", operators.summary()))
        })
    };
    let zoom = move |label: &'static str, text: &'static str, command: Command| {
        view! {
            <button
                type="button"
                class="button"
                aria-label=label
                title=label
                on:click=move |_| {
                    handle.act(command);
                }
            >
                {text}
            </button>
        }
    };
    view! {
        <details
            class="timeline-pair"
            node_ref=details
            hidden=move || which.with(Option::is_none)
            on:toggle=toggle
        >
            <summary>{heading}</summary>
            <div class="timeline-bar">
                <p class="muted">{caption}</p>
                <div class="timeline-buttons" role="group" aria-label="Part of the pair in view">
                    {zoom("Zoom out", "−", Command::ZoomOut)}
                    {zoom("Zoom in", "+", Command::ZoomIn)}
                    {zoom("Show all of it", "Fit", Command::Fit)}
                </div>
            </div>
            {canvas}
            <p class="timeline-said" aria-live="polite">{move || said.get()}</p>
            {table(shown)}
        </details>
    }
}

fn title(scene: &Scene, stage: usize, forward: usize, backward: usize) -> String {
    if scene.timeline().schedule.chunks_per_stage() > 1 {
        format!("Forward of chunk {forward} with backward of chunk {backward} on stage {stage}")
    } else {
        format!("Forward with backward on stage {stage}")
    }
}

fn picture_spec(shown: RwSignal<Pair>, said: RwSignal<String>) -> Spec {
    let words = move |spot: Option<Spot>| {
        shown.with_untracked(|pair: &Pair| {
            let operator = pair.as_ref()?.1.at(spot?).map(operators::words);
            operator
        })
    };
    Spec {
        class: "timeline-resources",
        label: Signal::stored("One pair on its resources".to_owned()),
        described_by: String::new(),
        has_track: false,
        done: Callback::new(move |(handle, _): (Handle, Done)| {
            let spot = handle.with(|board| board.selected()).flatten();
            said.set(words(spot).unwrap_or_default());
        }),
        note: Callback::new(move |(spot, moment): Pointed| {
            words(spot).unwrap_or_else(|| tasks::seconds(moment))
        }),
    }
}

/// The same as a table: one row for each operator.
fn table(shown: RwSignal<Pair>) -> impl IntoView {
    let html = move || {
        shown.with(|pair| {
            let rows = pair.as_ref().map(|(_, operators)| operators.table()).unwrap_or_default();
            words::table("Operators of the pair", &rows)
        })
    };
    view! {
        <details class="figure-table">
            <summary>"Table"</summary>
            <div
                class="scroll-x"
                role="region"
                tabindex="0"
                aria-label="Operators of the pair, table"
                inner_html=html
            ></div>
        </details>
    }
}
