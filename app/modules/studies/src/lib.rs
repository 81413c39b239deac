//! What the worker calls that makes the explorer's studies, and the page that draws the timeline:
//! both need all of the model, and share one file in two memories. A panic says in their console
//! where it happened.

#![cfg(target_family = "wasm")]

use present::study::answer;
use wasm_bindgen::prelude::wasm_bindgen;

/// A study of the design in a link, for a chart of that width in pixels, with what a reader has
/// chosen to see in it and beside the designs that are pinned, as HTML.
#[wasm_bindgen]
#[must_use]
pub fn study(name: &str, query: &str, width: u32, options: &str, pins: &str) -> Option<String> {
    std::panic::set_hook(Box::new(console_error_panic_hook::hook));
    answer::of_link(name, query, width, options, pins)
}

/// Writes sizes of memory in the unit of that id from now on.
#[wasm_bindgen]
pub fn choose_memory_unit(id: &str) {
    present::format::MemoryUnit::of_id(id).choose();
}

/// Draws the timeline on the page from now on.
#[wasm_bindgen]
pub fn draw_timeline() {
    std::panic::set_hook(Box::new(console_error_panic_hook::hook));
    app::panel::timeline::take_over();
}

/// Text of each knob, in the order of the registry: its meaning, and all of it as HTML.
#[wasm_bindgen]
#[must_use]
pub fn abouts() -> Vec<String> {
    present::words::about::abouts()
        .into_iter()
        .flat_map(|about| [about.meaning, about.html])
        .collect()
}

/// Every cell of a heat map of the design in a link, as CSV.
#[wasm_bindgen]
#[must_use]
pub fn cells(query: &str, map: &str) -> Option<String> {
    answer::cells(query, map)
}

/// Takes a trace of expert loads from a file's bytes: its hash, or an empty text and what is wrong
/// with it.
#[wasm_bindgen]
#[must_use]
pub fn trace(bytes: &[u8]) -> Vec<String> {
    match answer::take_trace(bytes) {
        Ok(hash) => vec![hash],
        Err(errors) => std::iter::once(String::new()).chain(errors).collect(),
    }
}

/// Effect of the trace's loads on the design in a link; `None` while they don't match each other.
#[wasm_bindgen]
#[must_use]
pub fn effect(query: &str) -> Option<Vec<f64>> {
    answer::effect(query).map(|effect| present::insight::recorded::numbers(&effect).to_vec())
}
