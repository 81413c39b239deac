//! The page's frame, which only the server writes.
#![cfg_attr(not(feature = "ssr"), allow(dead_code, reason = "only the server writes the frame"))]

use crate::site::Page;
use std::fmt::Write as _;

use super::{Served, form};
use crate::insight::spec;
use crate::present::html::{element, escaped};

/// What is known before a sweep starts: designs of the space, to be looked at, legal, that keep all
/// constraints, and how long it takes; and how that is known.
pub(super) fn cost(values: &[&str; 5], how: &str) -> String {
    let names =
        ["Designs of the space", "To be looked at", "Legal", "Keep all constraints", "Takes"];
    let mut html = String::from("<dl class=\"sweep-counts\">");
    for (name, value) in names.into_iter().zip(values) {
        let _ = write!(html, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(value));
    }
    html.push_str("</dl>");
    element(&mut html, "p", "class=\"muted\"", how);
    html
}

/// The main part of the page.
pub(super) fn main(served: &Served) -> String {
    let mut html = format!("<div class=\"sweep-head\"><h1>{}</h1>", Page::Sweep.title());
    let path = Page::Sweep.path();
    if !served.published.is_empty() {
        html.push_str("<p class=\"sweep-links\">Start from");
        for (name, title) in &served.published {
            let _ =
                write!(html, " <a href=\"{path}?spec={}\">{}</a>", escaped(name), escaped(title));
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
        <h2 id=\"cost-title\">Before it starts</h2><div id=\"part-cost\" aria-live=\"polite\">",
    );
    // The room that the numbers take is there before they are.
    html.push_str(&cost(&["…"; 5], "Counted as soon as the page is ready."));
    html.push_str(
        "</div><noscript><p class=\"muted\">Without JavaScript, post the text below to \
        <code>/api/v1/sweeps</code>, or run it with <code>moescape sweep</code>.</p></noscript>\
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
