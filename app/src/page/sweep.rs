//! The page `/sweep`: builds a sweep and starts it.
//!
//! Its one state is the spec's text, as `moescape sweep` reads it. The form is made of the text,
//! and a change in the form writes the text anew, so that both always say the same. What it would
//! cost, and everything that is wrong with it, the server says.

mod browser;
mod form;
mod page;
pub mod space;
pub mod spec;
mod still;
#[cfg(test)]
mod tests;
pub mod toml_text;

pub use page::page;

/// The page's address.
pub const PATH: &str = "/sweep";

/// The page's title.
pub const TITLE: &str = "Build a sweep";

/// What the page is about, for search engines and previews of shared links.
pub const ABOUT: &str = "Let knobs vary, say what a design must keep to and what is best, and see \
                         every design that is worth building";

/// What the server knows when it renders the page.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// The spec that the page begins with, TOML.
    pub text: String,
    /// What could not be read of the address; empty where all of it was.
    pub problems: Vec<String>,
    /// Names and titles of the specs that come with the program.
    pub published: Vec<(String, String)>,
}
