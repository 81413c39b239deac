//! The dialog with the other ways to count MFU, and the button that opens it.

use leptos::prelude::*;
use present::study::Study;

use super::studies;
use crate::reaction::handler;
use crate::widget::dialog::{Modal, modal};

/// The button that opens the table.
pub fn button(open: RwSignal<bool>) -> impl IntoView {
    view! {
        <button type="button" class="button way" on:click=handler(move |_| open.set(true))>
            "Other ways to count"
        </button>
    }
}

/// The dialog with the table; its numbers are computed only while it is open.
pub fn dialog(open: RwSignal<bool>) -> impl IntoView {
    let table = studies::asked(Study::Conventions, move || open.get().then(String::new));
    let body = view! {
        <p>
            "One step time, several utilisations: compare a published value only with the row that \
             counts as its paper does."
        </p>
        <div class="scroll-x" role="region" tabindex="0" aria-label="Ways to count, table">
            {table}
        </div>
    };
    modal(Modal { id: "conventions", open, title: "Other ways to count" }, body)
}
