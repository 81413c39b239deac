//! `GET /serving/measured`: measured loads of a design's model and accelerator, for the chart of
//! its page.

use app::page::serving::measured::{Measured, Point};
use axum::extract::RawQuery;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use model::design::Design;
use model::link;
use validation::serving::points;

use super::page::off_thread;
use crate::problem::Problem;

/// Prompts and answers of loads that are shown are at most so many times as long or as short.
const TIMES: f64 = 1.5;

/// The loads of the design that the query names, a line each.
pub(super) async fn measured(RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let answer = off_thread(move || {
        let design = link::decode(&query.unwrap_or_default()).ok()?;
        Some(of(&design))
    });
    let text = answer.await?.unwrap_or_default().write();
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

/// The loads of a design, which the page has when it is written.
pub(super) fn of(design: &Design) -> Measured {
    let (near, others) = points::near(design, TIMES);
    let points = near.into_iter().map(|point| Point {
        per_user: point.per_user,
        per_device: point.per_device,
        name: format!("{}, {}", point.framework, point.id),
        link: link::encode(&point.design),
    });
    Measured { points: points.collect(), others }
}
