//! `GET /schedule` and `GET /schedule/of`.

use axum::http::StatusCode;

use crate::TestApp;

#[tokio::test]
async fn the_page_has_its_numbers_without_a_script() {
    let answer = TestApp::new().get("/schedule?method=zb_v").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    for part in ["99.5", "closed form 3.52 %", "m (F + B) + (p − 1) F / 2", "DualPipeV", "<select"]
    {
        assert!(answer.text().contains(part), "{part}");
    }
    assert!(!answer.text().contains(" style=\""), "inline style is against the policy");
}

#[tokio::test]
async fn sizes_that_break_a_rule_are_no_error_of_the_link() {
    let answer = TestApp::new().get("/schedule?method=dualpipe&stages=7").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.text().contains("7 is not even"));
}

#[tokio::test]
async fn a_link_that_is_not_understood_is_refused_with_every_reason() {
    let app = TestApp::new();
    for query in ["method=zbv", "stages=-8", "forward=NaN", "p2p=1e308", "nope=1", "stages=%zz"] {
        let answer = app.get(&format!("/schedule?{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(answer.text().contains("This link can't be opened"), "{query}");
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
