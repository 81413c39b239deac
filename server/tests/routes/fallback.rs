//! Answers for what there isn't and what is too long, and the headers that every answer carries.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use testing::text::{assert_text, expect};

use crate::TestApp;

#[tokio::test]
async fn people_get_a_page_and_programs_a_problem() {
    let app = TestApp::new();
    let answer = app.get_with("/nope", "accept", "text/html,*/*;q=0.8").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(answer.page().text("main a[href='/']"), "Open the explorer");
    app.get("/nope").await.problem(StatusCode::NOT_FOUND);
    let problem = app.get_with("/api/v1/nope", "accept", "text/html").await;
    assert_text(
        &problem.detail(StatusCode::NOT_FOUND),
        expect![[r#"
            nothing has this address; GET /api/v1/openapi.json lists what there is
        "#]],
    );
}

#[tokio::test]
async fn an_address_that_is_not_text_is_one_that_nothing_answers() {
    let app = TestApp::new();
    for path in ["/s/%FF", "/s/a%C0/design/3", "/%ff"] {
        let answer = app.get_with(path, "accept", "text/html").await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answer.page().text("h1"), "There is nothing at this address", "{path}");
        app.get(path).await.problem(StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_which_ones_there_are() {
    let app = TestApp::new();
    let answer = app.get("/api/v1/predict").await;
    answer.problem(StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.header("allow"), "POST");
    app.post("/", "").await.problem(StatusCode::METHOD_NOT_ALLOWED);
    app.post("/favicon.svg", "").await.problem(StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn addresses_from_8_kib_on_are_too_long() {
    let app = TestApp::new();
    let address = |bytes: usize| format!("/?x={}", "a".repeat(bytes - "/?x=".len()));
    let last = app.get_with(&address(8_191), "accept", "text/html").await;
    assert_eq!(last.status, StatusCode::BAD_REQUEST);
    let first = app.get_with(&address(8_192), "accept", "text/html").await;
    assert_eq!(first.status, StatusCode::URI_TOO_LONG);
    let page = first.page();
    assert_eq!(page.text("h1"), "This link is too long");
    assert!(page.says("8,192 bytes"), "{}", page.words());
    app.get(&address(60_000)).await.problem(StatusCode::URI_TOO_LONG);
}

#[tokio::test]
async fn every_answer_is_guarded_and_can_be_found_in_the_log() {
    let app = TestApp::new();
    for path in ["/", "/?bad", "/nope", "/healthz", "/api/v1/knobs", "/pkg/app.0123.js"] {
        let answer = app.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        let policy = answer.header("content-security-policy");
        assert!(policy.split("; ").any(|rule| rule == "frame-ancestors 'none'"), "{policy}");
        assert_eq!(answer.header("x-request-id").len(), 36, "{path}");
    }
}

#[tokio::test]
async fn answers_are_compressed_for_those_who_take_it() {
    let app = TestApp::new();
    let answer = app.get_with("/api/v1/knobs", "accept-encoding", "gzip").await;
    assert_eq!(answer.header("content-encoding"), "gzip");
    assert!(answer.bytes.len() < app.get("/api/v1/knobs").await.bytes.len() / 2);
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let request = Request::head("/api/v1/presets").body(Body::empty()).unwrap();
    let answer = TestApp::new().send(request).await;
    assert_eq!((answer.status, answer.bytes.len()), (StatusCode::OK, 0));
}
