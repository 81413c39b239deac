//! Keys of the explorer's page, and what follows the knobs there: the address bar, the ends of
//! gestures, the headline that is spoken.
//!
//! Everything here runs in effects and handlers, never while the page is drawn first: server and
//! browser must draw the same.

use std::mem;
use std::time::Duration;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::{ev, html};
use model::metric::{MetricId, Regime};
use present::format;
use present::insight::memory_state;

use super::address;
use super::knobs::SEARCH_ID;
use super::tray::{Tray, press_key};
use crate::browser::{Later, letter_keys};
use crate::explorer::{Explorer, NumbersOf};
use crate::reaction::effect;

/// A gesture by keys ends when the knobs have been still for this long.
const GESTURE_DELAY: Duration = Duration::from_millis(500);
/// The headline is spoken when the knobs have been still for this long.
const SPEECH_DELAY: Duration = Duration::from_millis(600);

/// The event with which scripts beside the module ask for a metric's explanation, by its id.
const EXPLAIN_EVENT: &str = "moescape-explain";

/// Ties the explorer to the browser; gives the node of the live region.
pub fn install(explorer: Explorer, tray: Tray) -> NodeRef<html::P> {
    let announcement = NodeRef::<html::P>::new();
    address::install(explorer);
    let gesture = Later::new(GESTURE_DELAY);
    effect(move || {
        explorer.with_design(|_| ());
        gesture.run(move || {
            if !explorer.is_typed() {
                explorer.end_still_gesture();
            }
        });
    });
    let speech = Later::new(SPEECH_DELAY);
    let mut is_first = true;
    effect(move || {
        let text = headline(explorer);
        if !mem::take(&mut is_first) {
            speech.run(move || {
                if let Some(Some(node)) = announcement.try_get_untracked() {
                    node.set_text_content(Some(&text));
                }
            });
        }
    });
    effect(move || {
        let keys = window_event_listener(ev::keydown, move |event| {
            press(explorer, tray, &event);
        });
        let asked = window_event_listener(ev::Custom::new(EXPLAIN_EVENT), move |event| {
            explain(explorer, &event);
        });
        on_cleanup(move || {
            keys.remove();
            asked.remove();
        });
    });
    announcement
}

/// The headline as it is spoken.
fn headline(explorer: Explorer) -> String {
    if explorer.shown() != NumbersOf::Design {
        return explorer.with_violations(|rules| {
            let first = rules.first().map_or("", |rule| rule.message.as_str());
            format!("This design can't run. {first}")
        });
    }
    explorer.with_numbers(|numbers| {
        let metrics = &numbers.estimate.metrics;
        format!(
            "MFU {}, step {}, {}",
            format::percent(metrics.mfu, 1),
            format::duration(metrics.step_time),
            memory_state::short(metrics),
        )
    })
}

/// Acts on a key.
fn press(explorer: Explorer, tray: Tray, event: &ev::KeyboardEvent) {
    if event.ctrl_key() || event.meta_key() {
        press_with_control(explorer, event);
    } else if event.key() == "Escape" {
        if !explorer.revert() {
            close_what_is_open(explorer);
        }
    } else if press_letter(explorer, event) || press_letter_of_tray(tray, event) {
        event.prevent_default();
    }
}

/// Acts on a single letter; false where it isn't a key of the page.
pub(crate) fn press_letter(explorer: Explorer, event: &ev::KeyboardEvent) -> bool {
    if !is_letter_key(event) {
        return false;
    }
    match event.key().as_str() {
        "/" => focus_search(explorer),
        "?" => explorer.help_open.set(true),
        _ => return false,
    }
    true
}

fn press_letter_of_tray(tray: Tray, event: &ev::KeyboardEvent) -> bool {
    is_letter_key(event) && press_key(tray, &event.key())
}

/// Whether a key is one of the page's, and not one that types or chooses something.
fn is_letter_key(event: &ev::KeyboardEvent) -> bool {
    let has_modifier = event.ctrl_key() || event.meta_key() || event.alt_key();
    !has_modifier && !types_text(event) && !has_focus_on("select") && letter_keys()
}

fn press_with_control(explorer: Explorer, event: &ev::KeyboardEvent) {
    match history_key(event) {
        Some(false) => explorer.undo(),
        Some(true) => explorer.redo(),
        None => return,
    }
    event.prevent_default();
}

/// Direction of a key that undoes (false) or redoes (true); `None` for other keys and within a
/// text.
pub(crate) fn history_key(event: &ev::KeyboardEvent) -> Option<bool> {
    if !(event.ctrl_key() || event.meta_key()) || types_text(event) {
        return None;
    }
    match (event.key().to_ascii_lowercase().as_str(), event.shift_key()) {
        ("z", false) => Some(false),
        ("z", true) | ("y", false) => Some(true),
        _ => None,
    }
}

fn explain(explorer: Explorer, event: &ev::CustomEvent) {
    let metric = event.detail().as_string().and_then(|id| MetricId::find_of(Regime::Training, &id));
    if metric.is_some() {
        explorer.explained.set(metric);
    }
}

fn close_what_is_open(explorer: Explorer) {
    if explorer.help_open.get_untracked() {
        explorer.help_open.set(false);
    } else if explorer.steps_open.get_untracked() {
        explorer.steps_open.set(false);
    } else if explorer.conventions_open.get_untracked() {
        explorer.conventions_open.set(false);
    } else if explorer.explained.with_untracked(Option::is_some) {
        explorer.explained.set(None);
    } else {
        explorer.sheet_open.set(false);
    }
}

fn focus_search(explorer: Explorer) {
    // On a phone the box is on the sheet.
    explorer.sheet_open.set(true);
    request_animation_frame(|| {
        let input = document().get_element_by_id(SEARCH_ID);
        if let Some(input) = input.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
            // Focus fails only on an element that is gone.
            let _ = input.focus();
        }
    });
}

/// Whether the key goes into a text: then its undo is the browser's own. Number boxes hold a knob's
/// value, so that undo there is the explorer's.
fn types_text(event: &ev::KeyboardEvent) -> bool {
    if has_focus_on("textarea") {
        return true;
    }
    let input = event.target().and_then(|it| it.dyn_into::<web_sys::HtmlInputElement>().ok());
    let is_letter = !(event.ctrl_key() || event.meta_key());
    input.is_some_and(|input| match input.type_().as_str() {
        "text" | "search" => true,
        "number" => is_letter,
        _ => false,
    })
}

fn has_focus_on(tag: &str) -> bool {
    let focused = document().active_element();
    focused.is_some_and(|element| element.tag_name().eq_ignore_ascii_case(tag))
}
