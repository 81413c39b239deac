//! The page `/compare`: up to four designs beside each other, and the pins that lead there.
//!
//! The page's address holds the designs as a whole (`Chosen`), so that a comparison is a link and
//! nothing is stored. Its content is text that only the server writes, and all that can be done
//! there is a link or a form. Pins are kept in the browser, in the same form.

mod browser;

use leptos::prelude::*;
use present::page::compare::server_html;
use present::site::Page;

use crate::browser::on_server;
use crate::panel::header;

/// The page of the designs in a raw query string.
pub fn page(raw: &str) -> impl IntoView + use<> {
    let pinned = browser::pinned();
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
                <div class="compare-parts" inner_html=on_server(|| server_html::html(raw))></div>
            </main>
        </div>
    }
}
