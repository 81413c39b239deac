//! The page `/trust`: published runs beside what the model predicts for them.
//!
//! What stands still (headline, targets, scores, constants) is text that only the server writes;
//! [`still`] makes it. The runs themselves are shown by the same code on both sides. The server has
//! them at once; the browser fetches them at the first sign that somebody is there, since they
//! would make the module heavier for everybody. Until then it knows no run, so whatever depends on
//! runs goes into the page as HTML text: taking over leaves such text as the server wrote it, and
//! it changes only when the runs are there.

pub mod filter;
pub mod score;
mod sheet;
pub mod words;
mod constants;
pub mod points;
pub mod runs;
pub mod still;
pub mod table;

use std::sync::Arc;

use validation::report::Row;

/// Where the browser fetches the runs, and where anybody can.
pub const JSON_PATH: &str = "/api/v1/validation";

/// Where the runs of serving are as JSON.
pub const SERVING_JSON_PATH: &str = "/api/v1/validation/serving";

/// Runs as a table.
pub const CSV_PATH: &str = "/api/v1/validation.csv";

/// The id of the first chart, below the first screen.
pub const BELOW: &str = "errors";

/// The runs, shared.
pub type Rows = Arc<Vec<Row>>;

/// Data that the server has when it renders the page.
#[derive(Clone, Debug)]
pub struct Served {
    /// The runs.
    pub rows: Rows,
    /// Still parts above and below the runs.
    pub still: still::Still,
}
