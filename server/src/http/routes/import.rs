//! `POST /api/v1/import`: a config.json, launch script or argument file in, its design out.

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::Response;
use interchange::{Answers, is_archive, unpacked};
use model::design::Design;
use reports::imported::Imported;
use schemars::{Schema, json_schema};

use super::json::json_response;
use crate::http::endpoint::{endpoints, of, text as any_text};
use crate::imported;
use crate::net::problem::Problem;
use crate::net::query::{self, parameter_list};
use crate::net::request_body;
use crate::net::work::off_thread;

parameter_list! { ONCE:
    /// Writer of the text; `auto`, the default, goes by what stands in it.
    format(|| query::one_of(&imported::FORMATS)).example("auto"),
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
    let raw = raw.unwrap_or_default();
    let (rest, answers) = answers(&raw)?;
    let [format, preset, entry] = query::parameters(&rest, ONCE)?;
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
