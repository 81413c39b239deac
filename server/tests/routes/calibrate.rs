//! `POST /api/v1/calibrate` and the page `/calibrate`.

use axum::body::Body;
use axum::http::{Request, StatusCode};

use crate::multipart::{Field, body, kind};
use crate::{Answer, TestApp};

const LOG: &str = include_str!("../../../crates/validation/tests/own/llama-8b-tp1.log");

async fn posted(path: &str, fields: &[Field<'_>]) -> Answer {
    let request = Request::post(path).header("content-type", kind());
    let app = TestApp::new();
    let answer = app.send(request.body(Body::from(body(fields))).unwrap()).await;
    assert!(!app.has_store(), "a calibration stores nothing");
    answer
}

const ON: Field<'_> = ("accelerator", None, b"h100-sxm-80gb");

#[tokio::test]
async fn a_log_makes_a_profile_as_the_api_describes_it() {
    let answer = posted(
        "/api/v1/calibrate",
        &[("file", Some("run.log"), LOG.as_bytes()), ON, ("name", None, b"ours")],
    )
    .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "application/json");
    let found = answer.json();
    assert_eq!(found["name"], "ours");
    assert_eq!(found["runs"][0]["steps"], 3);
    let knobs = found["knobs"].as_array().unwrap();
    assert_eq!((knobs.len(), knobs[1].as_str()), (2, Some("kernel.profile=ours")), "{found}");
    let link = found["link"].as_str().unwrap();
    assert!(link.split('&').any(|setting| setting == knobs[0]), "{found}");
    assert!(found["provenance"]["date"].is_string());
    let document = TestApp::new().get("/api/v1/openapi.json").await.json();
    let described = &document["components"]["schemas"]["Calibration"];
    for name in found.as_object().unwrap().keys().filter(|name| *name != "provenance") {
        assert!(described["properties"][name].is_object(), "{name} isn't described");
    }
    for list in ["runs", "constants"] {
        let reference = described["properties"][list]["items"]["$ref"].as_str().unwrap();
        let of = document.pointer(reference.trim_start_matches('#')).unwrap();
        for name in found[list][0].as_object().unwrap().keys() {
            assert!(of["properties"][name].is_object(), "{list}: {name} isn't described");
        }
    }
}

#[tokio::test]
async fn what_makes_no_profile_is_a_problem_with_its_line() {
    let path = "/api/v1/calibrate";
    let none = posted(path, &[ON]).await;
    none.problem(StatusCode::BAD_REQUEST);
    let table = b"id,model,hardware,n_devices\n";
    let lines = posted(path, &[("file", Some("a.csv"), &table[..]), ON]).await;
    lines.problem(StatusCode::UNPROCESSABLE_ENTITY);
    let cut = posted(path, &[("file", Some("a.csv"), b"id,hardware\nx,y\n"), ON]).await;
    let problem = cut.problem(StatusCode::UNPROCESSABLE_ENTITY);
    let why = problem["errors"][0]["detail"].as_str().unwrap();
    assert_eq!(why, "a.csv: line 1: there is no column `model`");
    let knob = posted(path, &[("file", Some("a"), LOG.as_bytes()), ("set", None, b"tq=3")]).await;
    knob.problem(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_page_works_without_a_script_and_shows_what_the_api_says() {
    let page = TestApp::new().page("/calibrate").await;
    let form = page.part("form[method=post][action='/calibrate'][enctype='multipart/form-data']");
    assert!(form.has("input[type=file][name=file]"));
    let fields = [("file", Some("<b>run</b>.log"), LOG.as_bytes()), ON];
    let (page, api) =
        (posted("/calibrate", &fields).await, posted("/api/v1/calibrate", &fields).await.json());
    assert_eq!(page.status, StatusCode::OK);
    let page = page.page();
    assert!(page.has_link(api["link"].as_str().unwrap()), "{}", api["link"]);
    assert!(page.has(&format!("[value='{}']", api["query"].as_str().unwrap())));
    assert!(page.says("<b>run</b>.log"), "{}", page.words());
    assert!(!page.has("b"));
    let refused = posted("/calibrate", &[("text", None, b"nothing"), ON]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let page = refused.page();
    assert!(page.says("pasted: it is neither"), "{}", page.words());
}
