//! What the page's loader calls on the page of serving.

#![cfg(target_family = "wasm")]

use wasm_bindgen::prelude::wasm_bindgen;

/// Takes over the page that the server rendered.
#[wasm_bindgen]
pub fn hydrate() {
    app::document::body::serving();
}
