//! `POST /api/v1/compare`.

use axum::http::StatusCode;
use serde_json::json;

use crate::TestApp;

const PATH: &str = "/api/v1/compare";

#[tokio::test]
async fn designs_are_told_beside_the_first_whether_files_or_arguments() {
    let preset = "qwen3-30b-a3b";
    let file = json!({"schema": 1, "preset": preset, "training": {"micro_batch_size": 2}});
    let named = json!({"name": "larger", "preset": preset, "set": ["mbs=2"]});
    let body = json!({"designs": [{"preset": preset}, file, named]});
    let app = TestApp::new();
    let answer = app.post(PATH, body.to_string()).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    let answer = answer.json();
    let designs = answer["designs"].as_array().unwrap();
    assert_eq!(designs[2]["name"], "larger");
    for key in ["metrics", "ranges", "differences", "link"] {
        assert_eq!(designs[1][key], designs[2][key], "{key}");
    }
    let predicted = app.post("/api/v1/predict", file_of(preset)).await.json();
    assert_eq!(designs[0]["metrics"], predicted["metrics"]);
    assert!(answer["link"].as_str().unwrap().starts_with("/compare?"), "{answer}");
}

fn file_of(preset: &str) -> String {
    json!({"schema": 1, "preset": preset}).to_string()
}

#[tokio::test]
async fn a_design_that_breaks_rules_has_them_in_place_of_numbers() {
    let body = json!({"designs": [{"preset": "deepseek-v3"}, {"preset": "deepseek-v3",
        "set": ["pp=7"]}]});
    let answer = TestApp::new().post(PATH, body.to_string()).await.json();
    let broken = &answer["designs"][1];
    assert_eq!(broken["metrics"], json!({}));
    assert!(!broken["violations"].as_array().unwrap().is_empty(), "{broken}");
}

#[tokio::test]
async fn everything_that_is_wrong_with_any_of_them_is_told_with_its_place() {
    let body = json!({"designs": [
        {"preset": "qwen"}, {"schema": 1, "parallel": {"tpx": 8}}, {"tp": 8}, 3,
    ]});
    let answer = TestApp::new().post(PATH, body.to_string()).await;
    let problem = answer.problem(StatusCode::BAD_REQUEST);
    let errors = problem["errors"].as_array().unwrap();
    let pointers: Vec<&str> = errors.iter().map(|one| one["pointer"].as_str().unwrap()).collect();
    let wanted = ["/designs/0/preset", "/designs/1/parallel/tpx", "/designs/2/tp", "/designs/3"];
    assert_eq!(pointers, wanted);
}
