//! `GET /export` and `/export/{name}`.

use axum::http::StatusCode;
use interchange::{Format, import};
use model::design::file::json;
use model::design::link;
use testing::text::{assert_text, expect};

use crate::TestApp;

const QUERY: &str = "v=1&preset=deepseek-v3&parallel.tensor_model_parallel_size=2";

/// A design that breaks no rule.
const LEGAL: &str = "v=1&preset=deepseek-v3";

#[tokio::test]
async fn the_sheet_leads_to_files_that_make_the_design_again() {
    let app = TestApp::new();
    let sheet = app.get(&format!("/export?{QUERY}")).await;
    assert_eq!(sheet.status, StatusCode::OK);
    let policy = sheet.header("content-security-policy");
    assert!(policy.split("; ").any(|rule| rule.starts_with("script-src 'self'")), "{policy}");
    let links = sheet.page().links();
    let design = link::decode(QUERY).unwrap();
    for (name, format) in [
        ("megatron.sh", Format::Megatron),
        ("mindspeed.sh", Format::Mindspeed),
        ("bridge.py", Format::Megatron),
        ("mindformers.yaml", Format::Mindspeed),
        ("torchtitan.toml", Format::Megatron),
        ("deepspeed.json", Format::Megatron),
        ("accelerate.yaml", Format::Megatron),
        ("design.json", Format::Design),
        ("design.toml", Format::Design),
    ] {
        let address = format!("/export/{name}?{QUERY}");
        assert!(links.contains(&address), "{name}");
        let file = app.get(&address).await;
        assert_eq!(file.status, StatusCode::OK, "{}", file.text());
        let disposition = file.header("content-disposition");
        assert!(disposition.starts_with("attachment; filename=\"moescape-deepseek-v3-"));
        assert!(disposition.ends_with(&format!("-{name}\"")), "{disposition}");
        let made = import(format, file.text(), None);
        assert_eq!(made.design.as_ref(), Some(&design), "{name}: {:?}", made.errors);
        assert_eq!((made.unknown.len(), made.errors.len()), (0, 0), "{name}");
    }
    let file = app.get(&format!("/export/design.json?{QUERY}")).await;
    assert_eq!(json::read(file.text()), Ok(design));
    assert!(!app.has_store(), "an export stores nothing");
}

#[tokio::test]
async fn the_numbers_of_files_are_those_of_the_api() {
    let app = TestApp::new();
    let body = r#"{"schema":1,"preset":"deepseek-v3"}"#;
    let predicted = app.post("/api/v1/predict", body).await.json();
    let metrics = app.get("/export/metrics.json?v=1&preset=deepseek-v3").await.json();
    assert_eq!(metrics["metrics"], predicted["metrics"]);
    assert_eq!(metrics["stages"], predicted["stages"]);
    let csv = app.get("/export/metrics.csv?v=1&preset=deepseek-v3").await;
    let mfu = csv.text().lines().find(|line| line.starts_with("step,,mfu,")).unwrap();
    let value: f64 = mfu.split(',').nth(3).unwrap().parse().unwrap();
    let expected = predicted["metrics"]["mfu"].as_f64().unwrap();
    assert_eq!(value.to_bits(), expected.to_bits());
    let trace = app.get("/export/timeline.json?v=1&preset=deepseek-v3").await.json();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 100);
}

#[tokio::test]
async fn what_can_not_be_exported_is_refused_with_the_reason() {
    let app = TestApp::new();
    let unknown = app.get("/export/design.xlsx").await.detail(StatusCode::NOT_FOUND);
    assert_text(
        &unknown,
        &expect![[r#"
            there is no such file; known are megatron.sh, mindspeed.sh, bridge.py,
                mindformers.yaml, torchtitan.toml, deepspeed.json, accelerate.yaml, engine.txt,
                design.json, design.toml, metrics.csv, metrics.json, metrics.parquet,
                timeline.json
        "#]],
    );
    let broken = app.get("/export/metrics.csv?pp=12").await;
    assert_text(
        &broken.detail(StatusCode::UNPROCESSABLE_ENTITY),
        &expect![[r#"
            this design can't run, so that it has no numbers: 61 layers + 1 MTP + 2 no-op = 64
                slots can't be split evenly over PP 12 x VPP 2 = 24 chunks; a Megatron that
                doesn't check it trains 48 layers
        "#]],
    );
    app.get("/export?tp=eight").await.problem(StatusCode::BAD_REQUEST);
    app.get("/export/design.toml?tp=eight").await.problem(StatusCode::BAD_REQUEST);
    let sheet = app.page("/export?pp=12").await;
    let warning = sheet.texts(".share-warning").concat();
    assert!(warning.starts_with("This design can't run, so it has no numbers."), "{warning}");
}

#[tokio::test]
async fn a_script_is_for_a_launcher_and_its_report_says_what_it_really_does() {
    let app = TestApp::new();
    let sheet = app.page(&format!("/export?{LEGAL}&launcher=slurm")).await;
    assert_eq!(sheet.text(".export-launchers [aria-current=true]"), "Slurm batch job");
    assert_eq!(sheet.texts(".export-text summary")[0], "Check before the run");
    let file = app.get(&format!("/export/megatron.sh?{LEGAL}&launcher=slurm")).await;
    assert!(file.text().lines().any(|line| line.starts_with("srun torchrun ")), "{}", file.text());
    let report = app.get(&format!("/export/megatron.sh?{LEGAL}&report=json")).await.json();
    let mut lines = report["text"].as_str().unwrap().lines();
    let run = "torchrun \"${DISTRIBUTED_ARGS[@]}\"";
    assert!(lines.any(|line| line.starts_with(run)), "{}", report["text"]);
    assert!(report["design"]["memory_peak_bytes"].as_f64().unwrap() > 0.0, "{report}");
    assert!(!report["checks"].as_array().unwrap().is_empty());
    app.get(&format!("/export?{LEGAL}&launcher=ray")).await.problem(StatusCode::BAD_REQUEST);
    let csv = app.get(&format!("/export/metrics.csv?{LEGAL}&report=json")).await;
    csv.problem(StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn the_sheet_says_what_a_script_has_no_word_for_and_what_that_costs() {
    let app = TestApp::new();
    let more = "memory.recompute_granularity=selective&training.micro_batch_size=2\
                &memory.recompute_modules=moe_permute,moe_act,layernorm";
    let sheet = app.page(&format!("/export?{LEGAL}&{more}")).await;
    let lost =
        "It has no word for memory.recompute_modules = moe_permute,moe_act,layernorm.".to_owned();
    assert!(sheet.texts(".share-warning p").contains(&lost), "{}", sheet.words());
}

#[tokio::test]
async fn programs_get_a_file_as_text_with_its_report() {
    let app = TestApp::new();
    let body = r#"{"preset": "deepseek-v3", "format": "megatron", "launcher": "slurm"}"#;
    let made = app.post("/api/v1/export", body).await.json();
    let file = app.get(&format!("/export/megatron.sh?{LEGAL}&launcher=slurm&report=json")).await;
    assert_eq!(made, file.json());
    let body = r#"{"preset": "deepseek-v3", "set": ["tp=2"], "format": "toml"}"#;
    let made = app.post("/api/v1/export", body).await.json();
    assert_eq!(made["text"], app.get(&format!("/export/design.toml?{QUERY}")).await.text());
    assert_eq!(made["differs"], false);
    let body = r#"{"preset": "deepseek-v3", "format": "csv", "full": true}"#;
    let problem = app.post("/api/v1/export", body).await.problem(StatusCode::BAD_REQUEST);
    assert_eq!(problem["errors"][0]["pointer"], "/full");
}

#[tokio::test]
async fn the_loads_of_a_design_are_routed_for_programs() {
    let app = TestApp::new();
    let routed = app.post("/api/v1/routing", r#"{"preset": "pangu-ultra-moe-6k@2"}"#).await.json();
    assert_eq!((&routed["ranks"], routed["layers"].as_array().unwrap().len()), (&32.into(), 58));
    let even = r#"{"preset": "pangu-ultra-moe-6k@2", "set": ["balance=uniform", "planner=none"]}"#;
    let problem = app.post("/api/v1/routing", even).await;
    problem.problem(StatusCode::UNPROCESSABLE_ENTITY);
}
