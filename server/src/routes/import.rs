//! `POST /api/v1/import`: a config.json, launch script or argument file in, its design out.

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::Response;
use interchange::{Format, import};
use model::design::Design;

use super::json::json_response;
use super::page::off_thread;
use crate::imported;
use crate::problem::Problem;
use crate::query;
use crate::receiving;

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
    let text = receiving::text(body, "a text")?;
    // Off the threads that answer others: a text may have a million characters.
    let made = off_thread(move || {
        let format = format.unwrap_or_else(|| Format::detect(&text));
        import(format, &text, base.as_ref())
    });
    let made = made.await?;
    if made.design.is_none() {
        return Err(Problem::unreadable_text(made.errors));
    }
    Ok(json_response(&imported::report(&made)))
}
