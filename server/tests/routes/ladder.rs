//! `GET /ladder`.

use axum::http::StatusCode;
use model::design::ladder;
use model::design::link;

use crate::TestApp;

#[tokio::test]
async fn the_page_reads_without_a_script() {
    let answer = TestApp::new().get("/ladder").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    for part in ["From 18.9 % over 30.0 % to 41 % MFU", "148.9 tokens/s", "237.6 tokens/s", "<svg"]
    {
        assert!(answer.text().contains(part), "{part}");
    }
    assert!(!answer.text().contains(" style=\""), "inline style is against the policy");
}

#[tokio::test]
async fn every_step_opens_as_a_design() {
    let app = TestApp::new();
    let answer = app.get("/ladder").await;
    for design in ladder::designs().unwrap() {
        let address = format!("/?{}", link::encode(&design));
        let written = address.replace('&', "&amp;");
        assert!(answer.text().contains(&format!("href=\"{written}\"")), "{address}");
        assert_eq!(app.get(&address).await.status, StatusCode::OK, "{address}");
    }
}

#[tokio::test]
async fn what_stands_in_the_query_does_not_matter() {
    let app = TestApp::new();
    let plain = app.get("/ladder").await;
    let other = app.get("/ladder?tp=-8&%3Cscript%3E").await;
    assert_eq!(other.status, StatusCode::OK);
    assert!(!other.text().contains("<script>"));
    assert_eq!(plain.text().len(), other.text().len());
}
