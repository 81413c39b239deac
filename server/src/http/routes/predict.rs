//! `POST /api/v1/predict`: a design file in, its prediction out; or a batch of them.
//!
//! A design that breaks rules is answered too: the same object, with its violations.

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::response::Response;
use model::Estimator;
use model::design::Design;
use model::design::file::{self, Tree, json};
use reports::typed::DesignFile;
use schemars::json_schema;

use super::json::json_response;
use crate::designs::bodies::Batch;
use crate::http::endpoint::{JSON, either, endpoints};
use crate::net::problem::Problem;
use crate::net::query::{self, parameter_list};
use crate::net::request_body;
use crate::net::work::off_thread;
use crate::report::MAX_DESIGNS;
use crate::report::{self, Asked, Prediction, Predictions};

parameter_list! { PARAMETERS:
    /// Make the verdict on memory: what fills it, and what one change of a knob does. It tries many
    /// other designs; without it `verdict` is null.
    verdict(|| json_schema!({"type": "boolean", "default": false})),
}

endpoints! {
    /// Predict one design, or a batch
    ///
    /// The body is a design file, JSON: a preset and what differs from it. `{"designs": [...]}` is
    /// a batch; one with a design that can't be read is refused as a whole. A design that breaks
    /// rules of the model is no error: its metrics are null, and `violations` has the reasons with
    /// the nearest legal values.
    post "/api/v1/predict" => predict as predict {
        .with(PARAMETERS)
        .takes(either::<DesignFile, Batch>)
        .named_example("one", "One design", r#"{"schema": 1, "preset": "deepseek-v3-2k-h800",
            "parallel": {"pipeline_model_parallel_size": 8}}"#)
        .named_example("batch", "A batch", r#"{"designs": [{"schema": 1},
            {"schema": 1, "parallel": {"tensor_model_parallel_size": 4}}]}"#)
        .answers_as(JSON, either::<Prediction, Predictions>,
            "The prediction, or one for each design of the batch, in its order.")
        .fails(422, format!("The batch has no design or more than {MAX_DESIGNS}."))
    }
}

/// The object of `moescape predict --json`; for `{"designs": [...]}`, one for each of them. The
/// verdict on memory is made for `?verdict=true`.
pub(super) async fn predict(
    RawQuery(query): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let asked = asked(query.as_deref().unwrap_or_default())?;
    let text = request_body::text(body, "a design or batch")?;
    let tree = json::parse(&text).map_err(|error| Problem::unreadable_design(vec![error]))?;
    let answer = if tree.get("designs").is_some() {
        let designs = batch(&tree)?;
        off_thread(move || report::predict_all(&designs, asked)).await?
    } else {
        let design = file::read(&tree).map_err(Problem::unreadable_design)?;
        off_thread(move || report::predict(&mut Estimator::new(), &design, asked)).await?
    };
    Ok(json_response(&answer))
}

/// Whether the address asks for the verdict beside the numbers.
fn asked(query: &str) -> Result<Asked, Problem> {
    let [verdict] = query::parameters(query, PARAMETERS)?;
    match verdict.as_deref() {
        None | Some("false") => Ok(Asked::Numbers),
        Some("true") => Ok(Asked::Verdict),
        Some(_) => Err(Problem::new(StatusCode::BAD_REQUEST, "`verdict` takes `true` or `false`")),
    }
}

/// The designs of a batch, or everything that is wrong with any of them.
fn batch(tree: &Tree) -> Result<Vec<Design>, Problem> {
    let wrong = |detail: String| Problem::new(StatusCode::BAD_REQUEST, detail);
    let mut mistakes = vec![];
    let Batch { designs: items } = Batch::read(tree, |_, detail| mistakes.push(detail));
    let Tree::Map(entries) = tree else { return Err(wrong("not an object".to_owned())) };
    if let Some(mistake) = mistakes.pop() {
        return Err(wrong(mistake));
    }
    let is_known = |key: &str| Batch::KEYS.contains(&key);
    if let Some((key, _)) = entries.iter().find(|(key, _)| !is_known(key)) {
        let key: String = key.chars().take(80).collect();
        return Err(wrong(format!("a batch has `designs` and nothing else, not `{key}`")));
    }
    if items.is_empty() || items.len() > MAX_DESIGNS {
        let count = items.len();
        let detail = format!(
            "a batch has 1 to {MAX_DESIGNS} designs, not {count}; POST /api/v1/sweeps evaluates \
             many"
        );
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
    }
    let (mut designs, mut errors) = (Vec::new(), Vec::new());
    for (place, item) in items.iter().enumerate() {
        match file::read(item) {
            Ok(design) => designs.push(design),
            Err(of_design) => errors.push((place, of_design)),
        }
    }
    if errors.is_empty() { Ok(designs) } else { Err(Problem::unreadable_batch(errors)) }
}
