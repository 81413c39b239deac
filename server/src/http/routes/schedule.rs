//! `GET /schedule/of?DESIGN`: leads to the page `/schedule` with a design's schedule and its mean
//! task times.

use axum::extract::Request;
use axum::response::Redirect;
use present::written::schedule_of;

use crate::net::problem::Problem;
use crate::net::work::off_thread;

/// A design that breaks a rule, or that isn't understood, leads to the page that says so.
pub(super) async fn redirect(request: Request) -> Result<Redirect, Problem> {
    let raw = request.uri().query().unwrap_or_default().to_owned();
    let address = off_thread(move || schedule_of(&raw)).await?;
    Ok(Redirect::to(&address))
}
