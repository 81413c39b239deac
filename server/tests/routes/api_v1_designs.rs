//! `/api/v1/designs`: designs under short ids, and whose they are.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use testing::text::{assert_text, expect};

use crate::{Answer, TestApp};

const LINK: &str = "/?v=1&preset=pangu-ultra-moe-6k&training.micro_batch_size=4";

/// Sends a request with an owner's cookie, if there is one.
async fn ask(app: &TestApp, method: &str, path: &str, cookie: &str, body: &Value) -> Answer {
    let request = Request::builder().method(method).uri(path).header("cookie", cookie);
    let body = if body.is_null() { Body::empty() } else { body.to_string().into() };
    app.send(request.body(body).unwrap()).await
}

/// Stores a design; gives its id and the owner's cookie.
pub(crate) async fn stored(app: &TestApp, body: Value) -> (String, String) {
    let answer = ask(app, "POST", "/api/v1/designs", "", &body).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    (answer.json()["id"].as_str().unwrap().to_owned(), cookie)
}

#[tokio::test]
async fn a_design_is_stored_once_and_read_back_with_its_numbers() {
    let app = TestApp::new();
    let body = json!({"link": LINK, "name": "Two", "note": "a\nb"});
    let first = ask(&app, "POST", "/api/v1/designs", "", &body).await;
    let id = first.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(first.header("location"), format!("/api/v1/designs/{id}"));
    let design = json!({"design": {"schema": 1, "preset": "pangu-ultra-moe-6k",
        "training": {"micro_batch_size": 4}}});
    assert_eq!(stored(&app, design).await.0, id, "the same design has the same id");
    let read = app.get(&format!("/api/v1/designs/{id}")).await.json();
    assert_eq!(read["link"], LINK);
    assert_eq!(read["model_version"], read["current_model_version"]);
    let predicted = app.post("/api/v1/predict", read["design"].to_string()).await.json();
    let metrics = read["metrics"].as_object().unwrap();
    assert!(metrics.len() >= 6);
    for (name, value) in metrics {
        assert_eq!(value, &predicted["metrics"][name], "{name}, to the bit");
    }
}

#[tokio::test]
async fn a_design_that_breaks_rules_is_stored_without_numbers() {
    let app = TestApp::new();
    let (id, _) = stored(&app, json!({"link": "?pp=12"})).await;
    assert!(app.get(&format!("/api/v1/designs/{id}")).await.json()["metrics"].is_null());
    assert_eq!(app.get(&format!("/d/{id}")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn words_are_their_owners_and_travel_with_the_link_that_has_their_tag() {
    let app = TestApp::new();
    let (id, cookie) = stored(&app, json!({"link": LINK, "name": "Mine"})).await;
    let (_, other) = stored(&app, json!({"link": LINK, "name": "Theirs", "note": "n"})).await;
    let path = format!("/api/v1/designs/{id}");
    let read = |cookie: String, path: String| {
        let app = &app;
        async move { ask(app, "GET", &path, &cookie, &Value::Null).await.json() }
    };
    let mine = read(cookie.clone(), path.clone()).await;
    assert_eq!((&mine["name"], &mine["mine"]), (&json!("Mine"), &json!(true)));
    let bare = read(String::new(), path.clone()).await;
    assert_eq!((&bare["name"], &bare["mine"]), (&json!(""), &json!(false)));
    let address = read(other, path.clone()).await["address"].as_str().unwrap().to_owned();
    let tag = address.split_once("?note=").unwrap().1.to_owned();
    let tagged = read(String::new(), format!("{path}?note={tag}")).await;
    assert_eq!((&tagged["name"], &tagged["note"]), (&json!("Theirs"), &json!("n")));
    // What isn't sent stays; storing again isn't new.
    let again = json!({"link": LINK, "note": "later"});
    let again = ask(&app, "POST", "/api/v1/designs", &cookie, &again).await;
    assert_eq!(again.status, StatusCode::OK);
    let again = again.json();
    assert_eq!((&again["name"], &again["note"]), (&json!("Mine"), &json!("later")));
}

#[tokio::test]
async fn only_the_owner_lists_and_deletes() {
    let app = TestApp::new();
    let (id, cookie) = stored(&app, json!({"link": LINK})).await;
    let (second, _) = {
        let body = json!({"link": "?mbs=1"});
        let answer = ask(&app, "POST", "/api/v1/designs", &cookie, &body).await.json();
        (answer["id"].as_str().unwrap().to_owned(), ())
    };
    let (_, stranger) = stored(&app, json!({"link": "?mbs=8"})).await;
    let ids = |answer: &Answer| -> Vec<String> {
        let designs = answer.json()["designs"].as_array().unwrap().clone();
        designs.iter().map(|design| design["id"].as_str().unwrap().to_owned()).collect()
    };
    let list = "/api/v1/designs?mine";
    let listed = ask(&app, "GET", list, &cookie, &Value::Null).await;
    assert_eq!(ids(&listed), [second.clone(), id.clone()], "newest first");
    let page = format!("{list}&limit=1&before={second}");
    let older = ask(&app, "GET", &page, &cookie, &Value::Null).await;
    assert_eq!(ids(&older), [id.as_str()]);
    assert!(ids(&app.get(list).await).is_empty());
    app.get("/api/v1/designs").await.problem(StatusCode::BAD_REQUEST);

    let path = format!("/api/v1/designs/{id}");
    let delete = |cookie: String| {
        let (app, path) = (&app, path.clone());
        async move { ask(app, "DELETE", &path, &cookie, &Value::Null).await }
    };
    delete(stranger).await.problem(StatusCode::FORBIDDEN);
    delete(String::new()).await.problem(StatusCode::FORBIDDEN);
    assert_eq!(app.get(&path).await.status, StatusCode::OK);
    assert_eq!(delete(cookie.clone()).await.status, StatusCode::NO_CONTENT);
    app.get(&path).await.problem(StatusCode::NOT_FOUND);
    delete(cookie).await.problem(StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_design_stays_as_long_as_anybody_has_it() {
    let app = TestApp::new();
    let (id, first) = stored(&app, json!({"link": LINK})).await;
    let (_, second) = stored(&app, json!({"link": LINK})).await;
    let path = format!("/api/v1/designs/{id}");
    ask(&app, "DELETE", &path, &first, &Value::Null).await;
    assert_eq!(app.get(&path).await.status, StatusCode::OK);
    ask(&app, "DELETE", &path, &first, &Value::Null).await.problem(StatusCode::FORBIDDEN);
    ask(&app, "DELETE", &path, &second, &Value::Null).await;
    app.get(&path).await.problem(StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_no_design_is_refused_with_the_reason() {
    let app = TestApp::new();
    for body in [
        json!([]),
        json!({}),
        json!({"link": LINK, "design": {"schema": 1}}),
        json!({"link": 1}),
        json!({"link": "?nonsense=1"}),
        json!({"link": LINK, "owner": "me"}),
        json!({"design": {"schema": 1, "preset": "nope"}}),
    ] {
        app.post("/api/v1/designs", body.to_string()).await.problem(StatusCode::BAD_REQUEST);
    }
    let long = json!({"link": LINK, "name": "x".repeat(121)});
    let refused = app.post("/api/v1/designs", long.to_string()).await;
    assert_text(
        &refused.detail(StatusCode::UNPROCESSABLE_ENTITY),
        expect![[r#"
            `name` can't be kept: it has 121 characters, and at most 120
        "#]],
    );
    for path in ["0123456789abcdef", "x", "..%2f..%2fetc%2fpasswd", "'; DROP TABLE design;--"] {
        let path = format!("/api/v1/designs/{}", path.replace(' ', "%20"));
        app.get(&path).await.problem(StatusCode::NOT_FOUND);
    }
    assert!(!app.has_store(), "what is refused or only read makes no file");
}

#[tokio::test]
async fn another_site_stores_and_deletes_nothing() {
    let app = TestApp::new();
    let request = Request::post("/api/v1/designs").header("sec-fetch-site", "cross-site");
    let body = json!({"link": LINK}).to_string();
    app.send(request.body(body.into()).unwrap()).await.problem(StatusCode::FORBIDDEN);
    let (id, cookie) = stored(&app, json!({"link": LINK})).await;
    let request = Request::delete(format!("/api/v1/designs/{id}")).header("cookie", cookie);
    let request = request.header("origin", "https://evil.example").header("host", "a.example");
    app.send(request.body(Body::empty()).unwrap()).await.problem(StatusCode::FORBIDDEN);
    assert_eq!(app.get(&format!("/api/v1/designs/{id}")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn one_client_cannot_fill_the_store() {
    let app = TestApp::new();
    let state = app.state();
    let mut refused = None;
    for count in 0..200 {
        let body = json!({"link": format!("?mbs={}", count % 2 * 3 + 1)}).to_string();
        let request = Request::post("/api/v1/designs").body(body.into()).unwrap();
        let answer = crate::send(state.clone(), request).await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("a limit");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
}
