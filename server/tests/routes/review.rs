//! `/r/new`, `POST /r` and `/r/{id}`: a review session for people, from its form on.

use axum::http::StatusCode;

use crate::{Answer, TestApp};

const FORM: &str = "name=Which+PP%3F&person=Ann&link=v%3D1%26training.micro_batch_size%3D2";

/// Begins a session: the address that its owner is led to.
async fn begin(app: &TestApp, form: &str) -> String {
    let answer = app.post("/r", form.to_owned()).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), "no-store");
    answer.header("location").to_owned()
}

/// The page behind a link, as the browser that followed it sees it.
async fn enter(app: &TestApp, link: &str) -> Answer {
    let led = app.get(link).await;
    assert_eq!(led.status, StatusCode::SEE_OTHER, "{}", led.text());
    let cookie = led.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
    app.get_with(led.header("location"), "cookie", &cookie).await
}

#[tokio::test]
async fn the_form_begins_a_session_around_the_design_of_its_link() {
    let app = TestApp::new();
    let form = app.get("/r/new?v=1&training.micro_batch_size=4").await;
    assert_eq!(form.status, StatusCode::OK);
    assert!(form.text().contains("training.micro_batch_size=4"), "{}", form.text());

    let page = enter(&app, &begin(&app, FORM).await).await;
    assert_eq!(page.status, StatusCode::OK);
    let html = page.text();
    assert!(html.contains("<strong translate=\"no\">Which PP?</strong>"), "{html}");
    // It reads without a script: numbers, knobs and the parts of the panel are there.
    for part in ["Peak memory per device", "id=\"knob-micro_batch_size\"", "New comment"] {
        assert!(html.contains(part), "{part}");
    }
    // The way in is in no page.
    assert!(!html.contains("key="), "{html}");
}

#[tokio::test]
async fn what_is_wrong_in_the_form_is_said_in_it() {
    let app = TestApp::new();
    let answer = app.post("/r", "name=&person=Ann&link=v%3D1").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.text().contains("a name is missing"), "{}", answer.text());
    let answer = app.get("/r/new?no.such_knob=1").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.text().contains("role=\"alert\""), "{}", answer.text());
}

#[tokio::test]
async fn what_people_write_never_ends_the_element_that_holds_it() {
    let app = TestApp::new();
    let form = "name=%3C%2Fscript%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E&person=Ann&link=v%3D1";
    let page = enter(&app, &begin(&app, form).await).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(!page.text().contains("<script>alert"), "{}", page.text());
}

#[tokio::test]
async fn a_session_that_there_isnt_and_a_wrong_key_are_one_page() {
    let app = TestApp::new();
    let link = begin(&app, FORM).await;
    let (path, _) = link.split_once('?').unwrap();
    let wrong = app.get(&format!("{path}?key=0123456789abcdef")).await;
    let unknown = app.get("/r/0123456789abcdef?key=0123456789abcdef").await;
    for answer in [&wrong, &unknown, &app.get(path).await] {
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert!(answer.text().contains("No such review"), "{}", answer.text());
    }
}
