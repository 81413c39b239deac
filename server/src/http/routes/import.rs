//! `POST /api/v1/import`: a config.json, launch script or argument file in, its design out.

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::Response;
use interchange::is_archive;
use operations::import::{Dialect, Import, Imported, Input, max_bytes};
use operations::{Kind, Operation, Refusal, Wrong};
use reports::typed::Said;
use schemars::{Schema, json_schema};

use super::json::json_response;
use super::operations::Waiting;
use crate::http::endpoint::{endpoints, of, text as any_text};
use crate::net::problem::Problem;
use crate::net::query::{self, parameter_list};
use crate::net::request_body;
use crate::net::work::off_thread;

parameter_list! { ONCE:
    /// Writer of the text; `auto`, the default, goes by what stands in it.
    format(|| query::one_of(&Dialect::ALL)).example("auto"),
    /// Preset of what the text can't speak of: for a `config.json` all but the shape of the model,
    /// for a script the cluster.
    preset(query::preset),
    /// Path of the file that starts the run, of several; found by itself where it isn't said.
    entry(query::text),
}

parameter_list! { ANSWERS:
    /// Answers a question by its own name: `model=qwen3-8b`, `env NNODES=4`, `arg 2=64`,
    /// `num_devices=64`.
    answer(|| several("^[^=]+=")),
    /// Sets a knob, `KNOB=VALUE`; it wins over the text.
    set(|| several("^[^=]+=")),
    /// A variable that the script is run with, `NAME=VALUE`.
    env(|| several("^[A-Za-z_][A-Za-z0-9_]*=")),
    /// An argument of the script, from `$1` on, one for each.
    arg(|| json_schema!({"type": "array", "items": query::text()})),
    /// The model, where its name in the text says nothing: a preset's id or a name of the hub.
    model(query::text),
}

const SCRIPT: &str = "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 32 \
    --hidden-size 4096 --num-attention-heads 32 --vocab-size 128256 --swiglu \
    --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 256 --bf16";

const CONFIG: &str = r#"{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
    "num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 128256}"#;

/// Schema of a parameter that may stand in an address several times, with a pattern.
fn several(pattern: &str) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "pattern": pattern}})
}

endpoints! {
    /// Make a design of a config.json, a launch script, an argument file or a design file
    ///
    /// The body is the text: Hugging Face's `config.json`, a launch script, recipe, YAML, TOML or
    /// JSON of Megatron-LM, MindSpeed-LLM and the frameworks around them, or a design file as JSON
    /// or TOML. Several files are an archive (zip, tar, tar.gz), or stand one behind another, each
    /// below a line `==> path <==`. Nothing of it is dropped in silence: beside the design stand
    /// what was set and by which key, what was assumed, what changes nothing and why, and what
    /// isn't known. What the text leaves open is in `questions`, each with what follows from it
    /// and, where something suggests one, the guess that the design has; the parameter `answer`
    /// answers any of them by its name, `set`, `env`, `arg` and `model` those of a kind. Any text
    /// but a `config.json` has at most 1 MiB. A design that breaks rules is no error; `violations`
    /// has the reasons.
    post "/api/v1/import" => text as importText {
        .with(ONCE).with(ANSWERS)
        .takes_as("text/plain", any_text)
        .named_example("script", "A launch script", SCRIPT)
        .named_example("config", "A config.json", CONFIG)
        .body_limit(interchange::MAX_CONFIG_BYTES)
        .answers(of::<Imported>)
        .fails(400, "The text makes no design: one entry in `errors` for each reason, whose \
            pointer names the line, such as `/line/12`.")
    }
}

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
    let answer = off_thread(move || Import::run(input, &Waiting::new())).await?;
    let answer = answer.map_err(problem)?;
    match answer.faults() {
        Some(faults) => Err(Problem::unreadable_text(faults.to_vec())),
        None => Ok(json_response(&Import::output(&answer).said())),
    }
}

/// Problem of a call that isn't answered. What is wrong stands in the address, where no pointer
/// leads.
fn problem(refusal: Refusal) -> Problem {
    match refusal.kind {
        Kind::Unreadable => {
            let lines: Vec<String> = refusal.errors.iter().map(Wrong::line).collect();
            Problem::new(StatusCode::BAD_REQUEST, lines.join("; "))
        }
        Kind::Unanswerable | Kind::Missed | Kind::Ended | Kind::Internal => {
            Problem::of_refusal(refusal, false)
        }
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
    let [format, preset, entry] = query::parameters(&rest, ONCE)?;
    let format = query::choice("format", format.as_deref().unwrap_or("auto"), &Dialect::ALL)?;
    input.format = Some(format);
    input.preset = preset.map(|preset| preset.into_owned());
    input.entry = entry.map(|entry| entry.into_owned());
    Ok(input)
}
