//! The page `/sweep`: builds a sweep and starts it.
//!
//! Its one state is the spec's text, as `moescape sweep` reads it. The form is made of the text,
//! and a change in the form writes the text anew, so that both always say the same. What it would
//! cost, and everything that is wrong with it, the server says.

pub mod form;
pub mod server_html;
pub mod cost;
#[cfg(test)]
mod tests;

/// Data that the server has when it renders the page.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// The spec that the page begins with, TOML.
    pub text: String,
    /// Parts of the address that could not be read; empty if all of it was.
    pub problems: Vec<String>,
    /// Names and titles of the specs that come with the program.
    pub published: Vec<(String, String)>,
}
