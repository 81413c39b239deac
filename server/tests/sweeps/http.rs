//! Sweeps over HTTP: asked for, watched, paused, removed, and there again after a crash.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt;
use reports::typed::Said;
use serde_json::{Value, json};
use server::{AppState, Site, router};
use tempfile::TempDir;
use tower::ServiceExt;

use crate::process::Process;
use crate::site;

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
        let (data, site) = (tempfile::tempdir().unwrap(), site::directory());
        Self::on(data, site)
    }

    fn on(data: TempDir, site: TempDir) -> Self {
        let state = AppState::new(Site::from_directory(site.path()).unwrap(), data.path().into());
        Self { data, site, state }
    }

    /// Ends the server and starts another one on the same data.
    fn restart(self) -> Self {
        let Self { data, site, state } = self;
        drop(state);
        Self::on(data, site)
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

    /// Sends a request as someone, and gives the answer, which has this status.
    async fn answers(&self, method: &str, path: &str, body: &str, status: StatusCode) -> Value {
        let (found, answer) = self.send(method, path, "someone", body).await;
        assert_eq!(found, status, "{method} {path}: {answer}");
        answer
    }

    async fn submit(&self, spec: &Value) -> String {
        let spec = spec.to_string();
        let answer = self.answers("POST", "/api/v1/sweeps", &spec, StatusCode::CREATED).await;
        answer["status"].as_str().unwrap().to_owned()
    }

    async fn get(&self, path: &str) -> Value {
        self.answers("GET", path, "", StatusCode::OK).await
    }

    /// An answer that is still to be read.
    async fn open(&self, path: &str) -> Response {
        let request = Request::get(path).body(Body::empty()).unwrap();
        router(self.state.clone()).oneshot(request).await.unwrap()
    }

    /// A file.
    async fn download(&self, path: &str) -> Vec<u8> {
        let response = self.open(path).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let disposition = response.headers()["content-disposition"].to_str().unwrap();
        assert!(disposition.starts_with("attachment; filename=\"sweep-"), "{disposition}");
        response.into_body().collect().await.unwrap().to_bytes().to_vec()
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

/// The result of the same sweep without a server.
fn directly(spec: &Value) -> Value {
    let space = sweep::Space::new(sweep::Spec::from_json(&spec.to_string()).unwrap()).unwrap();
    let mut progress = sweep::Progress::new(&space);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let summary = sweep::evaluate(&space, 0..space.num_points(), &stop).unwrap();
    progress.add(&space, 0..space.num_points(), summary).unwrap();
    let closing = sweep::final_simulation(&space, &progress);
    let text =
        model::design::file::json::print(&sweep::result(&space, &progress, Some(&closing)).said());
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
    app.answers("DELETE", &path, "", StatusCode::NO_CONTENT).await;
    app.answers("GET", &path, "", StatusCode::NOT_FOUND).await;
}

#[tokio::test]
async fn a_design_of_a_sweep_leads_to_the_explorer_and_to_a_search_around_it() {
    let app = App::new();
    let path = app.submit(&spec(1)).await;
    let done = app.wait(&path, "done").await;
    let index = done["result"]["front"][0]["index"].as_u64().unwrap();
    let id = path.rsplit('/').next().unwrap();
    let mut links = Vec::new();
    for (way, start) in [("design", "/?"), ("find", "/find?")] {
        let answer = app.open(&format!("/s/{id}/{way}/{index}")).await;
        assert_eq!(answer.status(), StatusCode::SEE_OTHER);
        let to = answer.headers()["location"].to_str().unwrap();
        links.push(to.strip_prefix(start).unwrap().to_owned());
    }
    assert_eq!(links[0], links[1]);
    assert!(model::design::link::decode(&links[0]).is_ok());
}

#[tokio::test]
async fn events_tell_how_far_it_is_and_end_with_it() {
    let app = App::new();
    let path = app.submit(&spec(4)).await;
    let response = app.open(&format!("{path}/events")).await;
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
    app.answers("POST", &format!("{path}/pause"), "", StatusCode::CONFLICT).await;
}

#[tokio::test]
async fn events_of_a_sweep_end_when_it_is_removed() {
    let app = App::new();
    for paused in [false, true] {
        let path = app.submit(&spec(2_000)).await;
        if paused {
            app.send("POST", &format!("{path}/pause"), "someone", "").await;
        }
        let response = app.open(&format!("{path}/events")).await;
        app.answers("DELETE", &path, "", StatusCode::NO_CONTENT).await;
        let whole = response.into_body().collect();
        let whole = tokio::time::timeout(Duration::from_secs(20), whole).await.unwrap();
        let text = String::from_utf8(whole.unwrap().to_bytes().to_vec()).unwrap();
        let last = text.trim_end().rsplit("\n\n").next().unwrap();
        assert!(last.contains("event: removed") && last.contains("removed\""), "{last}");
    }
}

#[tokio::test]
async fn a_paused_sweep_waits_also_for_the_next_server_and_then_goes_on() {
    let app = App::new();
    let path = app.submit(&spec(12)).await;
    app.answers("POST", &format!("{path}/pause"), "", StatusCode::OK).await;
    let app = app.restart();
    let before = app.wait(&path, "paused").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let after = app.get(&path).await;
    assert_eq!(before["progress"]["done"], after["progress"]["done"]);
    app.answers("POST", &format!("{path}/resume"), "", StatusCode::OK).await;
    let done = app.wait(&path, "done").await;
    assert_eq!(done["result"]["digest"], directly(&spec(12))["digest"]);
}

#[tokio::test]
async fn a_removed_sweep_gives_way_at_once() {
    let app = App::new();
    let path = app.submit(&spec(2_000)).await;
    let start = Instant::now();
    app.answers("DELETE", &path, "", StatusCode::NO_CONTENT).await;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_client_that_asks_many_times_at_once_gets_no_more_than_its_share() {
    let app = App::new();
    let large = spec(2_000).to_string();
    let asked = (0..12).map(|_| app.send("POST", "/api/v1/sweeps", "greedy", &large));
    let answers = futures_util::future::join_all(asked).await;
    let taken = answers.iter().filter(|(status, _)| *status == StatusCode::CREATED).count();
    assert_eq!(taken, 8);
    let refused = answers.iter().filter(|(status, _)| *status == StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.count(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rows_have_their_room_before_they_come_however_many_ask_at_once() {
    let app = App::new();
    // Each may keep two millions of rows, and all of them twenty.
    let mut large = spec(2_000);
    large["space"]["mbs"] = json!({"from": 1, "to": 60, "step": 1});
    let large = large.to_string();
    let clients: Vec<String> = (0..12).map(|client| format!("client-{client}")).collect();
    let ask = |client| app.send("POST", "/api/v1/sweeps?rows=all", client, &large);
    let answers = futures_util::future::join_all(clients.iter().map(|client| ask(client))).await;
    let with = |wanted: StatusCode| {
        let places = answers.iter().zip(&clients);
        places.filter(|((status, _), _)| *status == wanted).collect::<Vec<_>>()
    };
    let (taken, refused) = (with(StatusCode::CREATED), with(StatusCode::TOO_MANY_REQUESTS));
    assert_eq!((taken.len(), refused.len()), (10, 2), "{answers:?}");
    for ((_, problem), client) in &refused {
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("at most 20000000"), "{detail}");
        // Without rows there is room.
        let (status, answer) = app.send("POST", "/api/v1/sweeps", client, &large).await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
    }
    // One that is removed gives its room back.
    let ((_, first), owner) = taken[0];
    let (status, _) = app.send("DELETE", first["status"].as_str().unwrap(), owner, "").await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, answer) = ask(owner).await;
    assert_eq!(status, StatusCode::CREATED, "{answer}");
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
        app.answers("POST", path, huge, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    for (method, path) in [("GET", ""), ("GET", "/events"), ("POST", "/pause"), ("DELETE", "")] {
        let path = format!("/api/v1/sweeps/0123{path}");
        let (status, problem) = app.send(method, &path, "someone", "").await;
        assert_eq!((status, &problem["status"]), (StatusCode::NOT_FOUND, &json!(404)));
    }
}

#[tokio::test]
async fn an_address_that_is_not_text_is_a_problem() {
    let app = App::new();
    for (method, path) in [("GET", ""), ("GET", "/events"), ("POST", "/pause"), ("DELETE", "")] {
        let path = format!("/api/v1/sweeps/%FF{path}");
        let (status, problem) = app.send(method, &path, "someone", "").await;
        assert_eq!((status, &problem["status"]), (StatusCode::BAD_REQUEST, &json!(400)));
    }
    let spec = spec(1).to_string();
    app.answers("POST", "/api/v1/sweeps?rows=%61ll", &spec, StatusCode::CREATED).await;
}

#[tokio::test]
async fn bad_specs_are_refused_with_everything_that_is_wrong() {
    let app = App::new();
    let axis = r#"{"from":1024,"to":9999}"#;
    // More than 10^27 designs.
    let endless = format!(
        r#"{{"schema":1,"space":{{"hidden_size":{axis},"vocab_size":{axis},"seq_length":{axis},
        "ffn_hidden_size":{axis},"kv_lora_rank":{axis},"q_lora_rank":{axis},"gbs":{axis}}}}}"#
    );
    for (spec, rules) in [
        (r#"{"schema":1,"space":{}}"#, &["empty_space"][..]),
        (r#"{"schema":1,"space":{"tp":[]}}"#, &["empty_axis"]),
        (&endless, &["too_many_points"]),
        (r#"{"schema":1,"space":{"tpx":[1],"vppp":[2]}}"#, &["unknown_knob", "unknown_knob"]),
        (
            r#"{"schema":1,"space":{"tp":[1]},"constraints":["mfu > 0.5","mfu < 0.4"]}"#,
            &["contradictory_constraints"],
        ),
        (
            r#"{"schema":1,"space":{"tp":[1]},"constraints":["tp >= 16"]}"#,
            &["contradictory_constraints"],
        ),
        (r#"{"schema":1,"space":{"tp":{"same_as":"pp"},"pp":{"same_as":"tp"}}}"#, &["tie_cycle"]),
        (r#"{"schema":1,"space":{"tp":{"divisors_of":"tp"}}}"#, &["tie_cycle"]),
    ] {
        for path in ["/api/v1/sweeps", "/api/v1/sweeps/cost"] {
            let problem = app.answers("POST", path, spec, StatusCode::BAD_REQUEST).await;
            let errors = problem["errors"].as_array().unwrap();
            let found: Vec<&str> =
                errors.iter().map(|error| error["rule"].as_str().unwrap()).collect();
            assert_eq!(found, rules, "{problem}");
        }
    }
    assert_eq!(app.get("/api/v1/sweeps").await["sweeps"], json!([]), "nothing was started");
}

#[tokio::test]
async fn a_list_has_the_askers_sweeps_newest_first() {
    let app = App::new();
    let mut ids = vec![];
    for name in ["first", "second", "third"] {
        let mut spec = spec(1);
        spec["name"] = name.into();
        let path = app.submit(&spec).await;
        app.wait(&path, "done").await;
        ids.push(path.trim_start_matches("/api/v1/sweeps/").to_owned());
    }
    let app = app.restart();
    let names = |list: &Value| -> Vec<String> {
        let sweeps = list["sweeps"].as_array().unwrap().iter();
        sweeps.map(|sweep| sweep["name"].as_str().unwrap().to_owned()).collect()
    };
    let list = app.get("/api/v1/sweeps").await;
    assert_eq!(names(&list), ["third", "second", "first"]);
    assert_eq!(list["sweeps"][2]["id"], ids[0].as_str());
    assert_eq!(list["sweeps"][0]["state"], "done");
    let next = format!("/api/v1/sweeps?limit=1&before={}", ids[2]);
    assert_eq!(names(&app.get(&next).await), ["second"]);
    let (_, others) = app.send("GET", "/api/v1/sweeps", "someone else", "").await;
    assert_eq!(others["sweeps"], json!([]), "ids of others aren't given away");
    let (_, others) = app.send("GET", "/api/v1/sweeps", "someone, someone else", "").await;
    assert_eq!(others["sweeps"], json!([]), "what stands before the proxy's word is the asker's");
    let (_, own) = app.send("GET", "/api/v1/sweeps", "someone else, someone", "").await;
    assert_eq!(names(&own).len(), 3);
    for query in ["limit=0", "limit=x", "limit=1000", "first=1", "limit=1&limit=2"] {
        let path = format!("/api/v1/sweeps?{query}");
        app.answers("GET", &path, "", StatusCode::BAD_REQUEST).await;
    }
}

#[tokio::test]
async fn rows_are_kept_when_asked_for_and_outlive_the_server() {
    let app = App::new();
    let answer = app
        .answers("POST", "/api/v1/sweeps?rows=all", &spec(1).to_string(), StatusCode::CREATED)
        .await;
    let (path, rows) = (answer["status"].as_str().unwrap(), answer["rows"].as_str().unwrap());
    let done = app.wait(path, "done").await;
    let feasible = done["result"]["feasible"].as_u64().unwrap();
    assert_eq!(done["rows"]["kept"], feasible);
    let app = app.restart();
    let lines = |text: &[u8]| text.split(|byte| *byte == b'\n').count() - 1;
    let all = app.download(rows).await;
    assert_eq!(lines(&all), feasible as usize + 1, "a header and the rows");
    let all = app.download(&format!("{rows}?format=jsonl&of=all")).await;
    assert_eq!(lines(&all), feasible as usize);
    let front = app.download(&format!("{rows}?format=jsonl&of=front")).await;
    let first: Value =
        serde_json::from_slice(front.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    let kept = &done["result"]["front"][0];
    assert_eq!((&first["index"], &first["knobs"]), (&kept["index"], &kept["knobs"]));
    assert_eq!(first["metrics"], kept["metrics"]);
    let table = app.download(&format!("{rows}?format=parquet")).await;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let table = SerializedFileReader::new(axum::body::Bytes::from(table)).unwrap();
    assert_eq!(table.metadata().file_metadata().num_rows() as u64, feasible);
    app.answers("DELETE", path, "", StatusCode::NO_CONTENT).await;
    app.answers("GET", rows, "", StatusCode::NOT_FOUND).await;
}

#[tokio::test]
async fn rows_that_are_not_kept_are_a_problem_that_says_so() {
    let app = App::new();
    let path = app.submit(&spec(1)).await;
    let done = app.wait(&path, "done").await;
    assert_eq!(done["rows"], Value::Null);
    let problem =
        app.answers("GET", &format!("{path}/rows?of=all"), "", StatusCode::CONFLICT).await;
    assert!(problem["detail"].as_str().unwrap().contains("rows=all"), "{problem}");
    for of in ["front", "best", "sample"] {
        let rows = app.download(&format!("{path}/rows?of={of}")).await;
        assert!(rows.starts_with(b"index,parallel."), "{of}");
    }
    for (query, word) in [("format=xlsx", "parquet"), ("of=everything", "sample"), ("x=1", "of")] {
        let problem =
            app.answers("GET", &format!("{path}/rows?{query}"), "", StatusCode::BAD_REQUEST).await;
        assert!(problem["detail"].as_str().unwrap().contains(word), "{problem}");
    }
}

/// A server process.
fn process(data: &TempDir) -> Process {
    Process::start(data.path(), &[], Stdio::null())
}

/// Answer of the server, as data.
fn answer(server: &Process, method: &str, path: &str, body: &str) -> Value {
    serde_json::from_str(&server.send(method, path, body).1).unwrap_or(Value::Null)
}

#[cfg(unix)]
#[test]
fn whoever_watches_a_sweep_keeps_no_server_from_ending() {
    let data = tempfile::tempdir().unwrap();
    let mut server = process(&data);
    let path =
        answer(&server, "POST", "/api/v1/sweeps", &spec(2_000).to_string())["events"].clone();
    let mut watching = TcpStream::connect(&server.address).unwrap();
    let request = format!("GET {} HTTP/1.1\r\nhost: localhost\r\n\r\n", path.as_str().unwrap());
    watching.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(watching).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "event: progress"));
    let start = Instant::now();
    let id = server.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(lines.last().as_deref(), Some(""), "the stream ends as streams do");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn a_killed_server_loses_and_repeats_nothing() {
    let data = tempfile::tempdir().unwrap();
    let spec = spec(24);
    let server = process(&data);
    let path = answer(&server, "POST", "/api/v1/sweeps", &spec.to_string())["status"].clone();
    let path = path.as_str().unwrap().to_owned();
    let done = |server: &Process| answer(server, "GET", &path, "")["progress"]["done"].as_u64();
    let start = Instant::now();
    while done(&server).is_some_and(|done| done < 100) && start.elapsed().as_secs() < 60 {
        std::thread::sleep(Duration::from_millis(10));
    }
    // The process gets no chance to say goodbye.
    drop(server);
    let server = process(&data);
    let start = Instant::now();
    let last = loop {
        let status = answer(&server, "GET", &path, "");
        if status["state"] == "done" {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "{status}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(last["result"]["digest"], directly(&spec)["digest"]);
}

#[test]
fn what_one_server_is_asked_for_reaches_the_one_that_computes() {
    let data = tempfile::tempdir().unwrap();
    let (here, there) = (process(&data), process(&data));
    let sweep = answer(&here, "POST", "/api/v1/sweeps", &spec(2_000).to_string());
    let path = sweep["status"].as_str().unwrap().to_owned();
    let state = |server: &Process| answer(server, "GET", &path, "")["state"].clone();
    let done = || answer(&here, "GET", &path, "")["progress"]["done"].as_u64().unwrap_or(0);
    let wait = |what: &str, is_so: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait("it has begun", &|| done() > 0);
    // The other server has no part in it, and is asked all the same.
    assert_eq!(there.send("POST", &format!("{path}/pause"), "").0, 200);
    wait("it is paused", &|| state(&here) == "paused" && state(&there) == "paused");
    let before = done();
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!((done(), state(&there)), (before, "paused".into()), "nothing is computed");
    assert_eq!(there.send("POST", &format!("{path}/resume"), "").0, 200);
    wait("it goes on", &|| done() > before);
    assert_eq!(there.send("DELETE", &path, "").0, 204);
    wait("it is gone", &|| here.send("GET", &path, "").0 == 404);
    let listed = answer(&here, "GET", "/api/v1/sweeps", "");
    assert_eq!(listed["sweeps"], json!([]), "nothing came back");
}
