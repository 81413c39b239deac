//! The page `/compare`: up to four designs beside each other, and the pins that lead there.
//!
//! The page's address holds the designs as a whole ([`Chosen`]), so that a comparison is a link
//! and nothing is stored. What stands on it is text that only the server writes, and all that can
//! be done there is a link or a form. Pins are kept in the browser, in the same form.

mod browser;
mod csv;
mod figures;
pub mod numbers;
mod serving;
mod start;
mod server_html;
mod table;

use leptos::prelude::*;
use present::site::Page;
use present::site::chosen::{Choice, Chosen};

pub use csv::csv;
pub use start::EXAMPLES;

use crate::browser::on_server;
use crate::panel::header;

/// Where all its numbers are, as CSV.
pub const CSV_PATH: &str = "/compare.csv";

/// Does every link to a design open, and is the rest of the address understood?
#[must_use]
pub fn is_understood(raw: &str) -> bool {
    let (chosen, wrong) = Chosen::read(raw);
    let opens = |choice: &Choice| model::link::decode(&choice.link).is_ok();
    wrong.is_empty() && chosen.designs.iter().all(opens)
}

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
                <div class="compare-parts" inner_html=on_server(|| server_html::html(raw))></div>
            </main>
        </div>
    }
}
