//! What is wrong with a link, and what of it opens.

use super::query::{LinkError, address, encode, salvage};
use crate::present::html::element;
use crate::present::html::escape_into;
use crate::site::Page;

/// The page's main part as HTML text.
pub(super) fn html(raw: &str, errors: &[LinkError]) -> String {
    let mut html = String::new();
    element(&mut html, "h1", "", "This link can't be opened as it is");
    let about = "These parts couldn't be read, and nothing was substituted.";
    element(&mut html, "p", "", about);
    html.push_str("<ul class=\"link-errors\">");
    for error in errors {
        html.push_str("<li>");
        element(&mut html, "strong", "", &error.part);
        element(&mut html, "p", "", &error.message);
        html.push_str("</li>");
    }
    html.push_str("</ul>");
    let (rest, _) = salvage(raw);
    if !encode(&rest).is_empty() {
        html.push_str("<p><a class=\"button primary\" href=\"");
        escape_into(&mut html, &address(&rest));
        html.push_str("\">Open the rest of the link</a></p>");
    }
    let path = Page::Schedule.path();
    html.push_str(&format!("<p><a class=\"button\" href=\"{path}\">Open the example</a></p>"));
    html
}
