//! Sweeps over HTTP: asked for, watched, paused, removed, and there again after a crash.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use server::{AppState, Site, router};
use tempfile::TempDir;
use tower::ServiceExt;

/// A spec of some hundreds of designs, or of many that are simulated.
fn spec(batches: u64) -> Value {
    json!({
        "schema": 1,
        "sample": 10,
        "design": {
            "preset": "pangu-ultra-moe-6k",
            "schedule": {"timing": if batches > 1 { "simulated" } else { "closed_form" }},
        },
        "space": {
            "tp": [4, 8], "pp": [8, 16], "vpp": [1, 2], "ep": [16, 32, 64], "mbs": [1, 2],
            "noop_layers": {"fill": "chunks"},
            "gbs": {"from": 6144, "to": 6144 * batches, "step": 6144},
        },
    })
}

/// A server without a socket, on a data directory of its own.
struct App {
    data: TempDir,
    site: TempDir,
    state: AppState,
}

impl App {
    fn new() -> Self {
        let (data, site) = (tempfile::tempdir().unwrap(), site());
        let state = AppState::new(Site::from_directory(site.path()).unwrap(), data.path().into());
        Self { data, site, state }
    }

    /// Ends the server and starts another one on the same data.
    fn restart(self) -> Self {
        let Self { data, site, state } = self;
        drop(state);
        let state = AppState::new(Site::from_directory(site.path()).unwrap(), data.path().into());
        Self { data, site, state }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        client: &str,
        body: &str,
    ) -> (StatusCode, Value) {
        let request = Request::builder().method(method).uri(path).header("x-forwarded-for", client);
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = router(self.state.clone()).oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    async fn submit(&self, spec: &Value) -> String {
        let (status, answer) =
            self.send("POST", "/api/v1/sweeps", "someone", &spec.to_string()).await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
        answer["status"].as_str().unwrap().to_owned()
    }

    async fn get(&self, path: &str) -> Value {
        let (status, answer) = self.send("GET", path, "someone", "").await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        answer
    }

    /// Waits until a sweep is in this state.
    async fn wait(&self, path: &str, state: &str) -> Value {
        let start = Instant::now();
        loop {
            let status = self.get(path).await;
            if status["state"] == state {
                return status;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{status}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn site() -> TempDir {
    let site = tempfile::tempdir().unwrap();
    std::fs::create_dir(site.path().join("pkg")).unwrap();
    let names = ["app.js", "app.wasm", "pages.js", "pages.wasm", "worker.js", "app.css"];
    for name in names {
        std::fs::write(site.path().join("pkg").join(name), "x").unwrap();
    }
    let json = r#"{"js":"/pkg/app.js","wasm":"/pkg/app.wasm","pages_js":"/pkg/pages.js",
        "pages_wasm":"/pkg/pages.wasm","worker":"/pkg/worker.js","css":"/pkg/app.css"}"#;
    std::fs::write(site.path().join("site.json"), json).unwrap();
    site
}

/// The result of the same sweep without a server.
fn directly(spec: &Value) -> Value {
    let space = sweep::Space::new(sweep::Spec::from_json(&spec.to_string()).unwrap()).unwrap();
    let mut progress = sweep::Progress::new(&space);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let summary = sweep::evaluate(&space, 0..space.places(), &stop).unwrap();
    progress.add(&space, 0..space.places(), summary).unwrap();
    let text = model::file::json::print(&sweep::result(&space, &progress));
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_sweep_ends_with_the_result_that_the_command_line_prints() {
    let app = App::new();
    let (status, cost) =
        app.send("POST", "/api/v1/sweeps/cost", "someone", &spec(1).to_string()).await;
    assert_eq!((status, &cost["asked"]), (StatusCode::OK, &json!(48)));
    assert!(cost["about_seconds"].as_f64().unwrap() > 0.0);
    let path = app.submit(&spec(1)).await;
    let done = app.wait(&path, "done").await;
    assert_eq!(done["result"], directly(&spec(1)));
    let app = app.restart();
    let later = app.get(&path).await;
    assert_eq!((&later["state"], &later["result"]), (&json!("done"), &done["result"]));
    let (status, _) = app.send("DELETE", &path, "someone", "").await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, _) = app.send("GET", &path, "someone", "").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn events_tell_how_far_it_is_and_end_with_it() {
    let app = App::new();
    let path = app.submit(&spec(4)).await;
    let request = Request::get(format!("{path}/events")).body(Body::empty()).unwrap();
    let response = router(app.state.clone()).oneshot(request).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let events: Vec<&str> = text.split("\n\n").filter(|event| event.contains("data:")).collect();
    let last = events.last().unwrap();
    assert!(last.contains("event: done") && last.contains("id: "), "{last}");
    let data = last.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!((&data["done"], &data["eta_seconds"]), (&json!(192), &json!(0.0)));
    assert!(data["best"][0]["knobs"].is_object() && data["front_size"].as_u64().unwrap() > 0);
    let (status, _) = app.send("POST", &format!("{path}/pause"), "someone", "").await;
    assert_eq!(status, StatusCode::CONFLICT, "it is over");
}

#[tokio::test]
async fn a_paused_sweep_waits_also_for_the_next_server_and_then_goes_on() {
    let app = App::new();
    let path = app.submit(&spec(12)).await;
    let (status, _) = app.send("POST", &format!("{path}/pause"), "someone", "").await;
    assert_eq!(status, StatusCode::OK);
    let app = app.restart();
    let before = app.wait(&path, "paused").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let after = app.get(&path).await;
    assert_eq!(before["progress"]["done"], after["progress"]["done"]);
    let (status, _) = app.send("POST", &format!("{path}/resume"), "someone", "").await;
    assert_eq!(status, StatusCode::OK);
    let done = app.wait(&path, "done").await;
    assert_eq!(done["result"]["digest"], directly(&spec(12))["digest"]);
}

#[tokio::test]
async fn a_removed_sweep_gives_way_at_once() {
    let app = App::new();
    let path = app.submit(&spec(2_000)).await;
    let start = Instant::now();
    let (status, _) = app.send("DELETE", &path, "someone", "").await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    let small = app.submit(&spec(1)).await;
    app.wait(&small, "done").await;
}

#[tokio::test]
async fn everyone_has_a_turn_and_nobody_fills_the_queue() {
    let app = App::new();
    let large = spec(2_000).to_string();
    for _ in 0..8 {
        let (status, answer) = app.send("POST", "/api/v1/sweeps", "greedy", &large).await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
    }
    let (status, problem) = app.send("POST", "/api/v1/sweeps", "greedy", &large).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert!(problem["detail"].as_str().unwrap().contains("at most 8"), "{problem}");
    // Another client's small sweep doesn't wait for the eight large ones.
    let path = app.submit(&spec(1)).await;
    app.wait(&path, "done").await;
}

#[tokio::test]
async fn what_cannot_be_swept_is_a_problem_with_places() {
    let app = App::new();
    for path in ["/api/v1/sweeps", "/api/v1/sweeps/cost"] {
        for (body, status, pointer) in [
            ("{", 400, ""),
            ("[]", 400, ""),
            (
                r#"{"schema":1,"space":{"parallel":{"tp":[]}}}"#,
                400,
                "/space/parallel/tensor_model_parallel_size",
            ),
            (r#"{"schema":1,"space":{"tp":[1]},"design":{"preset":"x"}}"#, 400, "/design/preset"),
        ] {
            let (found, problem) = app.send("POST", path, "someone", body).await;
            assert_eq!(found.as_u16(), status, "{body} {problem}");
            assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
        }
        let huge = r#"{"schema":1,"space":{"hidden_size":{"from":1024,"to":11023},
            "vocab_size":{"from":1000,"to":10999},"seq_length":{"from":1000,"to":1999}}}"#;
        let (status, problem) = app.send("POST", path, "someone", huge).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
    }
    for (method, path) in [("GET", ""), ("GET", "/events"), ("POST", "/pause"), ("DELETE", "")] {
        let path = format!("/api/v1/sweeps/0123{path}");
        let (status, problem) = app.send(method, &path, "someone", "").await;
        assert_eq!((status, &problem["status"]), (StatusCode::NOT_FOUND, &json!(404)));
    }
}

/// A server process; ended with the test, however that ends.
struct Process {
    child: Child,
    address: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    fn start(data: &TempDir) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_moescape"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("listening on http://").to_owned();
        Self { child, address }
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> Value {
        let connected = TcpStream::connect(&self.address);
        let mut stream = connected.unwrap_or_else(|error| {
            panic!("{error}; the server's status: {:?}", self.child.try_wait())
        });
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.0\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        serde_json::from_str(body).unwrap_or(Value::Null)
    }
}

#[test]
fn a_killed_server_loses_and_repeats_nothing() {
    let data = tempfile::tempdir().unwrap();
    let spec = spec(24);
    let mut server = Process::start(&data);
    let path = server.send("POST", "/api/v1/sweeps", &spec.to_string())["status"].clone();
    let path = path.as_str().unwrap().to_owned();
    let done = |server: &mut Process| server.send("GET", &path, "")["progress"]["done"].as_u64();
    let start = Instant::now();
    while done(&mut server).is_some_and(|done| done < 100) && start.elapsed().as_secs() < 60 {
        std::thread::sleep(Duration::from_millis(10));
    }
    // The process gets no chance to say goodbye.
    drop(server);
    let mut server = Process::start(&data);
    let start = Instant::now();
    let last = loop {
        let status = server.send("GET", &path, "");
        if status["state"] == "done" {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "{status}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(last["result"]["digest"], directly(&spec)["digest"]);
}
