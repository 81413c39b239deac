//! `POST /api/v1/import`: a config.json, launch script or argument file in, its design out.

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::Response;
use interchange::{Format, import};
use model::design::Design;
use tokio::task::spawn_blocking;

use super::json::json_response;
use crate::imported;
use crate::problem::Problem;
use crate::query;
use crate::receiving::BODY_LIMIT_BYTES;

/// Formats by name; none is found by what stands in the text.
const FORMATS: [(&str, Option<Format>); 5] = [
    ("auto", None),
    ("hf", Some(Format::HuggingFace)),
    ("megatron", Some(Format::Megatron)),
    ("mindspeed", Some(Format::Mindspeed)),
    ("design", Some(Format::Design)),
];

/// The object of `moescape import --json`.
pub(super) async fn text(
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let raw = raw.unwrap_or_default();
    let [format, preset] = query::parameters(&raw, ["format", "preset"])?;
    let format = query::choice("format", format.as_deref().unwrap_or("auto"), &FORMATS)?;
    let base = preset.as_deref().map(Design::from_preset).transpose();
    let base = base.map_err(|error| Problem::new(StatusCode::BAD_REQUEST, error.to_string()))?;
    let body = body.map_err(|rejection| match rejection.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::new(status, format!("a text has at most {BODY_LIMIT_BYTES} bytes"))
        }
        status => Problem::new(status, rejection.body_text()),
    })?;
    let text = String::from_utf8(body.to_vec())
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, format!("not UTF-8: {error}")))?;
    // Off the threads that answer others: a text may have a million characters.
    let made = spawn_blocking(move || {
        let format = format.unwrap_or_else(|| Format::detect(&text));
        import(format, &text, base.as_ref())
    });
    let made = made.await.map_err(|_| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the import was not finished")
    })?;
    if made.design.is_none() {
        return Err(Problem::unreadable_text(made.errors));
    }
    Ok(json_response(&imported::report(&made)))
}
