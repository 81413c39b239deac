//! `POST /api/v1/import`: a config.json, launch script or argument file in, its design out.

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::Response;
use interchange::{Answers, is_archive, unpacked};
use model::design::Design;

use super::json::json_response;
use crate::imported;
use crate::net::problem::Problem;
use crate::net::query;
use crate::net::request_body;
use crate::net::work::off_thread;

/// The object of `moescape import --json`.
pub(super) async fn text(
    RawQuery(raw): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let raw = raw.unwrap_or_default();
    let (rest, answers) = answers(&raw)?;
    let names = ["format", "preset", "entry"];
    let [format, preset, entry] = query::parameters(&rest, names)?;
    let format = query::choice("format", format.as_deref().unwrap_or("auto"), &imported::FORMATS)?;
    let base = preset.as_deref().map(Design::from_preset).transpose();
    let base = base.map_err(|error| Problem::new(StatusCode::BAD_REQUEST, error.to_string()))?;
    let bad = |why: String| Problem::new(StatusCode::BAD_REQUEST, why);
    let packed = body.as_ref().ok().filter(|bytes| is_archive(bytes)).cloned();
    let text = if packed.is_some() {
        String::new()
    } else {
        request_body::text_within(body, "a text", interchange::MAX_CONFIG_BYTES)?
    };
    let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    let most = interchange::MAX_BYTES;
    if text.len() > most && !is_json {
        let why = format!("a text that is no JSON has at most {most} bytes");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, why));
    }
    let entry = entry.map(std::borrow::Cow::into_owned);
    // Off the threads that answer others: a text may have a million characters.
    let made = off_thread(move || {
        let files = packed.as_deref().map(unpacked);
        imported::read((&text, files), (format, entry.as_deref()), base.as_ref(), &answers)
    });
    let made = made.await?.map_err(bad)?;
    if made.design.is_none() {
        return Err(Problem::unreadable_text(made.errors));
    }
    Ok(json_response(&imported::report(&made)))
}

/// The answers of an address, `answer`, `set`, `env`, `arg` and `model`, which may stand there
/// several times, and what else is in it.
fn answers(raw: &str) -> Result<(String, Answers), Problem> {
    let mut answers = Answers::default();
    let mut rest: Vec<&str> = vec![];
    for pair in raw.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = query::decoded(value)?;
        let added = match name {
            "answer" => crate::answers::import_answers::answer(&mut answers, &value),
            "set" => crate::answers::import_answers::set(&mut answers, &value),
            "env" => crate::answers::import_answers::env(&mut answers, &value),
            "model" => crate::answers::import_answers::add(&mut answers, "model", &value),
            "arg" => {
                answers.arguments.push(value.into_owned());
                Ok(())
            }
            _ => {
                rest.push(pair);
                Ok(())
            }
        };
        added.map_err(|why| Problem::new(StatusCode::BAD_REQUEST, why))?;
    }
    Ok((rest.join("&"), answers))
}
