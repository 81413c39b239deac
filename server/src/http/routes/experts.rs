//! `POST /api/v1/experts`: a router trace of tasks in, what it says of a design's experts out; and
//! `POST /api/v1/experts/scores`: the scores of such a trace as CSV, as the page reads them.
//!
//! The design is in the address, as in a link. Nothing is kept.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::design::file::Tree;
use model::design::link;
use model::routing::pattern::{self, Generator, Goal, Patterns};
use model::serving::ServingPlan;
use model::serving::experts::Experts;

use super::json::json_response;
use super::trace;
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::work::in_turn;
use crate::state::AppState;
use crate::{experts, net::query, store::traces};

/// Names of parameters in the address beside the design.
const NAMES: [&str; 3] = ["share", "generate", "seed"];

/// The object of `moescape experts --json`.
pub(super) async fn experts(
    State(state): State<AppState>,
    Client(client): Client,
    RawQuery(query): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let asked = Asked::new(&query.unwrap_or_default())?;
    let answer = read_in_turn(&state, &client, body, move |body| asked.answer(body)).await?;
    Ok(json_response(&answer))
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

/// Request in an address.
struct Asked {
    plan: ServingPlan,
    experts: Experts,
    goal: Goal,
    /// Tasks whose scores are to be generated, and the seed.
    generated: Option<(usize, u64)>,
}

impl Asked {
    fn new(query: &str) -> Result<Self, Problem> {
        let is_own = |pair: &&str| NAMES.contains(&pair.split('=').next().unwrap_or(""));
        let (own, of_design): (Vec<&str>, Vec<&str>) = query.split('&').partition(is_own);
        let own = own.join("&");
        let [share, tasks, seed] = query::parameters(&own, NAMES)?;
        let design = link::decode(&of_design.join("&")).map_err(Problem::unreadable_design)?;
        let plan = ServingPlan::new(&design).map_err(|broken| {
            let broken: Vec<String> = broken.into_iter().map(|rule| rule.message).collect();
            refused(format!("the design can't serve: {}", broken.join("; ")))
        })?;
        let experts =
            Experts::new(&plan).ok_or_else(|| refused("the model has no experts".to_owned()))?;
        let goal = match share {
            Some(share) => query::choice("share", &share, &Goal::ALL)?,
            None => Goal::Equal,
        };
        let seed = seed.map_or(Ok(1), |text| number("seed", &text, 0, u64::MAX))?;
        let most = Patterns::MAX_TASKS as u64;
        let tasks = tasks.map(|text| number("generate", &text, 1, most)).transpose()?;
        let generated = tasks.map(|tasks| (tasks as usize, seed));
        Ok(Self { plan, experts, goal, generated })
    }

    fn answer(&self, body: &Bytes) -> Result<Tree, Problem> {
        let patterns = match (body.is_empty(), self.generated) {
            (true, None) => None,
            (true, Some((tasks, seed))) => {
                let (layers, routed) = (self.experts.layers as usize, self.experts.routed as usize);
                let generator = Generator::new(seed, tasks, layers, routed);
                let most = Patterns::MAX_SCORES;
                let short = || refused(format!("tasks x layers x experts are at most {most}"));
                Some(generator.patterns().ok_or_else(short)?)
            }
            (false, None) => {
                let read = traces::read_patterns(body, self.experts.visited());
                Some(read.map_err(Problem::unreadable_trace)?)
            }
            (false, Some(_)) => {
                return Err(refused(
                    "there is a trace and `generate`: one of them is enough".to_owned(),
                ));
            }
        };
        experts::answer(&self.plan, patterns.as_ref(), self.goal).map_err(refused)
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
