//! `POST /api/v1/calibrate`: runs of one's own in, the state of their software out. Nothing is
//! stored.

use ::operations::calibrate::{Answer, Calibrate, Input, MAX_FILES, RunFile};
use ::operations::{Kind, Operation, Wrong};
use axum::extract::State;
use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::http::StatusCode;
use axum::response::Response;
use model::design::KnobId;
use reports::typed::Said;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::json::json_response;
use super::operations;
use crate::http::endpoint::{self, JSON, endpoints, of};
use crate::http::file_form::{self, FileFields};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::work::in_turn;
use crate::state::AppState;

/// Bytes of a form, at most: of all its files as they are sent.
pub(super) const MAX_BYTES: usize = 64 << 20;

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
        .answers_as(JSON, of::<<Calibrate as Operation>::Output>,
            "The profile and what it rests on.")
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
    let mut form = read_form(form).await.map_err(problem)?;
    // As with other files that are long to read: whoever sends many waits.
    let made = in_turn(&state.traces.readers, &client, move || {
        found(&mut form).map(|answer| Calibrate::output(&answer).said())
    });
    Ok(json_response(&made.await?.map_err(problem)?))
}

fn problem((status, lines): Refused) -> Problem {
    Problem::unusable_files(status, lines)
}

/// The profile of what was sent, whose files it takes.
pub(super) fn found(form: &mut Form) -> Result<Answer, Refused> {
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let pasted = given(&form.text).map(|_| ("pasted".to_owned(), form.text.as_bytes().to_vec()));
    let files = std::mem::take(&mut form.files).into_iter().chain(pasted);
    let accelerator = given(&form.accelerator);
    let accelerator = accelerator.map(|it| format!("{}={it}", KnobId::accelerator.id()));
    let input = Input {
        files: files.map(|(name, bytes)| RunFile::Sent(name, bytes)).collect(),
        preset: given(&form.preset),
        set: accelerator.into_iter().chain(form.set.lines().filter_map(given)).collect(),
        name: given(&form.name),
    };
    Calibrate::run(input, &operations::Waiting::new()).map_err(|refusal| {
        let status = match refusal.kind {
            Kind::Unreadable => StatusCode::BAD_REQUEST,
            Kind::Unanswerable | Kind::Missed | Kind::Ended | Kind::Internal => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
        };
        (status, refusal.errors.iter().map(Wrong::line).collect())
    })
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
