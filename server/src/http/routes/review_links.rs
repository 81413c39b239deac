//! `…/links`: the ways into a review session.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use review::{Refusal, Role, clean_name};

use super::review_access::{Holder, MAX_BODY_BYTES, broken, private, read, refused};
use crate::http::endpoint::{endpoints, of, words};
use crate::jobs::reviews::{LinkAnswer, Links, MAX_LIFETIME_SECONDS, Make};
use crate::net::problem::Problem;
use crate::net::public_url;
use crate::net::query::Parameter;
use crate::state::AppState;

const LINK: Parameter = Parameter::path("link", "The link's id.").example("{link}");

endpoints! {
    /// The ways into a session
    ///
    /// Without their tokens. It takes a token that may own.
    get "/links" => list as linksOfReview { .answers(of::<Links>).fails(403, words::ROLE) }

    /// Make a way into a session
    ///
    /// Its token is shown this once. It takes a token that may own.
    post "/links" => make as makeLinkOfReview {
        .takes(of::<Make>).reads_at_most(MAX_BODY_BYTES)
        .example(r#"{"role": "comment", "name": "For the memory team",
            "expires_in_seconds": 604800}"#)
        .creates(of::<LinkAnswer>, "The link.")
        .fails(403, words::ROLE).fails(422, "The session has as many links as it can have.")
    }

    /// Withdraw a way into a session
    ///
    /// Whoever came by it is out at once. It takes a token that may own.
    delete "/links/{link}" => withdraw as withdrawLinkOfReview {
        .with([LINK]).ends(204, "It opens nothing any more.").fails(403, words::ROLE)
    }
}

pub(super) async fn list(
    State(state): State<AppState>,
    holder: Holder,
) -> Result<Response, Problem> {
    holder.at_least(Role::Own)?;
    let links = state.reviews.links(&holder.grant.review).await.map_err(broken)?;
    let links = links.into_iter().map(LinkAnswer::from_link).collect();
    Ok(private(StatusCode::OK, &Links { links }))
}

pub(super) async fn make(
    State(state): State<AppState>,
    holder: Holder,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    holder.at_least(Role::Own)?;
    let Make { role, name, expires_in_seconds } = read(body, MAX_BODY_BYTES)?;
    let name = match name.trim() {
        "" => String::new(),
        name => clean_name(name).map_err(refused)?,
    };
    if expires_in_seconds.is_some_and(|seconds| seconds == 0 || seconds > MAX_LIFETIME_SECONDS) {
        let detail = format!("`expires_in_seconds` is a number from 1 to {MAX_LIFETIME_SECONDS}");
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    }
    let review = &holder.grant.review;
    let made = state.reviews.add_link(review, role, name, expires_in_seconds);
    let made = made.await.map_err(broken)?.ok_or_else(|| {
        let detail = "this session has as many links as it can have".to_owned();
        refused(Refusal { cause: review::Cause::Full, detail, nearest: vec![] })
    })?;
    let origin = public_url::of_request(state.public_url.as_deref(), &headers);
    let origin = origin.as_ref().map_or("", |url| url.as_str());
    let shown = LinkAnswer::of_new(made, &format!("{origin}/r/{review}"));
    Ok(private(StatusCode::CREATED, &shown))
}

pub(super) async fn withdraw(
    State(state): State<AppState>,
    holder: Holder,
    Path(names): Path<std::collections::BTreeMap<String, String>>,
) -> Result<StatusCode, Problem> {
    holder.at_least(Role::Own)?;
    let link = names.get("link").map(String::as_str).unwrap_or_default();
    if !state.reviews.withdraw(&holder.grant.review, link).await.map_err(broken)? {
        return Err(Problem::new(StatusCode::NOT_FOUND, "the session has no such link"));
    }
    Ok(StatusCode::NO_CONTENT)
}
