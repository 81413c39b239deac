//! How a module of the site takes over the page that the server rendered.

use leptos::prelude::*;
use present::site::Page;

use crate::browser;
use crate::document::RawQuery;
use crate::panel::address;

/// Makes the same view as the server did, on what it wrote.
pub(super) fn take_over<V: IntoView + 'static>(view: impl FnOnce(Page, &str) -> V + 'static) {
    std::panic::set_hook(Box::new(|panic| {
        console_error_panic_hook::hook(panic);
        // Nothing works any more: the style sheet shows the bar that offers to reload.
        mark("data-stopped");
    }));
    browser::memory_unit().choose();
    let search = address::query();
    let page = Page::at(&window().location().pathname().unwrap_or_default());
    leptos::mount::hydrate_body(move || {
        provide_context(RawQuery(search.clone()));
        provide_context(page);
        view(page, &search)
    });
    mark("data-hydrated");
}

/// Sets a mark on the document that style sheet and tests look for.
fn mark(name: &str) {
    if let Some(root) = document().document_element() {
        // A fixed, valid attribute name can always be set.
        let _ = root.set_attribute(name, "true");
    }
}
