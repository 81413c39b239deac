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
    let ids: Vec<&str> = text.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(ids, runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_page_reads_without_a_script() {
    let page = TestApp::new().page("/trust").await;
    let report = validation::validate(validation::runs::published());
    assert_eq!(page.text("head title"), "How far to trust the numbers · Moescape");
    let headline = unbroken(&present::page::trust::words::headline(&report.summary));
    assert_eq!(page.text(".trust-headline"), headline);
    let words = page.words();
    for target in &report.summary.targets {
        let asked = unbroken(&present::page::trust::words::limit(target));
        assert!(words.contains(&asked), "{}", target.name);
    }
    for refusal in &report.summary.refusals {
        // The page begins it with a capital.
        let reason = &refusal.reason[1..];
        assert!(words.contains(reason), "{reason}");
    }
    let opened = report.rows[..25].iter().filter(|row| row.design.is_some()).count();
    assert_eq!(page.count("a[aria-label$=' in the explorer']"), opened);
}

#[tokio::test]
async fn a_filter_in_the_address_is_applied_and_is_never_markup() {
    let app = TestApp::new();
    let page = app.page("/trust?source=zero_bubble&show=compared").await;
    assert!(page.texts("[role=status]").concat().starts_with("48 of "), "{}", page.words());
    let ids = page.texts(".run-id");
    assert!(ids.len() == 25 && ids.iter().all(|id| id.starts_with("zero_bubble-")), "{ids:?}");
    let wild = "q=%3Cscript%3Ealert(1)%3C/script%3E&tier=%22%3E%3Cimg%3E&page=9";
    let page = app.page(&format!("/trust?{wild}")).await;
    assert!(page.texts("td").contains(&"No run matches.".to_owned()));
    assert_eq!(page.attribute("input[name=q]", "value"), "<script>alert(1)</script>");
    assert!(!page.has("script:not([nonce])") && !page.has("img:not([src])"));
}

#[tokio::test]
async fn sweeps_are_named_in_words_the_worst_first() {
    let page = TestApp::new().page("/trust").await;
    let tables = ["[aria-label^='Sweeps, worst first']", "[aria-label^='Sweeps, the rest']"];
    let cells = tables.map(|table| page.texts(&format!("{table} tbody tr td:last-child"))).concat();
    let correlations: Vec<f64> =
        cells.iter().map(|cell| cell.replace('−', "-").parse().unwrap()).collect();
    assert!(correlations.len() > 10, "{correlations:?}");
    assert!(correlations.is_sorted(), "{correlations:?}");
    let words = tables.map(|table| page.text(table)).concat();
    for id in ["step_time_seconds", "tokens_per_second", "-sxm-", "–"] {
        assert!(!words.contains(id), "{id}");
    }
}

#[tokio::test]
async fn a_refused_run_says_why_in_its_row() {
    let page = TestApp::new().page("/trust?show=refused").await;
    let rows = page.parts("tr:has(.run-id) td:last-child");
    assert!(rows.len() > 5, "{}", rows.len());
    assert!(rows.iter().all(|row| row.words().starts_with("Not modelled: ")), "{}", page.words());
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
