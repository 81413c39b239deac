//! The text of pages, each in a folder of its own. A page imports no other page.

pub mod budget;
pub mod compare;
pub mod find;
pub mod import;
pub mod ladder;
pub mod results;
pub mod review;
pub mod schedule;
pub mod serving;
pub mod sweep;
pub mod trust;

use crate::site::Page;

/// Whether a page understands its query string; one that doesn't says what is wrong with it.
#[must_use]
#[expect(clippy::wildcard_enum_match_arm, reason = "the others take any, or none")]
pub fn is_understood(page: Page, query: &str) -> bool {
    match page {
        Page::Schedule => schedule::query::decode(query).is_ok(),
        Page::Budget => budget::is_understood(query),
        Page::Compare => compare::is_understood(query),
        _ => true,
    }
}
