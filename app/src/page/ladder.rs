//! The page `/ladder`: Pangu Ultra MoE from its baseline to its final run, one change at a time.
//!
//! Nothing on it depends on the visitor, so all of it is text that only the server writes; taking
//! the page over leaves it as it is, and the browser's module stays as light as it was.

use leptos::prelude::*;
use present::page::ladder::html;
use present::site::Page;

use crate::browser::on_server;
use crate::panel::header;

/// The page.
pub fn page() -> impl IntoView {
    view! {
        <div class="ladder-page">
            {header::beside(Page::Ladder, "ladder", "Skip to the ladder")}
            <main id="ladder" class="ladder">
                <h1>{Page::Ladder.title()}</h1>
                <div class="ladder-parts" inner_html=on_server(html)></div>
            </main>
        </div>
    }
}
