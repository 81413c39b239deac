//! Names of things in the log. Whoever has the id of a sweep, a session or a design can open it,
//! and many can read a log: no id is in one.

use std::borrow::Cow;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::HeaderValue;

/// The header by which a client or a proxy names a request.
pub(crate) const REQUEST_ID: &str = "x-request-id";

/// Characters of such a name, at most.
const MAX_REQUEST_ID_CHARS: usize = 64;

/// Characters of a part of an address that may be in the log without being known: ids are
/// longer, and files have a dot.
const MAX_PLAIN_CHARS: usize = 12;

/// Key that stands for the id of a sweep: always the same, and nothing that opens it.
pub(crate) fn key(id: &str) -> String {
    blake3::hash(id.as_bytes()).to_hex().chars().take(8).collect()
}

/// Path of a request as the log has it: the template of its route where that has an id. The query
/// isn't in it, as it may be long and private.
pub(crate) fn path(request: &Request<Body>) -> Cow<'_, str> {
    let path = request.uri().path();
    match request.extensions().get::<MatchedPath>().map(MatchedPath::as_str) {
        Some(template) if template.contains("{id}") => Cow::Borrowed(template),
        Some(_) => Cow::Borrowed(path),
        None => Cow::Owned(unknown(path)),
    }
}

/// An address without a route may be one with a mistake in it.
fn unknown(path: &str) -> String {
    let shown = |part: &str| {
        let is_plain = part.len() <= MAX_PLAIN_CHARS || part.contains('.');
        if is_plain { part.to_owned() } else { "…".to_owned() }
    };
    path.split('/').map(shown).collect::<Vec<_>>().join("/")
}

/// Takes away a request's id that isn't short and plain, so that it gets one of ours.
pub(crate) async fn bounded_id(mut request: Request) -> Request {
    let headers = request.headers_mut();
    let mut given = headers.get_all(REQUEST_ID).iter();
    let is_good = given.next().is_none_or(is_plain) && given.next().is_none();
    if !is_good {
        headers.remove(REQUEST_ID);
    }
    request
}

fn is_plain(id: &HeaderValue) -> bool {
    let is_known = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=".contains(byte);
    (1..=MAX_REQUEST_ID_CHARS).contains(&id.len()) && id.as_bytes().iter().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_address_shows_no_id() {
        let id = "aB3dE5fG7hI9jK1lM3nO5pQ7";
        assert_eq!(unknown(&format!("/s/{id}/")), "/s/…/");
        assert_eq!(unknown("/favicon.svg"), "/favicon.svg");
        assert_eq!(unknown("/docs/knobs"), "/docs/knobs");
    }

    #[test]
    fn what_stands_for_an_id_is_always_the_same_and_not_it() {
        assert_eq!(key("a"), key("a"));
        assert!(key("a") != key("b") && key("a").len() == 8);
    }

    #[tokio::test]
    async fn only_a_short_and_plain_request_id_is_kept() {
        for (id, is_kept) in
            [("abc-1", true), ("a b", false), ("", false), (&"a".repeat(65), false)]
        {
            let request = Request::get("/").header(REQUEST_ID, id).body(Body::empty()).unwrap();
            let request = bounded_id(request).await;
            assert_eq!(request.headers().contains_key(REQUEST_ID), is_kept, "{id}");
        }
        let twice = Request::get("/").header(REQUEST_ID, "a").header(REQUEST_ID, "b");
        let request = bounded_id(twice.body(Body::empty()).unwrap()).await;
        assert!(!request.headers().contains_key(REQUEST_ID));
    }
}
