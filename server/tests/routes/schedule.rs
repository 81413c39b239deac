//! `GET /schedule` and `GET /schedule/of`.

use axum::http::StatusCode;
use testing::text::{assert_text, expect};

use crate::TestApp;

#[tokio::test]
async fn the_page_has_its_numbers_without_a_script() {
    let page = TestApp::new().page("/schedule?method=zb_v").await;
    assert_text(
        &page.texts(".cards article").join("\n"),
        &expect![[r#"
            Step time 99.5 s closed form 99.5 s
            Bubble 3.52 % closed form 3.52 %
            Peak in flight 8 micro-batches on every stage
            Work of the busiest stage 96 s on every stage
        "#]],
    );
    assert_eq!(page.texts(".schedule-facts code")[0], "m (F + B) + (p − 1) F / 2");
    assert!(page.texts("select[name=method] option").contains(&"DualPipeV".to_owned()));
}

#[tokio::test]
async fn sizes_that_break_a_rule_are_no_error_of_the_link() {
    let page = TestApp::new().page("/schedule?method=dualpipe&stages=7").await;
    assert_text(
        &page.text(".verdict.broken"),
        &expect![[r#"
            This schedule can't run. The numbers below are those of DualPipe, 8 stages with 1
                chunk each way, 32 micro-batches. Dualpipe pairs the stages (PP) from both ends,
                7 is not even. Use 8 stages
        "#]],
    );
}

#[tokio::test]
async fn a_link_that_is_not_understood_is_refused_with_every_reason() {
    let app = TestApp::new();
    for query in ["method=zbv", "stages=-8", "forward=NaN", "p2p=1e308", "nope=1", "stages=%zz"] {
        let answer = app.get(&format!("/schedule?{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert_eq!(answer.page().text("h1"), "This link can't be opened as it is", "{query}");
    }
    let long = app.get(&format!("/schedule?stages={}", "8".repeat(5_000))).await;
    assert_eq!(long.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn sizes_beyond_all_bounds_are_answered_too() {
    let app = TestApp::new();
    for query in [
        "stages=1000000",
        "stages=1024&chunks=256&micro_batches=16777216&method=interleaved",
        "method=v_min&stages=1024&micro_batches=16",
        "stages=0&micro_batches=0&chunks=0",
        "forward=1e9&backward_weight=1e9&slow_stage=1023&slow_factor=1000",
    ] {
        let answer = app.get(&format!("/schedule?{query}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{query}");
    }
}

#[tokio::test]
async fn a_design_leads_to_its_schedule() {
    let app = TestApp::new();
    let answer = app.get("/schedule/of?v=1&preset=pangu-pro-moe-4k").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let to = answer.header("location").to_owned();
    assert!(to.starts_with("/schedule?") && to.contains("&forward="), "{to}");
    assert_eq!(app.get(&to).await.status, StatusCode::OK);
    for query in ["parallel.tensor_model_parallel_size=7", "nope=1"] {
        let answer = app.get(&format!("/schedule/of?{query}")).await;
        assert_eq!(answer.header("location"), format!("/?{query}"));
    }
}

#[tokio::test]
async fn a_schedule_is_run_for_programs_with_numbers_as_they_are() {
    let app = TestApp::new();
    let body = r#"{"method": "zb_v", "stages": 8, "microbatches": 32, "forward": 0.5}"#;
    let answer = app.post("/api/v1/schedule", body).await.json();
    assert_eq!(answer["schedule"]["chunks"], 2);
    assert_eq!(answer["schedule"]["forward_seconds"], 0.5);
    assert_eq!(answer["stages"].as_array().unwrap().len(), 8);
    let body = r#"{"method": "zb_v", "stages": "many", "microbatches": 1.5, "p2p": -1}"#;
    let problem = app.post("/api/v1/schedule", body).await.problem(StatusCode::BAD_REQUEST);
    let errors = problem["errors"].as_array().unwrap().iter();
    let lines: Vec<String> =
        errors.map(|it| format!("{} {}", it["pointer"], it["detail"])).collect();
    assert_text(
        &lines.join("\n").replace('"', ""),
        &expect![[r#"
            /stages `stages` takes a whole number
            /microbatches `microbatches` takes a whole number
        "#]],
    );
}
