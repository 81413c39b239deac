//! A box that a value is typed into.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use super::part::{flag, text, truth};
use crate::reaction::{effect, handler};

/// Kind of entry that may be typed.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A whole number between two bounds, taken while it is typed.
    Whole(u64, u64),
    /// A real number between two bounds, taken when it is done.
    Real(f64, f64),
    /// Text, taken when it is done.
    Text,
}

/// Inputs of a number box.
pub struct NumberBox {
    /// The id that its `<label>` refers to.
    pub id: String,
    /// Kind of entry that may be typed.
    pub entry: Entry,
    /// The value as text; empty shows the placeholder.
    pub value: Signal<String>,
    /// Meaning of an empty box.
    pub placeholder: Signal<String>,
    /// Whether the text in the box was refused; it stays there then, to be mended.
    pub refused: Signal<bool>,
    /// Whether the value is refused or in conflict with others.
    pub invalid: Signal<bool>,
    /// The id of the text that says why.
    pub described_by: String,
    /// Whether it is read-only.
    pub locked: Signal<bool>,
    /// Called with what was typed.
    pub on_type: Callback<String>,
    /// Called when an arrow key asks for the next (true) or previous (false) value.
    pub on_step: Callback<bool>,
    /// Called when typing is done, also when it led back to what was there.
    pub on_done: Callback<()>,
}

/// Value of a number field whose text isn't a number.
pub const NOT_A_NUMBER: &str = "not a number";

/// Draws a number box.
pub fn number_box(spec: NumberBox) -> impl IntoView {
    let NumberBox { id, entry, value, placeholder, invalid, described_by, .. } = spec;
    let NumberBox { refused, locked, on_type, on_step, on_done, .. } = spec;
    let node = NodeRef::<html::Input>::new();
    // Not an attribute: the box must also follow when a refused text is taken back.
    effect(move || {
        let (value, refused) = (value.get(), refused.get());
        if !refused
            && let Some(input) = node.get()
            && input.value() != value
        {
            input.set_value(&value);
        }
    });
    let (kind, mode, min, max, step) = match entry {
        Entry::Whole(low, high) => {
            ("number", "numeric", Some(low.to_string()), Some(high.to_string()), Some("1"))
        }
        Entry::Real(low, high) => {
            ("number", "decimal", Some(low.to_string()), Some(high.to_string()), Some("any"))
        }
        Entry::Text => ("text", "text", None, None, None),
    };
    let typed_live = matches!(entry, Entry::Whole(..));
    let steps = kind == "number";
    let typed = move || {
        if let Some(input) = node.get_untracked() {
            let text =
                if input.validity().bad_input() { NOT_A_NUMBER.into() } else { input.value() };
            on_type.run(text);
        }
    };
    let step_by_key = handler(move |event: ev::KeyboardEvent| {
        let up = match event.key().as_str() {
            "ArrowUp" => true,
            "ArrowDown" => false,
            _ => return,
        };
        if steps {
            event.prevent_default();
            on_step.run(up);
        }
    });
    view! {
        <input
            type=kind
            inputmode=mode
            class="number-box"
            class:wide=!steps
            id=id
            node_ref=node
            autocomplete="off"
            spellcheck="false"
            min=min
            max=max
            step=step
            value=value.get_untracked()
            placeholder=text(move || placeholder.get())
            disabled=flag(move || locked.get())
            aria-invalid=truth(move || invalid.get())
            aria-describedby=described_by
            on:input=handler(move |_| {
                if typed_live {
                    typed();
                }
            })
            on:change=handler(move |_| {
                if !typed_live {
                    typed();
                }
                on_done.run(());
            })
            on:blur=handler(move |_| on_done.run(()))
            on:keydown=step_by_key
        />
    }
}
