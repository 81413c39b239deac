//! `POST /api/v1/predict`: a design file in, its prediction out.
//!
//! A design that breaks rules is answered too: the same object, with its violations.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::Response;
use model::file::json;
use tokio::task::spawn_blocking;

use super::json_response;
use crate::layers::BODY_LIMIT_BYTES;
use crate::problem::Problem;
use crate::report;

/// The object of `moescape predict --json`.
pub(super) async fn predict(body: Result<Bytes, BytesRejection>) -> Result<Response, Problem> {
    let body = body.map_err(|rejection| match rejection.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::new(status, format!("a design has at most {BODY_LIMIT_BYTES} bytes"))
        }
        status => Problem::new(status, rejection.body_text()),
    })?;
    let text = std::str::from_utf8(&body)
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, format!("not UTF-8: {error}")))?;
    let design = json::read(text).map_err(Problem::unreadable_design)?;
    // The verdict tries many designs: not on a thread that answers others.
    let predicted = spawn_blocking(move || report::predict(&design)).await;
    let predicted = predicted.map_err(|_| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the prediction was not finished")
    })?;
    Ok(json_response(&predicted))
}
