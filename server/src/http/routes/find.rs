//! `POST /api/v1/find`: a design and a query on it in, the best layouts out.
//!
//! A search takes seconds of all cores. Few run at once, one of each client; one whose asker is
//! gone ends with its next step.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::Response;
use model::design::file::{self, Tree, json};
use model::ground::knob::KnobError;
use model::ground::text::closest;
use model::search::find::Query;
use reports::found::Terms;
use reports::typed::Said;

use super::json::json_response;
use crate::answers::find::{FoundAnswer, found};
use crate::designs::bodies::FindQuery;
use crate::http::endpoint::{endpoints, of};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::request_body;
use crate::net::work::in_turn;
use crate::state::AppState;

endpoints! {
    /// Find the fastest, the safest and the simplest layout
    ///
    /// The body is a design, whose model, machine and batch stay, and what is asked of it. Degrees
    /// of parallelism, micro-batch, schedule and overlaps, recomputation, swapping, sharding and
    /// layout are searched; what is proposed is timed by simulation and leaves at least 3 % of the
    /// memory free. With `serve` layouts and loads of serving are searched. The same query has the
    /// same answer on every machine, but for `seconds`. A search takes seconds of all cores: one
    /// runs for each address, and it ends when its client goes away. Where no layout fits and
    /// reaches the targets, `designs` is empty and `miss` says what comes nearest.
    post "/api/v1/find" => find as findLayouts {
        .takes(of::<FindQuery>)
        .named_example("layout", "The fastest layout",
            r#"{"design": {"schema": 1, "preset": "qwen3-30b-a3b"}}"#)
        .named_example("kept", "The safest, with a target, on one pipeline stage",
            r#"{"design": {"schema": 1, "preset": "qwen3-30b-a3b",
                    "parallel": {"pipeline_model_parallel_size": 1}},
                "goal": "safest", "question": "layout", "targets": ["mfu>=0.1"],
                "keep": ["pp"], "any_schedule": false}"#)
        .named_example("serving", "The layout that serves most tokens within a time per token",
            r#"{"design": {"schema": 1, "preset": "deepseek-r1-96-h100"},
                "serve": true, "targets": ["tpot_seconds<=0.05"]}"#)
        .answers(of::<FoundAnswer>)
        .fails(422, "The design breaks rules that no layout mends.")
        .fails(429, "A search of this address is under way.")
        .fails(503, "The answer took longer than a request may.")
    }
}

/// The object of `moescape find --json`.
pub(super) async fn find(
    State(state): State<AppState>,
    Client(client): Client,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let text = request_body::text(body, "a query")?;
    let query = query(&text)?;
    let found = searched(&state, &client, move |gone| {
        found(&query, |_| ended(gone)).map(|found| found.map(Said::said)).transpose()
    });
    let tree = found.await?.map_err(Problem::broken_rules)?;
    Ok(json_response(&tree))
}

/// A client's search, in its turn: `search` ends once it hears that its client is gone.
pub(super) async fn searched<T: Send + 'static>(
    state: &AppState,
    client: &str,
    search: impl FnOnce(&AtomicBool) -> Option<T> + Send + 'static,
) -> Result<T, Problem> {
    let asker = Asker::default();
    let gone = Arc::clone(&asker.gone);
    let said = in_turn(&state.finders, client, move || search(&gone));
    // Whoever is gone hears nothing.
    let ended = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the search was ended");
    said.await?.ok_or_else(ended)
}

/// The end of a search whose client is gone.
pub(super) fn ended(gone: &AtomicBool) -> ControlFlow<()> {
    match gone.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

/// Client that waits for an answer. The server drops what it does for one that went away, or that
/// waited too long, and this with it.
#[derive(Debug, Default)]
struct Asker {
    gone: Arc<AtomicBool>,
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

/// The query of a body, or everything that is wrong with it.
fn query(text: &str) -> Result<Query, Problem> {
    let tree = json::parse(text).map_err(|error| Problem::unreadable_query(vec![error], vec![]))?;
    let Tree::Map(entries) = &tree else {
        let detail = "a query is a map with `design` in it";
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    };
    let mut errors = Vec::new();
    for (place, (key, _)) in entries.iter().enumerate() {
        if !FindQuery::KEYS.contains(&key.as_str()) {
            errors.push(unknown(key));
        } else if entries[..place].iter().any(|(earlier, _)| earlier == key) {
            errors.push(wrong("repeated_key", key, format!("`{key}` stands in the query twice")));
        }
    }
    let asked = FindQuery::read(&tree, |key, detail| errors.push(wrong("wrong_type", key, detail)));
    let FindQuery { design, goal, question, targets, keep, any_schedule, serve } = asked;
    let terms = Terms { serve, goal: goal.0, question: question.0, targets, keep, any_schedule };
    let (design, of_design) = match design.as_ref().map(file::read) {
        Some(Ok(design)) => (Some(design), vec![]),
        Some(Err(of_design)) => (None, of_design),
        None => {
            let detail = "the query lacks `design`, a design file such as {\"schema\": 1}";
            errors.push(wrong("missing_design", "design", detail.to_owned()));
            (None, vec![])
        }
    };
    // Terms are checked all the same where the design can't be read.
    let stand_in = || model::design::link::salvage("").0;
    let query = terms.query(design.unwrap_or_else(stand_in));
    let query = query.map_err(|of_terms| errors.extend(of_terms));
    match query {
        Ok(query) if errors.is_empty() && of_design.is_empty() => Ok(query),
        _ => Err(Problem::unreadable_query(errors, of_design)),
    }
}

fn unknown(key: &str) -> KnobError {
    let key: String = key.chars().take(80).collect();
    let known = FindQuery::KEYS;
    let nearest = closest(&key, known.iter(), |known| known).map(|it| (*it).to_owned());
    let detail = format!("a query has no `{key}`; it has {}", known.join(", "));
    KnobError { rule: "unknown_key", knob: key, detail, nearest: nearest.into_iter().collect() }
}

fn wrong(rule: &'static str, key: &str, detail: String) -> KnobError {
    KnobError { rule, knob: key.to_owned(), detail, nearest: vec![] }
}

#[cfg(test)]
mod tests {
    use model::design::Design;

    use super::*;

    #[test]
    fn a_search_whose_asker_is_gone_ends_with_its_next_step() {
        let query = Query::new(Design::from_preset("qwen3-30b-a3b").unwrap());
        let answer = |gone| found(&query, |_| ended(&AtomicBool::new(gone))).unwrap();
        assert!(answer(true).is_none());
        let found = answer(false).unwrap().said();
        assert!(matches!(found.get("designs"), Some(Tree::List(designs)) if designs.len() > 2));
    }

    #[test]
    fn whoever_goes_away_is_gone() {
        let asker = Asker::default();
        let gone = Arc::clone(&asker.gone);
        assert!(!gone.load(Ordering::Relaxed));
        drop(asker);
        assert!(gone.load(Ordering::Relaxed));
    }
}
