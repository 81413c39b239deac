//! `POST /api/v1/reviews` begins a review session, and `DELETE` ends it.
//!
//! No route lists sessions: who has no link to one can't find it.

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use review::{Role, clean_name};

use super::kept;
use super::review_access::{
    Holder, ID, MAX_BODY_BYTES, broken, private, read, refused, unknown, unusable, user,
};
use crate::http::endpoint::{endpoints, of, words};
use crate::jobs::reviews::{self, Begin, Begun, LinkAnswer};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::public_url;
use crate::people::audit_events::Kind;
use crate::people::owner::Storing;
use crate::state::AppState;

endpoints! {
    /// Begin a review session
    ///
    /// The answer has a link for each role, with its token: the server keeps only the tokens'
    /// hashes, so they are shown this once. No route lists sessions.
    post "/api/v1/reviews" => begin as beginReview {
        .takes(of::<Begin>).reads_at_most(MAX_BODY_BYTES)
        .example(r#"{"name": "Where to put the experts", "link": "preset=pangu-ultra-moe-6k",
            "person": "Ann", "key": "a secret of Ann's"}"#)
        .stores(of::<Begun>, "It has begun.")
        .fails(429, words::SLOW_DOWN).refuses([unusable()])
    }

    /// Delete a session
    ///
    /// With all that was said in it, for all who have a link; whoever is there is out at once. It
    /// takes a token that may own.
    delete "/api/v1/reviews/{id}" => remove as deleteReview {
        .ends(204, "It is gone.").fails(403, words::ROLE)
        .with([ID]).by_token().refuses([unknown(), unusable()])
    }
}

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
