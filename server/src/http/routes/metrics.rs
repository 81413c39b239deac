//! `GET /api/v1/metrics`: what is predicted, with definitions.

use axum::response::Response;
use reports::registry::Metrics;

use super::json::json_response;
use crate::http::endpoint::{endpoints, of};
use crate::registry;

endpoints! {
    /// Every metric with its definition
    get "/api/v1/metrics" => metrics as metrics { .answers(of::<Metrics>) }
}

/// `{"metrics":[{"id","label","unit","definition","formula","source"}]}`
pub(super) async fn metrics() -> Response {
    json_response(&registry::metrics())
}
