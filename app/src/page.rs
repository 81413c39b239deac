//! The pages of the site, each in a folder of its own, and the view of each: what the server
//! writes, and what modules take over. A page imports no other page.

pub mod budget;
pub mod compare;
pub mod explorer;
pub mod ladder;
pub mod results;
pub mod review;
pub mod schedule;
pub mod serving;
pub mod sweep;
pub mod trust;

use leptos::prelude::*;
use present::site::Page;

#[cfg(feature = "hydrate")]
use crate::browser;
#[cfg(feature = "hydrate")]
use crate::panel::address;

/// The rows become two functions: for the server, and for each module.
macro_rules! views {
    ($($Page:ident: $view:expr,)+) => {
        /// A page as the server writes it for a query string; nothing for one without a module.
        #[cfg(feature = "ssr")]
        #[must_use]
        pub fn view(page: Page, raw: &str) -> AnyView {
            match page {
                $(Page::$Page => $view(raw).into_any(),)+
                _ => ().into_any(),
            }
        }

        /// Takes over the page at hand. A module has none but its own compiled into it.
        #[cfg(feature = "hydrate")]
        pub fn take_over<const MODULE: usize>() {
            match Page::at(&browser::folder::path()) {
                $(Page::$Page if const { Page::$Page.is_of(MODULE) } => {
                    // No generic function: it is compiled here, once for all modules.
                    fn of_page() {
                        hydrate($view);
                    }
                    of_page();
                })+
                _ => (),
            }
        }
    };
}

views! {
    Explorer: explorer::page,
    Sweep: |_| sweep::page(),
    Serving: serving::page,
    Budget: budget::page,
    Compare: compare::page,
    Ladder: |_| ladder::page(),
    Trust: trust::page,
    Schedule: schedule::page,
    Results: results::page,
    Review: |_| review::page(),
}

/// Makes the same view as the server did, on what it wrote.
#[cfg(feature = "hydrate")]
fn hydrate<V: IntoView + 'static>(view: impl FnOnce(&str) -> V + 'static) {
    std::panic::set_hook(Box::new(|panic| {
        console_error_panic_hook::hook(panic);
        // Nothing works any more: the style sheet shows the bar that offers to reload.
        mark("data-stopped");
    }));
    browser::memory_unit().choose();
    leptos::mount::hydrate_body(move || view(&address::query()));
    mark("data-hydrated");
}

/// Sets a mark on the document that style sheet and tests look for.
#[cfg(feature = "hydrate")]
fn mark(name: &str) {
    if let Some(root) = document().document_element() {
        // A fixed, valid attribute name can always be set.
        let _ = root.set_attribute(name, "true");
    }
}
