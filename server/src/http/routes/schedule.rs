//! `GET /schedule/of?DESIGN`: leads to the page `/schedule` with a design's schedule and its mean
//! task times.

use axum::extract::Request;
use axum::response::Redirect;
use model::design::link;
use present::page::schedule::{of_design, query};

use crate::net::problem::Problem;
use crate::net::work::off_thread;

/// A design that breaks a rule, or that isn't understood, leads to the page that says so.
pub(super) async fn redirect(request: Request) -> Result<Redirect, Problem> {
    let raw = request.uri().query().unwrap_or_default().to_owned();
    let address = off_thread(move || {
        let input = link::decode(&raw).ok().and_then(|design| of_design(&design));
        input.map_or_else(|| format!("/?{raw}"), |input| query::address(&input))
    });
    let address = address.await?;
    Ok(Redirect::to(&address))
}
