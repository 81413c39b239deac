//! `GET /api/v1/knobs`: what can be set.

use axum::response::Response;
use reports::registry::Knobs;

use super::json::json_response;
use crate::http::endpoint::{endpoints, of};
use crate::registry;

endpoints! {
    /// Every knob with what it takes
    get "/api/v1/knobs" => knobs as knobs { .answers(of::<Knobs>) }
}

/// `{"knobs":[{"id","type","min","max","values","unit","meaning",...}]}`
pub(super) async fn knobs() -> Response {
    json_response(&registry::knobs())
}
