//! What scripts of a folder of files call for what a server writes: parts of pages that follow from
//! their address or from a form. A panic says in its console where it happened.

#![cfg(target_family = "wasm")]

use present::page::import::Form;
use present::written;
use wasm_bindgen::prelude::wasm_bindgen;

/// Writes sizes of memory in the unit of that id from now on.
#[wasm_bindgen]
pub fn choose_memory_unit(id: &str) {
    present::format::MemoryUnit::of_id(id).choose();
}

/// The part of a page that depends on its query, as HTML; the address that it leads to instead; and
/// the design that links of the header take along. Two of them are empty.
#[wasm_bindgen]
#[must_use]
pub fn written(path: &str, query: &str, finder: &str) -> Vec<String> {
    std::panic::set_hook(Box::new(console_error_panic_hook::hook));
    let written = written::of_address(path, query, finder);
    vec![written.html, written.leads_to, written.design]
}

/// The form of an import, as it is sent.
#[wasm_bindgen]
#[derive(Default)]
pub struct ImportForm(Form);

#[wasm_bindgen]
impl ImportForm {
    /// An empty form.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        std::panic::set_hook(Box::new(console_error_panic_hook::hook));
        Self::default()
    }

    /// Takes a field.
    pub fn set(&mut self, name: &str, text: String) {
        self.0.set(name, text);
    }

    /// Takes a file.
    pub fn add(&mut self, name: String, bytes: Vec<u8>) {
        self.0.files.push((name, bytes));
    }

    /// Content of the page that answers it, as HTML.
    #[must_use]
    pub fn answer(&self) -> String {
        self.0.page().1.into_string()
    }
}
