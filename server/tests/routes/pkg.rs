//! `GET /pkg/{path}` and the public files.

use axum::http::StatusCode;

use crate::TestApp;

#[tokio::test]
async fn hashed_files_may_be_kept_for_ever() {
    let answer = TestApp::new().get("/pkg/app.0123.js").await;
    assert_eq!((answer.status, answer.text()), (StatusCode::OK, "js"));
    assert_eq!(answer.header("content-type"), "text/javascript; charset=utf-8");
    assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable");
    assert!(answer.headers.get("content-encoding").is_none());
}

#[tokio::test]
async fn the_module_has_the_type_that_browsers_stream() {
    let answer = TestApp::new().get("/pkg/app_bg.4567.wasm").await;
    assert_eq!(answer.header("content-type"), "application/wasm");
}

#[tokio::test]
async fn those_who_take_brotli_get_the_compressed_sibling_as_it_is() {
    let app = TestApp::new();
    let answer = app.get_with("/pkg/app.0123.js", "accept-encoding", "gzip, br").await;
    assert_eq!(answer.text(), "js in brotli");
    assert_eq!(answer.header("content-encoding"), "br");
    assert_eq!(answer.header("vary"), "accept-encoding");
    let answer = app.get_with("/pkg/app.0123.js", "accept-encoding", "gzip").await;
    assert_ne!(answer.text(), "js in brotli");
}

#[tokio::test]
async fn public_files_are_served_for_an_hour() {
    let answer = TestApp::new().get("/favicon.svg").await;
    assert_eq!((answer.status, answer.text()), (StatusCode::OK, "<svg/>"));
    assert_eq!(answer.header("content-type"), "image/svg+xml");
    assert_eq!(answer.header("cache-control"), "public, max-age=3600");
}

#[tokio::test]
async fn nothing_but_the_sites_files_can_be_reached() {
    let app = TestApp::new();
    for path in [
        "/pkg/",
        "/pkg/app.0123.js.br",
        "/pkg/../site.json",
        "/site.json",
        "/pkg/%2e%2e/site.json",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
    ] {
        app.get(path).await.problem(StatusCode::NOT_FOUND);
    }
}
