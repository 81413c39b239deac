//! `POST /api/v1/experts`: a router trace of tasks in, what it says of a design's experts out; and
//! `POST /api/v1/experts/scores`: the scores of such a trace as CSV, as the page reads them.
//!
//! The design is in the address, as in a link. Nothing is kept.

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

use super::json::json_response;
use super::trace;
use crate::ground::calendar;
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::work::in_turn;
use crate::state::AppState;
use crate::{net::query, store::traces};

/// Names of parameters in the address beside the design.
const NAMES: [&str; 3] = ["share", "generate", "seed"];

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
    let [visited] = query::parameters(&query, ["visited"])?;
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
    let is_own = |pair: &&str| NAMES.contains(&pair.split('=').next().unwrap_or(""));
    let (own, of_design): (Vec<&str>, Vec<&str>) = query.split('&').partition(is_own);
    let own = own.join("&");
    let [share, tasks, seed] = query::parameters(&own, NAMES)?;
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
