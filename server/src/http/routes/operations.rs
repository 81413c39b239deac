//! `POST /api/v1/NAME` of every operation: arguments or a design file in, the answer out.
//!
//! A design that breaks rules is answered too: the same object, with its violations.

use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use axum::routing::post;
use model::design::file::{Tree, json};
use operations::{Caller, Entry, OPERATIONS, is_file};

use super::json::json_response;
use crate::ground::calendar;
use crate::net::problem::Problem;
use crate::net::request_body;
use crate::net::work::off_thread;
use crate::state::AppState;

/// Whoever waits for a response.
struct Client {
    began: Instant,
}

impl Caller for Client {
    fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn today(&self) -> String {
        calendar::today()
    }
}

/// The routes of the operations.
pub(super) fn routes() -> Router<AppState> {
    let entries = OPERATIONS.iter().filter(|entry| entry.has_route);
    entries.fold(Router::new(), |routes, entry| {
        let path = format!("/api/v1/{}", entry.name);
        routes.route(&path, post(move |body| answer(entry, body)))
    })
}

/// The object of the operation's command with `--json`.
async fn answer(
    entry: &'static Entry,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let text = request_body::text(body, "a design or arguments")?;
    let body = json::parse(&text).map_err(|error| Problem::unreadable_design(vec![error]))?;
    // A design file by itself is the arguments' design.
    let is_design = is_file(&body);
    let arguments = if is_design { Tree::map([("design", body)]) } else { body };
    let client = Client { began: Instant::now() };
    let answered = off_thread(move || (entry.answer)(arguments, &client)).await?;
    let answered = answered.map_err(|refusal| Problem::of_refusal(refusal, is_design))?;
    Ok(json_response(&answered.tree))
}
