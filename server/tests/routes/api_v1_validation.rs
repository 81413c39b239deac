//! `GET /api/v1/validation`, `/api/v1/validation.csv`, `/trust`.

use axum::http::StatusCode;
use present::format::unbroken;
use serde_json::Value;

use crate::TestApp;

#[tokio::test]
async fn every_published_run_is_there_with_a_prediction_or_a_reason() {
    let answer = TestApp::new().get("/api/v1/validation").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-type"), "application/json");
    let report = answer.json();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), validation::runs::published().len());
    for row in rows {
        let is_refused = row["refused"].is_string();
        assert_ne!(is_refused, row["design"].is_string(), "{row}");
        assert!(!is_refused || row["error"].is_null(), "{row}");
    }
    assert!(report["summary"]["all"]["median"].is_number());
    assert!(report["summary"]["targets"].as_array().is_some_and(|targets| !targets.is_empty()));
    assert_eq!(report["model_version"], model::MODEL_VERSION);
}

#[tokio::test]
async fn a_report_that_is_known_is_not_sent_again() {
    let app = TestApp::new();
    for path in ["/api/v1/validation", "/api/v1/validation.csv", "/api/v1/validation/serving"] {
        let first = app.get(path).await;
        assert_eq!(first.header("cache-control"), "public, no-cache");
        let etag = first.header("etag").to_owned();
        let again = app.get_with(path, "if-none-match", &format!("\"x\", {etag}")).await;
        assert_eq!((again.status, again.bytes.len()), (StatusCode::NOT_MODIFIED, 0));
        assert_eq!(again.header("etag"), etag);
        let other = app.get_with(path, "if-none-match", "\"x\"").await;
        assert_eq!(other.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn the_table_has_a_line_for_every_run() {
    let answer = TestApp::new().get("/api/v1/validation.csv").await;
    assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
    let runs = validation::runs::published();
    let text = answer.text();
    assert!(text.starts_with("id,source_id,tier,"), "{}", &text[..80]);
    for run in runs {
        assert!(text.contains(&format!("\r\n{},", run.id)), "{}", run.id);
    }
}

#[tokio::test]
async fn the_page_reads_without_a_script() {
    let answer = TestApp::new().get("/trust").await;
    assert_eq!(answer.status, StatusCode::OK);
    let page = answer.text();
    let report = validation::validate(validation::runs::published());
    let headline = unbroken(&present::page::trust::words::headline(&report.summary));
    assert!(page.contains(&headline), "no headline");
    assert!(page.contains("<title>How far to trust the numbers"), "no title");
    for target in &report.summary.targets {
        let asked = unbroken(&present::page::trust::words::limit(target));
        assert!(page.contains(&asked), "{}", target.name);
    }
    for refusal in &report.summary.refusals {
        // The page begins it with a capital.
        let reason = &refusal.reason[1..];
        assert!(page.contains(reason), "{reason}");
    }
    assert_eq!(page.matches("in the explorer\">Open</a>").count(), opened(&report.rows[..25]));
}

fn opened(rows: &[validation::report::Row]) -> usize {
    rows.iter().filter(|row| row.design.is_some()).count()
}

#[tokio::test]
async fn a_filter_in_the_address_is_applied_and_is_never_markup() {
    let app = TestApp::new();
    let page = app.get("/trust?source=zero_bubble&show=compared").await;
    assert!(page.text().contains("48 of "));
    assert_eq!(page.text().matches("run-id\">zero_bubble-").count(), 25);
    let page =
        app.get("/trust?q=%3Cscript%3Ealert(1)%3C/script%3E&tier=%22%3E%3Cimg%3E&page=9").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text().contains("No run matches."));
    assert!(!page.text().contains("<script>alert") && !page.text().contains("\"><img>"));
}

#[tokio::test]
async fn sweeps_are_named_in_words_the_worst_first() {
    let answer = TestApp::new().get("/trust").await;
    let table = |caption: &str| {
        let (_, rest) = answer.text().split_once(caption).unwrap();
        rest.split_once("</table>").unwrap().0.to_owned()
    };
    let tables = table("Sweeps, worst first") + &table("Sweeps, the rest");
    let last_cells =
        tables.split("</tr>").filter_map(|row| row.rsplit_once("<td")?.1.split_once('>'));
    let correlations: Vec<f64> = last_cells
        .map(|(_, cell)| cell.split('<').next().unwrap().replace('−', "-").parse().unwrap())
        .collect();
    assert!(correlations.len() > 10, "{correlations:?}");
    assert!(correlations.is_sorted(), "{correlations:?}");
    for id in ["step_time_seconds", "tokens_per_second", "-sxm-", "–"] {
        assert!(!tables.contains(id), "{id}");
    }
}

#[tokio::test]
async fn a_refused_run_says_why_in_its_row() {
    let answer = TestApp::new().get("/trust?show=refused").await;
    let rows = answer.text().matches("run-id\">").count();
    assert!(rows > 5, "{rows}");
    assert_eq!(answer.text().matches("Not modelled: ").count(), rows);
}

#[tokio::test]
async fn every_design_of_a_run_opens() {
    let report: Value = TestApp::new().get("/api/v1/validation").await.json();
    for row in report["rows"].as_array().unwrap() {
        let Some(link) = row["design"].as_str() else { continue };
        let design =
            model::design::link::decode(link).unwrap_or_else(|errors| panic!("{row}: {errors:?}"));
        assert!(model::Plan::new(&design).is_ok(), "{row}");
    }
}
