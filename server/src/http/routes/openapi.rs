//! `GET /api/v1/openapi.json`: what programs can ask for.

use axum::http::header;
use axum::response::IntoResponse;

/// OpenAPI 3.1. It changes with the server alone.
pub(super) async fn document() -> impl IntoResponse {
    let headers =
        [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "public, no-cache")];
    (headers, crate::http::openapi::document())
}
