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
use model::design::file::json;
use reports::typed::Said;
use sweep::{Space, Spec, SpecKeys};
use tokio::sync::watch;
use tokio::time::Instant;

use super::json::json_response;
use super::kept;
use crate::http::endpoint::{endpoints, of, text, words};
use crate::jobs::sweeps::{
    self, Cost, Engine, Job, Keeping, MAX_ROWS, ProgressUpdate, Refusal, SpeedSample, Standing,
    Started, StateAlone, SweepAnswer, SweepEntry, Sweeps,
};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::query::{self, Parameter, parameter_list};
use crate::net::request_body;
use crate::net::work::off_thread;
use crate::people::audit_events::Kind;
use crate::people::owner::Storing;
use crate::state::AppState;

/// Sweeps in a list, unless the asker says how many.
const USUAL_LIST: u32 = 50;

/// Sweeps in a list, at most.
const MAX_LIST_LEN: u32 = 200;

/// Interval at which a watcher hears of a sweep.
const UPDATE_INTERVAL: Duration = Duration::from_millis(250);

/// Interval at which a silent stream shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Seconds after which a full queue may have room.
const RETRY_SECONDS: u64 = 30;

pub(super) const ID: Parameter = Parameter::path(
    "id",
    "The sweep's id. Whoever has it can pause and remove the sweep, where the server doesn't know \
     its users.",
)
.example("{id}");

/// Whether the rows of feasible designs are kept.
const KEPT: [(&str, Keeping); 2] = [("none", Keeping::No), ("all", Keeping::Yes(0))];

parameter_list! { OF_START:
    /// `all` keeps the row of every feasible design. `none` keeps the front, the best and a sample,
    /// as always.
    rows(|| query::first_of(&KEPT)).example("all"),
}

parameter_list! { OF_LIST:
    /// Only sweeps older than the one with this id: the last of the page before.
    before(query::text).example("{id}"),
    /// Sweeps at most.
    limit(|| query::limit_schema(USUAL_LIST, MAX_LIST_LEN)).example("20"),
}

const LAST_EVENT: Parameter =
    Parameter::header("Last-Event-ID", "The id of the last event that you have.");

const SPEC: &str = r#"{"schema": 1, "name": "Where to put 6,144 NPUs", "sample": 100,
    "objectives": ["mfu max", "memory_peak_bytes min"], "constraints": ["fits"],
    "design": {"preset": "pangu-ultra-moe-6k", "schedule": {"timing": "closed_form"}},
    "space": {
        "parallel": {
            "tensor_model_parallel_size": [4, 8],
            "pipeline_model_parallel_size": [8, 16],
            "noop_layers": {"fill": "chunks"}},
        "training": {"micro_batch_size": {"from": 1, "to": 2}}}}"#;

endpoints! {
    /// Your sweeps, newest first
    ///
    /// Sweeps that were asked for from the same address as this request. Those of others aren't
    /// listed, since an id is enough to pause and remove a sweep.
    get "/api/v1/sweeps" => list as listSweeps {
        .with(OF_LIST).answers(of::<Sweeps>).refuses([out_of_use()])
    }

    /// Start a sweep
    ///
    /// Reads the spec to its end and reports everything that is wrong before anything runs. Sweeps
    /// of all clients take turns.
    post "/api/v1/sweeps" => submit as startSweep {
        .with(OF_START).takes(of::<SpecKeys<'static>>).example(SPEC)
        .stores(of::<Started>, format!("It runs. The header `Location` has its address. Rows of \
            up to {MAX_ROWS} designs are kept where they are asked for; of more, none."))
        .fails(422, words::too_large_sweep())
        .fails(429, "You or everyone together have too many sweeps that aren't over, or too many \
            rows are kept. The header `Retry-After` says in how many seconds to try again.")
        .refuses([out_of_use()])
    }

    /// Cost of a sweep
    ///
    /// Evaluates a few designs spread over the space, for at most about a tenth of a second, and
    /// starts nothing.
    post "/api/v1/sweeps/cost" => cost as costOfSweep {
        .takes(of::<SpecKeys<'static>>).example(SPEC).answers(of::<Cost>)
        .fails(422, words::too_large_sweep()).refuses([out_of_use()])
    }

    /// Where a sweep stands, and its result so far
    get "/api/v1/sweeps/{id}" => status as getSweep {
        .with([ID]).answers(of::<SweepAnswer>).refuses([unknown(), out_of_use()])
    }

    /// End a sweep and forget it
    ///
    /// Works on running and finished sweeps. Answers at once: chunks under way are given up.
    delete "/api/v1/sweeps/{id}" => remove as removeSweep {
        .with([ID]).ends(204, "It is gone, with its result.")
        .fails(403, words::NOT_YOURS).refuses([unknown(), out_of_use()])
    }

    /// Watch a sweep
    ///
    /// Server-sent events, at most four a second: `progress` while it isn't over, then one named
    /// after its last state, `done`, `failed` or `removed`. The data of each is the whole state, a
    /// `Progress` on one line, so that nothing is lost by missing some. `Last-Event-ID` leaves out
    /// what you have. The stream ends when the server does; a browser's `EventSource` comes back by
    /// itself.
    get "/api/v1/sweeps/{id}/events" => events as watchSweep {
        .with([ID, LAST_EVENT])
        .answers_as("text/event-stream", text, "Events until the sweep is over.")
        .refuses([unknown(), out_of_use()])
    }

    /// Pause a sweep
    ///
    /// It keeps what is done, also over a restart of the server. A paused sweep can be paused
    /// again.
    post "/api/v1/sweeps/{id}/pause" => pause as pauseSweep {
        .with([ID]).answers(of::<Standing>)
        .fails(403, words::NOT_YOURS).refuses([unknown(), over(), out_of_use()])
    }

    /// Let a paused sweep go on
    post "/api/v1/sweeps/{id}/resume" => resume as resumeSweep {
        .with([ID]).answers(of::<Standing>)
        .fails(403, words::NOT_YOURS).refuses([unknown(), over(), out_of_use()])
    }
}

pub(super) async fn submit(
    State(state): State<AppState>,
    Client(client): Client,
    storing: Storing,
    RawQuery(asked): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let asked = asked.unwrap_or_default();
    let [rows] = query::parameters(&asked, OF_START)?;
    let keeping = query::choice("rows", rows.as_deref().unwrap_or("none"), &KEPT)?;
    let storing = kept::check(&state, Kind::Sweep, storing, &client).await?;
    let of = state.clone();
    let done = blocking(move || {
        let space = read(body)?;
        let engine = state.sweeps().map_err(broken)?;
        Engine::check_size(&space).map_err(refused)?;
        let sample = SpeedSample::measure(&space);
        let cost = sample.report(&space, engine.threads());
        let job = engine.submit(&client, space, &sample, keeping).map_err(refused)?;
        Ok((job, cost))
    });
    let (job, cost) = done.await?;
    kept::own(&of, Kind::Sweep, &job.id, storing.owner, 0).await?;
    let address = format!("/api/v1/sweeps/{}", job.id);
    let started = Started::new(&job, &address, cost);
    let location = HeaderValue::from_str(&address).map_err(|_| unknown())?;
    let headers = [(header::LOCATION, location), (header::SET_COOKIE, storing.cookie)];
    Ok((StatusCode::CREATED, headers, json_response(&started.said())).into_response())
}

pub(super) async fn list(
    State(state): State<AppState>,
    Client(client): Client,
    RawQuery(asked): RawQuery,
) -> Result<Response, Problem> {
    let asked = asked.unwrap_or_default();
    let [before, limit] = query::parameters(&asked, OF_LIST)?;
    let limit = query::limit(limit, USUAL_LIST, MAX_LIST_LEN)?;
    let before = before.map(Cow::into_owned);
    let answer = blocking(move || {
        let engine = state.sweeps().map_err(broken)?;
        let entries = engine.list(&client, before.as_deref(), limit).map_err(broken)?;
        Ok(entries.iter().map(|entry| SweepEntry::new(&engine, entry)).collect())
    });
    Ok(json_response(&Sweeps { sweeps: answer.await? }.said()))
}

pub(super) async fn cost(
    State(state): State<AppState>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let cost = blocking(move || {
        let space = read(body)?;
        let threads = state.sweeps().map_err(broken)?.threads();
        Engine::check_size(&space).map_err(refused)?;
        Ok(SpeedSample::measure_or_count(&space).report(&space, threads))
    });
    Ok(json_response(&cost.await?.said()))
}

pub(super) async fn status(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let status = blocking(move || {
        let engine = state.sweeps().map_err(broken)?;
        sweeps::status(&engine, &id).map_err(broken)
    });
    let status = status.await?.ok_or_else(unknown)?;
    Ok(json_response(&status.said()))
}

pub(super) async fn events(
    State(state): State<AppState>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let engine = blocking({
        let state = state.clone();
        move || state.sweeps().map_err(broken)
    });
    let engine = engine.await?;
    let Some(job) = engine.job(&id) else {
        let past = blocking(move || engine.past(&id).map_err(broken)).await?;
        let past = past.ok_or_else(unknown)?;
        let data = json_line(StateAlone { state: past.state });
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
            let mut update = ProgressUpdate::new(&watch.job);
            while watch.last == Some(update.revision) && !update.data.state.is_final() {
                // The job is there as long as this stream is, so that changes come.
                let _ = watch.changes.changed().await;
                update = ProgressUpdate::new(&watch.job);
            }
            update
        };
        let update = tokio::select! {
            update = next => update,
            _ = closed.wait_for(|closed| *closed) => return None,
        };
        watch.changes.mark_unchanged();
        watch.last = Some(update.revision);
        watch.due = Instant::now() + UPDATE_INTERVAL;
        let state = update.data.state;
        watch.over = state.is_final();
        let name = if watch.over { state.name() } else { "progress" };
        let data = json_line(update.data);
        let event = Event::default().event(name).id(update.revision.to_string()).data(data);
        Some((Ok(event), watch))
    })
}

pub(super) async fn pause(
    state: State<AppState>,
    id: Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    set_running(state, id, &headers, false).await
}

pub(super) async fn resume(
    state: State<AppState>,
    id: Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    set_running(state, id, &headers, true).await
}

async fn set_running(
    State(state): State<AppState>,
    Path(id): Path<String>,
    headers: &HeaderMap,
    running: bool,
) -> Result<Response, Problem> {
    kept::check_maker(&state, Kind::Sweep, &id, headers).await?;
    let changed = blocking(move || {
        let engine = state.sweeps().map_err(broken)?;
        let state = engine.set_running(&id, running).map_err(broken)?.ok_or_else(unknown)?;
        if state.is_final() {
            return Err(over());
        }
        let job = engine.job(&id);
        // Another server computes one that isn't at hand, and knows how far it is.
        let alone = || Standing::Elsewhere(StateAlone { state });
        Ok(job.map_or_else(alone, |job| Standing::Here(ProgressUpdate::new(&job).data)))
    });
    Ok(json_response(&changed.await?.said()))
}

pub(super) async fn remove(
    State(state): State<AppState>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    kept::check_maker(&state, Kind::Sweep, &id, &headers).await?;
    let removed = blocking(move || {
        let engine = state.sweeps().map_err(broken)?;
        engine.remove(&id).map_err(broken)
    });
    if removed.await? { Ok(StatusCode::NO_CONTENT) } else { Err(unknown()) }
}

/// The space of a spec that was sent. A large one takes its time: not for threads that answer
/// requests.
fn read(body: Result<Bytes, BytesRejection>) -> Result<Space, Problem> {
    let text = request_body::text(body, "a spec")?;
    let space = Spec::from_json(&text).and_then(|spec| Space::new(spec).map_err(|e| vec![e]));
    space.map_err(Problem::unreadable_spec)
}

/// Runs work that takes its time where it keeps no request waiting.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    off_thread(work).await?
}

fn json_line(data: impl Said) -> String {
    // An event's data is one line.
    json::print(&data.said()).lines().map(str::trim_start).collect()
}

pub(super) fn unknown() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is no such sweep; it may have been removed")
}

fn over() -> Problem {
    Problem::new(StatusCode::CONFLICT, "the sweep is over: it can't be paused or resumed")
}

pub(super) fn broken(error: impl std::fmt::Display) -> Problem {
    tracing::error!(%error, "sweeps can't be used");
    out_of_use()
}

pub(super) fn out_of_use() -> Problem {
    let detail = "the server can't run sweeps now; its log says why";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
}

fn refused(refusal: Refusal) -> Problem {
    match refusal {
        Refusal::Full(detail) => {
            Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry(RETRY_SECONDS)
        }
        Refusal::TooLarge(detail) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail),
        Refusal::Store(error) => broken(error),
    }
}
