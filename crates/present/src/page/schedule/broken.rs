//! What is wrong with a link, and what of it opens.

use maud::html;

use super::query::{LinkError, address, encode, salvage};
use crate::site::Page;

/// The page's main part as HTML text.
pub fn html(raw: &str, errors: &[LinkError]) -> String {
    let (rest, _) = salvage(raw);
    let markup = html! {
        h1 { "This link can't be opened as it is" }
        p { "These parts couldn't be read, and nothing was substituted." }
        ul.link-errors {
            @for error in errors { li { strong { (error.part) } p { (error.message) } } }
        }
        @if !encode(&rest).is_empty() {
            p { a.button.primary href=(address(&rest)) { "Open the rest of the link" } }
        }
        p { a.button href=(Page::Schedule.path()) { "Open the example" } }
    };
    markup.into_string()
}
