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

/// Checks that no id is on a page twice, and that what refers to one finds it.
#[track_caller]
fn check_ids(html: &str) {
    let values = |attribute: &str| -> Vec<String> {
        let start = format!(" {attribute}=\"");
        let found = html.split(&start).skip(1);
        found.filter_map(|rest| rest.split('"').next().map(str::to_owned)).collect()
    };
    let mut ids = values("id");
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is there twice");
    for attribute in ["for", "aria-labelledby", "aria-describedby", "aria-controls"] {
        for id in values(attribute).iter().filter(|id| !id.is_empty()) {
            assert!(ids.contains(id), "{attribute}={id} refers to nothing");
        }
    }
}
