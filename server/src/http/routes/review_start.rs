//! `GET /r/new` and `POST /r`: the form that begins a review session. It needs no script: whoever
//! sends it is led to the session by its owner's link.

use std::sync::Arc;

use app::page::review::Served;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use leptos::prelude::provide_context;
use model::design::link;
use present::site::Page;
use present::words::name;
use review::{MAX_NAME_LEN, Refusal, Role, Room, clean_name};

use super::kept;
use super::page::render;
use super::review_access::{broken, user};
use crate::jobs::reviews::{self, Grant};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::query;
use crate::people::audit_events::Kind;
use crate::people::owner::Storing;
use crate::state::AppState;

/// Input of the form.
#[derive(Default)]
struct Typed {
    name: String,
    person: String,
    link: String,
    /// The browser's secret, where a script runs.
    key: Option<String>,
}

/// The form, around the design in the address.
pub(super) async fn form(State(state): State<AppState>, request: Request) -> Response {
    let asked = request.uri().query().unwrap_or_default();
    let (design, errors) = link::salvage(asked);
    let problem = errors.first().map(|error| format!("The link has a mistake: {error}."));
    let name = name::title(&design).chars().take(MAX_NAME_LEN).collect();
    let typed = Typed { link: link::encode(&design), name, ..Typed::default() };
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    show(state, request, typed, problem, status).await
}

/// Begins a session with what was typed; a mistake is shown in the form.
pub(super) async fn begin(
    State(state): State<AppState>,
    Client(client): Client,
    storing: Storing,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let typed = read(&String::from_utf8_lossy(&body))?;
    if !state.reviews.may_begin(&client) {
        let detail = "that are more sessions than can be begun at once; try again later";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry(10));
    }
    let storing = kept::check(&state, Kind::Session, storing, &client).await?;
    let id = reviews::new_id().map_err(broken)?;
    let key = typed.key.clone().filter(|key| !key.is_empty());
    let key = key.map_or_else(reviews::new_id, Ok).map_err(broken)?;
    let user = user(&state, &headers);
    let by = reviews::person(&id, user.as_deref(), &key, Some(&typed.person));
    let by = by.and_then(|by| reviews::check_name(&by).map(|()| by));
    let name = clean_name(&typed.name);
    let (by, name) = match (by, name) {
        (Ok(by), Ok(name)) => (by, name),
        (Err(refusal), _) | (_, Err(refusal)) => {
            return Ok(again(state, headers, typed, &refusal).await);
        }
    };
    let link = link::encode(&link::salvage(&typed.link).0);
    let made = state.reviews.create(name, link, by, id.clone()).await.map_err(broken)?;
    kept::own(&state, Kind::Session, &id, storing.owner, 0).await?;
    let own = made.into_iter().find(|made| made.link.role == Role::Own);
    let key = own.map(|own| own.token).unwrap_or_default();
    let led = [
        (header::LOCATION, format!("/r/{id}?key={key}")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok(kept::with_cookie((StatusCode::SEE_OTHER, led).into_response(), storing.cookie))
}

fn read(body: &str) -> Result<Typed, Problem> {
    // Forms write a space as a plus sign.
    let body = body.replace('+', "%20");
    let [name, person, link, key] = query::parameters(&body, ["name", "person", "link", "key"])?;
    let text = |value: Option<std::borrow::Cow<'_, str>>| value.unwrap_or_default().into_owned();
    let key = key.map(std::borrow::Cow::into_owned);
    Ok(Typed { name: text(name), person: text(person), link: text(link), key })
}

/// The form again, with what was wrong in it.
async fn again(state: AppState, headers: HeaderMap, typed: Typed, refusal: &Refusal) -> Response {
    let mut request = Request::default();
    *request.headers_mut() = headers;
    let problem = Some(format!("That can't be: {refusal}."));
    show(state, request, typed, problem, StatusCode::BAD_REQUEST).await
}

async fn show(
    state: AppState,
    request: Request,
    typed: Typed,
    problem: Option<String>,
    status: StatusCode,
) -> Response {
    let Typed { name, link, .. } = typed;
    let served = Arc::new(Served::Start { link, name, problem });
    render(state, request, Page::Review, status, move || provide_context(Arc::clone(&served))).await
}

/// The page of a session that there is.
pub(super) async fn session(
    state: AppState,
    request: Request,
    grant: &Grant,
    room: Room,
) -> Response {
    let id = grant.review.to_string();
    let served = Arc::new(Served::Room { id, role: grant.role, room: Box::new(room) });
    let contexts = move || provide_context(Arc::clone(&served));
    render(state, request, Page::Review, StatusCode::OK, contexts).await
}

/// The page of a session that there isn't, or that the visitor has no way into.
pub(super) async fn missing(state: AppState, request: Request) -> Response {
    let contexts = || provide_context(Arc::new(Served::Missing));
    render(state, request, Page::Review, StatusCode::NOT_FOUND, contexts).await
}
