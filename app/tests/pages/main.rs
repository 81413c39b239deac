//! Pages as the server sends them: right before anything runs in the browser.

#![cfg(feature = "ssr")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod compare;
mod explorer;
mod ladder;
mod schedule;
mod timeline;

use app::document::{RawQuery, shell};
use app::site::Page;
use leptos::prelude::*;

/// The document of a page with a query string.
fn document(page: Page, query: &str) -> String {
    Owner::new().with(|| {
        provide_context(page);
        provide_context(RawQuery(query.to_owned()));
        shell().to_html()
    })
}

/// The text of a document: tags and the renderer's markers left out.
fn text(html: &str) -> String {
    let html = html.replace("<!>", "");
    let after_tags = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, it)| it));
    after_tags.collect()
}
