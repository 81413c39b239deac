//! The page as a whole.

use leptos::prelude::*;

use super::filter::Filter;
use super::runs::Runs;
use super::{Served, browser, points, runs};
use crate::panel::header;
use crate::site::Page;

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
