//! The page as a whole.

use leptos::prelude::*;

use super::{Served, browser, still};
use crate::panel::header;
use crate::present::html::on_server;
use crate::site::Page;

/// The page with the spec that the server has for the address.
pub fn page() -> impl IntoView {
    browser::install();
    let html = || still::main(&use_context::<Served>().unwrap_or_default());
    view! {
        <div class="sweep-page">
            {header::beside(Page::Sweep, "build", "Skip to the form")}
            <main id="build" class="sweep-main" inner_html=on_server(html)></main>
            <p id="sweep-said" class="visually-hidden" role="status" aria-live="polite"></p>
        </div>
    }
}
