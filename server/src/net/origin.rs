//! No page of another site acts for a visitor: what changes something has to come from our own
//! pages, or from a program.
//!
//! Browsers say where a request comes from, by `Sec-Fetch-Site` or `Origin`; programs say neither
//! and have no cookies of a visitor to misuse. Reading is never refused.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::csrf::{CsrfLayer, ProtectionError};

use crate::net::problem::Problem;
use crate::net::public_url::{self, PublicUrl};

/// Header by which newer browsers say where a request comes from, of pages over TLS and of this
/// machine.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether an origin is the server's own: the configured one, or the one that the request is for,
/// by scheme and host.
pub(crate) fn is_own(told: Option<&PublicUrl>, headers: &HeaderMap, origin: &HeaderValue) -> bool {
    let reached = public_url::of_request(None, headers);
    let mut own = told.into_iter().chain(&reached);
    origin.to_str().is_ok_and(|text| own.any(|own| own.as_str().eq_ignore_ascii_case(text)))
}

/// Compares what the layer below leaves out: the scheme, where only an origin says who asks.
pub(crate) async fn same_scheme(
    State(told): State<Option<Arc<PublicUrl>>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let origin = headers.get(header::ORIGIN).filter(|origin| !origin.is_empty());
    let foreign = origin.filter(|origin| !is_own(told.as_deref(), headers, origin));
    match foreign {
        Some(origin) if !is_safe && !headers.contains_key(FETCH_SITE) => refused(&origin),
        _ => next.run(request).await,
    }
}

/// Answer to a request that another site made a browser send.
type Refuse = fn(ProtectionError) -> Response;

/// The layer around all routes. Behind a proxy that renames the host, our own pages are known by
/// the public URL.
pub(crate) fn layer(public_url: Option<&PublicUrl>) -> CsrfLayer<Refuse> {
    let layer = CsrfLayer::new();
    // A public URL is an origin as a browser spells it: it was checked when it was read.
    let with_own = public_url.and_then(|url| layer.clone().add_trusted_origin(url.as_str()).ok());
    with_own.unwrap_or(layer).with_rejection_response(refuse as Refuse)
}

#[expect(clippy::needless_pass_by_value, reason = "the layer asks for this signature")]
fn refuse(error: ProtectionError) -> Response {
    refused(&error)
}

fn refused(why: &dyn std::fmt::Debug) -> Response {
    tracing::info!(?why, "a request of another site is refused");
    let detail = "this request comes from another site; only Moescape's own pages and programs \
                  change what the server keeps";
    Problem::new(StatusCode::FORBIDDEN, detail).into_response()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::Request;
    use axum::middleware;
    use axum::routing::post;
    use tower::ServiceExt;

    use super::*;

    async fn sent(headers: &[(&str, &str)], public: Option<&str>) -> StatusCode {
        let public: Option<PublicUrl> = public.map(|url| url.parse().unwrap());
        let router = Router::new().route("/", post(|| async {}).get(|| async {}));
        let told = public.clone().map(Arc::new);
        let router = router.layer(layer(public.as_ref()));
        let router = router.layer(middleware::from_fn_with_state(told, same_scheme));
        let mut request = Request::post("/").header("host", "a.example");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status()
    }

    #[tokio::test]
    async fn our_own_pages_and_programs_may_change_things() {
        assert_eq!(sent(&[], None).await, StatusCode::OK);
        assert_eq!(sent(&[("sec-fetch-site", "same-origin")], None).await, StatusCode::OK);
        assert_eq!(sent(&[("origin", "http://a.example")], None).await, StatusCode::OK);
        let over_tls = [("origin", "https://a.example"), ("x-forwarded-proto", "https")];
        assert_eq!(sent(&over_tls, None).await, StatusCode::OK);
        assert_eq!(sent(&over_tls, Some("https://b.example")).await, StatusCode::OK);
        let renamed = [("origin", "https://b.example"), ("sec-fetch-site", "cross-site")];
        assert_eq!(sent(&renamed, Some("https://b.example")).await, StatusCode::OK);
    }

    #[tokio::test]
    async fn another_site_may_not() {
        for headers in [
            &[("sec-fetch-site", "cross-site")][..],
            &[("sec-fetch-site", "same-site")],
            &[("origin", "https://b.example")],
            &[("origin", "null")],
            // Whoever changes plain http on its way is no page of ours over TLS, and the reverse.
            &[("origin", "https://a.example")],
            &[("origin", "http://a.example"), ("x-forwarded-proto", "https")],
            &[("origin", "http://c.example")],
        ] {
            assert_eq!(sent(headers, Some("https://c.example")).await, StatusCode::FORBIDDEN);
        }
    }

    #[tokio::test]
    async fn reading_is_never_refused() {
        let router = Router::new().route("/", post(|| async {}).get(|| async {}));
        let request = Request::get("/").header("sec-fetch-site", "cross-site");
        let answer = router.layer(layer(None)).oneshot(request.body(Body::empty()).unwrap());
        assert_eq!(answer.await.unwrap().status(), StatusCode::OK);
    }
}
