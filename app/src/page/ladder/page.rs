//! The page as a whole.

use leptos::prelude::*;

use super::content;
use crate::panel::header;
use crate::present::html::on_server;
use crate::site::Page;

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
