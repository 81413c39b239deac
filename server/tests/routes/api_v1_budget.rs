//! `POST /api/v1/budget`, and the table and the brief of a link.

use axum::http::StatusCode;
use model::metric::{MetricId, Regime};
use model::run::quality::CAVEAT;
use serde_json::{Value, json};
use testing::text::{assert_text, expect};

use crate::TestApp;

const PATH: &str = "/api/v1/budget";

async fn budget(body: Value) -> Value {
    let answer = TestApp::new().post(PATH, body.to_string()).await;
    assert_eq!(answer.status, StatusCode::OK);
    answer.json()
}

fn paper(run: &Value) -> Value {
    json!({"schema": 1, "preset": "pangu-ultra-moe-6k@2", "run": run})
}

fn known() -> Value {
    json!({
        "train_tokens": 19e12,
        "price_per_device_hour": 2,
        "mtbf_device_hours": 50_676,
        "checkpoint_gb_per_sec": 100,
        "deadline_days": 169,
    })
}

#[tokio::test]
async fn a_run_that_is_known_has_every_number() {
    let answer = budget(paper(&known())).await;
    for metric in MetricId::of(Regime::Budget) {
        assert!(answer["metrics"][metric.metric().name].is_number(), "{metric:?}");
    }
    let days = answer["metrics"]["days_to_train"].as_f64().unwrap();
    let [low, high] = [0, 1].map(|end| answer["ranges"]["days_to_train"]["range_90"][end].as_f64());
    assert!(low.unwrap() < days && days < high.unwrap());
    let spread = |key: &str| answer["spread"][key].as_f64().unwrap();
    assert!(spread("days_10") < spread("days_50") && spread("days_50") < spread("days_90"));
    assert!((spread("days_mean") / days - 1.0).abs() < 0.01);
    assert!(spread("share_within_deadline") > 0.1 && spread("share_within_deadline") < 0.9);
    assert_eq!(answer["violations"], json!([]));
    assert!(answer["quality"].is_null());
}

#[tokio::test]
async fn what_is_not_known_is_null_and_has_a_surface() {
    let answer = budget(paper(&json!({"train_tokens": 19e12}))).await;
    for metric in ["goodput_ratio", "cost", "lost_work_ratio", "failures_expected"] {
        assert!(answer["metrics"][metric].is_null(), "{metric}");
    }
    assert!(answer["spread"].is_null());
    let rows = answer["surface"]["goodput_ratio"].as_array().unwrap();
    assert_eq!(rows.len(), answer["surface"]["mtbf_device_hours"].as_array().unwrap().len());
    let assumed = answer["assumed"].as_array().unwrap().iter();
    let lines: Vec<&str> = assumed.map(|line| line.as_str().unwrap()).collect();
    assert_text(
        &lines.join("\n"),
        &expect![[r#"
            failures or the rate of checkpoints aren't known: days are those of training alone,
                a floor
            a device draws its rated 350 W (FlagPerf, base/benchmarks (Atlas 800T A2)); hosts
                and network are left out
            energy is that of the machines; a facility adds 10 % (Google's fleet, 2024) to 56 %
                (Uptime Institute's survey, 2024)
        "#]],
    );
    assert_eq!(answer["published"]["failures"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_baseline_brings_the_loss_with_its_caveat() {
    let mut own = paper(&known());
    own["transformer"] = json!({"num_moe_experts": 128});
    let answer = budget(json!({"design": own, "baseline": paper(&known())})).await;
    let quality = &answer["quality"];
    let median = quality["loss_difference"]["median"].as_f64().unwrap();
    assert!((median - 0.0118).abs() < 2e-4, "{quality}");
    assert_eq!(quality["caveat"], CAVEAT);
    assert_eq!(quality["tie"], false);
}

#[tokio::test]
async fn rules_that_are_broken_stand_in_place_of_numbers() {
    let mut own = paper(&known());
    own["parallel"] = json!({"tensor_model_parallel_size": 7});
    let answer = budget(own).await;
    assert!(answer["metrics"]["days_to_train"].is_null());
    assert!(!answer["violations"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_no_run_is_refused_with_what_would_be_taken() {
    let answer = TestApp::new().post(PATH, "{".to_owned()).await;
    answer.problem(StatusCode::BAD_REQUEST);
    for (more, pointer, nearest) in
        [("base", "/base", "baseline"), ("baseline", "/design/run/pue", "1")]
    {
        let body = json!({"design": paper(&json!({"pue": 0.5})), more: null}).to_string();
        let problem = TestApp::new().post(PATH, body).await.problem(StatusCode::BAD_REQUEST);
        let errors = problem["errors"].as_array().unwrap();
        assert_eq!((errors.len(), &errors[0]["pointer"]), (1, &json!(pointer)));
        assert_eq!(errors[0]["nearest"], json!([nearest]));
    }
}

#[tokio::test]
async fn the_page_the_table_and_the_brief_have_the_caveat() {
    let own = "v=1&preset=pangu-ultra-moe-6k@2&run.train_tokens=19e12";
    let baseline = own.replace('&', "%26").replace('=', "%3D");
    let query = format!("{own}&num_moe_experts=128&baseline={baseline}");
    for path in ["/budget", "/budget.csv", "/budget.md"] {
        let answer = TestApp::new().get(&format!("{path}?{query}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let is_page = path == "/budget";
        let words = if is_page { answer.page().words() } else { answer.text().to_owned() };
        assert!(words.contains(CAVEAT), "{path}: {words}");
        let linked = if is_page { answer.page().links().concat() } else { words };
        assert!(linked.contains("transformer.num_moe_experts=128"), "{path}: {linked}");
    }
    let broken = TestApp::new().get("/budget?v=1&preset=pangu-ultra&run.pue=0").await;
    assert_eq!(broken.status, StatusCode::BAD_REQUEST);
}
