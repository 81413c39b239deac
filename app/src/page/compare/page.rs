//! The page as a whole.

use leptos::prelude::*;

use super::{browser, still};
use crate::panel::header;
use crate::present::html::on_server;
use crate::site::Page;

/// The page of the designs in a raw query string.
pub fn page(raw: &str) -> impl IntoView + use<> {
    let pinned = browser::pinned(raw);
    view! {
        <div class="compare-page">
            {header::beside(Page::Compare, "results", "Skip to the comparison")}
            <main id="results" class="compare">
                <h1>{Page::Compare.title()}</h1>
                <p class="compare-pinned" hidden=move || pinned.with(Option::is_none)>
                    <a class="button" href=move || pinned.get().unwrap_or_default()>
                        "Compare the designs that you pinned"
                    </a>
                </p>
                <div class="compare-parts" inner_html=on_server(|| still::html(raw))></div>
            </main>
        </div>
    }
}
