//! Controls for names and flags: a list to pick from, a tick box, several tick boxes.

use leptos::prelude::*;

use super::part::{flag, text, truth};
use crate::reaction::handler;

/// Inputs of a list.
pub struct Select {
    /// The id that its `<label>` refers to.
    pub id: String,
    /// The entries, as HTML.
    pub options: String,
    /// The current value.
    pub value: Signal<String>,
    /// Whether the value is in conflict with others.
    pub invalid: Signal<bool>,
    /// The id of the text that says why.
    pub described_by: String,
    /// Whether it is read-only.
    pub locked: Signal<bool>,
    /// Called with the value that was picked.
    pub on_pick: Callback<String>,
}

/// Draws a list to pick one entry from.
pub fn select(spec: Select) -> impl IntoView {
    let Select { id, options, value, invalid, described_by, locked, on_pick } = spec;
    view! {
        <select
            class="select"
            id=id
            autocomplete="off"
            inner_html=options
            prop:value=text(move || value.get())
            disabled=flag(move || locked.get())
            aria-invalid=truth(move || invalid.get())
            aria-describedby=described_by
            on:change=handler(move |event| on_pick.run(event_target_value(&event)))
        ></select>
    }
}

/// Inputs of a tick box.
pub struct TickBox {
    /// The id that its `<label>` refers to.
    pub id: String,
    /// Whether it is ticked.
    pub ticked: Signal<bool>,
    /// Whether the value is in conflict with others.
    pub invalid: Signal<bool>,
    /// The id of the text that says why.
    pub described_by: String,
    /// Whether it is read-only.
    pub locked: Signal<bool>,
    /// Called with the new state.
    pub on_tick: Callback<bool>,
}

/// Draws a tick box.
pub fn tick_box(spec: TickBox) -> impl IntoView {
    let TickBox { id, ticked, invalid, described_by, locked, on_tick } = spec;
    view! {
        <input
            type="checkbox"
            class="tick-box"
            id=id
            autocomplete="off"
            checked=ticked.get_untracked()
            prop:checked=flag(move || ticked.get())
            disabled=flag(move || locked.get())
            aria-invalid=truth(move || invalid.get())
            aria-describedby=described_by
            on:change=handler(move |event| on_tick.run(event_target_checked(&event)))
        />
    }
}

/// Inputs of a group of tick boxes.
pub struct Chips {
    /// The id of the element that names the group.
    pub labelled_by: String,
    /// The names to tick.
    pub names: &'static [&'static str],
    /// The names that are ticked.
    pub ticked: Signal<Vec<String>>,
    /// Whether they are read-only.
    pub locked: Signal<bool>,
    /// Called with a name and its new state.
    pub on_tick: Callback<(&'static str, bool)>,
}

/// Draws a group of tick boxes.
pub fn chips(spec: Chips) -> impl IntoView {
    let Chips { labelled_by, names, ticked, locked, on_tick } = spec;
    let chips: Vec<_> = names
        .iter()
        .map(|name| {
            let is_ticked = move || ticked.with(|ticked| ticked.iter().any(|other| other == name));
            view! {
                <label class="chip">
                    <input
                        type="checkbox"
                        autocomplete="off"
                        checked=untrack(is_ticked)
                        prop:checked=flag(is_ticked)
                        disabled=flag(move || locked.get())
                        on:change=handler(move |event| {
                            on_tick.run((name, event_target_checked(&event)));
                        })
                    />
                    {*name}
                </label>
            }
        })
        .collect();
    view! { <div class="chips" role="group" aria-labelledby=labelled_by>{chips}</div> }
}
