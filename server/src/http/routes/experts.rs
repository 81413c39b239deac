//! `POST /api/v1/experts`: a router trace of tasks in, what it says of a design's experts out; and
//! `POST /api/v1/experts/scores`: the scores of such a trace as CSV, as the page reads them.
//!
//! The design is in the address, as in a link. Nothing is kept.

use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::routing::pattern::{self, Goal, Patterns};
use operations::experts::{Experts, Input};
use operations::{Caller, Operation as _, Origin, Refusal, Wrong};
use reports::typed::Said as _;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::json::json_response;
use super::trace;
use crate::ground::calendar;
use crate::http::endpoint::{CSV, PARQUET, bytes, endpoints, of, text, words};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::query::{self, parameter_list};
use crate::net::work::in_turn;
use crate::state::AppState;
use crate::store::traces;

parameter_list! { DESIGN:
    /// The preset, as in a link; knobs stand beside it.
    preset(query::preset).example("deepseek-r1-96-h100"),
}

parameter_list! { PARAMETERS:
    /// Rule by which kept experts are shared out over layers.
    share(|| query::one_of(&Goal::ALL)).example("mean"),
    /// Tasks whose scores are generated where the body is empty.
    generate(|| query::whole_to(Patterns::MAX_TASKS as u64)),
    /// The seed of what is generated.
    seed(|| query::whole_from(0)).example("1"),
}

parameter_list! { OF_SCORES:
    /// Experts that a token visits: so many of its logits count.
    visited(|| query::whole_to(Patterns::MAX_EXPERTS as u64)).example("8"),
}

/// Scores of experts by task and layer, as the model's reader takes them.
struct ExpertScores;

impl JsonSchema for ExpertScores {
    fn schema_name() -> Cow<'static, str> {
        "ExpertScores".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let token = "Of logits: the token that they are of.";
        let tcess = "The sum of the scores of a task's tokens.";
        let most = Patterns::MAX_EXPERTS - 1;
        json_schema!({
            "description": "Scores of experts by task and layer.",
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "task": {"type": "string", "minLength": 1, "maxLength": 200},
                    "token": {"type": ["integer", "null"], "minimum": 0, "description": token},
                    "layer": {"type": "integer", "minimum": 0, "maximum": u32::MAX},
                    "expert": {"type": "integer", "minimum": 0, "maximum": most},
                    "tcess": {"type": "number", "description": tcess},
                    "logit": {"type": "number", "description": "Of one token."},
                },
                "required": ["task", "layer", "expert"],
                "oneOf": [{"required": ["tcess"]}, {"required": ["logit"]}],
                "additionalProperties": false,
            },
        })
    }
}

const AS_TABLE: &str = "task,layer,expert,tcess\nmath,0,0,0.5\nmath,0,7,1.5\ncode,0,3,2\n";
const AS_JSON: &str = r#"[{"task": "math", "token": 0, "layer": 0, "expert": 5, "logit": 1.5}]"#;

endpoints! {
    /// Experts that are kept or on the host, and what a router trace says of them
    ///
    /// The design stands in the address as in a link: `preset` and every knob that differs, among
    /// them `serving.experts_kept`, `serving.experts_kept_topk` and `serving.experts_on_host`. The
    /// body is a router trace of tasks in CSV, JSON or Parquet, or empty. Nothing of it is kept.
    post "/api/v1/experts" => experts as experts {
        .with(DESIGN).with(PARAMETERS)
        .takes_as(CSV, text).example(AS_TABLE)
        .takes(of::<ExpertScores>).example(AS_JSON)
        .takes_as(PARQUET, bytes).or_nothing().body_limit(trace::MAX_BYTES)
        .answers(of::<operations::experts::ExpertsSaid>)
        .fails(400, words::TRACE).fails(429, words::TRACES)
    }

    /// The scores of a router trace as CSV
    ///
    /// A trace in CSV, JSON or Parquet comes back with the columns `task`, `layer`, `expert` and
    /// `tcess`; logits of tokens become means. Nothing of it is kept.
    post present::page::serving::SCORES_PATH => scores as expertScores {
        .with(OF_SCORES)
        .takes_as(CSV, text).example(AS_TABLE)
        .takes(of::<ExpertScores>).example(AS_JSON)
        .takes_as(PARQUET, bytes).body_limit(trace::MAX_BYTES)
        .answers_as(CSV, text, "The scores.")
        .fails(400, words::TRACE).fails(429, words::TRACES)
    }
}

/// The object of `moescape experts --json`.
pub(super) async fn experts(
    State(state): State<AppState>,
    Client(client): Client,
    RawQuery(query): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let input = input(&query.unwrap_or_default())?;
    let answered = move |body: &Bytes| {
        let answer = Experts::run(input, &Sender { began: Instant::now(), body });
        answer.map(|answer| Experts::output(&answer).said()).map_err(problem)
    };
    Ok(json_response(&read_in_turn(&state, &client, body, answered).await?))
}

/// The scores of a trace, as a file for other programs.
pub(super) async fn scores(
    State(state): State<AppState>,
    Client(client): Client,
    RawQuery(query): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let query = query.unwrap_or_default();
    let [visited] = query::parameters(&query, OF_SCORES)?;
    let visited = match visited {
        Some(text) => number("visited", &text, 1, Patterns::MAX_EXPERTS as u64)? as usize,
        None => 1,
    };
    let read = move |body: &Bytes| {
        let patterns = traces::read_patterns(body, visited).map_err(Problem::unreadable_trace)?;
        Ok(pattern::text::write(&patterns))
    };
    let text = read_in_turn(&state, &client, body, read).await?;
    Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text).into_response())
}

/// Reads a body when it is this address's turn.
async fn read_in_turn<T: Send + 'static>(
    state: &AppState,
    client: &str,
    body: Result<Bytes, BytesRejection>,
    read: impl FnOnce(&Bytes) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    // Whoever is slow to send it keeps nobody from having theirs read.
    let body = body.map_err(|error| trace::unread(&error))?;
    in_turn(&state.traces.readers, client, move || read(&body)).await?
}

/// The input of an address: a design, and beside its knobs how experts are shared out, and tasks
/// whose scores are to be generated, with the seed.
fn input(query: &str) -> Result<Input, Problem> {
    let names = PARAMETERS.map(|it| it.name);
    let is_own = |pair: &&str| names.contains(&pair.split('=').next().unwrap_or(""));
    let (own, of_design): (Vec<&str>, Vec<&str>) = query.split('&').partition(is_own);
    let own = own.join("&");
    let [share, tasks, seed] = query::parameters(&own, names)?;
    let share =
        share.map_or(Ok(Goal::Equal), |share| query::choice("share", &share, &Goal::ALL))?;
    let seed = seed.map_or(Ok(1), |text| number("seed", &text, 0, u64::MAX))?;
    let most = Patterns::MAX_TASKS as u64;
    let tasks = tasks.map(|text| number("generate", &text, 1, most)).transpose()?;
    let generated = tasks.map(|tasks| (tasks as usize, seed));
    Ok(Input::of_link(format!("?{}", of_design.join("&")), generated, share))
}

/// Whoever sent a trace, or an empty body.
struct Sender<'a> {
    began: Instant,
    body: &'a Bytes,
}

impl Caller for Sender<'_> {
    fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn today(&self) -> String {
        calendar::today()
    }

    fn patterns(&self, _: Option<&Path>, visited: usize) -> Result<Option<Patterns>, Refusal> {
        if self.body.is_empty() {
            return Ok(None);
        }
        let read = traces::read_patterns(self.body, visited);
        read.map(Some).map_err(|errors| Refusal::of(errors.into_iter().map(Wrong::from)))
    }
}

/// A refusal as this route has always said it: a sentence, or places of the design or trace.
fn problem(refusal: Refusal) -> Problem {
    let details = refusal.errors.iter().map(|wrong| wrong.detail.as_str());
    let details = details.collect::<Vec<_>>().join("; ");
    match refusal.errors.first().map(|wrong| wrong.origin) {
        Some(Origin::Rule) => refused(format!("the design can't serve: {details}")),
        Some(Origin::Request | Origin::Option) => refused(details),
        Some(Origin::Design | Origin::Trace) | None => Problem::of_refusal(refusal, true),
    }
}

fn refused(detail: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, detail)
}

/// A whole number of the address within these ends.
fn number(name: &str, text: &str, least: u64, most: u64) -> Result<u64, Problem> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| refused(format!("`{name}` is a whole number from {least} to {most}")))
}
