//! `POST /api/v1/budget`: a design file in, what its run costs out; and the same of a link, as a
//! table or as a brief.
//!
//! A design that breaks rules is answered too: the same object, with its violations.

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::extract::rejection::BytesRejection;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use model::design::Design;
use model::design::file::{self, Tree, json};
use model::ground::knob::KnobError;
use model::ground::text::closest;
use reports::budgeted::Budgeted;
use reports::typed::DesignFile;

use super::json::json_response;
use crate::budgeted;
use crate::designs::bodies::BudgetPair;
use crate::http::endpoint::{either, endpoints, of};
use crate::net::problem::Problem;
use crate::net::work::off_thread;
use crate::{ground::calendar, net::request_body};

endpoints! {
    /// Count what a design's run costs
    ///
    /// The body is a design file, JSON, with section `run`; or `{"design": ..., "baseline": ...}`
    /// of two of them, where laws of loss say how the first compares with the second. What isn't
    /// known is null: without failures and a rate of checkpoints there is no goodput, and days are
    /// a floor. A design that breaks rules of the model is no error: its metrics are null, and
    /// `violations` has the reasons with the nearest legal values.
    post "/api/v1/budget" => budget as budget {
        .takes(either::<DesignFile, BudgetPair>)
        .example(r#"{"design": {"schema": 1, "preset": "pangu-ultra-moe-6k@2",
                "transformer": {"num_moe_experts": 128},
                "run": {"train_tokens": 19000000000000, "price_per_device_hour": 2,
                    "mtbf_device_hours": 50676, "checkpoint_gb_per_sec": 100}},
            "baseline": {"schema": 1, "preset": "pangu-ultra-moe-6k@2",
                "run": {"train_tokens": 19000000000000, "price_per_device_hour": 2,
                    "mtbf_device_hours": 50676, "checkpoint_gb_per_sec": 100}}}"#)
        .answers(of::<Budgeted>)
    }
}

/// The object of `moescape budget --json`.
pub(super) async fn budget(body: Result<Bytes, BytesRejection>) -> Result<Response, Problem> {
    let text = request_body::text(body, "a design")?;
    let tree = json::parse(&text).map_err(|error| Problem::unreadable_design(vec![error]))?;
    let (design, baseline) = designs(&tree).map_err(Problem::unreadable_design)?;
    let answer = off_thread(move || budgeted::budgeted(&design, baseline.as_ref())).await?;
    Ok(json_response(&answer))
}

/// The design of a body, and its baseline: the body is a design file, or has two.
fn designs(tree: &Tree) -> Result<(Design, Option<Design>), Vec<KnobError>> {
    let BudgetPair { design, baseline } = BudgetPair::read(tree, |_, _| {});
    let Some(own) = design else { return Ok((file::read(tree)?, None)) };
    let (mut errors, known) = (Vec::new(), BudgetPair::KEYS);
    if let Tree::Map(entries) = tree {
        let others = entries.iter().filter(|(key, _)| !known.contains(&key.as_str()));
        errors.extend(
            others.map(|(key, _)| KnobError {
                rule: "unknown_key",
                knob: key.clone(),
                detail: format!("there is no key `{key}` beside a design"),
                nearest: closest(key, known.iter(), |it| it)
                    .map(|it| (*it).to_owned())
                    .into_iter()
                    .collect(),
            }),
        );
    }
    let mut read = |tree: &Tree| file::read(tree).map_err(|more| errors.extend(more)).ok();
    let own = read(&own);
    let baseline = baseline.filter(|it| *it != Tree::Null).and_then(|it| read(&it));
    match own {
        Some(own) if errors.is_empty() => Ok((own, baseline)),
        _ => Err(errors),
    }
}

/// The budget of a link as a table for other programs.
pub(super) async fn table(RawQuery(query): RawQuery) -> Result<Response, Problem> {
    written(query, "text/csv; charset=utf-8", "moescape-budget.csv", present::page::budget::csv)
        .await
}

/// The budget of a link as a brief in Markdown.
pub(super) async fn brief(RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let kind = "text/markdown; charset=utf-8";
    written(query, kind, "moescape-budget.md", present::page::budget::markdown).await
}

async fn written(
    query: Option<String>,
    kind: &'static str,
    name: &'static str,
    write: fn(&str, &str) -> Result<String, Vec<KnobError>>,
) -> Result<Response, Problem> {
    let query = query.unwrap_or_default();
    let text = off_thread(move || write(&query, &calendar::today())).await?;
    let text = text.map_err(Problem::unreadable_design)?;
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, text).into_response())
}
