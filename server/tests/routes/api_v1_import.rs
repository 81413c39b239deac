//! `POST /api/v1/import`.

use axum::http::StatusCode;

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
    let answer = TestApp::new().post("/api/v1/import", "x \\\n --num-layers many").await;
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
