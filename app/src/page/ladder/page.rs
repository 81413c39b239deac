//! The page as a whole.

use leptos::prelude::*;

use crate::panel::header;
use crate::site::Page;

/// The page.
pub fn page() -> impl IntoView {
    view! {
        <div class="ladder-page">
            <a class="skip" href="#ladder">"Skip to the ladder"</a>
            <header class="header">
                {header::brand()}
                {header::pages(Page::Ladder)}
                <div class="actions">{header::buttons()}</div>
            </header>
            <main id="ladder" class="ladder">
                <h1>{Page::Ladder.title()}</h1>
                <div class="ladder-parts" inner_html=still()></div>
            </main>
        </div>
    }
}

#[cfg(feature = "ssr")]
fn still() -> &'static str {
    super::content::html()
}

/// The server has written it.
#[cfg(not(feature = "ssr"))]
const fn still() -> &'static str {
    ""
}
