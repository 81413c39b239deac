//! The page as a whole.

use leptos::prelude::*;

use super::browser;
use crate::panel::header;
use crate::site::Page;

/// The page with the spec that the server has for the address.
pub fn page() -> impl IntoView {
    browser::install();
    view! {
        <div class="sweep-page">
            <a class="skip" href="#build">"Skip to the form"</a>
            <header class="header">
                {header::brand()}
                {header::pages(Page::Sweep)}
                <div class="actions">{header::buttons()}</div>
            </header>
            <main id="build" class="sweep-main" inner_html=html()></main>
            <p id="sweep-said" class="visually-hidden" role="status" aria-live="polite"></p>
        </div>
    }
}

#[cfg(feature = "ssr")]
fn html() -> String {
    super::still::main(&use_context::<super::Served>().unwrap_or_default())
}

/// The server has written it.
#[cfg(not(feature = "ssr"))]
const fn html() -> String {
    String::new()
}
