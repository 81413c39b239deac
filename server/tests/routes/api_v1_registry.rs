//! `GET /api/v1/presets`, `/api/v1/knobs`, `/api/v1/metrics`.

use axum::http::StatusCode;
use model::catalogue::preset::Preset;
use model::design::KnobId;
use model::metric::MetricId;
use serde_json::Value;

use crate::TestApp;

async fn list(name: &str) -> Vec<Value> {
    let answer = TestApp::new().get(&format!("/api/v1/{name}")).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-type"), "application/json");
    answer.json()[name].as_array().unwrap().clone()
}

#[track_caller]
fn find<'a>(list: &'a [Value], id: &str) -> &'a Value {
    list.iter().find(|entry| entry["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

#[tokio::test]
async fn every_preset_is_listed_with_its_source() {
    let presets = list("presets").await;
    assert_eq!(presets.len(), Preset::all().chain(Preset::served()).count());
    let recipe = find(&presets, "pangu-ultra-moe-6k");
    assert_eq!(recipe["kind"], "recipe");
    assert_eq!(recipe["refused"], Value::Null);
    assert_eq!(recipe["source"]["url"], "https://arxiv.org/abs/2505.04519");
}

#[tokio::test]
async fn every_knob_is_listed_with_what_it_takes() {
    let knobs = list("knobs").await;
    assert_eq!(knobs.len(), KnobId::ALL.len());
    let tp = find(&knobs, "parallel.tensor_model_parallel_size");
    assert_eq!((&tp["type"], &tp["min"], &tp["max"]), (&"integer".into(), &1.into(), &1024.into()));
    assert_eq!((&tp["optional"], &tp["aliases"][0]), (&false.into(), &"tp".into()));
    let method = find(&knobs, "schedule.method");
    assert!(method["values"].as_array().unwrap().contains(&"dualpipev".into()));
    assert!(find(&knobs, "kernel.host_binding")["not_offered"].is_string());
}

#[tokio::test]
async fn every_metric_is_listed_with_its_definition() {
    let metrics = list("metrics").await;
    assert_eq!(metrics.len(), MetricId::ALL.len());
    assert_eq!(find(&metrics, "step_time_seconds")["unit"], "s");
    assert!(metrics.iter().all(|metric| metric["definition"].as_str().unwrap().len() > 10));
}
