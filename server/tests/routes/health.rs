//! `GET /healthz` and `GET /readyz`.

use axum::http::StatusCode;

use crate::TestApp;

#[tokio::test]
async fn a_server_with_its_data_directory_is_alive_and_ready() {
    let app = TestApp::new();
    assert_eq!(app.get("/healthz").await.status, StatusCode::OK);
    assert_eq!(app.get("/readyz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_server_that_lost_its_data_directory_is_alive_but_not_ready() {
    let app = TestApp::new();
    std::fs::remove_dir(app.data.path()).unwrap();
    assert_eq!(app.get("/healthz").await.status, StatusCode::OK);
    app.get("/readyz").await.problem(StatusCode::SERVICE_UNAVAILABLE);
}
