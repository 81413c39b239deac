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
    let form = app.page("/r/new?v=1&training.micro_batch_size=4").await;
    let link = form.attribute("form [name=link]", "value");
    assert_eq!(link, "v=1&preset=pangu-ultra-moe-6k&training.micro_batch_size=4");

    let page = enter(&app, &begin(&app, FORM).await).await;
    assert_eq!(page.status, StatusCode::OK);
    // The way in is in no page.
    assert!(!page.text().contains("key="), "{}", page.text());
    let page = page.page();
    assert_eq!(page.text("strong[translate=no]"), "Which PP?");
    // It reads without a script: numbers, knobs and the parts of the panel are there.
    assert!(page.has("#knob-micro_batch_size"));
    for part in ["Peak memory per device", "New comment"] {
        assert!(page.says(part), "{part}: {}", page.words());
    }
}

#[tokio::test]
async fn what_is_wrong_in_the_form_is_said_in_it() {
    let app = TestApp::new();
    let answer = app.post("/r", "name=&person=Ann&link=v%3D1").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let said = answer.page().text("[role=alert]");
    assert!(said.contains("a name is missing"), "{said}");
    let answer = app.get("/r/new?no.such_knob=1").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.page().has("[role=alert]"), "{}", answer.text());
}

#[tokio::test]
async fn what_people_write_never_ends_the_element_that_holds_it() {
    let app = TestApp::new();
    let form = "name=%3C%2Fscript%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E&person=Ann&link=v%3D1";
    let page = enter(&app, &begin(&app, form).await).await;
    assert_eq!(page.status, StatusCode::OK);
    let page = page.page();
    assert_eq!(page.text("strong[translate=no]"), "</script><script>alert(1)</script>");
    assert!(!page.has("script:not([nonce]):not([type='application/json'])"));
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
        assert_eq!(answer.page().text("h1"), "No such review");
    }
}
