//! `GET /api/v1/openapi.json`: what programs can ask for.

use std::sync::OnceLock;

use axum::http::header;
use axum::response::IntoResponse;

use crate::http::endpoint::{JSON, endpoints, object};
use crate::http::openapi;

endpoints! {
    /// This document
    get "/api/v1/openapi.json" => sent as openapi { .answers_as(JSON, object, "OpenAPI 3.1.") }
}

/// OpenAPI 3.1. It changes with the server alone.
async fn sent() -> impl IntoResponse {
    let headers =
        [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "public, no-cache")];
    (headers, document())
}

/// The document of every endpoint, as JSON.
#[must_use]
pub fn document() -> &'static str {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    DOCUMENT.get_or_init(|| openapi::document(&super::groups()))
}
