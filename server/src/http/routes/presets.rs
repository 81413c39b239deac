//! `GET /api/v1/presets`: what can be opened.

use axum::response::Response;
use reports::registry::Presets;

use super::json::json_response;
use crate::http::endpoint::{endpoints, of};
use crate::registry;

endpoints! {
    /// Every preset
    get "/api/v1/presets" => presets as presets { .answers(of::<Presets>) }
}

/// `{"presets":[{"id","title","kind","story","source","refused"}]}`
pub(super) async fn presets() -> Response {
    json_response(&registry::presets())
}
