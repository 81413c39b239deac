//! The page `/sweep`: builds a sweep and starts it.
//!
//! Its one state is the spec's text, as `moescape sweep` reads it. The form is made of the text,
//! and a change in the form writes the text anew, so that both always say the same. What it would
//! cost, and everything that is wrong with it, the server says.

pub mod cost;
pub mod form;
pub mod server_html;
#[cfg(test)]
mod tests;

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
