//! What the page's loader calls on the page of a review session.

#![cfg(target_family = "wasm")]

use present::site::Module;
use wasm_bindgen::prelude::wasm_bindgen;

/// Takes over the page that the server rendered.
#[wasm_bindgen]
pub fn hydrate() {
    app::page::take_over::<{ Module::Reviews as usize }>();
}

/// Answers a question of a script on the design in a link, as the explorer's module does.
#[wasm_bindgen]
#[must_use]
pub fn ask(question: &str, query: &str, id: &str) -> Option<String> {
    app::explorer::queries::answer(question, query, id)
}
