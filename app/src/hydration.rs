//! The module's entries, called by the page's loader and by the parity test.

#[cfg(not(feature = "studies"))]
use leptos::prelude::*;
use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(not(any(feature = "sweeps", feature = "reviews")))]
use crate::parity;
#[cfg(not(feature = "studies"))]
use crate::{App, Page, RawQuery, browser};

/// Takes over the page that the server rendered.
#[cfg(not(feature = "studies"))]
#[wasm_bindgen]
pub fn hydrate() {
    std::panic::set_hook(Box::new(|panic| {
        console_error_panic_hook::hook(panic);
        // Nothing works any more: the style sheet shows the bar that offers to reload.
        mark("data-stopped");
    }));
    let search = browser::query();
    let page = Page::at(&window().location().pathname().unwrap_or_default());
    leptos::mount::hydrate_body(move || {
        provide_context(RawQuery(search));
        provide_context(page);
        view! { <App/> }
    });
    mark("data-hydrated");
}

/// Sets a mark on the document that style sheet and tests look for.
#[cfg(not(feature = "studies"))]
fn mark(name: &str) {
    if let Some(root) = document().document_element() {
        // A fixed, valid attribute name can always be set.
        let _ = root.set_attribute(name, "true");
    }
}

/// A study of the design in a link, for a chart of that width in pixels and with what a reader has
/// chosen to see in it, as HTML.
///
/// Called by the worker that makes studies; a panic says in its console where it happened.
#[cfg(feature = "studies")]
#[wasm_bindgen]
#[must_use]
pub fn study(name: &str, query: &str, width: u32, options: &str) -> Option<String> {
    std::panic::set_hook(Box::new(console_error_panic_hook::hook));
    crate::study::answer::of_link(name, query, width, options)
}

/// Every cell of a heat map of the design in a link, as CSV.
#[cfg(feature = "studies")]
#[wasm_bindgen]
#[must_use]
pub fn cells(query: &str, map: &str) -> Option<String> {
    crate::study::answer::cells(query, map)
}

/// Takes a trace of expert loads from a file's bytes: its hash, or an empty text and what is wrong
/// with it.
#[cfg(feature = "studies")]
#[wasm_bindgen]
#[must_use]
pub fn trace(bytes: &[u8]) -> Vec<String> {
    match crate::study::answer::take_trace(bytes) {
        Ok(hash) => vec![hash],
        Err(errors) => std::iter::once(String::new()).chain(errors).collect(),
    }
}

/// What the trace's loads do to the design in a link; nothing while they aren't of one another.
#[cfg(feature = "studies")]
#[wasm_bindgen]
#[must_use]
pub fn effect(query: &str) -> Option<Vec<f64>> {
    crate::study::answer::effect(query).map(|effect| crate::recorded::numbers(&effect).to_vec())
}

/// What the explorer knows of the design in a link, for scripts beside it: the legal values of a
/// knob (`values`), a metric with all its digits (`exact`), what the design is called (`name`).
/// Nothing where the link, the id or the question isn't known, or the design can't run.
#[cfg(not(any(feature = "studies", feature = "pages", feature = "sweeps")))]
#[wasm_bindgen]
#[must_use]
pub fn ask(question: &str, query: &str, id: &str) -> Option<String> {
    crate::asked::answer(question, query, id)
}

/// Every number of a link's estimate, to be compared bit by bit with the native ones. The pages of
/// sweeps estimate nothing, and those of reviews are no place for it.
#[cfg(not(any(feature = "sweeps", feature = "reviews")))]
#[wasm_bindgen]
#[must_use]
pub fn estimate_bits(query: &str) -> Vec<f64> {
    parity::estimate_numbers(query)
}
