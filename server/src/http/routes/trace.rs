//! `POST /api/v1/traces`: a trace of expert loads in, its hash out; `GET /api/v1/traces/HASH`: the
//! packed trace, as `model::routing::packed` describes it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use reports::typed::Said;

use super::json::json_response;
use super::kept;
use crate::http::endpoint::{CSV, PARQUET, bytes, endpoints, object, of, text};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::query::Parameter;
use crate::net::response_buffer::{self, Packed};
use crate::net::work::{in_turn, off_thread};
use crate::people::audit_events::Kind;
use crate::people::owner::{Storing, Visitor};
use crate::people::storage_usage::{self, RemainingOwners};
use crate::state::AppState;
use crate::store::traces::{self, StoreError, TraceSummary, Traces};

/// Bytes of an uploaded file, at most.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// Bytes of a packed trace, at most: counts and some pairs.
const MAX_PACKED: u64 = 1 << 30;

const HASH: Parameter = Parameter::path("hash", "The trace's hash.").example("{hash}");

endpoints! {
    /// Upload a trace of expert loads
    ///
    /// CSV, JSON or Parquet. The knob `routing.trace` takes its hash; the README describes the
    /// formats.
    post "/api/v1/traces" => add as addTrace {
        .takes_as(CSV, text).example("step,layer,expert,tokens\n0,0,0,3\n0,0,1,1\n")
        .takes(object).takes_as(PARQUET, bytes).body_limit(MAX_BYTES)
        .stores(of::<TraceSummary>, "It is kept. The header `Location` has its address.")
        .fails(400, "It can't be read: each entry of `errors` has line and column.")
        .refuses([not_kept(&StoreError::Taken), out_of_use()])
    }

    /// A trace, packed
    get "/api/v1/traces/{hash}" => packed as trace {
        .with([HASH])
        .answers_as("application/octet-stream", bytes,
            "The packed trace; what a hash names never changes.")
        .refuses([unknown()])
    }

    /// Delete a trace of yours
    ///
    /// It is gone for all with the last owner who has it: links and designs that name it show it no
    /// more.
    delete "/api/v1/traces/{hash}" => remove as deleteTrace {
        .with([HASH]).ends(204, "You have it no more.")
        .refuses([not_theirs(), unknown(), out_of_use()])
    }
}

/// Keeps the trace of a CSV, JSON or Parquet body and says what it is.
pub(super) async fn add(
    State(state): State<AppState>,
    Client(client): Client,
    storing: Storing,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    // Whoever is slow to send it keeps nobody from having theirs read.
    let body = body.map_err(|error| unread(&error))?;
    let storing = kept::check(&state, Kind::Trace, storing, &client).await?;
    let traces = Arc::clone(&state.traces);
    let kept = in_turn(&state.traces.readers, &client, move || keep(&traces, &body));
    let (hash, summary) = kept.await??;
    let bytes = state.traces.store.bytes(&hash);
    kept::own(&state, Kind::Trace, &hash, storing.owner, bytes).await?;
    let mut response = kept::with_cookie(json_response(&summary.said()), storing.cookie);
    *response.status_mut() = StatusCode::CREATED;
    if let Ok(location) = HeaderValue::from_str(&format!("/api/v1/traces/{hash}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// The packed trace with this hash, read while it is sent.
pub(super) async fn packed(
    State(state): State<AppState>,
    Client(client): Client,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let traces = Arc::clone(&state.traces);
    let stored = off_thread(move || traces.store.open(&hash)).await?;
    let stored = stored.map_err(|error| not_kept(&error.into()))?;
    let stored = stored.ok_or_else(unknown)?;
    let packed = Packed { stored, held_bytes: 0, most_bytes: MAX_PACKED };
    let mut response = response_buffer::packed(&state.outbox, &client, &headers, packed)?;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    // What a hash names never changes.
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    headers.insert(header::CACHE_CONTROL, forever);
    Ok(response)
}

/// Deletes a trace of the asker: for them, and with the last who have it for all.
pub(super) async fn remove(
    State(state): State<AppState>,
    Path(hash): Path<String>,
    Visitor(owner): Visitor,
) -> Result<StatusCode, Problem> {
    let removed = off_thread(move || {
        let not_kept = |error: StoreError| not_kept(&error);
        if state.traces.store.open(&hash).map_err(|error| not_kept(error.into()))?.is_none() {
            return Err(unknown());
        }
        let done = owner.map(|owner| storage_usage::take_trace(&state.store, &hash, &owner));
        let Some(left) = done.transpose().map_err(unusable)?.flatten() else {
            return Err(not_theirs());
        };
        if left == RemainingOwners::Nobody {
            state.traces.store.remove(&hash).map_err(|error| not_kept(error.into()))?;
        }
        Ok(StatusCode::NO_CONTENT)
    });
    removed.await?
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn unusable(error: crate::store::StoreError) -> Problem {
    Problem::unusable_store(&error, "whose a trace is")
}

/// Reads and stores a trace.
fn keep(traces: &Traces, body: &Bytes) -> Result<(String, TraceSummary), Problem> {
    let trace = traces::read(body).map_err(Problem::unreadable_trace)?;
    let hash = traces.store.put(&trace).map_err(|error| not_kept(&error))?;
    let summary = TraceSummary::new(&hash, &trace);
    Ok((hash, summary))
}

/// Problem of a body that didn't come.
pub(super) fn unread(rejection: &BytesRejection) -> Problem {
    match rejection.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            let mib = MAX_BYTES >> 20;
            Problem::new(status, format!("a file has at most {mib} MiB; Parquet is the smallest"))
        }
        status => Problem::new(status, rejection.body_text()),
    }
}

fn unknown() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is no trace with this hash on this server")
}

fn not_theirs() -> Problem {
    let detail = "only who uploaded a trace can delete it, in the browser that did";
    Problem::new(StatusCode::FORBIDDEN, detail)
}

fn out_of_use() -> Problem {
    let detail = "the server can't use its store of traces now; its log says why";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
}

fn not_kept(error: &StoreError) -> Problem {
    match error {
        StoreError::Full { most } => Problem::new(
            StatusCode::INSUFFICIENT_STORAGE,
            format!(
                "the server's room for traces, {} MiB, is full; who runs it can give more by \
                 --trace-store-mib or remove old ones",
                most >> 20
            ),
        ),
        StoreError::Taken => {
            Problem::new(StatusCode::CONFLICT, "another trace has the same hash already")
        }
        StoreError::Disk(error) => {
            tracing::error!(%error, "a trace can't be read or written");
            out_of_use()
        }
    }
}
