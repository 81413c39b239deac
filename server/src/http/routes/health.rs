//! `GET /healthz` and `GET /readyz`: for whatever watches the server.

use axum::extract::State;
use axum::http::StatusCode;

use crate::http::endpoint::{endpoints, text};
use crate::net::problem::Problem;
use crate::state::AppState;

endpoints! {
    /// Does the process answer?
    get "/healthz" => alive as alive { .answers_as("text/plain", text, "It does.") }

    /// Can the server do its work?
    get "/readyz" => ready as ready {
        .answers_as("text/plain", text, "It can.")
        .fails(503, "Nothing can be kept now; the detail names the cause.")
    }
}

/// The process answers.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// The server can do its work: its store was written and read back, now or within a second.
pub(super) async fn ready(State(state): State<AppState>) -> Result<&'static str, Problem> {
    let found = state.readiness.ask(&state.store).await;
    found.map(|()| "ready\n").map_err(|cause| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, cause.sentence()).with_retry(1)
    })
}
