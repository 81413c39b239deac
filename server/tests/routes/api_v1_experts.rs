//! `POST /api/v1/experts` and `/api/v1/experts/scores`.

use axum::http::StatusCode;
use serde_json::{Value, json};
use testing::text::{assert_text, expect};

use crate::TestApp;

/// Pangu Ultra MoE on eight 910B3, 64 of 256 experts kept, 4 visited.
const PATH: &str = "/api/v1/experts?preset=pangu-ultra-moe-718b&cluster.accelerator=ascend-910b3\
    &cluster.num_devices=8&serving.tensor_parallel_size=8&serving.moe_expert_parallel_size=8\
    &serving.experts_kept=64&serving.experts_kept_topk=4";
const TRACE: &str = "task,layer,expert,tcess\nmath,0,0,0.5\nmath,0,7,1.5\ncode,0,3,2\n";

async fn post(path: &str, body: &str) -> Value {
    let answer = TestApp::new().post(path, body.to_owned()).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    answer.json()
}

async fn refused(path: &str, body: &str) -> Value {
    let answer = TestApp::new().post(path, body.to_owned()).await;
    answer.problem(StatusCode::BAD_REQUEST)
}

#[tokio::test]
async fn without_a_trace_the_kept_experts_are_said() {
    let answer = post(PATH, "").await;
    assert_eq!(answer["experts"]["kept"], 64);
    let bytes = answer["experts"]["model_bytes"].as_f64().unwrap();
    assert!((bytes * 1e-9 - 387.1).abs() < 0.05, "{bytes}");
    assert_eq!(answer["trace"], Value::Null);
}

#[tokio::test]
async fn a_trace_gives_coverage_and_the_experts_to_keep() {
    let answer = post(PATH, TRACE).await;
    let trace = &answer["trace"];
    assert_eq!([&trace["experts"], &trace["layers"]], [8, 1]);
    assert_eq!(trace["tasks"][0]["coverage"][1], json!(0.75), "math by its best expert");
    let generated = post(&format!("{PATH}&generate=3&seed=5&share=least"), "").await;
    assert_eq!(generated["trace"]["generated_by_seed"], 5);
    assert_eq!(generated["trace"]["goal"], "least");
    assert_eq!(generated["trace"]["tasks"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn logits_of_tokens_come_back_as_scores_of_tasks() {
    let logits = "task,token,layer,expert,logit\na,0,3,0,3\na,0,3,1,1\na,1,3,0,1\na,1,3,1,5\n";
    let path = "/api/v1/experts/scores?visited=1";
    let answer = TestApp::new().post(path, logits.to_owned()).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.text(), "task,layer,expert,tcess\n\"a\",3,0,1.5\n\"a\",3,1,2.5\n");
}

#[tokio::test]
async fn what_is_wrong_is_said_by_line_or_by_name() {
    let problem = refused(PATH, "task,layer,expert,tcess\nmath,0,zero,1\n").await;
    assert_eq!(problem["errors"][0]["pointer"], "/line/2");
    let of_other = "task,layer,expert,tcess\nmath,0,300,1\n";
    let other = refused(PATH, of_other).await;
    let both = refused(&format!("{PATH}&generate=2"), TRACE).await;
    let dense = refused("/api/v1/experts?preset=llama-3-70b&cluster.num_devices=8", "").await;
    let scores = refused("/api/v1/experts/scores?visited=0", TRACE).await;
    let mut problems = vec![other, both, dense, scores];
    for more in ["share=all", "generate=0", "generate=many", "serving.output_length=long"] {
        problems.push(refused(&format!("{PATH}&{more}"), "").await);
    }
    let details = problems.iter().map(|problem| {
        // What is wrong in particular, or else in all.
        let one = &problem["errors"][0]["detail"];
        one.as_str().or(problem["detail"].as_str()).unwrap()
    });
    assert_text(
        &details.collect::<Vec<_>>().join("\n"),
        expect![[r#"
            the trace has 301 experts in 1 layers, the model 256 in 58
            there is a trace and `generate`: one of them is enough
            the design can't serve: weights, activations and one request need 136.8 GiB of a
                device, the engine takes 71.2
            `visited` is a whole number from 1 to 4096
            `share` is one of equal, mean, least, not `all`
            `generate` is a whole number from 1 to 4096
            `generate` is a whole number from 1 to 4096
            serving.output_length takes a whole number, not `long`
        "#]],
    );
    // A name that a table of cells would take for a formula.
    for name in ["=cmd|' /C calc'!A0", "+1", "-1", "@x", " =1"] {
        let trace = format!("task,layer,expert,tcess\n\"{name}\",0,0,1\n");
        let problem = refused("/api/v1/experts/scores", &trace).await;
        assert_eq!(problem["errors"][0]["pointer"], "/line/2");
        let detail = problem["errors"][0]["detail"].as_str().unwrap();
        assert!(detail.contains("begins with a letter"), "{detail}");
    }
}
