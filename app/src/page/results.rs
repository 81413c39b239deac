//! The page `/s/ID`: a sweep's results while it runs and afterwards.
//!
//! Everything is made of one [`Data`] and one [`View`]: the server writes the parts of the page as
//! text, the browser writes those anew that change and draws what is on canvases. The view is in
//! the address. A finished sweep reads well without a script.

mod beside;
mod browser;
mod live;
mod pointer;

use leptos::prelude::*;
use present::page::results::{Served, View, server_html};
use present::site::Page;

use crate::browser::on_server;
use crate::panel::header;

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
    served
        .map_or_else(server_html::missing, |data| server_html::main(&data, &View::from_query(raw)))
}
