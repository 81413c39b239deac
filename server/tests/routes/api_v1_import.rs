//! `POST /api/v1/import`.

use axum::body::Body;
use axum::http::{Request, StatusCode};

use crate::TestApp;

const KIMI: &str = include_str!("../../../crates/interchange/tests/scripts/kimi_k2_a3.sh");
const QWEN: &str = include_str!("../../../crates/interchange/tests/models/qwen3-235b-a22b.json");

#[tokio::test]
async fn a_text_becomes_a_design_whatever_it_is() {
    for (path, text, format, link) in [
        ("/api/v1/import", KIMI, "mindspeed", "/?v=1&preset=kimi-k2&"),
        ("/api/v1/import?format=hf&preset=qwen3-235b-a22b", QWEN, "hf", "/?v=1&preset=qwen3-235b"),
    ] {
        let answer = TestApp::new().post(path, text).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        let report = answer.json();
        assert_eq!(report["format"], format);
        assert!(report["link"].as_str().unwrap().starts_with(link), "{}", report["link"]);
        let predicted = TestApp::new().post("/api/v1/predict", report["design"].to_string()).await;
        assert_eq!(predicted.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn what_makes_no_design_is_refused_with_its_lines() {
    let answer = TestApp::new().post("/api/v1/import", "x \\\n --num-layers 0").await;
    let problem = answer.problem(StatusCode::BAD_REQUEST);
    assert_eq!(problem["errors"][0]["pointer"], "/line/2");
    assert!(problem["errors"][0]["detail"].as_str().unwrap().starts_with("--num-layers"));
    for path in ["/api/v1/import?format=xml", "/api/v1/import?preset=nobody", "/api/v1/import?x=1"]
    {
        TestApp::new().post(path, KIMI).await.problem(StatusCode::BAD_REQUEST);
    }
    let long = "#".repeat((1 << 20) + 1);
    TestApp::new().post("/api/v1/import", long).await.problem(StatusCode::PAYLOAD_TOO_LARGE);
    let bytes = vec![0xff_u8; 4];
    TestApp::new().post("/api/v1/import", bytes).await.problem(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn questions_are_asked_and_answered() {
    let app = TestApp::new();
    let script = "torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py --num-layers $1 \
                  --hidden-size 512 --num-attention-heads 8 --vocab-size 1024 --bf16 \
                  --seq-length ${SEQ} --micro-batch-size 1 --global-batch-size 8";
    let send = async |query: &str, body: &str| {
        let request = Request::post(format!("/api/v1/import?{query}"));
        let request = request.header("content-type", "text/plain");
        let answer = app.send(request.body(Body::from(body.to_owned())).unwrap()).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        serde_json::from_str::<serde_json::Value>(answer.text()).unwrap()
    };
    let open = send("", script).await;
    let names: Vec<_> =
        open["questions"].as_array().unwrap().iter().map(|q| q["name"].clone()).collect();
    assert_eq!(names, ["arg 1", "env SEQ"]);
    let done = send("arg=4&env=SEQ=256&set=global_batch_size=16", script).await;
    assert_eq!(done["questions"], serde_json::json!([]));
    let link = done["link"].as_str().unwrap();
    assert!(link.split('&').any(|setting| setting == "training.seq_length=256"), "{link}");
    let files = format!("==> run.sh <==\n{script}\n==> a.yaml <==\nlr: 1\n");
    let several = send("arg=4&env=SEQ=256&entry=run.sh", &files).await;
    assert_eq!(several["set"][0]["file"], "run.sh");
}
