//! `POST /api/v1/reviews` begins a review session; `…/links` are the ways into one.
//!
//! No route lists sessions: who has no link to one can't find it.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use review::{Refusal, Role, clean_name};

use super::kept;
use super::review_access::{Holder, broken, private, read, refused, unknown, user};
use crate::jobs::reviews::{self, Begin, Begun, LinkAnswer, Links, MAX_LIFETIME_SECONDS, Make};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::public_url;
use crate::people::audit_events::Kind;
use crate::people::owner::Storing;
use crate::state::AppState;

/// Bytes of a body, at most: a design's link may be long.
const MAX_BODY_BYTES: usize = 64 << 10;

/// `POST /api/v1/reviews`: begins a session; its links are shown this once.
pub(super) async fn begin(
    State(state): State<AppState>,
    Client(client): Client,
    storing: Storing,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers().clone();
    let origin = public_url::of_request(state.public_url.as_deref(), &headers);
    let body = axum::body::to_bytes(request.into_body(), MAX_BODY_BYTES).await;
    let body = body.map_err(|_| {
        let detail = format!("the body has more than {MAX_BODY_BYTES} bytes");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    })?;
    let Begin { name, link, person, key } = read(Ok(body), MAX_BODY_BYTES)?;
    let name = clean_name(&name).map_err(refused)?;
    let design = model::design::link::of_address(&link).map_err(Problem::unreadable_design)?;
    if !state.reviews.may_begin(&client) {
        let detail = "that are more sessions than can be begun at once; try again later";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry(10));
    }
    let storing = kept::check(&state, Kind::Session, storing, &client).await?;
    let id = reviews::new_id().map_err(broken)?;
    let key = match key {
        Some(key) => key,
        None => reviews::new_id().map_err(broken)?,
    };
    let user = user(&state, &headers);
    let by = reviews::person(&id, user.as_deref(), &key, person.as_deref());
    let by = by.and_then(|by| reviews::check_name(&by).map(|()| by)).map_err(refused)?;
    let link = model::design::link::encode(&design);
    let links = state.reviews.create(name, link, by, id.clone()).await.map_err(broken)?;
    kept::own(&state, Kind::Session, &id, storing.owner, 0).await?;
    let path = format!("/r/{id}");
    let page = format!("{}{path}", origin.as_ref().map_or("", |url| url.as_str()));
    let links = links.into_iter().map(|made| LinkAnswer::of_new(made, &page)).collect();
    let location = [(header::LOCATION, format!("/api/v1/reviews/{id}/state"))];
    let begun = Begun { id, page, links };
    let response = (location, private(StatusCode::CREATED, &begun)).into_response();
    Ok(kept::with_cookie(response, storing.cookie))
}

/// `DELETE /api/v1/reviews/{id}`: deletes a session with all that was said in it; whoever is there
/// is out at once.
pub(super) async fn remove(
    State(state): State<AppState>,
    holder: Holder,
) -> Result<StatusCode, Problem> {
    holder.at_least(Role::Own)?;
    let data = state.data.as_ref().clone();
    if !state.reviews.delete(&holder.grant.review, data).await.map_err(broken)? {
        return Err(unknown());
    }
    Ok(StatusCode::NO_CONTENT)
}

/// `GET …/links`: the ways into a session, without their secrets.
pub(super) async fn list(
    State(state): State<AppState>,
    holder: Holder,
) -> Result<Response, Problem> {
    holder.at_least(Role::Own)?;
    let links = state.reviews.links(&holder.grant.review).await.map_err(broken)?;
    let links = links.into_iter().map(LinkAnswer::from_link).collect();
    Ok(private(StatusCode::OK, &Links { links }))
}

/// `POST …/links`: makes a way in; its secret is shown this once.
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

/// `DELETE …/links/{link}`: withdraws a way in; whoever came by it is out at once.
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
