//! A design that the server stored, on the explorer's page: its link, and the place of its banner.
//!
//! The server writes the words; the browser takes them over as they are. The first change leads to
//! the address of a link, and the style sheet then shows that the stored design was left.

use leptos::prelude::*;

/// The path below which stored designs are.
pub const PATH: &str = "/d";

/// The name of the document's field that holds a stored design's link.
pub const LINK_FIELD: &str = "stored-link";

/// A stored design, as the server describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The design's query string.
    pub link: String,
    /// A title in front of the design's own; may be empty.
    pub name: String,
    /// HTML of our own, every foreign text in it escaped.
    pub banner: String,
}

/// The place of the banner; it is empty on every other page.
pub fn place() -> impl IntoView {
    view! { <div class="stored" inner_html=banner()></div> }
}

/// The banner as the page is opened; in the browser it is there already.
fn banner() -> String {
    if cfg!(feature = "hydrate") {
        return String::new();
    }
    use_context::<Stored>().map(|stored| stored.banner).unwrap_or_default()
}
