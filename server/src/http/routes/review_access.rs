//! Access to a review session: its link in a cookie or a header, and the answers to those without.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use review::{Cause, Role};
use serde::{Deserialize, Serialize};

use crate::jobs::reviews::{Grant, Trouble};
use crate::net::problem::Problem;
use crate::net::proxies;
use crate::net::query::Parameter;
use crate::state::AppState;

/// Bytes of a body, at most: a design's link may be long.
pub(super) const MAX_BODY_BYTES: usize = 64 << 10;

pub(super) const ID: Parameter = Parameter::path("id", "The session's id.").example("{review}");

/// Someone with a link into the session of the address.
pub(super) struct Holder {
    pub(super) grant: Grant,
    pub(super) token: String,
    /// The link came as a cookie, which browsers send whoever made them.
    pub(super) is_by_cookie: bool,
}

impl FromRequestParts<AppState> for Holder {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let path = Path::<BTreeMap<String, String>>::from_request_parts(parts, state).await;
        let Path(mut names) = path.map_err(|_| unknown())?;
        let id = names.remove("id").ok_or_else(unknown)?;
        let bearer = bearer(&parts.headers);
        let is_by_cookie = bearer.is_none();
        let token = bearer.or_else(|| cookie(&parts.headers, &id)).ok_or_else(unknown)?;
        let token = token.to_owned();
        let grant = state.reviews.enter(&id, &token).await.map_err(broken)?;
        let grant = grant.ok_or_else(unknown)?;
        Ok(Self { grant, token, is_by_cookie })
    }
}

impl Holder {
    /// Checks that the link may do this much.
    ///
    /// # Errors
    /// A problem for those whose link may not.
    pub(super) fn at_least(&self, role: Role) -> Result<(), Problem> {
        if self.grant.role >= role {
            return Ok(());
        }
        Err(Problem::new(StatusCode::FORBIDDEN, self.grant.role.refusal(role)))
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The token that a browser keeps for a session.
pub(super) fn cookie<'a>(headers: &'a HeaderMap, id: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).map(str::trim);
    pairs.find_map(|pair| pair.strip_prefix("review_")?.strip_prefix(id)?.strip_prefix('='))
}

/// The answer to everyone without a link into a session, whether there is one or not.
pub(super) fn unknown() -> Problem {
    let detail = "there is no such session, or this link to it has ended; ask for another one";
    Problem::new(StatusCode::NOT_FOUND, detail)
}

/// Something of the server's own doesn't work.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
pub(super) fn broken(trouble: Trouble) -> Problem {
    tracing::error!(%trouble, "a review session can't be used");
    unusable()
}

/// The session can't be used now.
pub(super) fn unusable() -> Problem {
    let detail = "the session can't be read or written now; the server's log says why";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).with_retry(5)
}

/// An answer in JSON that is nobody else's.
pub(super) fn private<T: Serialize>(status: StatusCode, value: &T) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default();
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, text).into_response()
}

/// A change that isn't taken, as a problem.
pub(super) fn refused(why: review::Refusal) -> Problem {
    let status = match why.cause {
        Cause::Role => StatusCode::FORBIDDEN,
        Cause::Missing => StatusCode::NOT_FOUND,
        Cause::Invalid => StatusCode::BAD_REQUEST,
        Cause::Settled => StatusCode::CONFLICT,
        Cause::Full => StatusCode::UNPROCESSABLE_ENTITY,
    };
    Problem::refused(status, why)
}

/// Reads a body of JSON.
pub(super) fn read<T: for<'a> Deserialize<'a>>(
    body: Result<Bytes, BytesRejection>,
    most: usize,
) -> Result<T, Problem> {
    let body = body.map_err(|error| Problem::new(error.status(), error.body_text()))?;
    if body.len() > most {
        let detail = format!("the body has {} bytes; at most {most}", body.len());
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    serde_json::from_slice(&body)
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, format!("the body: {error}")))
}

/// The user that a proxy in front vouches for, where the server is set to trust one.
pub(super) fn user(state: &AppState, headers: &HeaderMap) -> Option<String> {
    proxies::user(state.user_header.as_ref(), headers)
}
