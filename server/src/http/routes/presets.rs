//! `GET /api/v1/presets`: what can be opened.

use axum::response::Response;

use super::json::json_response;
use crate::registry;

/// `{"presets":[{"id","title","kind","story","source","refused"}]}`
pub(super) async fn presets() -> Response {
    json_response(&registry::presets())
}
