//! A review session, for pages at `/r/{id}` and for programs at `/api/v1/reviews/{id}`: who has a
//! link to it sees it, and asks for changes as far as the link allows.
//!
//! A browser shows its link once, and from then on has it as a cookie, so that the address bar
//! shows nobody the way in. Programs send it as a bearer token. A session that isn't there and a
//! token that is wrong answer the same, in the same way.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection};
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use review::Room;
use review::wire::MAX_MESSAGE_BYTES;
use schemars::json_schema;

use super::review_access::{
    Holder, broken, cookie, private, read, refused, unknown, unusable, user,
};
use super::review_start;
use crate::http::endpoint::{endpoints, of, words};
use crate::jobs::reviews::{self, Do, Done, Grant, Log, Outcome, Prose, Reviews, Trouble, Visitor};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::query::{self, parameter_list};
use crate::state::AppState;
use crate::{ground::calendar, net::origin, net::public_url};

/// Events in an answer, unless the asker says how many, and at most.
const USUAL_LOG: u32 = 200;
const MAX_LOG_LEN: u32 = 1_000;

/// Texts in an answer, at most.
const MAX_TEXTS: usize = 100;

/// Seconds for which a browser keeps a link that doesn't expire: 400 days, the most that it does.
const AGE_SECONDS: u64 = 34_560_000;

parameter_list! { OF_STATE:
    /// After this event; absent: after the last one.
    at(|| query::whole_from(1)).example("1"),
}

parameter_list! { OF_LOG:
    /// Events behind this one.
    after(|| json_schema!({"type": "integer", "minimum": 0, "default": 0})).example("0"),
    /// Events at most.
    limit(|| query::limit_schema(USUAL_LOG, MAX_LOG_LEN)).example("100"),
}

parameter_list! { OF_PROSE:
    /// Numbers of events with commas between, at most 100; those without a text are left out.
    of(|| json_schema!({"type": "string", "pattern": "^[0-9]+(,[0-9]+)*$"}))
        .example("1").required(),
}

endpoints! {
    /// The room of a session
    ///
    /// The working design, candidates, proposals, threads, questions and decisions.
    get "/state" => state as stateOfReview { .with(OF_STATE).answers(of::<Room>) }

    /// Events of a session, in order
    ///
    /// They are never changed.
    get "/log" => log as logOfReview { .with(OF_LOG).answers(of::<Log>) }

    /// Texts of a session, as HTML
    ///
    /// Markdown made HTML that can do nothing: no script, no picture, only links to the web, to
    /// mail and into this site.
    get "/prose" => prose as textsOfReview { .with(OF_PROSE).answers(of::<Prose>) }

    /// Ask for a change
    ///
    /// The same change, sent again by the same `op`, happens once and has the same answer. What is
    /// missing or settled already has the status 404 or 409, and a session that is full 422.
    post "/do" => act as changeReview {
        .takes(of::<Do>).reads_at_most(MAX_MESSAGE_BYTES)
        .example(r#"{"op": "ann-1", "name": "Ann", "key": "a secret of Ann's",
            "change": {"kind": "comment", "anchor": "metric:memory_peak_bytes",
                "text": "Too close to the limit?"}}"#)
        .answers(of::<Done<'static>>)
        .fails(403, words::ROLE).fails(409, "Someone else was first.")
        .fails(422, "The session holds as much as it can.").fails(429, words::SLOW_DOWN)
    }

    /// Events of a session, as they happen
    ///
    /// A WebSocket. Frames are JSON; the first one is `hello`. docs/api.md has them all.
    get "/socket" => socket as talkInReview {
        .ends(101, "The socket is open.")
        .fails(400, words::NO_SOCKET).fails(403, words::ROLE).fails(426, words::NO_SOCKET)
        .fails(503, "The server talks with as many as it can.")
    }
}

/// `GET /r/{id}`: the page of a session. With `?key=TOKEN` the browser gets the token as a cookie,
/// and goes to the address without it.
pub(super) async fn page(
    State(state): State<AppState>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let asked = parts.uri.query().unwrap_or_default();
    let key = match query::parameters(asked, ["key"]) {
        Ok([key]) => key.map(std::borrow::Cow::into_owned),
        Err(problem) => return problem.into_response(),
    };
    let held = cookie(&parts.headers, &id).map(str::to_owned);
    let held = match &held {
        None => Ok(None),
        Some(token) => state.reviews.enter(&id, token).await,
    };
    let held = match held {
        Ok(held) => held,
        Err(trouble) => return broken(trouble).into_response(),
    };
    match (key, held) {
        (Some(key), held) => match enter(&state, &parts, &id, &key, held.as_ref()).await {
            Ok(response) => response,
            Err(None) => review_start::missing(state, Request::from_parts(parts, body)).await,
            Err(Some(trouble)) => broken(trouble).into_response(),
        },
        (None, Some(grant)) => show(state, Request::from_parts(parts, body), grant).await,
        (None, None) => review_start::missing(state, Request::from_parts(parts, body)).await,
    }
}

/// Gives the browser the link's token, and leads it to the address without it.
///
/// # Errors
/// `None` if the link opens nothing.
async fn enter(
    state: &AppState,
    parts: &Parts,
    id: &str,
    key: &str,
    held: Option<&Grant>,
) -> Result<Response, Option<Trouble>> {
    let grant = state.reviews.enter(id, key).await.map_err(Some)?.ok_or(None)?;
    let mut response =
        (StatusCode::SEE_OTHER, [(header::LOCATION, format!("/r/{id}"))]).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // An owner who looks at the link for viewers stays one.
    if held.is_none_or(|held| held.role <= grant.role) {
        let url = public_url::of_request(state.public_url.as_deref(), &parts.headers);
        let secure = if url.is_some_and(|url| url.is_secure()) { "; Secure" } else { "" };
        let left = grant.expires_at_millis.map(|end| end.saturating_sub(calendar::now_millis()));
        let age = left.map_or(AGE_SECONDS, |left| AGE_SECONDS.min(left / 1_000));
        let value = format!(
            "review_{id}={key}; Path=/r/{id}; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"
        );
        if let Ok(mut value) = HeaderValue::try_from(value) {
            value.set_sensitive(true);
            headers.insert(header::SET_COOKIE, value);
        }
    }
    Ok(response)
}

/// The page itself.
async fn show(state: AppState, request: Request, grant: Grant) -> Response {
    match state.reviews.room(&grant.review, None).await {
        Ok(Some(room)) => review_start::session(state, request, &grant, room).await,
        Ok(None) => review_start::missing(state, request).await,
        Err(trouble) => broken(trouble).into_response(),
    }
}

pub(super) async fn state(
    State(state): State<AppState>,
    holder: Holder,
    RawQuery(asked): RawQuery,
) -> Result<Response, Problem> {
    let asked = asked.unwrap_or_default();
    let [at] = query::parameters(&asked, OF_STATE)?;
    let at = at.map(|at| number("at", &at)).transpose()?;
    let room = state.reviews.room(&holder.grant.review, at).await.map_err(broken)?;
    let room = room.ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, "the session has no event of that number")
    })?;
    Ok(private(StatusCode::OK, &room))
}

pub(super) async fn log(
    State(state): State<AppState>,
    holder: Holder,
    RawQuery(asked): RawQuery,
) -> Result<Response, Problem> {
    let asked = asked.unwrap_or_default();
    let [after, limit] = query::parameters(&asked, OF_LOG)?;
    let after = after.map_or(Ok(0), |after| number("after", &after))?;
    let limit = query::limit(limit, USUAL_LOG, MAX_LOG_LEN)?;
    let events = state.reviews.events(&holder.grant.review, after, limit);
    Ok(private(StatusCode::OK, &Log { events: events.await.map_err(broken)? }))
}

fn number(name: &str, text: &str) -> Result<u64, Problem> {
    text.parse().map_err(|_| {
        Problem::new(StatusCode::BAD_REQUEST, format!("`{name}` is the number of an event"))
    })
}

pub(super) async fn prose(
    State(state): State<AppState>,
    holder: Holder,
    RawQuery(asked): RawQuery,
) -> Result<Response, Problem> {
    let asked = asked.unwrap_or_default();
    let [of] = query::parameters(&asked, OF_PROSE)?;
    let of = of.unwrap_or_default();
    let of: Vec<_> = of.split(',').map(|seq| number("of", seq)).collect::<Result<_, _>>()?;
    if of.len() > MAX_TEXTS {
        let detail = format!("`of` names at most {MAX_TEXTS} events");
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    }
    let events = state.reviews.texts(&holder.grant.review, of).await.map_err(broken)?;
    let text = |event: &review::Event| Some((event.seq, review::to_html(event.change.text()?)));
    let texts = Prose(events.iter().filter_map(text).collect());
    Ok(private(StatusCode::OK, &texts))
}

pub(super) async fn act(
    State(state): State<AppState>,
    holder: Holder,
    Client(client): Client,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let asked: Do = read(body, MAX_MESSAGE_BYTES)?;
    if !state.reviews.may_ask(&holder.grant) {
        let detail = "that is more than can be taken; slow down";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry(1));
    }
    let Do { op, change, name, key } = asked;
    let user = user(&state, &headers);
    let by = reviews::person(&holder.grant.review, user.as_deref(), &key, name.as_deref());
    let by = by.and_then(|by| reviews::check_name(&by).map(|()| by));
    let by = by.and_then(|by| reviews::check_op(&op).map(|()| by)).map_err(refused)?;
    let asked = state.reviews.change(&holder.grant, (by, &client), op, change);
    let outcome = asked.await.map_err(broken)?;
    match outcome {
        Outcome::New(event) | Outcome::Known(event) => {
            Ok(private(StatusCode::OK, &Done { event: &event }))
        }
        Outcome::Refused(why) => Err(refused(why)),
        Outcome::Ended(_) => Err(unknown()),
        // The keeper has said why in the log.
        Outcome::Broken => Err(unusable()),
    }
}

pub(super) async fn socket(
    State(state): State<AppState>,
    holder: Holder,
    Client(client): Client,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    if !is_ours(&state, &headers, holder.is_by_cookie) {
        let detail = "only Moescape's own pages, and programs, open this socket";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail));
    }
    let upgrade = upgrade.map_err(|error| Problem::new(error.status(), error.body_text()))?;
    let permit = state.reviews.socket().ok_or_else(|| {
        let detail = "the server talks with as many as it can; try again later";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).with_retry(10)
    })?;
    let user = user(&state, &headers);
    let address = client.as_str().into();
    let visitor = Visitor { grant: holder.grant, token: holder.token, user, address };
    let (reviews, closing) = (state.reviews.clone(), state.closing.subscribe());
    let upgrade = upgrade.max_message_size(MAX_MESSAGE_BYTES).max_frame_size(MAX_MESSAGE_BYTES);
    let Some(place) = state.reviews.place(&client) else {
        return Ok(upgrade.on_upgrade(move |socket| Reviews::turn_away(socket, closing, permit)));
    };
    let held = (permit, place);
    Ok(upgrade.on_upgrade(move |socket| reviews.talk(socket, visitor, closing, held)))
}

/// Browsers say whose page opens a socket, and ask nobody whether it may: we do. A program says
/// nothing, and has to know the token.
fn is_ours(state: &AppState, headers: &HeaderMap, is_by_cookie: bool) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return !is_by_cookie };
    origin::is_own(state.public_url.as_deref(), headers, origin)
}
