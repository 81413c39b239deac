//! The page `/trust`: published runs beside what the model predicts for them.
//!
//! The fixed part (headline, targets, scores, constants) is text that only the server writes;
//! [`still`] makes it. The runs themselves are shown by the same code on both sides. The server has
//! them at once; the browser fetches them at the first sign that somebody is there, since they
//! would make the module heavier for everybody. Until then it knows no run, so whatever depends on
//! runs goes into the page as HTML text: taking over leaves such text as the server wrote it, and
//! it changes only when the runs are there.

mod runs;
mod browser;
mod points;

use leptos::prelude::*;
use present::page::trust::Served;
use present::page::trust::filter::Filter;
use present::site::Page;

use crate::panel::header;
use runs::Runs;

/// The page with the filter that a raw query string asks for.
pub fn page(raw: &str) -> impl IntoView + use<> {
    let served = use_context::<Served>();
    let (rows, still) = served.map(|served| (served.rows, served.still)).unzip();
    let still = still.unwrap_or_default();
    let runs = Runs::new(rows, Filter::from_query(raw));
    browser::install(runs);
    view! {
        <div class="trust-page" on:click=move |event| browser::follow_link(runs, &event)>
            {header::beside(Page::Trust, "runs", "Skip to the runs")}
            <main class="trust">
                <div class="trust-part" inner_html=still.above></div>
                {points::points(runs)}
                <div class="trust-part" inner_html=still.scores></div>
                {runs::runs(runs)}
                <div class="trust-part" inner_html=still.below></div>
            </main>
        </div>
    }
}
