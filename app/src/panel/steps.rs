//! The history of changes: what was done to the design, and what was taken back, each one press
//! away.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use maud::html;

use crate::browser::download::closest;
use crate::explorer::Explorer;
use crate::reaction::handler;
use crate::widget::dialog::{Modal, modal};
use crate::widget::part::text;

/// Opens the list.
pub fn button(explorer: Explorer, name: impl IntoView) -> impl IntoView {
    view! {
        <button
            type="button"
            title="History of changes (h)"
            data-key="h"
            on:click=handler(move |_| explorer.steps_open.set(true))
        >
            {name}
        </button>
    }
}

/// The list, as a dialog.
pub fn steps(explorer: Explorer) -> impl IntoView {
    let press = handler(move |event: MouseEvent| {
        let button = closest(&event, "[data-place]");
        let place = button.and_then(|it| it.get_attribute("data-place")?.parse().ok());
        if let Some(place) = place {
            explorer.steps_open.set(false);
            explorer.go(place);
        }
    });
    // A closed list follows no change of a knob.
    let list = text(move || if explorer.steps_open.get() { list(explorer) } else { String::new() });
    let body = view! { <ol class="steps" on:click=press inner_html=list></ol> };
    modal(Modal { id: "steps", open: explorer.steps_open, title: "History of changes" }, body)
}

fn list(explorer: Explorer) -> String {
    let (steps, here) = explorer.steps();
    let item = |words: &str, place: usize, is_done: bool, is_here: bool| {
        html! {
            li {
                button type="button" class={ "step" @if !is_done { " undone" } } data-place=(place)
                    aria-current=[is_here.then_some("step")] { (words) }
                @if !is_done { " " span { "withdrawn" } }
            }
        }
    };
    let last = steps.iter().filter(|step| step.is_done).map(|step| step.place).next_back();
    let is_last = |place| Some(place) == last && here > 0;
    let markup = html! {
        (item("As the page was opened", 0, true, last.is_none()))
        @for step in &steps {
            (item(&step.words, step.place, step.is_done, is_last(step.place)))
        }
    };
    markup.into_string()
}
