//! `GET /find`.

use axum::http::StatusCode;

use testing::page::Page;
use testing::text::{assert_text, expect};

use crate::TestApp;

const GLM: &str = "/find?v=1&preset=glm-4.5";

async fn page(path: &str) -> Page {
    TestApp::new().page(path).await
}

#[tokio::test]
async fn the_bare_page_is_a_form_and_searches_nothing() {
    let page = page("/find").await;
    let form = page.part("form.find-form[action='/find']");
    for name in ["from", "model", "devices", "accelerator", "goal", "question", "mfu"] {
        assert_eq!(form.count(&format!("[name='find.{name}']")), 1, "{name}");
    }
    assert!(form.has("[name='find.keep'][value='parallel.tensor_model_parallel_size']"));
    assert!(form.has_link("/import"));
    assert_eq!(page.attributes("nav [aria-current=page]", "href"), ["/find", "/find"]);
    assert!(page.has("script[src='/pkg/find.0123.js']"));
    assert!(!page.has("#find-result") && !page.has("noscript"));
}

#[tokio::test]
async fn a_question_is_searched_in_the_browser_and_by_the_server_without_a_script() {
    let answer = TestApp::new().get(&format!("{GLM}&find.goal=safest")).await;
    assert_eq!(answer.status, StatusCode::OK);
    let page = answer.page();
    let query = page.attribute("#find-result[data-worker='/pkg/finder.0123.js']", "data-query");
    assert_eq!(format!("/find?{query}"), format!("{GLM}&find.goal=safest"));
    let without_script = Page::new(&page.text("head noscript"));
    assert_eq!(
        without_script.attribute("meta[http-equiv=refresh]", "content"),
        format!("0;url={GLM}&find.goal=safest&find.on=server")
    );
    assert_eq!(page.attribute("[name='find.goal'] option[selected]", "value"), "safest");
    assert_eq!(answer.header("cache-control"), "private, no-store");
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
    let filled = page(&to).await.part("form.find-form");
    let accelerator = filled.attribute("[name='find.accelerator'] option[selected]", "value");
    assert_eq!(accelerator, "h200-sxm-141gb");
    assert_eq!(filled.attribute("[name='find.mfu']", "value"), "30");
    let kept = filled.attributes("[name='find.keep'][checked]", "value");
    assert_eq!(kept, ["parallel.tensor_model_parallel_size"]);
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
    let page = answer.page();
    assert_text(
        &page.texts("[role=alert] li[data-rule]").join("\n"),
        expect![[r#"
            find.colour there is no `find.colour` in a search. Closest valid value: find.goal,
                find.question, find.target, find.keep, find.any_schedule
            parallel.tp_size there is no knob `parallel.tp_size`. Closest valid value:
                parallel.noop_layers
            find.goal `goal` is one of fastest, safest, simplest, not `best`. Closest valid
                value: safest
            find.target a target is METRIC>=NUMBER or METRIC<=NUMBER, not `mfu`.
        "#]],
    );
    assert_eq!(page.attribute("[name='find.from']", "value"), "v=1&preset=glm-4.5");
    let script = app.get("/find?find.goal=%3Cscript%3E").await;
    assert_eq!(script.status, StatusCode::BAD_REQUEST);
    let page = script.page();
    assert!(page.says("not `<script>`"), "{}", page.words());
}

#[tokio::test]
async fn a_search_opens_as_a_sweep_of_what_it_frees() {
    let page = page("/sweep?v=1&preset=glm-4.5&find.goal=fastest&find.keep=pp").await;
    let spec = page.text("textarea#spec");
    for part in ["method = \"refine\"", "tensor_model_parallel_size = ", "recompute_granularity = "]
    {
        assert!(spec.contains(part), "{part}: {spec}");
    }
    let bad = TestApp::new().get("/sweep?v=1&preset=glm-4.5&find.goal=best").await;
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn first_page_presets_and_what_is_not_there_lead_to_it() {
    let first = page("/?v=1&preset=glm-4.5").await;
    assert!(first.has("main .find-bar ~ .cards") && first.has_link(GLM));
    assert!(page("/presets").await.has_link(GLM));
    let app = TestApp::new();
    for path in ["/no-such-page", "/?preset=nope", "/compare"] {
        let page = app.get_with(path, "accept", "text/html").await.page();
        assert!(page.part("main").has_link("/find"), "{path}");
    }
    let broken = "&parallel.tensor_model_parallel_size=7";
    let page = page(&format!("/?v=1&preset=glm-4.5{broken}")).await;
    assert_eq!(page.text(&format!("main p a[href='{GLM}{broken}']")), "Find layouts that can");
}

#[tokio::test]
async fn the_server_searches_where_it_is_asked_and_stores_nothing() {
    let app = TestApp::new();
    let raw = "v=1&preset=qwen3-8b&cluster.num_devices=8&find.keep=tp,cp,schedule.method";
    let page = app.page(&format!("/find?{raw}&find.on=server")).await;
    let goals = page.attributes("#find-answer [data-goal]", "data-goal");
    assert_eq!(goals, ["fastest", "safest", "simplest"]);
    assert!(!page.has("noscript") && !page.has("[data-worker]"));
    assert!(!app.has_store());
    // The same as the browser's, which goes on one thread.
    let mut finder = present::page::find::run::Finder::of_address(raw).unwrap();
    while !finder.is_done() {
        finder.step_alone();
    }
    assert_eq!(page.markup("#find-answer"), Page::new(&finder.html()).markup("body"));
}

#[tokio::test]
async fn what_no_layout_mends_leads_on() {
    let raw = "v=1&preset=qwen3-8b&cluster.accelerator=ascend-300i-duo&find.on=server";
    let answer = page(&format!("/find?{raw}")).await.part("#find-answer");
    assert_eq!(answer.text("h2"), "No layout can fix this");
    assert!(answer.has("a.way[href^='/find?']"));
}
