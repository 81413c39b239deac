//! `/api/v1/traces`: traces of expert loads.

use std::io::Read;
use std::path::Path;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use flate2::read::GzDecoder;
use model::routing::{Generator, Size, Trace, packed, text};
use server::{AppState, Site};
use testing::text::{assert_text, expect};

use crate::Answer;

async fn send(data: &Path, request: Request<Body>) -> Answer {
    let state = AppState::new(Site::none(), data.to_owned()).with_trace_store(1);
    crate::send(state, request).await
}

async fn post(data: &Path, body: impl Into<Body>) -> Answer {
    send(data, Request::post("/api/v1/traces").body(body.into()).unwrap()).await
}

async fn get(data: &Path, path: &str, encoding: &str) -> Answer {
    let request = Request::get(path).header("accept-encoding", encoding);
    send(data, request.body(Body::empty()).unwrap()).await
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
    let path = answer.header("location");
    assert_eq!(path, format!("/api/v1/traces/{hash}"));
    let plain = get(data.path(), path, "identity").await;
    assert_eq!(plain.status, StatusCode::OK);
    assert_eq!(plain.header("content-type"), "application/octet-stream");
    assert_eq!(packed::read(&plain.bytes), Ok(trace.clone()));
    let zipped = get(data.path(), path, "br, gzip").await;
    assert_eq!(zipped.header("content-encoding"), "gzip");
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
    let problem = answer.problem(StatusCode::BAD_REQUEST);
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
    let mut said = Vec::new();
    for body in [
        Vec::new(),
        vec![0, 159, 146, 150, 255, 0, 7],
        b"PAR1 and nothing else".to_vec(),
        format!("{csv}0,0,0,4\n0,0,2,4\n").into_bytes(),
        format!("{csv}0,0,0,4\n0,0,0,4\n").into_bytes(),
        br#"{"steps": 1000000000, "layers": 1, "experts": 1, "tokens": []}"#.to_vec(),
    ] {
        let problem = post(data.path(), body).await.problem(StatusCode::BAD_REQUEST);
        said.push(problem["errors"][0]["detail"].as_str().unwrap().to_owned());
    }
    assert_text(
        &said.join("\n"),
        expect![[r#"
            the file has no loads of experts
            the file starts with the names of its columns: step,layer,expert,tokens
            the file is cut: a Parquet file ends with its footer
            expert 1 of step 0, layer 0 is missing
            this step, layer and expert has a line already
            `steps` is 1000000000, `tokens` has 0
        "#]],
    );
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
    assert_text(
        &answer.detail(StatusCode::PAYLOAD_TOO_LARGE),
        expect![[r#"
            a file has at most 64 MiB; Parquet is the smallest
        "#]],
    );
}

#[tokio::test]
async fn a_full_store_says_so_and_still_knows_what_it_has() {
    let data = tempfile::tempdir().unwrap();
    let small = "step,layer,expert,tokens\n0,0,0,4\n";
    assert_eq!(post(data.path(), small).await.status, StatusCode::CREATED);
    std::fs::write(data.path().join("traces/other"), vec![0; 1 << 20]).unwrap();
    let more = "step,layer,expert,tokens\n0,0,0,5\n";
    let answer = post(data.path(), more).await;
    assert_text(
        &answer.detail(StatusCode::INSUFFICIENT_STORAGE),
        expect![[r#"
            the server's room for traces, 1 MiB, is full; who runs it can give more by
                --trace-store-mib or remove old ones
        "#]],
    );
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
