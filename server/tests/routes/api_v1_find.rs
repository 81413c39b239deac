//! `POST /api/v1/find`.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use model::design::{Design, KnobId, link};
use model::metric::{MetricId, Regime};
use serde_json::{Value, json};
use server::AppState;
use testing::text::{assert_text, expect};

use crate::{Answer, TestApp, send};

const PATH: &str = "/api/v1/find";

/// A query that is answered soon: a small model on a node.
fn small() -> Value {
    json!({"design": {"schema": 1, "preset": "qwen3-30b-a3b"}, "keep": ["pp", "cp"]})
}

async fn found(query: &Value) -> Value {
    let answer = TestApp::new().post(PATH, query.to_string()).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/json");
    answer.json()
}

fn design_of(link: &Value) -> Design {
    link::decode(link.as_str().unwrap().trim_start_matches('/')).unwrap()
}

#[tokio::test]
async fn an_answer_says_what_was_asked_and_how_much_was_looked_at() {
    let mut query = small();
    query["goal"] = "safest".into();
    query["targets"] = json!(["mfu>=0.1", "spare>=0.05"]);
    let answer = found(&query).await;
    assert_eq!(answer["goal"], "safest");
    assert_eq!(answer["question"], "layout");
    assert_eq!(answer["targets"], json!(["mfu>=0.1", "spare>=0.05"]));
    let kept = ["parallel.pipeline_model_parallel_size", "parallel.context_parallel_size"];
    for knob in kept {
        assert!(answer["keep"].as_array().unwrap().contains(&knob.into()), "{}", answer["keep"]);
    }
    assert_eq!(answer["any_schedule"], false);
    assert_eq!(answer["model_version"], model::MODEL_VERSION);
    assert!(answer["seconds"].as_f64().unwrap() >= 0.0);
    for count in ["space", "evaluated", "simulated"] {
        assert!(answer[count].is_u64(), "{count}");
    }
}

#[tokio::test]
async fn targets_of_the_run_are_taken_where_what_they_need_is_said() {
    let mut query = small();
    query["targets"] = json!(["days_to_train<=2000", "goodput_ratio>=0.5"]);
    query["design"]["run"] = json!({"train_tokens": 1e12});
    let answer = TestApp::new().post(PATH, query.to_string()).await;
    let problem = answer.problem(StatusCode::BAD_REQUEST);
    let details = problem["errors"].as_array().unwrap().iter().map(|it| it["detail"].as_str());
    assert_text(
        &details.collect::<Option<Vec<_>>>().unwrap().join("\n"),
        &expect![[r#"
            a target needs what isn't known: set run.mtbf_device_hours,
                run.checkpoint_gb_per_sec
        "#]],
    );
    query["design"]["run"]["mtbf_device_hours"] = json!(50_676);
    query["design"]["run"]["checkpoint_gb_per_sec"] = json!(10);
    let answer = found(&query).await;
    for one in answer["designs"].as_array().unwrap() {
        let number = |name: &str| one["run"][name].as_f64().unwrap();
        assert!(number("days_to_train") <= 2000.0 && number("goodput_ratio") >= 0.5, "{one}");
    }
}

#[tokio::test]
async fn three_designs_have_a_name_and_each_is_what_a_prediction_says_of_it() {
    let query = small();
    let at_hand = Design::from_preset("qwen3-30b-a3b").unwrap();
    let answer = found(&query).await;
    let designs = answer["designs"].as_array().unwrap();
    assert!((3..=10).contains(&designs.len()), "{}", designs.len());
    let labels: Vec<&Value> = designs.iter().map(|one| &one["label"]).collect();
    assert_eq!(labels[..3], [&json!("fastest"), &json!("safest"), &json!("simplest")]);
    assert!(labels[3..].iter().all(|label| label.is_null()), "{labels:?}");
    for one in designs {
        let design = design_of(&one["link"]);
        let body = model::design::file::json::write(&design, model::design::file::Extent::Changed);
        let prediction = TestApp::new().post("/api/v1/predict", body).await.json();
        assert_eq!(one["metrics"], prediction["metrics"], "{}", one["link"]);
        assert_eq!(one["ranges"], prediction["expected_error"], "{}", one["link"]);
        assert_eq!(one["metrics"]["fits"], true);
        assert!(one["margin"].as_f64().unwrap() >= 0.03, "{}", one["margin"]);
        for (id, value) in one["knobs"].as_object().unwrap() {
            let knob = KnobId::find(id).unwrap();
            assert_ne!(design.get(knob), at_hand.get(knob), "{id}: {value}");
            assert!(!id.contains("pipeline_model") && !id.contains("context_parallel"), "{id}");
        }
    }
    assert!(answer["miss"].is_null(), "{}", answer["miss"]);
    assert_eq!(
        answer["at_hand"]["metrics"].as_object().unwrap().len(),
        MetricId::of(Regime::Training).count()
    );
}

#[tokio::test]
async fn layouts_that_serve_are_found_where_they_are_asked_for() {
    let design = json!({"schema": 1, "preset": "deepseek-r1-96-h100"});
    let mut query = json!({"design": design, "serve": true, "targets": ["tpot_seconds<=0.05"]});
    let answer = found(&query).await;
    let fastest = &answer["designs"][0];
    assert!(fastest["metrics"]["tpot_seconds"].as_f64().unwrap() <= 0.05, "{fastest}");
    let link = fastest["link"].as_str().unwrap().strip_prefix("/serving?").unwrap();
    assert!(link::decode(link).unwrap().serving.concurrency.is_some());
    query["serve"] = false.into();
    let answer = TestApp::new().post(PATH, query.to_string()).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "a target of serving isn't one of training");
}

#[tokio::test]
async fn the_same_query_has_the_same_answer() {
    let [mut one, mut other] = [found(&small()).await, found(&small()).await];
    for answer in [&mut one, &mut other] {
        answer.as_object_mut().unwrap().remove("seconds");
    }
    assert_eq!(one, other);
}

#[tokio::test]
async fn where_nothing_reaches_the_targets_the_nearest_miss_is_told() {
    let mut query = small();
    query["targets"] = json!(["mfu>=0.99"]);
    let answer = found(&query).await;
    assert_eq!(answer["designs"], json!([]));
    let miss = &answer["miss"];
    assert!(!miss["misses"].as_array().unwrap().is_empty(), "{miss}");
    assert!(miss["fewest_devices"].is_null(), "{miss}");
    assert!(miss["metrics"]["mfu"].as_f64().unwrap() < 0.99);
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_query_is_told_with_its_place() {
    let body = json!({
        "design": {"schema": 1, "parallel": {"tpx": 8}},
        "goal": "fast", "targets": ["mfu>=0.3", "mfa>=0.3"], "keep": ["tp", "pq"],
    });
    let answer = TestApp::new().post(PATH, body.to_string()).await;
    let problem = answer.problem(StatusCode::BAD_REQUEST);
    let errors = problem["errors"].as_array().unwrap();
    let pointers: Vec<&str> = errors.iter().map(|one| one["pointer"].as_str().unwrap()).collect();
    let wanted = ["/design/parallel/tpx", "/goal", "/targets/1", "/keep/1"];
    assert_eq!(pointers, wanted);
    for error in errors {
        assert!(!error["nearest"].as_array().unwrap().is_empty(), "{error}");
    }
    assert_eq!(errors[2]["nearest"], json!(["mfu>=0.3"]));
    let body = json!({"design": {"schema": 1}, "target": 1, "goals": "fast", "keep": 3});
    let answer = TestApp::new().post(PATH, body.to_string()).await;
    let problem = answer.problem(StatusCode::BAD_REQUEST);
    let said = problem["errors"].as_array().unwrap().iter();
    let said: Vec<_> = said.map(|one| [&one["pointer"], &one["nearest"]]).collect();
    let wanted = [
        [&json!("/goals"), &json!(["goal"])],
        [&json!("/keep"), &json!([])],
        [&json!("/target"), &json!(["targets"])],
    ];
    assert_eq!(said, wanted);
}

#[tokio::test]
async fn values_of_other_types_are_refused() {
    let app = TestApp::new();
    let design = json!({"schema": 1});
    for (body, pointer) in [
        (json!({}), "/preset"),
        (json!({"design": 3}), "/design"),
        (json!({"design": design, "goal": 1}), "/goal"),
        (json!({"design": design, "targets": "mfu>=0.3"}), "/targets"),
        (json!({"design": design, "keep": [1]}), "/keep"),
        (json!({"design": design, "any_schedule": "yes"}), "/any_schedule"),
        (json!({"design": design, "targets": vec!["mfu>=0.3"; 33]}), "/targets"),
    ] {
        let problem = app.post(PATH, body.to_string()).await.problem(StatusCode::BAD_REQUEST);
        let errors = problem["errors"].as_array().unwrap();
        assert_eq!((errors.len(), &errors[0]["pointer"]), (1, &json!(pointer)), "{body}");
    }
    let twice = r#"{"design": {"schema": 1}, "goal": "safest", "goal": "fastest"}"#;
    app.post(PATH, twice).await.problem(StatusCode::BAD_REQUEST);
    for body in ["", "{", "[]", "null"] {
        app.post(PATH, body).await.problem(StatusCode::BAD_REQUEST);
    }
    app.post(PATH, vec![0xff, 0xfe]).await.problem(StatusCode::BAD_REQUEST);
    let large = format!("{{\"design\": {{\"schema\": 1}}{}}}", " ".repeat(1 << 20));
    app.post(PATH, large).await.problem(StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn what_no_layout_mends_is_refused_with_the_rules() {
    let query = json!({"design": {"schema": 1, "transformer": {"moe_router_topk": 300}}});
    let answer = TestApp::new().post(PATH, query.to_string()).await;
    let problem = answer.problem(StatusCode::UNPROCESSABLE_ENTITY);
    let errors = problem["errors"].as_array().unwrap();
    assert!(!errors.is_empty());
    for error in errors {
        assert!(error["pointer"].as_str().unwrap().starts_with("/design/"), "{error}");
    }
}

/// A server of which several things are asked.
struct Server {
    app: TestApp,
    state: AppState,
}

impl Server {
    fn new() -> Self {
        let app = TestApp::new();
        let state = app.state();
        Self { app, state }
    }

    async fn find(&self, query: Value) -> Answer {
        let request = Request::post(PATH).body(Body::from(query.to_string())).unwrap();
        send(self.state.clone(), request).await
    }
}

/// A query that takes a while: a large model on a large cluster.
fn large() -> Value {
    json!({"design": {"schema": 1}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_has_one_search_at_a_time() {
    let server = Server::new();
    let (one, other) = tokio::join!(server.find(large()), server.find(large()));
    let mut statuses = [one.status, other.status];
    statuses.sort();
    assert_eq!(statuses, [StatusCode::OK, StatusCode::TOO_MANY_REQUESTS]);
    assert!(server.app.data.path().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_ends_when_its_client_goes_away() {
    let server = Server::new();
    let soon = std::time::Duration::from_millis(50);
    let whole = tokio::time::timeout(soon, server.find(large())).await;
    assert!(whole.is_err(), "it was over before its client went");
    // Its turn is free again as soon as nothing of it runs any more.
    loop {
        let answer = server.find(json!({"design": {"schema": 1}, "goals": "none"})).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        match server.find(small()).await.status {
            StatusCode::TOO_MANY_REQUESTS => tokio::time::sleep(soon).await,
            status => break assert_eq!(status, StatusCode::OK),
        }
    }
}
