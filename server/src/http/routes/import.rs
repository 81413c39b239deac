//! `POST /api/v1/import`: a config.json, launch script or argument file in, its design out.

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::Response;
use interchange::is_archive;
use operations::Operation;
use operations::import::{Dialect, Import, Input, max_bytes};
use reports::typed::Said;

use super::json::json_response;
use super::operations::Client;
use crate::net::problem::Problem;
use crate::net::query;
use crate::net::request_body;
use crate::net::work::off_thread;

/// The object of `moescape import --json`.
pub(super) async fn text(
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let mut input = parameters(&raw.unwrap_or_default())?;
    match body.as_ref().ok().filter(|bytes| is_archive(bytes)) {
        Some(bytes) => input.archive = Some(bytes.to_vec()),
        None => input.text = read(body)?,
    }
    // Off the threads that answer others: a text may have a million characters.
    let answer = off_thread(move || Import::run(input, &Client::new())).await?;
    let answer = answer.map_err(|refusal| Problem::of_refusal(refusal, false))?;
    match answer.faults() {
        Some(faults) => Err(Problem::unreadable_text(faults.to_vec())),
        None => Ok(json_response(&Import::output(&answer).said())),
    }
}

fn read(body: Result<Bytes, BytesRejection>) -> Result<String, Problem> {
    let text = request_body::text_within(body, "a text", interchange::MAX_CONFIG_BYTES)?;
    let max_bytes = max_bytes(&text);
    if text.len() > max_bytes {
        let why = format!("a text that is no JSON has at most {max_bytes} bytes");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, why));
    }
    Ok(text)
}

/// The input of an address, in which `answer`, `set`, `env`, `arg` and `model` may stand several
/// times.
fn parameters(raw: &str) -> Result<Input, Problem> {
    let mut input = Input::default();
    let mut rest: Vec<&str> = vec![];
    for pair in raw.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = query::decoded(value)?.into_owned();
        match name {
            "answer" => input.answer.push(value),
            "set" => input.set.push(value),
            "env" => input.env.push(value),
            "arg" => input.args.get_or_insert_default().0.push(value),
            "model" => input.model = Some(value),
            _ => rest.push(pair),
        }
    }
    let rest = rest.join("&");
    let [format, preset, entry] = query::parameters(&rest, ["format", "preset", "entry"])?;
    let format = query::choice("format", format.as_deref().unwrap_or("auto"), &Dialect::ALL)?;
    input.format = Some(format);
    input.preset = preset.map(|preset| preset.into_owned());
    input.entry = entry.map(|entry| entry.into_owned());
    Ok(input)
}
