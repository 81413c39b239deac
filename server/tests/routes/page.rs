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
        let answer = app.get(&format!("/{query}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{query}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        let number = mfu(&link::decode(query).unwrap());
        assert!(answer.text().contains(&number), "{query}: no {number}");
        seen.push(number);
    }
    seen.dedup();
    assert_eq!(seen.len(), 3, "three designs with different numbers: {seen:?}");
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
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert!(answer.text().contains(expected), "{query}: no {expected}");
        assert!(answer.text().contains("href=\"/\""), "{query}: no way on");
        assert!(!answer.text().contains("panicked"), "{query}");
    }
}

#[tokio::test]
async fn what_a_link_says_is_text_and_never_markup() {
    let answer = TestApp::new().get("/?%3Cscript%3Ealert(1)%3C/script%3E=%3Cimg%20src=x%3E").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(!answer.text().contains("<script>alert"));
    assert!(!answer.text().contains("<img src=x"));
}

#[tokio::test]
async fn an_illegal_design_is_a_page_like_any_other() {
    let answer = TestApp::new().get("/?pp=12").await;
    assert_eq!(answer.status, StatusCode::OK);
    let design = link::decode("pp=12").unwrap();
    let violations = Plan::new(&design).unwrap_err();
    let words = violations[0].message.split(' ').next().unwrap();
    assert!(answer.text().contains(words));
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
        for script in answer.text().split("<script").skip(1) {
            let tag = script.split('>').next().unwrap();
            assert!(tag.contains(&format!("nonce=\"{nonce}\"")), "{tag}");
        }
        assert!(!answer.text().contains(" style=\""), "inline style is against the policy");
        policies.push(policy);
    }
    assert_ne!(policies[0], policies[1]);
}

#[tokio::test]
async fn the_page_asks_for_the_hashed_files() {
    let answer = TestApp::new().get("/").await;
    for name in ["/pkg/app.0123.js", "/pkg/app_bg.4567.wasm", "/pkg/app.89ab.css"] {
        assert!(answer.text().contains(name), "{name}");
    }
}

#[tokio::test]
async fn without_a_site_the_page_still_has_its_numbers() {
    let data = tempfile::tempdir().unwrap();
    let state = AppState::new(Site::none(), data.path().to_owned());
    let answer = send(state, Request::get("/").body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.text().contains(&mfu(&link::decode("").unwrap())));
    assert!(!answer.text().contains("/pkg/"));
}

#[tokio::test]
async fn the_chosen_theme_is_there_before_any_script() {
    let app = TestApp::new();
    let dark = app.get_with("/", "cookie", "a=b; theme=dark").await;
    assert!(dark.text().contains("data-theme=\"dark\""));
    let other = app.get_with("/", "cookie", "theme=\"><script>").await;
    assert!(!other.text().contains("data-theme"));
    assert_eq!(other.header("vary"), "accept-language, cookie");
}
