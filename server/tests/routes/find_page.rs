//! `GET /find`.

use axum::http::StatusCode;

use crate::TestApp;

const GLM: &str = "/find?v=1&preset=glm-4.5";

/// The text of a page.
async fn page(path: &str) -> String {
    TestApp::new().get_with(path, "accept", "text/html").await.text().to_owned()
}

#[tokio::test]
async fn the_bare_page_is_a_form_and_searches_nothing() {
    let answer = TestApp::new().get("/find").await;
    assert_eq!(answer.status, StatusCode::OK);
    let html = answer.text();
    for part in [
        "<form class=\"card find-form\" action=\"/find\"",
        "name=\"find.from\"",
        "name=\"find.model\"",
        "name=\"find.devices\"",
        "name=\"find.accelerator\"",
        "name=\"find.goal\"",
        "name=\"find.question\"",
        "name=\"find.mfu\"",
        "value=\"parallel.tensor_model_parallel_size\"",
        "href=\"/import\"",
        "href=\"/find\" aria-current=\"page\"",
        "src=\"/pkg/find.0123.js\"",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("find-result") && !html.contains("http-equiv=\"refresh\""), "{html}");
}

#[tokio::test]
async fn a_question_is_searched_in_the_browser_and_by_the_server_without_a_script() {
    let answer = TestApp::new().get(&format!("{GLM}&find.goal=safest")).await;
    assert_eq!(answer.status, StatusCode::OK);
    let html = answer.text();
    assert!(html.contains("data-worker=\"/pkg/finder.0123.js\""), "{html}");
    assert!(html.contains("data-query=\"v=1&amp;preset=glm-4.5&amp;find.goal=safest\""), "{html}");
    let there = "/find?v=1&amp;preset=glm-4.5&amp;find.goal=safest&amp;find.on=server";
    let refresh = format!("<noscript><meta http-equiv=\"refresh\" content=\"0;url={there}\">");
    assert!(html.contains(&refresh), "{html}");
    assert!(html.contains("<option value=\"safest\" selected>"), "{html}");
    assert!(answer.header("cache-control").contains("no-store"));
}

#[tokio::test]
async fn what_a_form_sends_leads_to_the_address_of_its_design() {
    let form = "/find?find.from=v%3D1%26preset%3Dglm-4.5&find.model=&find.devices=256\
                &find.accelerator=h200-sxm-141gb&find.goal=fastest&find.question=layout&find.batch=\
                &find.sequence=&find.mfu=30&find.keep=parallel.tensor_model_parallel_size";
    let app = TestApp::new();
    let answer = app.get(form).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let to = answer.header("location").to_owned();
    assert_eq!(
        to,
        "/find?v=1&preset=glm-4.5&cluster.accelerator=h200-sxm-141gb&cluster.num_devices=256\
         &find.target=mfu%3E%3D0.3&find.keep=parallel.tensor_model_parallel_size"
    );
    let html = page(&to).await;
    assert!(html.contains("<option value=\"h200-sxm-141gb\" selected>"), "{html}");
    assert!(html.contains("name=\"find.mfu\""), "{html}");
    let kept = "name=\"find.keep\" value=\"parallel.tensor_model_parallel_size\" \
                autocomplete=\"off\" checked";
    assert!(html.contains(kept), "{html}");
    let server = app.get(&format!("{form}&find.on=server")).await;
    assert_eq!(server.header("location"), format!("{to}&find.on=server"));
}

#[tokio::test]
async fn everything_that_is_wrong_is_said_at_once_with_what_would_be_taken() {
    let app = TestApp::new();
    let answer = app
        .get("/find?preset=glm-4.5&parallel.tp_size=2&find.goal=best&find.target=mfu&find.colour=1")
        .await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let html = answer.text();
    assert_eq!(html.matches("<li data-rule=").count(), 4, "{html}");
    for part in ["parallel.tp_size", "find.goal", "find.target", "find.colour", "safest"] {
        assert!(html.contains(&format!("<code>{part}")), "{part}: {html}");
    }
    assert!(
        html.contains("name=\"find.from\" autocomplete=\"off\" value=\"v=1&amp;preset=glm-4.5\""),
        "{html}"
    );
    let script = app.get("/find?find.goal=%3Cscript%3E").await;
    assert_eq!(script.status, StatusCode::BAD_REQUEST);
    assert!(!script.text().contains("<script>"));
}

#[tokio::test]
async fn a_search_opens_as_a_sweep_of_what_it_frees() {
    let answer =
        TestApp::new().get("/sweep?v=1&preset=glm-4.5&find.goal=fastest&find.keep=pp").await;
    assert_eq!(answer.status, StatusCode::OK);
    let html = answer.text();
    assert!(html.contains("method = &quot;refine&quot;") || html.contains("method = \"refine\""));
    assert!(html.contains("tensor_model_parallel_size") && html.contains("recompute_granularity"));
    let bad = TestApp::new().get("/sweep?v=1&preset=glm-4.5&find.goal=best").await;
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn first_page_presets_and_what_is_not_there_lead_to_it() {
    let first = page("/?v=1&preset=glm-4.5").await;
    let main = first.split("<main").nth(1).unwrap();
    assert!(main.find("class=\"find-bar\"") < main.find("class=\"cards\""), "{main}");
    assert!(first.contains("href=\"/find?v=1&amp;preset=glm-4.5"), "{first}");
    assert!(page("/presets").await.contains("href=\"/find?v=1&amp;preset=glm-4.5\""));
    for path in ["/no-such-page", "/?preset=nope", "/compare"] {
        let html = page(path).await;
        let main = html.split("<main").nth(1).unwrap();
        assert!(main.contains("href=\"/find\""), "{path}: {main}");
    }
    let broken = page("/?v=1&preset=glm-4.5&parallel.tensor_model_parallel_size=7").await;
    assert!(broken.contains("Find layouts that can"), "{broken}");
}

#[tokio::test]
async fn the_server_searches_where_it_is_asked_and_stores_nothing() {
    let app = TestApp::new();
    let raw = "v=1&preset=qwen3-8b&cluster.num_devices=8&find.keep=tp,cp,schedule.method";
    let answer = app.get(&format!("/find?{raw}&find.on=server")).await;
    assert_eq!(answer.status, StatusCode::OK);
    let html = answer.text();
    for goal in ["fastest", "safest", "simplest"] {
        assert!(html.contains(&format!("data-goal=\"{goal}\"")), "{goal}: {html}");
    }
    assert!(!html.contains("http-equiv=\"refresh\"") && !html.contains("data-worker"), "{html}");
    assert!(!app.has_store());
    // The same as the browser's, which goes on one thread.
    let mut finder = present::page::find::run::Finder::of_address(raw).unwrap();
    while !finder.is_done() {
        finder.step_alone();
    }
    assert!(html.contains(&finder.html()));
}

#[tokio::test]
async fn what_no_layout_mends_leads_on() {
    let raw = "v=1&preset=qwen3-8b&cluster.accelerator=ascend-300i-duo&find.on=server";
    let html = page(&format!("/find?{raw}")).await;
    assert!(html.contains("No layout can fix this"), "{html}");
    assert!(html.contains("class=\"button way\" href=\"/find?"), "{html}");
}
