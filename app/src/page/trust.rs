//! The page `/trust`: published runs beside what the model predicts for them.
//!
//! What stands still (headline, targets, scores, constants) is text that only the server writes;
//! [`still`] makes it. The runs themselves are shown by the same code on both sides. The server has
//! them at once; the browser fetches them at the first sign that somebody is there, since they
//! would make the module heavier for everybody. Until then it knows no run, so whatever depends on
//! runs goes into the page as HTML text: taking over leaves such text as the server wrote it, and
//! it changes only when the runs are there.

mod browser;
mod constants;
pub mod filter;
mod points;
mod runs;
pub mod score;
mod sheet;
pub mod still;
mod table;
pub mod words;

use std::sync::Arc;

use leptos::prelude::*;
use present::site::Page;
use validation::report::Row;

use crate::panel::header;
use filter::Filter;
use runs::Runs;

/// Where the browser fetches the runs, and where anybody can.
pub const JSON_PATH: &str = "/api/v1/validation";

/// Where the runs of serving are as JSON.
pub const SERVING_JSON_PATH: &str = "/api/v1/validation/serving";

/// The same as a table.
pub const CSV_PATH: &str = "/api/v1/validation.csv";

/// The id of the first chart, below the first screen.
pub const BELOW: &str = "errors";

/// The runs, shared.
pub type Rows = Arc<Vec<Row>>;

/// What the server knows when it renders the page.
#[derive(Clone, Debug)]
pub struct Served {
    /// The runs.
    pub rows: Rows,
    /// What stands still above and below them.
    pub still: still::Still,
}

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
