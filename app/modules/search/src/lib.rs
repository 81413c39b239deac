//! What the worker calls that searches for layouts. A panic says in its console where it happened.

#![cfg(target_family = "wasm")]

use wasm_bindgen::prelude::wasm_bindgen;

/// Writes sizes of memory in the unit of that id from now on.
#[wasm_bindgen]
pub fn choose_memory_unit(id: &str) {
    present::format::MemoryUnit::of_id(id).choose();
}

/// A search for layouts, which the worker takes a step further again and again.
#[wasm_bindgen]
pub struct Finder(present::page::find::run::Finder);

#[wasm_bindgen]
impl Finder {
    /// Begins the search that the query string of the page asks for.
    ///
    /// # Errors
    /// Everything that is wrong with it, in lines.
    #[wasm_bindgen(constructor)]
    pub fn new(query: &str) -> Result<Self, String> {
        std::panic::set_hook(Box::new(console_error_panic_hook::hook));
        present::page::find::run::Finder::of_address(query)
            .map(Self)
            .map_err(|wrong| wrong.join("\n"))
    }

    /// Does a part of the work, some tens of milliseconds; returns its progress as JSON.
    pub fn step(&mut self) -> String {
        self.0.step_alone()
    }

    /// Layouts found so far, as the command line prints them, without the seconds that it took;
    /// `None` if no layout can mend the design.
    #[must_use]
    pub fn json(&self) -> Option<String> {
        self.0.json()
    }

    /// Layouts found so far, as HTML.
    #[must_use]
    pub fn html(&self) -> String {
        self.0.html()
    }
}
