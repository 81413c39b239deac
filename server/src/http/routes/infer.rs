//! `POST /api/v1/infer` and `/api/v1/infer/layouts`: a design file in, how it would serve out, or
//! which layouts there are.
//!
//! A design whose serving breaks rules is answered too: the same object, with its violations.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use model::design::Design;
use model::design::file::{self, json};
use model::search::find::OneThread;

use super::json::json_response;
use crate::net::problem::Problem;
use crate::net::request_body;
use crate::net::work::off_thread;
use crate::{inferred, layouts};

/// The object of `moescape infer --layouts --json`.
pub(super) async fn layouts(body: Result<Bytes, BytesRejection>) -> Result<Response, Problem> {
    let design = design(body)?;
    let answer = off_thread(move || layouts::layouts(&design, &OneThread)).await?;
    Ok(json_response(&answer))
}

/// The object of `moescape infer --json`.
pub(super) async fn infer(body: Result<Bytes, BytesRejection>) -> Result<Response, Problem> {
    let design = design(body)?;
    let answer = off_thread(move || inferred::inferred(&design, &[])).await?;
    Ok(json_response(&answer))
}

fn design(body: Result<Bytes, BytesRejection>) -> Result<Design, Problem> {
    let text = request_body::text(body, "a design")?;
    let tree = json::parse(&text).map_err(|error| Problem::unreadable_design(vec![error]))?;
    file::read(&tree).map_err(Problem::unreadable_design)
}
