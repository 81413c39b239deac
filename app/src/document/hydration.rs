//! What the modules of the site do when the page's loader calls them: take over the page that the
//! server rendered. Each module has its own function, which knows its own pages and no other.

use leptos::either::{Either, EitherOf4};
use leptos::prelude::*;
use model::link;

use crate::browser;
use crate::document::RawQuery;
use crate::page::{compare, explorer, ladder, results, review, schedule, sweep, trust};
use crate::site::Page;

/// The explorer.
pub fn explorer() {
    take_over(|_, raw| match link::decode(raw) {
        Ok(design) => Either::Left(explorer::page(design)),
        Err(errors) => Either::Right(explorer::broken_link::broken_link(raw, &errors)),
    });
}

/// The pages beside the explorer.
pub fn pages() {
    take_over(|page, raw| match page {
        Page::Trust => Some(EitherOf4::A(trust::page(raw))),
        Page::Ladder => Some(EitherOf4::B(ladder::page())),
        Page::Schedule => Some(EitherOf4::C(schedule::page(raw))),
        Page::Compare => Some(EitherOf4::D(compare::page(raw))),
        Page::Explorer | Page::Sweep | Page::Results | Page::Review => None,
    });
}

/// The pages of sweeps.
pub fn sweeps() {
    take_over(|page, raw| match page {
        Page::Sweep => Some(Either::Left(sweep::page())),
        Page::Results => Some(Either::Right(results::page(raw))),
        Page::Explorer
        | Page::Trust
        | Page::Ladder
        | Page::Schedule
        | Page::Compare
        | Page::Review => None,
    });
}

/// Review sessions.
pub fn reviews() {
    take_over(|page, _| (page == Page::Review).then(review::page));
}

/// Makes the same view as the server did, on what it wrote.
fn take_over<V: IntoView + 'static>(view: impl FnOnce(Page, &str) -> V + 'static) {
    std::panic::set_hook(Box::new(|panic| {
        console_error_panic_hook::hook(panic);
        // Nothing works any more: the style sheet shows the bar that offers to reload.
        mark("data-stopped");
    }));
    browser::memory_unit().choose();
    let search = browser::query();
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
