//! No page of another site acts for a visitor: what changes something has to come from our own
//! pages, or from a program.
//!
//! Browsers say where a request comes from, by `Sec-Fetch-Site` or `Origin`; programs say neither
//! and have no cookies of a visitor to misuse. Reading is never refused.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tower_http::csrf::{CsrfLayer, ProtectionError};

use crate::problem::Problem;
use crate::public_url::PublicUrl;

/// What is answered to a request that another site made a browser send.
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
    tracing::info!(%error, "a request of another site is refused");
    let detail = "this request comes from another site; only Moescape's own pages and programs \
                  change what the server keeps";
    Problem::new(StatusCode::FORBIDDEN, detail).into_response()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::Request;
    use axum::routing::post;
    use tower::ServiceExt;

    use super::*;

    async fn sent(headers: &[(&str, &str)], public: Option<&str>) -> StatusCode {
        let public = public.map(|url| url.parse().unwrap());
        let router = Router::new().route("/", post(|| async {}).get(|| async {}));
        let router = router.layer(layer(public.as_ref()));
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
        assert_eq!(sent(&[("origin", "https://a.example")], None).await, StatusCode::OK);
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
