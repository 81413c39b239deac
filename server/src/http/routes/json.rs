//! Answers in JSON.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use model::design::file::{Tree, json};

/// An answer in JSON.
pub(super) fn json_response(tree: &Tree) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json::print(tree)).into_response()
}
