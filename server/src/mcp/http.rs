//! Streamable HTTP: each request stands alone, and one whose client goes away is cancelled.
//!
//! Hosts and origins are checked by the layers around all routes, so that the SDK's own lists,
//! which know nothing of `--host` and `--public-url`, are left out.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any_service};
use rmcp::ErrorData;
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::agents::Agents;
use super::stdio::Wrong;
use super::tool::MAX_ARGUMENT_BYTES;

/// Path on a server.
pub(crate) const PATH: &str = "/mcp";

/// Bytes of a message, at most.
const MAX_BYTES: usize = MAX_ARGUMENT_BYTES + (64 << 10);

/// Answers at [`PATH`].
pub(crate) fn service<S: Clone + Send + Sync + 'static>(agents: &Agents) -> MethodRouter<S> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_max_request_body_bytes(MAX_BYTES)
        .disable_allowed_hosts();
    let agents = agents.clone();
    let service = StreamableHttpService::new(
        move || Ok(agents.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    any_service(service).layer(middleware::from_fn(readable))
}

/// Answers what is no message in the protocol's own words, as over stdio; the SDK would say in
/// plain ones that the type isn't supported.
async fn readable(request: Request, next: Next) -> Response {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()?.split(';').next());
    let is_json = kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if request.method() != Method::POST || !is_json {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let refused = |status: StatusCode, wrong: Wrong| {
        let text = serde_json::to_string(&wrong.message()).unwrap_or_default();
        (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
    };
    let Ok(bytes): Result<Bytes, _> = axum::body::to_bytes(body, MAX_BYTES).await else {
        let detail = format!("the message has more than {MAX_BYTES} bytes");
        let wrong = Wrong::new(ErrorData::invalid_request(detail, None), None);
        return refused(StatusCode::PAYLOAD_TOO_LARGE, wrong);
    };
    match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(&bytes) {
        Ok(_) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(error) => refused(StatusCode::BAD_REQUEST, Wrong::with(&bytes, &error)),
    }
}
