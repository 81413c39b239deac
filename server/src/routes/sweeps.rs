//! `/api/v1/sweeps`: asks for sweeps, watches them, pauses and removes them.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use model::file::{Tree, json};
use model::knob::KnobError;
use sweep::{Space, Spec};
use tokio::sync::watch;
use tokio::time::Instant;

use super::json::json_response;
use crate::client::Client;
use crate::problem::Problem;
use crate::query;
use crate::receiving::BODY_LIMIT_BYTES;
use crate::state::AppState;
use crate::sweeps::{self, Beat, Engine, Entry, Job, Keeping, Refusal, Trial};

/// Sweeps in a list, unless the asker says how many.
const USUAL_LIST: u32 = 50;

/// Sweeps in a list, at most.
const MAX_LIST_LEN: u32 = 200;

/// How often a watcher hears of a sweep.
const BEAT: Duration = Duration::from_millis(250);

/// How often a silent stream shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Seconds after which a full queue may have room.
const RETRY_SECONDS: &str = "30";

/// `POST /api/v1/sweeps`: a spec in, a sweep that runs out. With `?rows=all` the rows of its
/// feasible designs are kept.
pub(super) async fn submit(
    State(state): State<AppState>,
    Client(client): Client,
    RawQuery(asked): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Failure> {
    let asked = asked.unwrap_or_default();
    let [rows] = query::parameters(&asked, ["rows"]).map_err(Failure::Problem)?;
    let choices = [("none", Keeping::No), ("all", Keeping::Yes(0))];
    let keeping = query::choice("rows", rows.as_deref().unwrap_or("none"), &choices);
    let keeping = keeping.map_err(Failure::Problem)?;
    let done = blocking(move || {
        let space = read(body)?;
        let engine = state.sweeps().map_err(broken)?;
        Engine::check_size(&space).map_err(refused)?;
        let trial = Trial::of(&space);
        let cost = trial.report(&space, engine.threads());
        let job = engine.submit(&client, space, &trial, keeping).map_err(refused)?;
        Ok((job, cost))
    });
    let (job, cost) = done.await?;
    let address = format!("/api/v1/sweeps/{}", job.id);
    let tree = Tree::map([
        ("id", Tree::from(job.id.as_str())),
        ("state", job.inner().state.name().into()),
        ("status", address.as_str().into()),
        ("events", format!("{address}/events").into()),
        ("rows", format!("{address}/rows").into()),
        ("cost", cost),
    ]);
    let location = HeaderValue::from_str(&address).map_err(|_| unknown())?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], json_response(&tree)).into_response())
}

/// `GET /api/v1/sweeps`: the asker's sweeps, newest first.
///
/// Those of others aren't in it: whoever has a sweep's id can pause and remove it.
pub(super) async fn list(
    State(state): State<AppState>,
    Client(client): Client,
    RawQuery(asked): RawQuery,
) -> Result<Response, Failure> {
    let asked = asked.unwrap_or_default();
    let [before, limit] =
        query::parameters(&asked, ["before", "limit"]).map_err(Failure::Problem)?;
    let limit = limit.map_or(Some(USUAL_LIST), |text| text.parse().ok());
    let limit = limit.filter(|limit| (1..=MAX_LIST_LEN).contains(limit)).ok_or_else(|| {
        let detail = format!("`limit` is a number from 1 to {MAX_LIST_LEN}");
        Failure::of(StatusCode::BAD_REQUEST, detail)
    })?;
    let before = before.map(Cow::into_owned);
    let answer = blocking(move || {
        let engine = state.sweeps().map_err(broken)?;
        let entries = engine.list(&client, before.as_deref(), limit).map_err(broken)?;
        Ok(entries.iter().map(|entry| listed(&engine, entry)).collect())
    });
    Ok(json_response(&Tree::map([("sweeps", Tree::List(answer.await?))])))
}

/// A sweep in a list.
fn listed(engine: &Engine, entry: &Entry) -> Tree {
    let beat = engine.job(&entry.id).map(|job| Beat::of(&job));
    let state = beat.as_ref().map_or(entry.state, |beat| beat.state);
    let progress = beat.map(|beat| beat.told);
    Tree::map([
        ("id", Tree::from(entry.id.as_str())),
        ("name", entry.name.as_str().into()),
        ("state", state.name().into()),
        ("created_at_secs", entry.created_at_secs.into()),
        ("model_version", entry.model_version.as_str().into()),
        ("status", format!("/api/v1/sweeps/{}", entry.id).into()),
        ("progress", progress.unwrap_or(Tree::Null)),
    ])
}

/// `POST /api/v1/sweeps/cost`: a spec in, what it would cost out, counted in full where that is
/// quick; nothing is started.
pub(super) async fn cost(
    State(state): State<AppState>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Failure> {
    let cost = blocking(move || {
        let space = read(body)?;
        let threads = state.sweeps().map_err(broken)?.threads();
        Engine::check_size(&space).map_err(refused)?;
        Ok(Trial::counting(&space).report(&space, threads))
    });
    Ok(json_response(&cost.await?))
}

/// `GET /api/v1/sweeps/{id}`: where it stands, and what is there of its result.
pub(super) async fn status(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    let status = blocking(move || {
        let engine = state.sweeps().map_err(broken)?;
        sweeps::status(&engine, &id).map_err(broken)
    });
    let status = status.await?.ok_or_else(unknown)?;
    Ok(json_response(&status))
}

/// `GET /api/v1/sweeps/{id}/events`: where it stands, again and again until it is over.
pub(super) async fn events(
    State(state): State<AppState>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let engine = blocking({
        let state = state.clone();
        move || state.sweeps().map_err(broken)
    });
    let engine = engine.await?;
    let Some(job) = engine.job(&id) else {
        let past = blocking(move || engine.past(&id).map_err(broken)).await?;
        let past = past.ok_or_else(unknown)?;
        let data = json_line(&Tree::map([("state", Tree::from(past.state.name()))]));
        let event = Event::default().event(past.state.name()).data(data);
        return Ok(Sse::new(stream::iter([Ok::<_, Infallible>(event)])).into_response());
    };
    let last = headers.get(HeaderName::from_static("last-event-id"));
    let last = last.and_then(|id| id.to_str().ok()?.parse().ok());
    let keep_alive = KeepAlive::new().interval(HEARTBEAT);
    let closed = state.closing.subscribe();
    Ok(Sse::new(beats(job, last, closed)).keep_alive(keep_alive).into_response())
}

/// The events of a job from a revision on: every one is the whole state, so that missing some
/// loses nothing. They end early when the server does: a watcher comes back to the next one.
fn beats(
    job: Arc<Job>,
    last: Option<u64>,
    closed: watch::Receiver<bool>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    struct Watch {
        closed: watch::Receiver<bool>,
        job: Arc<Job>,
        changes: watch::Receiver<u64>,
        last: Option<u64>,
        due: Instant,
        over: bool,
    }
    let changes = job.changes();
    let watch = Watch { closed, job, changes, last, due: Instant::now(), over: false };
    stream::unfold(watch, |mut watch| async move {
        if watch.over {
            return None;
        }
        let mut closed = watch.closed.clone();
        let next = async {
            tokio::time::sleep_until(watch.due).await;
            let mut beat = Beat::of(&watch.job);
            while watch.last == Some(beat.revision) && !beat.state.is_final() {
                // The job is there as long as this stream is, so that changes come.
                let _ = watch.changes.changed().await;
                beat = Beat::of(&watch.job);
            }
            beat
        };
        let beat = tokio::select! {
            beat = next => beat,
            _ = closed.wait_for(|closed| *closed) => return None,
        };
        watch.changes.mark_unchanged();
        watch.last = Some(beat.revision);
        watch.due = Instant::now() + BEAT;
        watch.over = beat.state.is_final();
        let name = if watch.over { beat.state.name() } else { "progress" };
        let data = json_line(&beat.told);
        let event = Event::default().event(name).id(beat.revision.to_string()).data(data);
        Some((Ok(event), watch))
    })
}

/// `POST /api/v1/sweeps/{id}/pause`.
pub(super) async fn pause(state: State<AppState>, id: Path<String>) -> Result<Response, Failure> {
    set_running(state, id, false).await
}

/// `POST /api/v1/sweeps/{id}/resume`.
pub(super) async fn resume(state: State<AppState>, id: Path<String>) -> Result<Response, Failure> {
    set_running(state, id, true).await
}

async fn set_running(
    State(state): State<AppState>,
    Path(id): Path<String>,
    running: bool,
) -> Result<Response, Failure> {
    let changed = blocking(move || {
        let engine = state.sweeps().map_err(broken)?;
        let Some(job) = engine.job(&id) else {
            let known = engine.past(&id).map_err(broken)?.is_some();
            return Err(if known { over() } else { unknown() });
        };
        if !engine.set_running(&job, running) {
            return Err(over());
        }
        Ok(Beat::of(&job).told)
    });
    Ok(json_response(&changed.await?))
}

/// `DELETE /api/v1/sweeps/{id}`: ends it and forgets it.
pub(super) async fn remove(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<StatusCode, Failure> {
    let removed = blocking(move || {
        let engine = state.sweeps().map_err(broken)?;
        engine.remove(&id).map_err(broken)
    });
    if removed.await? { Ok(StatusCode::NO_CONTENT) } else { Err(unknown()) }
}

/// The space of a spec that was sent. A large one takes its time: not for threads that answer
/// requests.
fn read(body: Result<Bytes, BytesRejection>) -> Result<Space, Failure> {
    let body = body.map_err(|rejection| match rejection.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            let detail = format!("a spec has at most {BODY_LIMIT_BYTES} bytes");
            Failure::of(status, detail)
        }
        status => Failure::of(status, rejection.body_text()),
    })?;
    let text = std::str::from_utf8(&body)
        .map_err(|error| Failure::of(StatusCode::BAD_REQUEST, format!("not UTF-8: {error}")))?;
    let space = Spec::from_json(text).and_then(|spec| Space::new(spec).map_err(|e| vec![e]));
    space.map_err(Failure::Spec)
}

/// A spec that can't be read: every error with its place, as other problems have them.
fn unreadable(errors: &[KnobError]) -> Response {
    let status = StatusCode::BAD_REQUEST;
    let count = app::present::format::counted(errors.len() as u64, "error", "errors");
    let errors = errors.iter().map(|error| {
        let place: String = error.knob.split('.').map(|part| format!("/{part}")).collect();
        Tree::map([
            ("pointer", Tree::from(if error.knob.is_empty() { "" } else { &place })),
            ("rule", error.rule.into()),
            ("detail", error.detail.as_str().into()),
            ("nearest", Tree::list(error.nearest.iter().map(String::as_str))),
        ])
    });
    let body = Tree::map([
        ("type", Tree::from("about:blank")),
        ("title", status.canonical_reason().unwrap_or("Error").into()),
        ("status", Tree::Unsigned(status.as_u16().into())),
        ("detail", format!("the spec can't be read: {count}").into()),
        ("errors", Tree::List(errors.collect())),
    ]);
    let headers = [(header::CONTENT_TYPE, "application/problem+json")];
    (status, headers, json::print(&body)).into_response()
}

/// Does work that takes its time where it keeps no request waiting.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "a request's work ended");
        let detail = "the server made a mistake; the request id tells its operator which";
        Err(Failure::of(StatusCode::INTERNAL_SERVER_ERROR, detail))
    })
}

fn json_line(tree: &Tree) -> String {
    // An event's data is one line.
    json::print(tree).lines().map(str::trim_start).collect()
}

pub(super) fn unknown() -> Failure {
    Failure::of(StatusCode::NOT_FOUND, "there is no such sweep; it may have been removed")
}

fn over() -> Failure {
    Failure::of(StatusCode::CONFLICT, "the sweep is over: it can't be paused or resumed")
}

pub(super) fn broken(error: impl std::fmt::Display) -> Failure {
    tracing::error!(%error, "sweeps can't be used");
    let detail = "the server can't run sweeps now; its log says why";
    Failure::of(StatusCode::SERVICE_UNAVAILABLE, detail)
}

fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Full(detail) => Failure::Full(detail),
        Refusal::TooLarge(detail) => Failure::of(StatusCode::UNPROCESSABLE_ENTITY, detail),
        Refusal::Store(error) => broken(error),
    }
}

/// Why a request has no answer.
pub(super) enum Failure {
    /// It is what the problem says.
    Problem(Problem),
    /// The spec can't be read.
    Spec(Vec<KnobError>),
    /// There is no room for a sweep now.
    Full(String),
}

impl Failure {
    pub(super) fn of(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::Problem(Problem::new(status, detail))
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::Problem(problem) => problem.into_response(),
            Self::Spec(errors) => unreadable(&errors),
            Self::Full(detail) => {
                let retry = [(header::RETRY_AFTER, HeaderValue::from_static(RETRY_SECONDS))];
                (retry, Problem::new(StatusCode::TOO_MANY_REQUESTS, detail)).into_response()
            }
        }
    }
}
