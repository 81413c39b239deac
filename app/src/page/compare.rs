//! The page `/compare`: up to four designs beside each other, and the pins that lead there.
//!
//! The page's address holds the designs as a whole ([`Chosen`]), so that a comparison is a link
//! and nothing is stored. What stands on it is text that only the server writes, and all that can
//! be done there is a link or a form. Pins are kept in the browser, in the same form.

mod browser;
pub mod chosen;
#[cfg(feature = "ssr")]
mod csv;
#[cfg(feature = "ssr")]
mod figures;
#[cfg(any(feature = "ssr", test))]
pub mod numbers;
mod page;
pub mod pins;
#[cfg(feature = "ssr")]
mod start;
#[cfg(feature = "ssr")]
mod still;
#[cfg(feature = "ssr")]
mod table;
pub mod tray;

pub use chosen::{Choice, Chosen};
#[cfg(feature = "ssr")]
pub use csv::csv;
pub use page::page;
#[cfg(feature = "ssr")]
pub use start::EXAMPLES;

/// The page's address.
pub const PATH: &str = "/compare";

/// Where all its numbers are, as CSV.
pub const CSV_PATH: &str = "/compare.csv";

/// The page's title.
pub const TITLE: &str = "Compare designs";

/// What the page is about, for search engines and previews of shared links.
pub const ABOUT: &str = "Up to four training designs beside each other: what differs, what it does \
                         to every metric, and whether the difference is larger than the error";

/// Does every link to a design open, and is the rest of the address understood?
#[must_use]
pub fn is_understood(raw: &str) -> bool {
    let (chosen, wrong) = Chosen::read(raw);
    let opens = |choice: &Choice| model::link::decode(&choice.link).is_ok();
    wrong.is_empty() && chosen.designs.iter().all(opens)
}
