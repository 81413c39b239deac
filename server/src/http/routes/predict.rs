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

use super::json::json_response;
use crate::designs::bodies::Batch;
use crate::net::problem::Problem;
use crate::net::query;
use crate::net::request_body;
use crate::net::work::off_thread;
use crate::report::MAX_DESIGNS;
use crate::report::{self, Asked};

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
    let [verdict] = query::parameters(query, ["verdict"])?;
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
