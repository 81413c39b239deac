//! `GET /api/v1/knobs`: what can be set.

use axum::response::Response;

use super::json::json_response;
use crate::registry;

/// `{"knobs":[{"id","type","min","max","values","unit","meaning",...}]}`
pub(super) async fn knobs() -> Response {
    json_response(&registry::knobs())
}
