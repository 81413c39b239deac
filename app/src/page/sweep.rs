//! The page `/sweep`: builds a sweep and starts it.
//!
//! Its one state is the spec's text, as `moescape sweep` reads it. The form is made of the text,
//! and a change in the form writes the text anew, so that both always say the same. What it would
//! cost, and everything that is wrong with it, the server says.

mod browser;

use leptos::prelude::*;
use present::page::sweep::{Served, server_html};
use present::site::Page;

use crate::browser::on_server;
use crate::panel::header;

/// The page with the spec that the server has for the address.
pub fn page() -> impl IntoView {
    browser::install();
    let html = || server_html::main(&use_context::<Served>().unwrap_or_default());
    view! {
        <div class="sweep-page">
            {header::beside(Page::Sweep, "build", "Skip to the form")}
            <main id="build" class="sweep-main" inner_html=on_server(html)></main>
            <p id="sweep-said" class="visually-hidden" role="status" aria-live="polite"></p>
        </div>
    }
}
