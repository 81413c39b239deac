//! `GET /serving/measured`: measured loads of a design's model and accelerator, for the chart of
//! its page.

use axum::extract::RawQuery;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use model::design::link;

use crate::answers::measured;
use crate::net::problem::Problem;
use crate::net::work::off_thread;

/// The loads of the design that the query names, a line each.
pub(super) async fn measured(RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let answer = off_thread(move || {
        let design = link::decode(&query.unwrap_or_default()).ok()?;
        Some(measured::of(&design))
    });
    let text = answer.await?.unwrap_or_default().write();
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
