//! `GET /ladder`.

use axum::http::StatusCode;
use model::design::ladder;
use model::design::link;

use crate::TestApp;

#[tokio::test]
async fn the_page_reads_without_a_script() {
    let page = TestApp::new().page("/ladder").await;
    assert_eq!(page.text("h1"), "From 18.9 % over 30.0 % to 41 % MFU");
    for published in ["148.9 tokens/s", "237.6 tokens/s"] {
        assert!(page.texts("td").iter().any(|cell| cell == published), "{published}");
    }
    assert!(page.has("main figure svg"));
}

#[tokio::test]
async fn every_step_opens_as_a_design() {
    let app = TestApp::new();
    let page = app.page("/ladder").await;
    for design in ladder::designs().unwrap() {
        let address = format!("/?{}", link::encode(&design));
        assert!(page.has_link(&address), "{address}");
        assert_eq!(app.get(&address).await.status, StatusCode::OK, "{address}");
    }
}

#[tokio::test]
async fn what_stands_in_the_query_does_not_matter() {
    let app = TestApp::new();
    let plain = app.get("/ladder").await;
    let other = app.get("/ladder?tp=-8&%3Cscript%3E").await;
    assert_eq!(other.status, StatusCode::OK);
    assert_eq!(plain.page().markup("main"), other.page().markup("main"));
    assert_eq!(plain.text().len(), other.text().len());
}
