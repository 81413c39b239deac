//! The budget of a link, as a table or as a brief.

use axum::extract::RawQuery;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use model::ground::knob::KnobError;

use crate::ground::calendar;
use crate::net::problem::Problem;
use crate::net::work::off_thread;

/// The budget of a link as a table for other programs.
pub(super) async fn table(RawQuery(query): RawQuery) -> Result<Response, Problem> {
    written(query, "text/csv; charset=utf-8", "moescape-budget.csv", present::page::budget::csv)
        .await
}

/// The budget of a link as a brief in Markdown.
pub(super) async fn brief(RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let kind = "text/markdown; charset=utf-8";
    written(query, kind, "moescape-budget.md", present::page::budget::markdown).await
}

async fn written(
    query: Option<String>,
    kind: &'static str,
    name: &'static str,
    write: fn(&str, &str) -> Result<String, Vec<KnobError>>,
) -> Result<Response, Problem> {
    let query = query.unwrap_or_default();
    let text = off_thread(move || write(&query, &calendar::today())).await?;
    let text = text.map_err(Problem::unreadable_design)?;
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, text).into_response())
}
