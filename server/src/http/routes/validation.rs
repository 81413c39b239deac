//! `GET /api/v1/validation`, `/api/v1/validation.csv` and `/api/v1/validation/serving`: published
//! runs beside their predictions.

use axum::Extension;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use operations::WithProvenance;
use present::page::trust;
use validation::report::Validation;
use validation::report::serving::ServingValidation;

use crate::answers::validated::{Validated, validated};
use crate::http::endpoint::{CSV, JSON, endpoints, of, text};
use crate::net::problem::Problem;
use crate::net::response_buffer::Shared;
use crate::net::work::off_thread;

endpoints! {
    /// Published runs beside what the model predicts
    ///
    /// The object of `moescape validate --json`. `ETag` and `If-None-Match` save sending it again.
    get trust::JSON_PATH => json as validation {
        .answers_as(JSON, of::<WithProvenance<Validation>>, "Rows and summary.")
        .ends(304, "You have it.")
    }

    /// Published runs as a table
    get trust::CSV_PATH => csv as validationTable {
        .answers_as(CSV, text, "The rows.").ends(304, "You have it.")
    }

    /// Published runs of serving beside what the model predicts
    ///
    /// The object of `moescape validate --runs FILE --json` for the published runs of serving.
    /// `ETag` and `If-None-Match` save sending it again.
    get trust::SERVING_JSON_PATH => serving as validationServing {
        .answers_as(JSON, of::<WithProvenance<ServingValidation>>,
            "Rows, groups, refusals and targets.")
        .ends(304, "You have it.")
    }
}

/// The object of `moescape validate --json`.
pub(super) async fn json(headers: HeaderMap) -> Result<Response, Problem> {
    let report = report().await?;
    Ok(send(report, &headers, "application/json", &report.json))
}

/// The object of `moescape validate --runs FILE --json` for the published runs of serving.
pub(super) async fn serving(headers: HeaderMap) -> Result<Response, Problem> {
    let report = report().await?;
    Ok(send(report, &headers, "application/json", &report.serving_json))
}

/// Its rows as a table.
pub(super) async fn csv(headers: HeaderMap) -> Result<Response, Problem> {
    let report = report().await?;
    Ok(send(report, &headers, "text/csv; charset=utf-8", &report.csv))
}

/// The report, computed off the threads that answer requests.
pub(super) async fn report() -> Result<&'static Validated, Problem> {
    off_thread(validated).await
}

/// The whole text, or nothing new for those who have it.
fn send(
    report: &'static Validated,
    headers: &HeaderMap,
    content_type: &'static str,
    text: &'static str,
) -> Response {
    let mut answer = HeaderMap::new();
    // Kept by browsers, but asked for again each time: it changes with the server.
    answer.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, no-cache"));
    if let Ok(etag) = HeaderValue::from_str(&report.etag) {
        answer.insert(header::ETAG, etag);
    }
    if is_known(headers, &report.etag) {
        return (StatusCode::NOT_MODIFIED, answer).into_response();
    }
    answer.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    (answer, Extension(Shared), text).into_response()
}

/// Whether the client has this version.
fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let values = headers.get_all(header::IF_NONE_MATCH).iter();
    let mut known = values.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(','));
    known.any(|known| matches!(known.trim(), "*") || known.trim() == etag)
}
