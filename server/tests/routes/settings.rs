//! `/settings`, and what follows from it on every page: language and unit of memory.

use axum::body::Body;
use axum::http::{Request, StatusCode};

use crate::{Answer, TestApp};

/// Chooses, and gives the answer.
async fn choose(app: &TestApp, form: &'static str) -> Answer {
    let request = Request::post("/settings")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(form))
        .unwrap();
    app.send(request).await
}

#[tokio::test]
async fn what_is_chosen_is_kept_as_cookies_and_leads_back() {
    let app = TestApp::new();
    let form = "back=%2F%3Fx%3Dy&language=zh&units=decimal&theme=&keys=off";
    let answer = choose(&app, form).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.header("location"), "/?x=y");
    let cookies: Vec<_> = answer.headers.get_all("set-cookie").iter().collect();
    let cookies: Vec<_> = cookies.iter().map(|cookie| cookie.to_str().unwrap()).collect();
    for kept in ["language=zh", "units=decimal", "keys=off"] {
        let is_kept = |cookie: &&str| cookie.starts_with(&format!("{kept}; Path=/; Max-Age=31536"));
        assert!(cookies.iter().any(is_kept), "{kept} is not in {cookies:?}");
    }
    assert!(cookies.iter().any(|cookie| cookie.starts_with("theme=; Path=/; Max-Age=0")));
    assert!(!app.has_store());
}

#[tokio::test]
async fn nothing_else_can_be_chosen_and_no_other_site_is_led_to() {
    let app = TestApp::new();
    choose(&app, "language=tlh").await.problem(StatusCode::BAD_REQUEST);
    choose(&app, "units=a%0D%0Ax: y").await.problem(StatusCode::BAD_REQUEST);
    for form in ["back=//a.example", "back=https://a.example", "back=%0D%0A", ""] {
        assert_eq!(choose(&app, form).await.header("location"), "/", "{form}");
    }
    let back = |answer: Answer| answer.page().attribute("input[name=back]", "value");
    assert_eq!(back(app.get("/settings?back=%22%3E%3Cscript%3E").await), "/");
    let led = app.get_with("/settings", "referer", "http://a.example/trust?x=1").await;
    assert_eq!(back(led), "/trust?x=1");
}

#[tokio::test]
async fn the_form_shows_what_is_chosen() {
    let app = TestApp::new();
    let answer = app.get_with("/settings", "cookie", "units=decimal; theme=nonsense").await;
    let page = answer.page();
    for (name, value) in [("units", "decimal"), ("theme", ""), ("language", "")] {
        assert_eq!(page.attribute(&format!("[name={name}][checked]"), "value"), value, "{name}");
    }
}

#[tokio::test]
async fn pages_are_in_the_language_that_is_preferred_or_chosen() {
    let app = TestApp::new();
    for page in ["/", "/presets", "/settings", "/guide", "/nothing"] {
        let mut request = Request::get(page).header("accept", "text/html");
        request = request.header("accept-language", "zh-CN,zh;q=0.9,en;q=0.5");
        let answer = app.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.header("content-language"), "zh-CN", "{page}");
        assert_eq!(answer.page().attribute("html", "lang"), "zh-CN", "{page}");
    }
    for page in ["/", "/guide", "/embed", "/nothing"] {
        for language in ["zh-CN", "en"] {
            let mut request = Request::get(page).header("accept", "text/html");
            request = request.header("accept-language", language);
            let answer = app.send(request.body(Body::empty()).unwrap()).await;
            let varies: Vec<_> = answer.headers.get_all("vary").iter().collect();
            let vary = "accept-language, cookie";
            assert!(varies.iter().any(|varies| *varies == vary), "{page} {language}");
        }
    }
    let english = app.get_with("/", "accept-language", "en").await.page();
    assert_eq!(english.attribute("html", "lang"), "en");
    let chosen = app.get_with("/", "cookie", "language=zh").await.page();
    let title = "[data-metric=step_time_seconds] h2";
    assert_eq!([english.text(title), chosen.text(title)], ["Step time", "单步时间"]);
    // What programs read isn't translated, nor is a picture that others see.
    let cookie = "language=zh; units=decimal";
    for file in ["/card.png", "/export/metrics.csv", "/export/design.toml"] {
        let own = app.get_with(file, "cookie", cookie).await;
        assert_eq!(own.bytes, app.get(file).await.bytes, "{file}");
    }
    let json = app.get_with("/api/v1/metrics", "cookie", "language=zh").await;
    assert_eq!(json.text(), app.get("/api/v1/metrics").await.text());
}

#[tokio::test]
async fn every_number_of_memory_is_in_the_unit_that_was_chosen() {
    let app = TestApp::new();
    for page in ["/", "/presets", "/tour", "/ladder", "/trust"] {
        let binary = app.get(page).await;
        let decimal = app.get_with(page, "cookie", "units=decimal").await;
        let numbers = |text: &str| {
            let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
            text.match_indices(" GiB").filter(|(at, _)| *at > 0 && digit(at - 1)).count()
        };
        assert!(numbers(binary.text()) > 0 || page == "/trust", "{page}");
        // What a GiB is stands below the numbers of the explorer.
        let known = usize::from(page == "/");
        assert_eq!(numbers(decimal.text()), known, "{page}");
        // Nobody else's pages change.
        assert_eq!(numbers(app.get(page).await.text()), numbers(binary.text()), "{page}");
    }
}
