//! Pages as the server sends them: right before anything runs in the browser.

#![cfg(feature = "ssr")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod compare;
mod explorer;
mod ladder;
mod schedule;
mod timeline;

use app::document::{RawQuery, shell};
use leptos::prelude::*;
use present::site::Page;
use testing::page::Page as Html;

/// The document of a page with a query string, whose ids and styles are in order.
#[track_caller]
fn document(page: Page, query: &str) -> Html {
    document_with(page, query, ())
}

/// That document, with something else that the server knows.
#[track_caller]
fn document_with(page: Page, query: &str, context: impl Send + Sync + 'static) -> Html {
    let html = Owner::new().with(|| {
        provide_context(page);
        provide_context(RawQuery(query.to_owned()));
        provide_context(context);
        shell().to_html()
    });
    let html = Html::new(&html);
    assert_eq!(html.wrong_ids(), [""; 0], "{query}");
    assert!(!html.has("[style]"), "inline style is against the policy");
    assert_eq!(html.count("h1"), 1, "{query}");
    html
}
