//! What the page's loader and the parity test call in the explorer's module.

use wasm_bindgen::prelude::wasm_bindgen;

use crate::{hydration, parity};

/// Takes over the page that the server rendered.
#[wasm_bindgen]
pub fn hydrate() {
    hydration::explorer();
}

/// Every number of a link's estimate, to be compared bit by bit with the native ones.
#[wasm_bindgen]
#[must_use]
pub fn estimate_bits(query: &str) -> Vec<f64> {
    parity::estimate_numbers(query)
}
