//! `GET /healthz` and `GET /readyz`.

use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use server::{AppState, Site};

use crate::{Answer, TestApp, send};

async fn ready(state: &AppState) -> Answer {
    send(state.clone(), Request::get("/readyz").body(Body::empty()).unwrap()).await
}

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

#[tokio::test]
async fn a_server_is_ready_once_it_has_written_to_its_store_and_that_holds_for_a_second() {
    let app = TestApp::new();
    let log = app.data.path().join("moescape.sqlite-wal");
    let state = AppState::new(Site::none(), app.data.path().to_owned());
    assert_eq!(ready(&state).await.status, StatusCode::OK);
    let written = log.metadata().unwrap();
    for _ in 0..20 {
        assert_eq!(ready(&state).await.status, StatusCode::OK);
    }
    assert!(log.metadata().unwrap().len() < written.len() + 20 * 4_096, "a look is shared");
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let before = log.metadata().unwrap().len();
    assert_eq!(ready(&state).await.status, StatusCode::OK);
    assert!(log.metadata().unwrap().len() > before, "nothing was written");
}

#[tokio::test]
async fn a_server_whose_file_is_gone_or_another_one_or_cut_off_is_not_ready_and_says_so() {
    let spoils: [fn(&Path); 3] = [
        |file| std::fs::remove_file(file).unwrap(),
        |file| {
            // Its number isn't given away before this one has it.
            std::fs::rename(file, file.with_extension("old")).unwrap();
            std::fs::write(file, "x".repeat(9_000)).unwrap();
        },
        |file| std::fs::File::options().write(true).open(file).unwrap().set_len(0).unwrap(),
    ];
    for spoil in spoils {
        let app = TestApp::new();
        let state = AppState::new(Site::none(), app.data.path().to_owned());
        assert_eq!(ready(&state).await.status, StatusCode::OK);
        spoil(&app.data.path().join("moescape.sqlite"));
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        let said = ready(&state).await.detail(StatusCode::SERVICE_UNAVAILABLE);
        assert!(said.contains("gone, cut off, or another one"), "{said}");
    }
}

#[tokio::test]
async fn a_server_on_a_file_of_another_program_is_not_ready_and_says_so() {
    let app = TestApp::new();
    std::fs::write(app.data.path().join("moescape.sqlite"), "x".repeat(9_000)).unwrap();
    let said = app.get("/readyz").await.detail(StatusCode::SERVICE_UNAVAILABLE);
    assert!(said.contains("another program"), "{said}");
}
