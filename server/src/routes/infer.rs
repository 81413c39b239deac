//! `POST /api/v1/infer`: a design file in, how it would serve out.
//!
//! A design whose serving breaks rules is answered too: the same object, with its violations.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use model::file::{self, json};

use super::json::json_response;
use super::page::off_thread;
use crate::inferred;
use crate::problem::Problem;
use crate::receiving;

/// The object of `moescape infer --json`.
pub(super) async fn infer(body: Result<Bytes, BytesRejection>) -> Result<Response, Problem> {
    let text = receiving::text(body, "a design")?;
    let tree = json::parse(&text).map_err(|error| Problem::unreadable_design(vec![error]))?;
    let design = file::read(&tree).map_err(Problem::unreadable_design)?;
    let answer = off_thread(move || inferred::inferred(&design, &[])).await?;
    Ok(json_response(&answer))
}
