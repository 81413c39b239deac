//! Layers around every route: the handling that all requests and responses share.

use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate};
use tower_http::request_id::{
    MakeRequestUuid, PropagateRequestIdLayer, RequestId, SetRequestIdLayer,
};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::{DefaultOnRequest, DefaultOnResponse, TraceLayer};
use tracing::Level;

use crate::net::client::{Client, identify};
use crate::net::hosts::Refused;
use crate::net::problem::Problem;
use crate::state::AppState;
use crate::{
    ground::log_fields, http::audit_middleware, http::not_found, net::client, net::origin,
    net::proxies, net::query, net::request_body, net::response_buffer, net::telemetry, net::work,
    site::choices, site::translation,
};

/// Bytes of an address from which on it is refused; hyper refuses by itself above 64 KiB.
const ADDRESS_LIMIT_BYTES: usize = 8 << 10;

const TIMEOUT: Duration = Duration::from_secs(30);

/// Headers that every response carries unless its route says otherwise.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// Puts the layers around the routes; those named last meet a request first.
pub(crate) fn around(routes: Router<AppState>, state: &AppState) -> Router<AppState> {
    let encoded = DefaultPredicate::new().and(response_buffer::may_be_encoded);
    let routes = routes
        .layer(DefaultBodyLimit::max(request_body::BODY_LIMIT_BYTES))
        .layer(middleware::from_fn_with_state(Arc::clone(&state.work), work::asked))
        .layer(origin::layer(state.public_url.as_deref()))
        .layer(middleware::from_fn_with_state(state.public_url.clone(), origin::same_scheme))
        .layer(middleware::from_fn_with_state(state.clone(), refuse_hosts))
        // Around those, as it tells of what they refuse.
        .layer(middleware::from_fn_with_state(state.clone(), audit_middleware::noted))
        .layer(middleware::from_fn_with_state(state.clone(), refuse_addresses))
        .layer(middleware::from_fn_with_state(Arc::clone(&state.inbox), request_body::counted))
        .layer(middleware::from_fn(errors_as_json))
        .layer(middleware::from_fn(no_store))
        .layer(middleware::from_fn(choices::memory_units))
        .layer(middleware::from_fn(translation::translate))
        .layer(middleware::from_fn_with_state(Arc::clone(&state.outbox), response_buffer::counted))
        .layer(CompressionLayer::new().compress_when(encoded))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, TIMEOUT))
        .layer(middleware::map_response(explain_timeout))
        .layer(CatchPanicLayer::custom(panicked));
    let routes = HEADERS.into_iter().fold(routes, |routes, (name, value)| {
        let value = HeaderValue::from_static(value);
        routes.layer(SetResponseHeaderLayer::if_not_present(name, value))
    });
    routes
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(span)
                .on_request(DefaultOnRequest::new().level(Level::DEBUG))
                .on_response(DefaultOnResponse::new().level(Level::INFO)),
        )
        .layer(middleware::from_fn_with_state(Arc::clone(&state.telemetry), telemetry::counted))
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(middleware::map_request(log_fields::bounded_id))
        .layer(middleware::map_request_with_state(state.clone(), cleaned))
}

/// Notes who asks, and takes what a proxy in front would say from those who aren't one.
async fn cleaned(State(state): State<AppState>, mut request: Request) -> Request {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|it| it.0.ip());
    let behind = if peer.is_none_or(|peer| state.proxies.believe(peer)) {
        proxies::forwarded(request.headers(), &state.proxies)
    } else {
        let headers = request.headers_mut();
        headers.remove(proxies::FORWARDED_FOR);
        headers.remove(proxies::FORWARDED_PROTO);
        for told in state.told() {
            headers.remove(told);
        }
        None
    };
    let client = behind.or_else(|| peer.map(client::network)).unwrap_or_else(|| "local".to_owned());
    request.extensions_mut().insert(Client(client));
    request
}

/// Span of a request: the fields that its log lines have.
fn span(request: &Request<Body>) -> tracing::Span {
    let id = request.extensions().get::<RequestId>();
    let id = id.and_then(|id| id.header_value().to_str().ok()).unwrap_or_default();
    tracing::info_span!(
        "request",
        id,
        client = identify(request.extensions()).0,
        method = %request.method(),
        path = %log_fields::path(request),
    )
}

/// Answers those who ask for this server.
async fn refuse_hosts(State(state): State<AppState>, request: Request, next: Next) -> Response {
    match state.hosts.check(&request) {
        Ok(()) => next.run(request).await,
        Err(Refused::Malformed(why)) => Problem::new(StatusCode::BAD_REQUEST, why).into_response(),
        Err(Refused::Unknown(host)) => not_found::misdirected(&state, &request, &host),
    }
}

async fn refuse_addresses(State(state): State<AppState>, request: Request, next: Next) -> Response {
    // The framework would refuse it in plain words; programs get a problem.
    let path = request.uri().path();
    if !path.starts_with("/api/") && query::decoded(path).is_err() {
        return not_found::not_found(&state, &request);
    }
    let length = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    if length < ADDRESS_LIMIT_BYTES {
        return next.run(request).await;
    }
    not_found::too_long(&state, &request, ADDRESS_LIMIT_BYTES)
}

/// Answers to programs are of the moment, and some are the asker's own: nothing on the way keeps
/// them, unless their route says otherwise.
async fn no_store(request: Request, next: Next) -> Response {
    let is_for_programs = request.uri().path().starts_with("/api/");
    let mut response = next.run(request).await;
    if is_for_programs && !response.headers().contains_key(header::CACHE_CONTROL) {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// Makes a problem of what the framework refuses in plain words, such as an address that isn't
/// UTF-8.
async fn errors_as_json(request: Request, next: Next) -> Response {
    const MAX_BYTES: usize = 4096;
    let is_for_programs = request.uri().path().starts_with("/api/");
    let response = next.run(request).await;
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_plain = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if !is_for_programs || !is_plain || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let text = axum::body::to_bytes(response.into_body(), MAX_BYTES).await.unwrap_or_default();
    Problem::new(status, String::from_utf8_lossy(&text)).into_response()
}

/// Says why there is no answer when it took too long: the layer for that says nothing.
async fn explain_timeout(response: Response) -> Response {
    let is_silent = !response.headers().contains_key(header::CONTENT_TYPE);
    if response.status() != StatusCode::SERVICE_UNAVAILABLE || !is_silent {
        return response;
    }
    let detail =
        format!("there was no answer within {} s; it may be less busy later", TIMEOUT.as_secs());
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).into_response()
}

#[expect(clippy::needless_pass_by_value, reason = "the layer asks for this signature")]
fn panicked(cause: Box<dyn Any + Send + 'static>) -> Response {
    let message = cause.downcast_ref::<&str>().map(ToString::to_string);
    let message = message.or_else(|| cause.downcast_ref::<String>().cloned()).unwrap_or_default();
    tracing::error!(message, "a handler panicked");
    let detail = "the server made a mistake; the request id tells its operator which";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_that_takes_too_long_is_a_problem() {
        let silent = StatusCode::SERVICE_UNAVAILABLE.into_response();
        let answer = explain_timeout(silent).await;
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "application/problem+json");
        let said = explain_timeout((StatusCode::SERVICE_UNAVAILABLE, "busy").into_response()).await;
        assert_eq!(said.headers()[header::CONTENT_TYPE], "text/plain; charset=utf-8");
    }

    #[tokio::test]
    async fn what_a_proxy_says_is_gone_where_its_sender_is_not_believed() {
        use tower::ServiceExt;
        let directory = tempfile::tempdir().unwrap();
        let state = AppState::new(crate::Site::embedded().unwrap(), directory.path().to_owned())
            .with_users(HeaderName::from_static("x-user"))
            .behind(vec!["10.1.0.0/16".parse().unwrap()]);
        let seen = |request: Request| async move {
            let names = ["x-forwarded-for", "x-forwarded-proto", "x-user"];
            let kept = names.iter().filter(|name| request.headers().contains_key(**name)).count();
            format!("{} {kept}", identify(request.extensions()).0)
        };
        let routes = Router::new()
            .fallback(seen)
            .layer(middleware::map_request_with_state(state.clone(), cleaned));
        for (peer, told) in [
            ("127.0.0.1:5000", "198.51.100.7 3"),
            ("[::1]:5000", "198.51.100.7 3"),
            ("10.1.2.3:5000", "198.51.100.7 3"),
            ("[::ffff:10.1.2.3]:5000", "198.51.100.7 3"),
            ("10.2.2.3:5000", "10.2.2.3 0"),
            ("[2001:db8::7]:5000", "2001:db8::/64 0"),
        ] {
            let request = Request::get("/")
                .header("x-forwarded-for", "203.0.113.1, 198.51.100.7")
                .header("x-forwarded-proto", "https")
                .header("x-user", "Ann Lee")
                .extension(ConnectInfo(peer.parse::<SocketAddr>().unwrap()));
            let answer = routes.clone().oneshot(request.body(Body::empty()).unwrap()).await;
            let body = axum::body::to_bytes(answer.unwrap().into_body(), 4_096).await.unwrap();
            assert_eq!(body, told, "{peer}");
        }
    }
}
