//! The list of steps: what was done to the design, and what was taken back, each one press away.

use std::fmt::Write as _;

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::browser::download::closest;
use crate::explorer::Explorer;
use crate::present::html::element;
use crate::widget::dialog::{Modal, modal};
use crate::widget::icon::{Icon, icon};

/// Opens the list.
pub fn button(explorer: Explorer) -> impl IntoView {
    view! {
        <button
            type="button"
            class="button only-wide"
            title="Every step so far (h)"
            aria-label="Steps"
            data-key="h"
            on:click=move |_| explorer.steps_open.set(true)
        >
            {icon(Icon::Steps)}
        </button>
    }
}

/// The list, as a dialog.
pub fn steps(explorer: Explorer) -> impl IntoView {
    let press = move |event: MouseEvent| {
        let button = closest(&event, "[data-place]");
        let place = button.and_then(|it| it.get_attribute("data-place")?.parse().ok());
        if let Some(place) = place {
            explorer.steps_open.set(false);
            explorer.go(place);
        }
    };
    // A closed list follows no change of a knob.
    let list = move || if explorer.steps_open.get() { list(explorer) } else { String::new() };
    let body = view! { <ol class="steps" on:click=press inner_html=list></ol> };
    modal(Modal { id: "steps", open: explorer.steps_open, title: "Steps" }, body)
}

fn list(explorer: Explorer) -> String {
    let (steps, here) = explorer.steps();
    let mut html = String::new();
    let mut item = |words: &str, place: usize, is_done: bool, is_here: bool| {
        let class = if is_done { "step" } else { "step undone" };
        let current = if is_here { " aria-current=\"step\"" } else { "" };
        // Writing to a string can't fail.
        let _ = write!(html, "<li>");
        let attributes =
            format!("type=\"button\" class=\"{class}\" data-place=\"{place}\"{current}");
        element(&mut html, "button", &attributes, words);
        html.push_str(if is_done { "</li>" } else { " <span>taken back</span></li>" });
    };
    let last = steps.iter().filter(|step| step.is_done).map(|step| step.place).next_back();
    item("As the page was opened", 0, true, last.is_none());
    for step in &steps {
        item(&step.words, step.place, step.is_done, Some(step.place) == last && here > 0);
    }
    html
}
