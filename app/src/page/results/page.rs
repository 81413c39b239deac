//! The page as a whole.

use leptos::prelude::*;

use super::{Served, View, browser, still};
use crate::panel::header;
use crate::present::html::on_server;
use crate::site::Page;

/// The page of a sweep as a raw query string asks to see it.
pub fn page(raw: &str) -> impl IntoView + use<> {
    browser::install(raw.to_owned());
    view! {
        <div class="sweep-page">
            {header::beside(Page::Results, "results", "Skip to the results")}
            <main id="results" class="sweep-main" inner_html=on_server(|| html(raw))></main>
            <p id="sweep-said" class="visually-hidden" role="status" aria-live="polite"></p>
        </div>
    }
}

fn html(raw: &str) -> String {
    let served = use_context::<Served>().and_then(|served| served.0);
    served.map_or_else(still::missing, |data| still::main(&data, &View::from_query(raw)))
}
