//! What the page's loader calls on the pages of sweeps.

#![cfg(target_family = "wasm")]

use present::site::Module;
use wasm_bindgen::prelude::wasm_bindgen;

/// Takes over the page that the server rendered.
#[wasm_bindgen]
pub fn hydrate() {
    app::page::take_over::<{ Module::Sweeps as usize }>();
}
