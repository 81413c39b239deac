//! Every download of the server says inside which design it is of, by which version of the model
//! it was computed, and when.

use std::io::Read;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::http::StatusCode;
use flate2::read::GzDecoder;
use model::{MODEL_VERSION, design::link};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;

use crate::{Answer, TestApp};

const QUERY: &str = "v=1&preset=pangu-ultra-moe-6k";

/// Every download by its address, without the query string; those of a sweep by what stands for
/// its id.
const ALL: [&str; 21] = [
    "/api/v1/sweeps/ID",
    "/api/v1/sweeps/ID/rows?format=csv",
    "/api/v1/sweeps/ID/rows?format=jsonl",
    "/api/v1/sweeps/ID/rows?format=parquet",
    "/api/v1/validation",
    "/api/v1/validation.csv",
    "/api/v1/validation/serving",
    "/compare.csv",
    "/export/accelerate.yaml",
    "/export/bridge.py",
    "/export/deepspeed.json",
    "/export/design.json",
    "/export/design.toml",
    "/export/megatron.sh",
    "/export/metrics.csv",
    "/export/metrics.json",
    "/export/metrics.parquet",
    "/export/mindformers.yaml",
    "/export/mindspeed.sh",
    "/export/timeline.json",
    "/export/torchtitan.toml",
];

/// A sweep of a few designs that has ended; its page's id.
async fn swept(app: &TestApp) -> String {
    let spec = r#"{"schema":1,"design":{"preset":"pangu-ultra-moe-6k",
        "schedule":{"timing":"closed_form"}},"space":{"tp":[4,8],"pp":[8,16]}}"#;
    let path = app.post("/api/v1/sweeps", spec).await.json();
    let path = path["status"].as_str().unwrap().to_owned();
    for _ in 0..600 {
        if app.get(&path).await.json()["state"] == "done" {
            return path.rsplit('/').next().unwrap().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the sweep takes too long");
}

/// Everything that is written inside a file, as text.
fn inside(address: &str, answer: &Answer) -> String {
    if !address.contains("parquet") {
        return answer.text().to_owned();
    }
    let table = SerializedFileReader::new(Bytes::from(answer.bytes.clone())).unwrap();
    let notes = table.metadata().file_metadata().key_value_metadata().unwrap().iter();
    notes.map(|note| format!("{}={:?}\n", note.key, note.value)).collect()
}

/// The year, which the date in every file begins with.
fn year() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    (1970 + (seconds as f64 / 31_556_952.0) as u64).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_download_says_where_it_comes_from() {
    let app = TestApp::new();
    let id = swept(&app).await;
    let compare = format!("/compare?a={}&b={}", QUERY.replace('&', "%26"), "v=1%26preset=glm-4.5");
    let pages = ["/trust".to_owned(), compare, format!("/export?{QUERY}"), format!("/s/{id}")];
    let mut found = vec![];
    for page in pages {
        found.extend(app.page(&page).await.attributes("a[download]", "href"));
    }
    let mut names: Vec<String> = found
        .iter()
        .map(|address| match address.split_once(&id) {
            Some((before, after)) => format!("{before}ID{after}"),
            None => address.split('?').next().unwrap_or_default().to_owned(),
        })
        .collect();
    names.sort_unstable();
    assert_eq!(names, ALL);
    for address in found {
        let answer = app.get(&address).await;
        assert_eq!(answer.status, StatusCode::OK, "{address}");
        let inside = inside(&address, &answer);
        // Published runs have designs of their own, one in each row.
        let is_of_runs = address.contains("validation");
        let design = if is_of_runs { "v=1&preset=" } else { QUERY };
        for part in [design, MODEL_VERSION, &year()] {
            assert!(inside.contains(part), "{address} lacks {part}: {inside:.2000}");
        }
    }
}

/// Encodings that clients accept: nothing, one coding, a browser's list.
const ENCODINGS: [&str; 7] =
    ["identity", "gzip", "br", "zstd", "deflate", "*", "gzip, deflate, br, zstd"];

/// A body that broke off fails in `send`; one that is packed by gzip says the same unpacked.
#[tokio::test(flavor = "multi_thread")]
async fn every_answer_comes_whole_in_every_encoding() {
    let app = TestApp::new();
    let id = swept(&app).await;
    let rows = ["csv", "jsonl", "parquet"].into_iter().flat_map(|format| {
        let id = &id;
        let of = ["front", "best", "sample"].into_iter();
        of.map(move |of| format!("/api/v1/sweeps/{id}/rows?format={format}&of={of}"))
    });
    let trace = "step,layer,expert,tokens\n".to_owned()
        + &(0..4_000).map(|step| format!("{step},0,0,{step}1\n")).collect::<String>();
    let trace = app.post("/api/v1/traces", trace).await.header("location").to_owned();
    let timeline = "/export/timeline.json?v=1&preset=llama-3-8b&training.global_batch_size=4096";
    let others = ["/", "/trust", "/api/v1/validation", "/api/v1/validation.csv", timeline, &trace];
    let paths = rows.chain(others.map(str::to_owned));
    let paths = paths.chain([format!("/api/v1/sweeps/{id}/events"), format!("/s/{id}/data")]);
    for path in paths {
        let plain = app.get_with(&path, "accept-encoding", "identity").await;
        assert_eq!(plain.status, StatusCode::OK, "{path}");
        assert!(!plain.bytes.is_empty(), "{path}");
        for encoding in ENCODINGS {
            let answer = app.get_with(&path, "accept-encoding", encoding).await;
            let coding = answer.headers.get("content-encoding");
            if coding.is_some_and(|coding| coding == "gzip") {
                let mut unpacked = vec![];
                GzDecoder::new(&answer.bytes[..]).read_to_end(&mut unpacked).unwrap();
                // Pages have a nonce.
                assert!(path.len() < 8 || unpacked == plain.bytes, "{path} as {encoding}");
            } else {
                assert!(!answer.bytes.is_empty(), "{path} as {encoding}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_the_same_whatever_stands_beside_it() {
    let app = TestApp::new();
    let id = swept(&app).await;
    let rows = app.get(&format!("/api/v1/sweeps/{id}/rows?format=jsonl&of=all")).await;
    assert_eq!(rows.status, StatusCode::CONFLICT, "rows that aren't kept");
    let rows = app.get(&format!("/api/v1/sweeps/{id}/rows?format=jsonl")).await;
    assert!(rows.text().lines().count() > 0, "no design is feasible");
    for row in rows.text().lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let design =
            link::decode(row["provenance"]["design"].as_str().unwrap().trim_start_matches('/'));
        let tp = row["knobs"]["parallel.tensor_model_parallel_size"].as_u64();
        assert_eq!(Some(design.unwrap().parallel.tensor_model_parallel_size), tp);
    }
    let result = &app.get(&format!("/api/v1/sweeps/{id}")).await.json()["result"];
    let (digest, text) = (result["digest"].as_str().unwrap(), result.to_string());
    assert!(!digest.is_empty() && !text.contains("\"provenance\""), "{text:.300}");
    let part = sweep::part(&text).unwrap();
    let again = sweep::result(&part.space, &part.progress, part.closing.as_ref());
    assert_eq!(again.digest, digest);
}
