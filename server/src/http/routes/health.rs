//! `GET /healthz` and `GET /readyz`: for whatever watches the server.

use axum::extract::State;
use axum::http::StatusCode;

use crate::net::problem::Problem;
use crate::state::AppState;

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
