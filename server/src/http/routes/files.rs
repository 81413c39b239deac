//! `GET /pkg/{path}` and the public files: the built site.

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};

use crate::http::not_found;
use crate::net::response_buffer::Shared;
use crate::site::File;
use crate::state::AppState;

/// Hashed files never change under their name, so browsers may keep them for ever.
pub(super) async fn hashed(State(state): State<AppState>, request: Request) -> Response {
    answer(&state, &request, "public, max-age=31536000, immutable")
}

/// Files with fixed names, such as the icon; whatever else has no route ends here, too.
pub(super) async fn public(State(state): State<AppState>, request: Request) -> Response {
    answer(&state, &request, "public, max-age=3600")
}

fn answer(state: &AppState, request: &Request, cache: &'static str) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let Some(file) = state.site.file(path).filter(|_| is_read) else {
        return not_found::not_found(state, request);
    };
    send(file, takes_brotli(request.headers()), cache)
}

fn send(file: &File, brotli: bool, cache: &'static str) -> Response {
    let mut headers = HeaderMap::new();
    let mut put = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    put(header::CACHE_CONTROL, cache);
    put(header::VARY, "accept-encoding");
    if file.content_type.starts_with("text/javascript") {
        // A worker runs under its script's policy, not under that of the page.
        put(
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; \
             frame-ancestors 'none'; base-uri 'none'",
        );
    }
    let bytes = match &file.brotli {
        Some(compressed) if brotli => {
            put(header::CONTENT_ENCODING, "br");
            compressed
        }
        Some(_) | None => file.plain(),
    };
    if let Ok(content_type) = HeaderValue::from_str(&file.content_type) {
        headers.insert(header::CONTENT_TYPE, content_type);
    }
    (headers, Extension(Shared), bytes.clone()).into_response()
}

/// Whether the client accepts brotli, other than with weight zero.
fn takes_brotli(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|v| v.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f64>);
        name.trim().eq_ignore_ascii_case("br") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(value: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
        takes_brotli(&headers)
    }

    #[test]
    fn brotli_goes_only_to_those_who_take_it() {
        assert!(accepting("gzip, deflate, br, zstd"));
        assert!(accepting("BR;q=0.5"));
        assert!(!accepting("gzip, br;q=0"));
        assert!(!accepting("br;q=x"));
        assert!(!accepting("gzip"));
        assert!(!accepting(""));
        assert!(!takes_brotli(&HeaderMap::new()));
    }
}
