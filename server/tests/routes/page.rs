//! `GET /`.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use model::design::Design;
use model::{Plan, design::link, estimate};
use server::{AppState, Site};

use crate::{TestApp, send};

/// The MFU of a design as the page prints it.
fn mfu(design: &Design) -> String {
    let estimate = estimate(&Plan::new(design).unwrap());
    present::format::percent(estimate.metrics.mfu, 1).number
}

#[tokio::test]
async fn a_link_is_rendered_with_its_own_numbers() {
    let app = TestApp::new();
    let mut seen = Vec::new();
    for query in ["", "?v=1&preset=deepseek-v3", "?vpp=4"] {
        let page = app.page(&format!("/{query}")).await;
        let number = mfu(&link::decode(query).unwrap());
        assert_eq!(page.text("[data-metric=mfu] .number"), number, "{query}");
        seen.push(number);
    }
    seen.dedup();
    assert_eq!(seen.len(), 3, "three designs with different numbers: {seen:?}");
}

#[tokio::test]
async fn the_first_page_is_less_than_two_hundred_kilobytes() {
    let bytes = TestApp::new().get("/").await.text().len();
    assert!(bytes < 200_000, "{bytes} bytes");
}

#[tokio::test]
async fn the_query_is_unescaped_once() {
    let app = TestApp::new();
    let good = app.get("/?preset=deepseek-v3&moe_layer_freq=(%5B0%5D*1%2B%5B1%5D*60)").await;
    assert_eq!(good.status, StatusCode::OK);
    let twice =
        app.get("/?preset=deepseek-v3&moe_layer_freq=(%255B0%255D*1%252B%255B1%255D*60)").await;
    assert_eq!(twice.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_link_that_does_not_decode_gets_a_page_that_names_its_errors() {
    let app = TestApp::new();
    for (query, expected) in [
        ("tp=-8", "parallel.tensor_model_parallel_size"),
        ("tp=1000000000000000000", "1024"),
        ("hbm_usable_gib=NaN", "cluster.hbm_usable_gib"),
        ("tp=eight", "eight"),
        ("no_such_knob=1", "no_such_knob"),
        ("preset=deepseek-v5", "deepseek-v3"),
        ("tp=%zz", "hexadecimal"),
        ("tp=%ff", "UTF-8"),
        ("v=2", "v=1"),
        ("parallel.sequence_parallel=8", "sequence_parallel"),
        ("training.micro_batch_size=-1&parallel.nope=1", "parallel.nope"),
    ] {
        let answer = app.get(&format!("/?{query}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        let page = answer.page();
        assert_eq!(page.text("h1"), "This link can't be opened as it is");
        let errors = page.text(".link-errors");
        assert!(errors.contains(expected), "{query}: no {expected} in {errors}");
        assert!(page.part("main").links()[0].starts_with("/?v=1"), "{query}: no way on");
    }
}

#[tokio::test]
async fn what_a_link_says_is_text_and_never_markup() {
    let answer = TestApp::new().get("/?%3Cscript%3Ealert(1)%3C/script%3E=%3Cimg%20src=x%3E").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let page = answer.page();
    assert_eq!(page.text(".link-errors strong"), "<script>alert(1)</script>");
    assert!(!page.has(".link-errors script") && !page.has("img[src=x]"));
}

#[tokio::test]
async fn an_illegal_design_is_a_page_like_any_other() {
    let page = TestApp::new().page("/?pp=12").await;
    let design = link::decode("pp=12").unwrap();
    let violations = Plan::new(&design).unwrap_err();
    let rules: Vec<&str> = violations.iter().map(|broken| broken.rule).collect();
    assert_eq!(page.attributes(".verdict [data-rule]", "data-rule"), rules);
}

#[tokio::test]
async fn scripts_run_with_a_nonce_that_no_other_answer_has() {
    let app = TestApp::new();
    let mut policies = Vec::new();
    for _ in 0..2 {
        let answer = app.get("/").await;
        let policy = answer.header("content-security-policy").to_owned();
        assert!(!policy.contains("unsafe-inline") && policy.contains("'wasm-unsafe-eval'"));
        let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap().to_owned();
        let page = answer.page();
        let nonces = page.attributes("script", "nonce");
        assert!(nonces.len() == page.count("script") && nonces.iter().all(|it| *it == nonce));
        policies.push(policy);
    }
    assert_ne!(policies[0], policies[1]);
}

#[tokio::test]
async fn the_page_asks_for_the_hashed_files() {
    let page = TestApp::new().page("/").await;
    let scripts = page.texts("script").concat();
    for name in ["/pkg/app.0123.js", "/pkg/app_bg.4567.wasm"] {
        assert!(scripts.contains(name), "{name}: {scripts}");
    }
    assert!(page.has("link[rel=stylesheet][href='/pkg/app.89ab.css']"));
}

#[tokio::test]
async fn without_a_site_the_page_still_has_its_numbers() {
    let data = tempfile::tempdir().unwrap();
    let state = AppState::new(Site::none(), data.path().to_owned());
    let answer = send(state, Request::get("/").body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(!answer.text().contains("/pkg/"));
    let number = answer.page().text("[data-metric=mfu] .number");
    assert_eq!(number, mfu(&link::decode("").unwrap()));
}

#[tokio::test]
async fn the_chosen_theme_is_there_before_any_script() {
    let app = TestApp::new();
    let dark = app.get_with("/", "cookie", "a=b; theme=dark").await;
    assert_eq!(dark.page().attribute("html", "data-theme"), "dark");
    let other = app.get_with("/", "cookie", "theme=\"><script>").await;
    assert!(!other.page().has("[data-theme]"));
    assert_eq!(other.header("vary"), "accept-language, cookie");
}
