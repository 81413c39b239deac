//! `POST /api/v1/NAME` of every operation: arguments or a design file in, the answer out.
//!
//! A design that breaks rules is answered too: the same object, with its violations. What the
//! address has behind its `?` are arguments, too. A search takes seconds of all cores: few run at
//! once, one of each client. Work whose client is gone ends with its next step.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::post;
use model::design::file::{Tree, json};
use operations::{Caller, Entry, OPERATIONS, entry, infer, is_file};

use super::json::json_response;
use crate::ground::calendar;
use crate::http::endpoint::Endpoint;
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::query;
use crate::net::request_body;
use crate::net::work::{in_turn, off_thread};
use crate::state::AppState;

/// Layouts that serve, which the command has as a flag.
static LAYOUTS: Entry = entry::<infer::Layouts>();

/// Whoever waits for a response.
pub(super) struct Waiting {
    began: Instant,
    gone: Arc<AtomicBool>,
}

impl Waiting {
    /// Whoever waits from now on for an answer that comes at once.
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), gone: Arc::default() }
    }
}

impl Caller for Waiting {
    fn waits(&self) -> bool {
        !self.gone.load(Ordering::Relaxed)
    }

    fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn today(&self) -> String {
        calendar::today()
    }
}

/// Client that waits for an answer. The server drops what it does for one that went away, or that
/// waited too long, and this with it.
#[derive(Debug, Default)]
struct Asker {
    gone: Arc<AtomicBool>,
}

impl Asker {
    fn waiting(&self) -> Waiting {
        Waiting { began: Instant::now(), gone: Arc::clone(&self.gone) }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

/// The endpoints of the operations that take arguments as they are.
pub(super) fn endpoints() -> Vec<Endpoint> {
    OPERATIONS.iter().chain([&LAYOUTS]).filter(|entry| entry.has_route).map(endpoint).collect()
}

fn endpoint(entry: &'static Entry) -> Endpoint {
    let path = format!("/api/v1/{}", entry.name);
    let doc = format!("{}\n\n{}", entry.summary, entry.description);
    let handler =
        post(move |State(state): State<AppState>, Client(client), RawQuery(raw), body| {
            answer(entry, state, client, raw, body)
        });
    let endpoint = Endpoint::new("post", path, handler)
        .documented(entry.name, &doc)
        .takes(entry.body)
        .answers(entry.output.part)
        .fails(422, "The arguments can be read, and have no answer.");
    let endpoint = entry.examples.iter().fold(endpoint, |endpoint, example| {
        endpoint.named_example(example.name, example.summary, example.arguments)
    });
    if !entry.is_search {
        return endpoint;
    }
    endpoint
        .fails(429, "A search of this address is under way.")
        .fails(503, "The answer took longer than a request may.")
}

/// The object of the operation's command with `--json`.
async fn answer(
    entry: &'static Entry,
    state: AppState,
    client: String,
    address: Option<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let parameters = query::pairs(address.as_deref().unwrap_or_default())?;
    let text = request_body::text(body, "a design or arguments")?;
    let body = json::parse(&text).map_err(|error| Problem::unreadable_design(vec![error]))?;
    // A design file by itself is the arguments' design.
    let is_design = is_file(&body);
    let arguments = if is_design { Tree::map([("design", body)]) } else { body };
    let refused = |refusal| Problem::of_refusal(refusal, is_design);
    let arguments = entry.arguments(arguments, parameters).map_err(refused)?;
    let answered = if entry.is_search {
        searched(&state, &client, move |waiting| (entry.answer)(arguments, waiting)).await?
    } else {
        let asker = Asker::default();
        let waiting = asker.waiting();
        off_thread(move || (entry.answer)(arguments, &waiting)).await?
    };
    Ok(json_response(&answered.map_err(refused)?.tree))
}

/// A client's search, in its turn: `search` ends once it hears that its client is gone.
pub(super) async fn searched<T: Send + 'static>(
    state: &AppState,
    client: &str,
    search: impl FnOnce(&Waiting) -> T + Send + 'static,
) -> Result<T, Problem> {
    let asker = Asker::default();
    let gone = Arc::clone(&asker.gone);
    let search = move || search(&Waiting { began: Instant::now(), gone });
    in_turn(&state.finders, client, search).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_goes_away_is_gone() {
        let asker = Asker::default();
        let waiting = asker.waiting();
        assert!(waiting.waits());
        drop(asker);
        assert!(!waiting.waits());
    }
}
