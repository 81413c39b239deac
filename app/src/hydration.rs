//! The module's entries, called by the page's loader and by the parity test.

use leptos::prelude::*;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{App, RawQuery, parity};

/// Takes over the page that the server rendered.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    let search = window().location().search().unwrap_or_default();
    leptos::mount::hydrate_body(move || {
        provide_context(RawQuery(search));
        view! { <App/> }
    });
    if let Some(root) = document().document_element() {
        // A fixed, valid attribute name can always be set.
        let _ = root.set_attribute("data-hydrated", "true");
    }
}

/// Every number of a link's estimate, to be compared bit by bit with the native ones.
#[wasm_bindgen]
#[must_use]
pub fn estimate_bits(query: &str) -> Vec<f64> {
    parity::estimate_numbers(query)
}
