//! `GET /healthz` and `GET /readyz`: for whatever watches the server.

use axum::extract::State;
use axum::http::StatusCode;

use crate::AppState;
use crate::problem::Problem;

/// The process answers.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// The server can do its work: its data directory is there and can be written.
pub(super) async fn ready(State(state): State<AppState>) -> Result<&'static str, Problem> {
    let metadata = std::fs::metadata(state.data.as_path());
    match metadata {
        Ok(metadata) if metadata.is_dir() && !metadata.permissions().readonly() => Ok("ready\n"),
        Ok(_) | Err(_) => {
            let detail = "the data directory can't be written";
            Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail))
        }
    }
}
