//! `POST /api/v1/predict`.

use axum::http::StatusCode;
use model::design::Design;
use model::design::file::{Extent, json};
use model::metric::{MetricId, Regime};
use model::{Plan, estimate};
use serde_json::Value;

use crate::TestApp;

const PATH: &str = "/api/v1/predict";

#[tokio::test]
async fn a_legal_design_gets_the_models_own_numbers() {
    let design = Design::from_preset("deepseek-v3").unwrap();
    let answer = TestApp::new().post(PATH, json::write(&design, Extent::Changed)).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (StatusCode::OK, "application/json")
    );
    let report = answer.json();
    let expected = estimate(&Plan::new(&design).unwrap());
    let bits = |value: &Value| value.as_f64().unwrap().to_bits();
    assert_eq!(bits(&report["metrics"]["mfu"]), expected.metrics.mfu.to_bits());
    let peak = expected.metrics.memory_peak.get().to_bits();
    assert_eq!(bits(&report["metrics"]["memory_peak_bytes"]), peak);
    assert_eq!(report["metrics"]["fits"], expected.metrics.fits);
    assert_eq!(
        report["metrics"].as_object().unwrap().len(),
        MetricId::of(Regime::Training).count()
    );
    assert_eq!(report["stages"].as_array().unwrap().len(), expected.stages.len());
    assert_eq!(report["communication"].as_array().unwrap().len(), expected.communication.len());
    assert_eq!(report["conventions"].as_array().unwrap().len(), 8);
    let plan = Plan::new(&design).unwrap();
    let ranges = MetricId::of(Regime::Training).filter(|id| model::range(&plan, *id).is_some());
    assert_eq!(report["expected_error"].as_object().unwrap().len(), ranges.count());
    assert!(report["nearest_run"]["model"].is_string(), "{}", report["nearest_run"]);
    assert_eq!(report["violations"], Value::Array(vec![]));
    assert_eq!(report["model_version"], model::MODEL_VERSION);
}

#[tokio::test]
async fn the_parts_of_a_report_add_up() {
    let report = TestApp::new().post(PATH, r#"{"schema":1}"#).await.json();
    let step: f64 = report["step"].as_object().unwrap().values().map(|v| v.as_f64().unwrap()).sum();
    let total = report["metrics"]["step_time_seconds"].as_f64().unwrap();
    assert!((step / total - 1.0).abs() < 1e-9, "{step} {total}");
    for stage in report["stages"].as_array().unwrap() {
        let memory = stage["memory"].as_object().unwrap();
        let sum: f64 = memory.values().map(|part| part.as_f64().unwrap()).sum();
        let peak = stage["memory_peak_bytes"].as_f64().unwrap();
        assert!((sum / peak - 1.0).abs() < 1e-9, "{stage}");
    }
}

#[tokio::test]
async fn the_design_of_a_report_is_a_design_file() {
    let design = Design::from_preset("deepseek-v3-2k-h800").unwrap();
    let report = TestApp::new().post(PATH, json::write(&design, Extent::Changed)).await.json();
    assert_eq!(json::read(&report["design"].to_string()), Ok(design));
}

#[tokio::test]
async fn an_illegal_design_gets_its_violations_and_no_numbers() {
    let body = r#"{"schema":1,"parallel":{"pipeline_model_parallel_size":12}}"#;
    let answer = TestApp::new().post(PATH, body).await;
    assert_eq!(answer.status, StatusCode::OK);
    let report = answer.json();
    assert!(report["metrics"].as_object().unwrap().values().all(Value::is_null));
    assert_eq!(report["stages"], Value::Array(vec![]));
    let violation = &report["violations"][0];
    let knobs = violation["knobs"].as_array().unwrap();
    assert!(knobs.iter().any(|id| id == "parallel.pipeline_model_parallel_size"), "{violation}");
    assert!(!violation["message"].as_str().unwrap().is_empty());
    let nearest = &violation["nearest"][0];
    assert_eq!(nearest["knob"], "parallel.pipeline_model_parallel_size");
    assert!(nearest["value"].is_u64());
}

#[tokio::test]
async fn a_design_that_cannot_be_read_gets_everything_that_is_wrong() {
    let body = r#"{"schema":1,"preset":"deepseek","parallel":{"tp":-1},"training":{"x":1}}"#;
    let problem = TestApp::new().post(PATH, body).await.problem(StatusCode::BAD_REQUEST);
    let errors = problem["errors"].as_array().unwrap();
    let rules: Vec<&str> = errors.iter().map(|error| error["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["unknown_preset", "out_of_range", "unknown_knob"]);
    assert_eq!(errors[1]["pointer"], "/parallel/tensor_model_parallel_size");
    assert_eq!(errors[1]["nearest"][0], "1");
    assert_eq!(errors[2]["detail"], "there is no knob `training.x`");
}

#[tokio::test]
async fn bodies_that_are_no_design_are_refused() {
    let app = TestApp::new();
    let deep = "[".repeat(100_000);
    for body in ["", "{", "null", "[]", "schema = 1", r#"{"schema":2}"#, deep.as_str()] {
        let problem = app.post(PATH, body.to_owned()).await.problem(StatusCode::BAD_REQUEST);
        assert_eq!(problem["errors"].as_array().unwrap().len(), 1, "{body}");
    }
    app.post(PATH, vec![0xff, 0xfe]).await.problem(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn bodies_above_a_mebibyte_are_refused() {
    let app = TestApp::new();
    let spaces = |bytes| format!(r#"{{"schema":1{}}}"#, " ".repeat(bytes));
    assert_eq!(app.post(PATH, spaces(1 << 19)).await.status, StatusCode::OK);
    app.post(PATH, spaces(1 << 20)).await.problem(StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_batch_gets_what_each_design_gets_alone() {
    let app = TestApp::new();
    let designs = [
        r#"{"schema":1}"#,
        r#"{"schema":1,"parallel":{"pipeline_model_parallel_size":12}}"#,
        r#"{"schema":1,"preset":"deepseek-v3-2k-h800"}"#,
    ];
    let batch = app.post(PATH, format!(r#"{{"designs":[{}]}}"#, designs.join(","))).await;
    assert_eq!(batch.status, StatusCode::OK);
    let predictions = batch.json()["predictions"].as_array().unwrap().clone();
    assert_eq!(predictions.len(), designs.len());
    for (design, prediction) in designs.iter().zip(predictions) {
        assert_eq!(app.post(PATH, (*design).to_owned()).await.json(), prediction);
    }
}

#[tokio::test]
async fn a_batch_that_cannot_be_read_gets_everything_that_is_wrong() {
    let app = TestApp::new();
    let body = r#"{"designs":[{"schema":1},{"schema":1,"parallel":{"tp":-1}},3]}"#;
    let problem = app.post(PATH, body).await.problem(StatusCode::BAD_REQUEST);
    let errors = problem["errors"].as_array().unwrap();
    let pointers: Vec<&str> = errors.iter().map(|one| one["pointer"].as_str().unwrap()).collect();
    assert_eq!(pointers, ["/designs/1/parallel/tensor_model_parallel_size", "/designs/2"]);
    let beside = [r#""preset":"deepseek-v3""#, r#""set":["tp=8"]"#, r#""design":{"schema":1}"#];
    for more in beside {
        let body = format!(r#"{{"designs":[{{"schema":1}}],{more}}}"#);
        app.post(PATH, body).await.problem(StatusCode::BAD_REQUEST);
    }
    for body in [r#"{"designs":{}}"#, r#"{"designs":[1]}"#, r#"{"designs":null}"#] {
        app.post(PATH, body).await.problem(StatusCode::BAD_REQUEST);
    }
    let many = vec![r#"{"schema":1}"#; 101].join(",");
    for (number, body) in
        [(0, "{\"designs\":[]}".to_owned()), (101, format!("{{\"designs\":[{many}]}}"))]
    {
        let problem = app.post(PATH, body).await.problem(StatusCode::UNPROCESSABLE_ENTITY);
        let words = "POST /api/v1/sweeps evaluates many";
        assert_eq!(
            problem["errors"][0]["detail"],
            format!("a batch has 1 to 100 designs, not {number}; {words}")
        );
    }
}

#[tokio::test]
async fn a_verdict_is_made_when_it_is_asked_for() {
    let app = TestApp::new();
    let body = r#"{"schema":1,"training":{"micro_batch_size":4}}"#;
    let without = app.post(PATH, body).await.json();
    assert_eq!(without["verdict"], Value::Null);
    let with = app.post(&format!("{PATH}?verdict=true"), body).await.json();
    assert_eq!(with["verdict"]["fits"], with["metrics"]["fits"]);
    assert!(!with["verdict"]["changes"].as_array().unwrap().is_empty());
    assert_eq!(with["metrics"], without["metrics"]);
    let said = r#"{"design":{"schema":1,"training":{"micro_batch_size":4}},"verdict":true}"#;
    assert_eq!(app.post(PATH, said).await.json(), with);
    let answer = app.post(&format!("{PATH}?verdict=true"), said).await;
    answer.problem(StatusCode::BAD_REQUEST);
    for query in ["verdict=1", "verdicts=true", "set=tp"] {
        let answer = app.post(&format!("{PATH}?{query}"), body).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
    }
}

#[tokio::test]
async fn a_batch_on_all_cores_is_what_its_designs_are_alone() {
    let app = TestApp::new();
    let design =
        |tp: u64| serde_json::json!({"schema": 1, "parallel": {"tensor_model_parallel_size": tp}});
    let sizes = [8, 4, 6, 2, 16, 1, 8];
    let batch = serde_json::json!({"designs": sizes.map(design)});
    let together = app.post(PATH, batch.to_string()).await.json();
    for (place, tp) in sizes.into_iter().enumerate() {
        let alone = app.post(PATH, design(tp).to_string()).await.json();
        assert_eq!(together["predictions"][place], alone, "TP {tp}");
    }
}
