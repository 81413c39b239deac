//! Clients that mean harm, against the real program: what they cost, and that others get through.
//! What takes longer is measured by `end2end/bench/hostile.mjs`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

#[path = "process/server.rs"]
mod process;

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use process::Process;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

/// A connection from an address of this machine.
async fn connect(server: &Process, from: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
    let to: SocketAddr = server.address.parse().unwrap();
    socket.connect(to).await.unwrap()
}

/// Sends a request and gives all of the answer; nothing when there is none for long.
async fn ask(server: &Process, from: &str, request: &str) -> Option<String> {
    let mut stream = connect(server, from).await;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![];
    let read = timeout(Duration::from_secs(8), stream.read_to_end(&mut answer)).await;
    read.is_ok().then(|| String::from_utf8_lossy(&answer).into_owned())
}

async fn get(server: &Process, from: &str, path: &str) -> Option<String> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    ask(server, from, &request).await
}

/// Memory of a process, KiB.
fn resident(server: &Process) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn logged(data: &Path) -> (std::path::PathBuf, Stdio) {
    let path = data.join("log");
    let log = File::create(&path).unwrap();
    (path, log.into())
}

#[tokio::test]
async fn idle_connections_of_one_address_leave_room_for_others() {
    let data = tempfile::tempdir().unwrap();
    let (log, stderr) = logged(data.path());
    let server = Process::start_with_descriptors(128, data.path(), stderr);
    let mut idle = vec![];
    for _ in 0..200 {
        idle.push(connect(&server, "127.0.0.2").await);
    }
    let mut turned_away = 0;
    for stream in &mut idle {
        let mut answer = String::new();
        let end = timeout(Duration::from_millis(10), stream.read_to_string(&mut answer)).await;
        let is_told = answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: 5");
        assert_eq!(end.is_ok(), is_told, "{answer}");
        turned_away += usize::from(is_told);
    }
    assert!((120..200).contains(&turned_away), "{turned_away}");
    let answer = get(&server, "127.0.0.3", "/healthz").await;
    assert!(answer.is_some_and(|answer| answer.starts_with("HTTP/1.1 200")));
    let said = fs::read_to_string(log).unwrap();
    let said = said.lines().filter(|line| line.contains("turned away")).count();
    assert!((1..10).contains(&said), "{said} lines");
    // Whoever leaves makes room.
    drop(idle);
    for _ in 0..50 {
        let answer = get(&server, "127.0.0.2", "/healthz").await;
        if answer.is_some_and(|answer| answer.starts_with("HTTP/1.1 200")) {
            return;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("no place is given back");
}

#[tokio::test]
async fn an_idle_connection_costs_little() {
    const CONNECTIONS: u64 = 500;
    let data = tempfile::tempdir().unwrap();
    let server = Process::start(data.path(), &[], Stdio::null());
    assert!(get(&server, "127.0.0.1", "/healthz").await.is_some());
    let before = resident(&server);
    let mut idle = vec![];
    for _ in 0..CONNECTIONS {
        idle.push(connect(&server, "127.0.0.2").await);
    }
    // Accepted in order: all others are, too.
    assert!(get(&server, "127.0.0.3", "/healthz").await.is_some());
    let each = resident(&server).saturating_sub(before) as f64 / CONNECTIONS as f64;
    assert!(each < 16.0, "{each:.1} KiB");
}

#[tokio::test]
async fn only_requests_for_this_server_are_answered() {
    let data = tempfile::tempdir().unwrap();
    let more = ["--host", "moe.example", "--public-url", "https://public.example"];
    let server = Process::start(data.path(), &more, Stdio::null());
    let status = async |version: &str, path: &str, hosts: &[&str]| {
        let hosts: String = hosts.iter().map(|host| format!("host: {host}\r\n")).collect();
        let request = format!("GET {path} HTTP/{version}\r\n{hosts}connection: close\r\n\r\n");
        let answer = ask(&server, "127.0.0.1", &request).await.unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    let address = server.address.as_str();
    for host in [address, "localhost", "[::1]:80", "moe.example", "MOE.example:8", "public.example"]
    {
        assert_eq!(status("1.1", "/healthz", &[host]).await, "200", "{host}");
    }
    let evil = "evil.example:3000";
    for path in ["/", "/healthz", "/readyz", "/api/v1/sweeps", "/r/abc/socket", "/nothing", "/a/b"]
    {
        assert_eq!(status("1.1", path, &[evil]).await, "421", "{path}");
    }
    assert_eq!(status("1.1", "http://evil.example/", &["localhost"]).await, "421");
    assert_eq!(status("1.1", "/healthz", &[]).await, "400");
    assert_eq!(status("1.1", "/healthz", &["localhost", "localhost"]).await, "400");
    assert_eq!(status("1.0", "/healthz", &[]).await, "200");
    let page = "GET / HTTP/1.1\r\nhost: evil.example\r\naccept: text/html\r\n\
                connection: close\r\n\r\n";
    let page = ask(&server, "127.0.0.1", page).await.unwrap();
    assert!(page.contains("moescape serve --host evil.example"), "{page}");
}

#[tokio::test]
async fn no_key_of_a_sweep_stands_in_the_log() {
    let data = tempfile::tempdir().unwrap();
    let (log, stderr) = logged(data.path());
    let server = Process::start(data.path(), &[], stderr);
    let spec = r#"{"schema":1,"design":{"preset":"pangu-ultra-moe-6k",
        "schedule":{"timing":"closed_form"}},"space":{"tp":[4,8]}}"#;
    let (status, answer) = server.send("POST", "/api/v1/sweeps", spec);
    assert_eq!(status, 201, "{answer}");
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let id = answer["id"].as_str().unwrap();
    let api = format!("/api/v1/sweeps/{id}");
    for path in [format!("{api}/rows"), format!("/s/{id}"), format!("/s/{id}/"), format!("/x/{id}")]
    {
        server.send("GET", &path, "");
    }
    server.send("DELETE", &api, "");
    let long = "x".repeat(3_000);
    let request = format!(
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-request-id: {long}\r\n\
         connection: close\r\n\r\n"
    );
    let answer = ask(&server, "127.0.0.1", &request).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains(&long), "{answer}");
    let said = fs::read_to_string(log).unwrap();
    assert!(said.contains("path=/api/v1/sweeps/{id}/rows"), "{said}");
    assert!(!said.contains(id) && !said.contains(&long), "{said}");
}

#[tokio::test]
async fn uploads_that_stand_still_keep_nobody_from_theirs() {
    let data = tempfile::tempdir().unwrap();
    let server = Process::start(data.path(), &[], Stdio::null());
    let mut idle = vec![];
    for number in 0..16 {
        let mut stream = connect(&server, &format!("127.0.1.{}", 1 + number % 8)).await;
        let head = "POST /api/v1/traces HTTP/1.1\r\nhost: localhost\r\n\
                    content-length: 1000\r\n\r\nstep,";
        stream.write_all(head.as_bytes()).await.unwrap();
        idle.push(stream);
    }
    let body = "step,layer,expert,tokens\n0,0,0,3\n";
    let length = body.len();
    let request = format!(
        "POST /api/v1/traces HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    let answer = ask(&server, "127.0.0.3", &request).await;
    assert!(answer.is_some_and(|answer| answer.starts_with("HTTP/1.1 201")));
}

/// An answer of many megabytes, written while it is sent.
const LARGE: &str = "GET /export/timeline.json?v=1&preset=llama-3-8b\
                     &training.global_batch_size=262144 HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Asks for the large answer and takes its first bytes.
async fn begin_to_read(server: &Process) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut stream = socket.connect(server.address.parse().unwrap()).await.unwrap();
    stream.write_all(LARGE.as_bytes()).await.unwrap();
    let mut first = [0; 15];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    stream
}

fn tell_to_end(server: &Process) -> Instant {
    let id = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    Instant::now()
}

#[tokio::test]
async fn half_requests_and_slow_readers_do_not_hold_up_an_end() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Process::start(data.path(), &[], Stdio::null());
    let head = "POST /api/v1/predict HTTP/1.1\r\nhost: localhost\r\n";
    let mut half = vec![];
    for text in ["", head, &format!("{head}content-length: 100\r\n\r\n{{\"design\"")] {
        let mut stream = connect(&server, "127.0.0.2").await;
        stream.write_all(text.as_bytes()).await.unwrap();
        half.push(stream);
    }
    half.push(begin_to_read(&server).await);
    let mut slow = begin_to_read(&server).await;
    let reads = tokio::spawn(async move {
        while slow.read(&mut [0; 1_024]).await.is_ok_and(|bytes| bytes > 0) {
            sleep(Duration::from_millis(50)).await;
        }
    });
    // All of it is under way.
    sleep(Duration::from_secs(1)).await;
    let told = tell_to_end(&server);
    let status = server.child.wait().unwrap();
    assert!(status.success() && told.elapsed() < Duration::from_secs(4), "{:?}", told.elapsed());
    drop(half);
    reads.await.unwrap();
}

#[tokio::test]
async fn whoever_takes_an_answer_at_a_pace_gets_all_of_it_from_a_server_that_ends() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Process::start(data.path(), &[], Stdio::null());
    let mut stream = begin_to_read(&server).await;
    tell_to_end(&server);
    let mut rest = vec![];
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(rest.len() > 10_000_000 && rest.ends_with(b"\r\n0\r\n\r\n"), "{}", rest.len());
    assert!(server.child.wait().unwrap().success());
}
