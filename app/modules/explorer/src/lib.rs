//! What the page's loader, the parity test and scripts call in the explorer's module.

#![cfg(target_family = "wasm")]

use present::site::Module;
use wasm_bindgen::prelude::wasm_bindgen;

/// Takes over the page that the server rendered.
#[wasm_bindgen]
pub fn hydrate() {
    app::page::take_over::<{ Module::Explorer as usize }>();
}

/// Every number of a link's estimate, to be compared bit by bit with the native ones.
#[wasm_bindgen]
#[must_use]
pub fn estimate_bits(query: &str) -> Vec<f64> {
    present::insight::parity::estimate_numbers(query)
}

/// Answers a question of a script on the design in a link: the legal values of a knob (`values`), a
/// metric with all its digits (`exact`), the design's name (`name`). `None` if the link, the id or
/// the question isn't known, or the design can't run.
#[wasm_bindgen]
#[must_use]
pub fn ask(question: &str, query: &str, id: &str) -> Option<String> {
    app::explorer::queries::answer(question, query, id)
}
