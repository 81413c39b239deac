//! Traces of expert loads over HTTP, without a socket.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use std::io::Read;
use std::path::Path;

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use flate2::read::GzDecoder;
use http_body_util::BodyExt;
use model::routing::{Generator, Size, Trace, packed, text};
use serde_json::Value;
use server::{AppState, Site, router};
use tower::ServiceExt;

/// An answer, read to its end.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }
}

async fn send(data: &Path, mib: u64, request: Request<Body>) -> Answer {
    let state = AppState::new(Site::none(), data.to_owned()).with_trace_store(mib);
    let response = router(state).oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes().to_vec();
    Answer { status: parts.status, headers: parts.headers, bytes }
}

async fn post(data: &Path, body: impl Into<Body>) -> Answer {
    send(data, 1, Request::post("/api/v1/traces").body(body.into()).unwrap()).await
}

async fn get(data: &Path, path: &str, encoding: &str) -> Answer {
    let request = Request::get(path).header("accept-encoding", encoding);
    send(data, 1, request.body(Body::empty()).unwrap()).await
}

fn files(data: &Path) -> usize {
    std::fs::read_dir(data.join("traces")).map_or(0, Iterator::count)
}

fn generated(steps: usize) -> Trace {
    let size = Size { steps, stride: 1, layers: 4, experts: 64, tokens: 1 << 16, topk: 8 };
    Generator::default().trace(&size).unwrap()
}

#[tokio::test]
async fn a_trace_that_is_posted_is_given_back_packed() {
    let data = tempfile::tempdir().unwrap();
    let trace = generated(3);
    let answer = post(data.path(), text::write(&trace)).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.json());
    let summary = answer.json();
    let hash = trace.content_hash();
    assert_eq!(summary["hash"], hash);
    assert_eq!([&summary["steps"], &summary["layers"], &summary["experts"]], [3, 4, 64]);
    assert!((1.1..3.0).contains(&summary["imbalance"].as_f64().unwrap()));
    let path = answer.headers["location"].to_str().unwrap();
    assert_eq!(path, format!("/api/v1/traces/{hash}"));
    let plain = get(data.path(), path, "identity").await;
    assert_eq!(plain.status, StatusCode::OK);
    assert_eq!(plain.headers["content-type"], "application/octet-stream");
    assert_eq!(packed::read(&plain.bytes), Ok(trace.clone()));
    let zipped = get(data.path(), path, "br, gzip").await;
    assert_eq!(zipped.headers["content-encoding"], "gzip");
    let mut bytes = Vec::new();
    GzDecoder::new(&zipped.bytes[..]).read_to_end(&mut bytes).unwrap();
    assert_eq!(packed::read(&bytes), Ok(trace));
    let refused = get(data.path(), path, "gzip;q=0").await;
    assert!(!refused.headers.contains_key("content-encoding"));
}

#[tokio::test]
async fn the_same_trace_in_another_format_is_kept_once() {
    let data = tempfile::tempdir().unwrap();
    let trace = Trace::new([1, 1, 2], vec![3, 5]).unwrap();
    for body in [
        "step,layer,expert,tokens\n7,1,0,3\n7,1,1,5\n",
        r#"{"tokens": [[[3, 5]]]}"#,
        "tokens,expert,layer,step\n5,1,0,0\n3,0,0,0\n",
    ] {
        assert_eq!(post(data.path(), body).await.json()["hash"], trace.content_hash());
    }
    assert_eq!(files(data.path()), 1);
}

#[tokio::test]
async fn each_bad_line_is_named_with_a_pointer() {
    let data = tempfile::tempdir().unwrap();
    let body = "step,layer,expert,tokens\n0,0,0,-3\n0,0,1.5,4\n";
    let answer = post(data.path(), body).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(answer.headers["content-type"], "application/problem+json");
    let problem = answer.json();
    assert_eq!(problem["errors"][0]["pointer"], "/line/2/column/7");
    assert_eq!(problem["errors"][1]["pointer"], "/line/3/column/5");
    assert_eq!(problem["errors"][0]["rule"], "unreadable_trace");
    let bad: String = (0..100).map(|step| format!("{step},0,0,-1\n")).collect();
    let problem = post(data.path(), format!("step,layer,expert,tokens\n{bad}")).await.json();
    assert_eq!(problem["errors"].as_array().unwrap().len(), text::MAX_ERRORS);
}

#[tokio::test]
async fn what_is_no_trace_is_refused_and_leaves_nothing_behind() {
    let data = tempfile::tempdir().unwrap();
    let csv = "step,layer,expert,tokens\n";
    for (body, words) in [
        (Vec::new(), ""),
        (vec![0, 159, 146, 150, 255, 0, 7], ""),
        (b"PAR1 and nothing else".to_vec(), "Parquet"),
        (format!("{csv}0,0,0,4\n0,0,2,4\n").into_bytes(), "expert 1 of step 0, layer 0 is missing"),
        (format!("{csv}0,0,0,4\n0,0,0,4\n").into_bytes(), "a line already"),
        (br#"{"steps": 1000000000, "layers": 1, "experts": 1, "tokens": []}"#.to_vec(), ""),
    ] {
        let shown = String::from_utf8_lossy(&body).into_owned();
        let answer = post(data.path(), body).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{shown}");
        let problem = answer.json();
        let detail = problem["errors"][0]["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{shown}: {detail}");
    }
    assert_eq!(files(data.path()), 0);
}

#[tokio::test]
async fn a_body_above_its_own_limit_is_refused_and_one_above_the_others_is_not() {
    let data = tempfile::tempdir().unwrap();
    let mut body = text::write(&generated(500));
    assert!(body.len() > 1 << 20);
    assert_eq!(post(data.path(), body.clone()).await.status, StatusCode::CREATED);
    body.extend(std::iter::repeat_n('\n', 64 << 20));
    let answer = post(data.path(), body).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(answer.json()["detail"].as_str().unwrap().contains("64 MiB"));
}

#[tokio::test]
async fn a_full_store_says_so_and_still_knows_what_it_has() {
    let data = tempfile::tempdir().unwrap();
    let small = "step,layer,expert,tokens\n0,0,0,4\n";
    assert_eq!(post(data.path(), small).await.status, StatusCode::CREATED);
    std::fs::write(data.path().join("traces/other"), vec![0; 1 << 20]).unwrap();
    let more = "step,layer,expert,tokens\n0,0,0,5\n";
    let answer = post(data.path(), more).await;
    assert_eq!(answer.status, StatusCode::INSUFFICIENT_STORAGE);
    assert!(answer.json()["detail"].as_str().unwrap().contains("--trace-store-mib"));
    assert_eq!(post(data.path(), small).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn only_a_hash_names_a_trace() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("secret.gz"), "secret").unwrap();
    for path in ["0123456789abcdef0123456789abcdef", "..%2Fsecret", "x", "%00"] {
        let answer = get(data.path(), &format!("/api/v1/traces/{path}"), "gzip").await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
}
