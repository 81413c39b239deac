//! `POST /api/v1/infer`.

use axum::http::StatusCode;
use model::metric::{MetricId, Regime};
use serde_json::{Value, json};

use crate::TestApp;

const PATH: &str = "/api/v1/infer";

async fn infer(design: Value) -> Value {
    let answer = TestApp::new().post(PATH, design.to_string()).await;
    assert_eq!(answer.status, StatusCode::OK);
    answer.json()
}

fn llama(serving: &Value) -> Value {
    json!({
        "schema": 1,
        "preset": "llama-3-70b",
        "cluster": {"accelerator": "h100-sxm-80gb", "num_devices": 4},
        "serving": serving,
    })
}

#[tokio::test]
async fn a_design_has_every_metric_of_serving_with_its_range_and_parts() {
    let answer = infer(llama(&json!({"tensor_parallel_size": 4, "concurrency": 16}))).await;
    for metric in MetricId::of(Regime::Serving) {
        assert!(answer["metrics"][metric.metric().name].is_number(), "{metric:?}");
    }
    let tpot = answer["metrics"]["tpot_seconds"].as_f64().unwrap();
    let [low, high] = [0, 1].map(|end| answer["ranges"]["tpot_seconds"]["range_90"][end].as_f64());
    assert!(low.unwrap() < tpot && tpot < high.unwrap());
    assert_eq!(answer["binds"], "concurrency");
    let parts = answer["timeline"]["decode"].as_array().unwrap();
    let step: f64 = parts.iter().map(|part| part["seconds"].as_f64().unwrap()).sum();
    assert!(step > 0.5 * tpot && step < 1.1 * tpot, "{step} {tpot}");
    assert_eq!(answer["violations"], json!([]));
}

#[tokio::test]
async fn a_model_with_experts_has_those_it_keeps_and_what_fits_where() {
    let dense = infer(llama(&json!({"tensor_parallel_size": 4}))).await;
    assert_eq!(dense["experts"], Value::Null);
    let kept = infer(json!({
        "schema": 1,
        "preset": "deepseek-v3",
        "cluster": {"accelerator": "h200-sxm-141gb", "num_devices": 8},
        "serving": {
            "tensor_parallel_size": 8,
            "moe_expert_parallel_size": 8,
            "weight_dtype": "fp8",
            "experts_kept": 128,
        },
    }))
    .await;
    let experts = &kept["experts"];
    assert_eq!([&experts["routed"], &experts["kept"]], [256, 128]);
    assert_eq!(experts["published"][0]["accuracy"], 0.972);
    assert!(experts["touched_per_layer"].as_f64().unwrap() <= 128.0);
    let fits = experts["fits"].as_array().unwrap();
    assert!(fits.iter().any(|row| row["fits"] == true) && fits.len() >= 12);
}

#[tokio::test]
async fn serving_that_breaks_rules_has_them_in_place_of_numbers() {
    let answer = infer(llama(&json!({"tensor_parallel_size": 3}))).await;
    assert!(answer["metrics"]["tpot_seconds"].is_null() && answer["binds"].is_null());
    let rules = answer["violations"].as_array().unwrap().iter();
    let rules: Vec<&Value> = rules.map(|violation| &violation["rule"]).collect();
    assert_eq!(rules, ["devices_are_whole_instances", "serving_heads_are_a_multiple_of_tp"]);
}

#[tokio::test]
async fn the_layouts_of_its_devices_are_told_and_the_best_is_one_of_them() {
    let path = format!("{PATH}/layouts");
    let design = llama(&json!({"concurrency": 16}));
    let answer = TestApp::new().post(&path, design.to_string()).await.json();
    let front = answer["front"].as_array().unwrap();
    assert!(front.contains(&answer["chosen"]), "{answer}");
    assert_eq!(answer["design"]["preset"], "llama-3-70b");
    let body = json!({"preset": "llama-3-70b"}).to_string();
    let query = "set=accelerator=h100-sxm-80gb&set=num_devices=4&set=concurrency=16";
    let by_address = TestApp::new().post(&format!("{path}?{query}"), body).await.json();
    assert_eq!(by_address, answer);
}

#[tokio::test]
async fn what_is_no_design_is_refused() {
    let answer = TestApp::new().post(PATH, "{".to_owned()).await;
    answer.problem(StatusCode::BAD_REQUEST);
    let body = json!({"schema": 1, "serving": {"engine": "tgi"}}).to_string();
    let problem = TestApp::new().post(PATH, body).await.problem(StatusCode::BAD_REQUEST);
    let nearest = problem["errors"][0]["nearest"].as_array().unwrap();
    assert!(nearest.contains(&"vllm".into()), "{problem}");
}
