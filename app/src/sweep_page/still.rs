//! The page's frame, which only the server writes.
#![cfg_attr(not(feature = "ssr"), allow(dead_code, reason = "only the server writes the frame"))]

use std::fmt::Write as _;

use super::{PATH, Served, TITLE, form, spec};
use crate::html::{element, escaped};

/// The main part of the page.
pub(super) fn main(served: &Served) -> String {
    let mut html = format!("<div class=\"sweep-head\"><h1>{TITLE}</h1>");
    if !served.published.is_empty() {
        html.push_str("<p class=\"sweep-links\">Start from");
        for (name, title) in &served.published {
            let _ =
                write!(html, " <a href=\"{PATH}?spec={}\">{}</a>", escaped(name), escaped(title));
        }
        html.push_str("</p>");
    }
    html.push_str("</div>");
    for problem in &served.problems {
        element(&mut html, "p", "class=\"card sweep-card build-wrong\" role=\"alert\"", problem);
    }
    html.push_str(
        "<div class=\"build\"><form class=\"card sweep-card build-form\" id=\"part-form\" \
        aria-label=\"The sweep\">",
    );
    match spec::parse(&served.text) {
        Ok(tree) => html.push_str(&form::form(&tree, &[])),
        Err(error) => element(&mut html, "p", "class=\"build-wrong\"", &error),
    }
    html.push_str("</form><div class=\"build-side\">");
    html.push_str(
        "<section class=\"card sweep-card build-cost\" aria-labelledby=\"cost-title\">\
        <h2 id=\"cost-title\">Before it starts</h2><div id=\"part-cost\" aria-live=\"polite\">\
        <p class=\"muted\">Counted as soon as the page is ready. Without JavaScript, post the text \
        below to <code>/api/v1/sweeps</code>, or run it with <code>moescape sweep</code>.</p></div>\
        <button type=\"button\" class=\"button primary only-live\" id=\"start\" data-do=\"start\" \
        disabled>Start the sweep</button></section>",
    );
    html.push_str(
        "<section class=\"card sweep-card\" aria-labelledby=\"text-title\">\
        <div class=\"sweep-card-head\"><h2 id=\"text-title\">The spec as text</h2>\
        <button type=\"button\" class=\"button only-live\" id=\"copy\" data-do=\"copy\">Copy\
        </button><button type=\"button\" class=\"button only-live\" id=\"curl\" \
        data-do=\"curl\">Copy as curl</button>\
        <label class=\"button only-live\">Open a file…<input type=\"file\" \
        class=\"visually-hidden\" id=\"file\" data-do=\"file\" accept=\".toml,.json\">\
        </label></div>\
        <p class=\"muted\">TOML, as <code>moescape sweep</code> reads it; JSON can be pasted or \
        dropped here too. Form and text always say the same.</p>\
        <textarea id=\"spec\" data-do=\"text\" class=\"build-spec\" spellcheck=\"false\" \
        autocomplete=\"off\" aria-labelledby=\"text-title\" aria-describedby=\"part-text-wrong\" \
        rows=\"28\">\n",
    );
    html.push_str(&escaped(&served.text));
    html.push_str(
        "</textarea><div id=\"part-text-wrong\" class=\"build-wrong\"></div></section>\
        </div></div>",
    );
    html
}
