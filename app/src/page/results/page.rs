//! The page as a whole.

use leptos::prelude::*;

use super::browser;
use crate::panel::header;
use crate::site::Page;

/// The page of a sweep as a raw query string asks to see it.
pub fn page(raw: &str) -> impl IntoView + use<> {
    browser::install(raw.to_owned());
    view! {
        <div class="sweep-page">
            <a class="skip" href="#results">"Skip to the results"</a>
            <header class="header">
                {header::brand()}
                {header::pages(Page::Results)}
                <div class="actions">{header::buttons()}</div>
            </header>
            <main id="results" class="sweep-main" inner_html=html(raw)></main>
            <p id="sweep-said" class="visually-hidden" role="status" aria-live="polite"></p>
        </div>
    }
}

#[cfg(feature = "ssr")]
fn html(raw: &str) -> String {
    let served = use_context::<super::Served>().and_then(|served| served.0);
    served.map_or_else(super::still::missing, |data| {
        super::still::main(&data, &super::View::from_query(raw))
    })
}

/// The server has written it.
#[cfg(not(feature = "ssr"))]
const fn html(_: &str) -> String {
    String::new()
}
