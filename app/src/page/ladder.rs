//! The page `/ladder`: Pangu Ultra MoE from its baseline to its final run, one change at a time.
//!
//! Nothing on it depends on the visitor, so all of it is text that only the server writes; taking
//! the page over leaves it as it is, and the browser's module stays as light as it was.

mod content;
pub mod numbers;

use leptos::prelude::*;
use present::site::Page;

use crate::browser::on_server;
use crate::panel::header;

/// Its first words and its chart, for a page that says it in short.
#[must_use]
pub fn brief() -> &'static str {
    content::brief()
}

/// The page.
pub fn page() -> impl IntoView {
    view! {
        <div class="ladder-page">
            {header::beside(Page::Ladder, "ladder", "Skip to the ladder")}
            <main id="ladder" class="ladder">
                <h1>{Page::Ladder.title()}</h1>
                <div class="ladder-parts" inner_html=on_server(content::html)></div>
            </main>
        </div>
    }
}
