//! The page `/compare`: up to four designs beside each other, and the pins that lead there.
//!
//! The page's address holds the designs as a whole ([`Chosen`]), so that a comparison is a link
//! and nothing is stored. What stands on it is text that only the server writes, and all that can
//! be done there is a link or a form. Pins are kept in the browser, in the same form.

mod csv;
mod figures;
pub mod numbers;
mod serving;
mod start;
pub mod server_html;
mod table;

use crate::site::chosen::{Choice, Chosen};

pub use csv::csv;
pub use start::EXAMPLES;

/// Where all its numbers are, as CSV.
pub const CSV_PATH: &str = "/compare.csv";

/// Does every link to a design open, and is the rest of the address understood?
#[must_use]
pub fn is_understood(raw: &str) -> bool {
    let (chosen, wrong) = Chosen::read(raw);
    let opens = |choice: &Choice| model::design::link::decode(&choice.link).is_ok();
    wrong.is_empty() && chosen.designs.iter().all(opens)
}
