//! The page as a whole.

use leptos::prelude::*;

use super::browser;
use crate::panel::header;
use crate::site::Page;

/// The page of the designs in a raw query string.
pub fn page(raw: &str) -> impl IntoView + use<> {
    let pinned = browser::pinned(raw);
    view! {
        <div class="compare-page">
            <a class="skip" href="#results">"Skip to the comparison"</a>
            <header class="header">
                {header::brand()}
                {header::pages(Page::Compare)}
                <div class="actions">{header::buttons()}</div>
            </header>
            <main id="results" class="compare">
                <h1>{Page::Compare.title()}</h1>
                <p class="compare-pinned" hidden=move || pinned.with(Option::is_none)>
                    <a class="button" href=move || pinned.get().unwrap_or_default()>
                        "Compare the designs that you pinned"
                    </a>
                </p>
                <div class="compare-parts" inner_html=html(raw)></div>
            </main>
        </div>
    }
}

#[cfg(feature = "ssr")]
fn html(raw: &str) -> String {
    super::still::html(raw)
}

/// The server has written it.
#[cfg(not(feature = "ssr"))]
const fn html(_: &str) -> String {
    String::new()
}
