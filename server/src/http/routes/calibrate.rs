//! `POST /api/v1/calibrate`: runs of one's own in, the state of their software out. Nothing is
//! stored.

use std::fmt::Display;

use axum::extract::State;
use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::design::{Design, KnobId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use validation::own::read::read_within;
use validation::own::{Calibration, CalibrationInput, calibrate};

use crate::answers::calibrated::{self, MAX_FILES};
use crate::answers::validated::Sent;
use crate::http::endpoint::{self, JSON, endpoints, of};
use crate::http::file_form::{self, FileFields};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::work::in_turn;
use crate::state::AppState;

/// Bytes of a form, at most: of all its files as they are sent.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// Bytes of one file once it is unpacked, at most.
const MAX_UNPACKED: u64 = 256 << 20;

/// Settings of one form, at most.
const MAX_SETTINGS: usize = 200;

/// Form as it was sent.
#[derive(Debug, Default, JsonSchema)]
#[schemars(inline, extend("required" = ["file"]))]
pub(super) struct Form {
    /// The files.
    #[schemars(rename = "file", schema_with = "files")]
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// A text in place of a file.
    pub(super) text: String,
    /// A preset with what a log or profile leaves open: its cluster, and the whole design where it
    /// prints no arguments.
    pub(super) preset: String,
    /// The accelerator of logs, which don't name it.
    pub(super) accelerator: String,
    /// Sets a knob in every run, `KNOB=VALUE`.
    #[schemars(with = "Vec<String>")]
    pub(super) set: String,
    /// Name of the profile.
    pub(super) name: String,
}

fn files(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": endpoint::bytes(generator)})
}

endpoints! {
    /// Fit the state of your software to runs of your own
    ///
    /// The files are tables of runs (CSV with the columns of `moescape validate --runs`), logs of
    /// Megatron-LM or MindSpeed-LLM, or operator times of a profile (a Chrome trace of the PyTorch
    /// profiler, or `kernel_details.csv`, `op_summary_*.csv` or `op_statistic.csv` of Ascend's),
    /// packed by gzip or not. The answer is a profile: a few knobs of the section `kernel` that
    /// replace the family's constants, with a link and a part of a design file, what the runs tell
    /// of each constant, and every run's error before, with the profile, and with constants that
    /// were fitted without it. What the runs don't tell stays the family's. Nothing is stored.
    post "/api/v1/calibrate" => runs as calibrate {
        .takes_as("multipart/form-data", of::<Form>).body_limit(MAX_BYTES)
        .answers_as(JSON, of::<Sent<Calibration>>, "The profile and what it rests on.")
        .fails(400, "The form can't be read, or has no file.")
        .fails(422, "The files make no profile: one entry in `errors` for each reason, with file \
            and line where there is one.")
        .fails(429, "Files of yours are being read; wait for that.")
    }
}

/// Reasons why there is no profile: one line for each thing that is wrong.
pub(super) type Refused = (StatusCode, Vec<String>);

/// The object of `moescape calibrate --json`.
pub(super) async fn runs(
    State(state): State<AppState>,
    Client(client): Client,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    let form = read_form(form).await.map_err(problem)?;
    // As with other files that are long to read: whoever sends many waits.
    let made = in_turn(&state.traces.readers, &client, move || {
        found(&form).map(|found| calibrated::json(&found))
    });
    let json = made.await?.map_err(problem)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

fn problem((status, lines): Refused) -> Problem {
    Problem::unusable_files(status, lines)
}

/// The profile of what was sent.
pub(super) fn found(form: &Form) -> Result<Calibration, Refused> {
    let bad = |lines: Vec<String>| (StatusCode::UNPROCESSABLE_ENTITY, lines);
    let asked = asked(form).map_err(|lines| (StatusCode::BAD_REQUEST, lines))?;
    let pasted = ("pasted".to_owned(), form.text.as_bytes().to_vec());
    let pasted = Some(pasted).filter(|_| !form.text.trim().is_empty());
    let given: Vec<&(String, Vec<u8>)> = form.files.iter().chain(&pasted).collect();
    if given.is_empty() {
        let line = "there is no file: choose tables of runs or logs, or paste one";
        return Err((StatusCode::BAD_REQUEST, vec![line.to_owned()]));
    }
    let (mut files, mut errors) = (vec![], vec![]);
    for (name, bytes) in given {
        match read_within(bytes.as_slice(), MAX_UNPACKED) {
            Ok(content) => files.push((name.clone(), content)),
            Err(lines) => errors.extend(lines.iter().map(|line| format!("{name}: {line}"))),
        }
    }
    if errors.is_empty() { calibrate(files, &asked).map_err(bad) } else { Err(bad(errors)) }
}

/// Settings in the form, beside the files.
fn asked(form: &Form) -> Result<CalibrationInput, Vec<String>> {
    let one = |error: &dyn Display| vec![error.to_string()];
    let base = Some(form.preset.trim()).filter(|preset| !preset.is_empty());
    let base = base.map(Design::from_preset).transpose().map_err(|error| one(&error))?;
    let mut settings = vec![];
    let accelerator = form.accelerator.trim();
    if !accelerator.is_empty() {
        settings.push((KnobId::accelerator, accelerator.to_owned()));
    }
    let lines = form.set.lines().map(str::trim).filter(|line| !line.is_empty());
    for line in lines {
        if settings.len() >= MAX_SETTINGS {
            return Err(vec![format!("at most {MAX_SETTINGS} knobs are set")]);
        }
        let (knob, value) = line.split_once('=').ok_or_else(|| {
            let shown: String = line.chars().take(80).collect();
            vec![format!("a knob is set by KNOB=VALUE, not `{shown}`")]
        })?;
        let knob = KnobId::find(knob.trim()).map_err(|error| one(&error))?;
        settings.push((knob, value.trim().to_owned()));
    }
    let name = Some(form.name.trim()).filter(|name| !name.is_empty()).map(ToOwned::to_owned);
    Ok(CalibrationInput { base, settings, name })
}

/// Reads a form to its end; fields that it doesn't know are passed over.
pub(super) async fn read_form(
    multipart: Result<Multipart, MultipartRejection>,
) -> Result<Form, Refused> {
    let one = |(status, line): (StatusCode, String)| (status, vec![line]);
    let bad = |line: String| one((StatusCode::BAD_REQUEST, line));
    let FileFields { files, texts } = file_form::read(multipart, too_large).await.map_err(one)?;
    if files.len() > MAX_FILES {
        return Err(bad(format!("at most {MAX_FILES} files are read")));
    }
    let mut form = Form { files, ..Form::default() };
    for (name, bytes) in texts {
        let text = String::from_utf8(bytes);
        let text = text.map_err(|error| bad(format!("{name} is not UTF-8 text: {error}")))?;
        match name.as_str() {
            "text" => form.text = text,
            "preset" => form.preset = text,
            "accelerator" => form.accelerator = text,
            "name" => form.name = text,
            // An empty field stays one, with its example.
            "set" if text.trim().is_empty() => {}
            "set" => {
                form.set.push_str(&text);
                form.set.push('\n');
            }
            _ => {}
        }
    }
    Ok(form)
}

/// Error for files that are too many bytes.
pub(super) fn too_large() -> String {
    format!("all files have at most {} MiB; pack them by gzip", MAX_BYTES >> 20)
}
