//! `GET /api/v1/metrics`: what is predicted, with definitions.

use axum::response::Response;

use super::json::json_response;
use crate::registry;

/// `{"metrics":[{"id","label","unit","definition","formula","source"}]}`
pub(super) async fn metrics() -> Response {
    json_response(&registry::metrics())
}
