//! A native range over a list of positions; what a position means is the caller's.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use super::part::flag;
use crate::reaction::{effect, handler};

/// Shift and an arrow move this far.
const STRIDE: usize = 10;

/// Inputs of a slider.
pub struct Slider {
    /// Its accessible name.
    pub label: String,
    /// Number of positions; 0 while they aren't known, and the page has what the server wrote.
    pub count: Signal<usize>,
    /// The current position.
    pub position: Signal<usize>,
    /// Meaning of the current position, in words.
    pub text: Signal<String>,
    /// Whether it is read-only.
    pub locked: Signal<bool>,
    /// Called when it is about to be used.
    pub on_use: Callback<()>,
    /// Called with the new position, again and again during a drag.
    pub on_move: Callback<usize>,
    /// Called when a pointer takes hold (true) and lets go (false).
    pub on_hold: Callback<bool>,
}

/// Draws a slider.
pub fn slider(spec: Slider) -> impl IntoView {
    let Slider { label, count, position, text, locked, on_use, on_move, on_hold } = spec;
    let node = NodeRef::<html::Input>::new();
    // One effect and not three attributes: the browser clamps a value to the maximum of that time.
    effect(move || {
        let (count, position, text) = (count.get(), position.get(), text.get());
        if let Some(input) = node.get().filter(|_| count > 0) {
            input.set_max(&count.saturating_sub(1).to_string());
            input.set_value(&position.to_string());
            // An attribute of a fixed, valid name can always be set.
            let _ = input.set_attribute("aria-valuetext", &text);
        }
    });
    // A drag that was given up has moved the browser's own mark further.
    let let_go = move || {
        on_hold.run(false);
        if let Some(input) = node.get_untracked() {
            input.set_value(&position.get_untracked().to_string());
        }
    };
    let stride = handler(move |event: ev::KeyboardEvent| {
        if !event.shift_key() {
            return;
        }
        let now = position.get_untracked();
        let next = match event.key().as_str() {
            "ArrowRight" | "ArrowUp" => now.saturating_add(STRIDE),
            "ArrowLeft" | "ArrowDown" => now.saturating_sub(STRIDE),
            _ => return,
        };
        event.prevent_default();
        on_move.run(next.min(count.get_untracked().saturating_sub(1)));
    });
    view! {
        <input
            type="range"
            class="slider"
            node_ref=node
            autocomplete="off"
            disabled=flag(move || locked.get())
            min="0"
            step="1"
            max=count.get_untracked().saturating_sub(1)
            value=position.get_untracked()
            aria-label=label
            aria-valuetext=text.get_untracked()
            on:input=handler(move |event: ev::Event| {
                if let Ok(position) = event_target_value(&event).parse() {
                    on_move.run(position);
                }
            })
            on:keydown=stride
            on:focus=handler(move |_| on_use.run(()))
            on:pointerenter=handler(move |_| on_use.run(()))
            on:pointerdown=handler(move |_| {
                on_use.run(());
                on_hold.run(true);
            })
            on:change=handler(move |_| let_go())
            on:pointerup=handler(move |_| let_go())
            on:pointercancel=handler(move |_| let_go())
        />
    }
}
