//! `moescape serve`, over real sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use testing::text::{assert_text, expect};

use crate::{command, refused, run};

/// A running server; ended with the test, however that ends.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    first_line: String,
    address: String,
    home: Option<TempDir>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join("not/there/yet");
        let mut server = on(&data);
        assert!(data.is_dir(), "the data directory is created");
        server.home = Some(home);
        server
    }

    /// Address where it listens, such as `127.0.0.1:3000`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Sends an address and gives the answer's first line; empty when the server just closed.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        // The server may refuse and close before it has read everything.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
    }
}

/// A server on a data directory that stays when it ends.
pub(crate) fn on(data: &Path) -> Server {
    on_with(data, &[])
}

/// A server on a data directory that stays when it ends, with more flags.
fn on_with(data: &Path, flags: &[&str]) -> Server {
    let mut serve = command(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    serve.arg(data).args(flags).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = serve.spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first_line = String::new();
    stdout.read_line(&mut first_line).unwrap();
    let address = first_line.trim().trim_start_matches("listening on http://").to_owned();
    Server { child, stdout, first_line, address, home: None }
}

#[test]
fn it_says_exactly_where_it_listens() {
    let server = Server::start();
    assert_eq!(server.first_line, format!("listening on http://{}\n", server.address));
    assert!(server.address.starts_with("127.0.0.1:") && !server.address.ends_with(":0"));
    assert_eq!(server.get("/healthz"), "HTTP/1.1 200 OK");
    assert_eq!(server.get("/"), "HTTP/1.1 200 OK");
}

#[test]
fn huge_addresses_are_refused_and_the_server_stays_up() {
    let server = Server::start();
    let address = |bytes: usize| format!("/?x={}", "a".repeat(bytes));
    assert_eq!(server.get(&address(10_000)), "HTTP/1.1 414 URI Too Long");
    assert_eq!(server.get(&address(60_000)), "HTTP/1.1 414 URI Too Long");
    let huge = server.get(&address(1_000_000));
    assert!(huge.is_empty() || huge.contains(" 4"), "{huge}");
    assert_eq!(server.get("/?tp=-1"), "HTTP/1.1 400 Bad Request");
    assert_eq!(server.get("/readyz"), "HTTP/1.1 200 OK");
}

#[cfg(unix)]
#[test]
fn it_ends_cleanly_when_told_to() {
    for signal in ["-TERM", "-INT"] {
        let mut server = Server::start();
        let id = server.child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
        let mut rest = String::new();
        server.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "stdout holds one line");
    }
}

#[cfg(unix)]
#[test]
fn half_of_a_request_keeps_no_server_from_ending() {
    let mut server = Server::start();
    let mut half = TcpStream::connect(&server.address).unwrap();
    half.write_all(b"GET / HTTP/1.1\r\nhost: loc").unwrap();
    // It is read before the next request is answered.
    assert_eq!(server.get("/healthz"), "HTTP/1.1 200 OK");
    let (id, told) = (server.child.id().to_string(), std::time::Instant::now());
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(told.elapsed() < Duration::from_secs(5), "{:?}", told.elapsed());
}

/// Calls a tool of an agent's server over HTTP.
pub(crate) fn call_tool(address: &str, version: &str, name: &str, arguments: &Value) -> TcpStream {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": name, "arguments": arguments}})
    .to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /mcp {version}\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
        call.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(call.as_bytes()).unwrap();
    stream
}

#[cfg(unix)]
#[test]
fn what_is_still_computed_keeps_no_server_from_ending() {
    let data = tempfile::tempdir().unwrap();
    let mut server = on_with(data.path(), &["--mcp"]);
    let batches: Vec<u64> = (1..2_000).map(|batch| batch * 96).collect();
    let spec = json!({"schema": 1, "design": {"preset": "pangu-ultra-moe-6k"}, "space": {
        "parallel": {"tensor_model_parallel_size": [1, 2, 4, 8],
        "expert_model_parallel_size": [8, 16, 32, 64]},
        "training": {"global_batch_size": batches, "micro_batch_size": [1, 2, 4, 8],
        "seq_length": [1_024, 2_048, 4_096, 8_192]}}, "objectives": ["mfu max"]});
    let mut asks = call_tool(&server.address, "HTTP/1.1", "sweep", &json!({"spec": spec}));
    let mut begun = [0; 12];
    asks.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
    let (id, told) = (server.child.id().to_string(), std::time::Instant::now());
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    // Ten seconds for open requests; after fifteen the unit of systemd kills it.
    assert!(told.elapsed() < Duration::from_secs(15), "{:?}", told.elapsed());
}

#[test]
fn a_busy_port_is_an_error_with_a_way_out() {
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = busy.local_addr().unwrap().to_string();
    let data = tempfile::tempdir().unwrap();
    let data = data.path().to_str().unwrap();
    let run = run(&["serve", "--listen", &address, "--data", data]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains(&address) && run.stderr.contains("127.0.0.1:0"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_served_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().to_str().unwrap();
    for listen in ["nonsense", "127.0.0.1", "127.0.0.1:99999", ""] {
        let said = refused(&["serve", "--listen", listen, "--data", path]);
        assert!(said.contains("ADDRESS:PORT"), "{said}");
    }
    let site = refused(&["serve", "--listen", "127.0.0.1:0", "--data", path, "--site", path]);
    assert_text(
        &site.replace(path, "DIRECTORY"),
        expect![[r#"
            error: site.json of the site: it is missing
        "#]],
    );
    let file = data.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below_a_file = file.join("data");
    let below_a_file = below_a_file.to_str().unwrap();
    let said = refused(&["serve", "--data", below_a_file]);
    assert_text(
        &said.replace(path, "DIRECTORY"),
        expect![[r#"
            error: can't create DIRECTORY/file/data: Not a directory (os error 20)
        "#]],
    );
}

#[test]
fn the_default_data_directory_follows_xdg() {
    let home = tempfile::tempdir().unwrap();
    let mut serve = command(&["serve", "--listen", "127.0.0.1:0"]);
    serve.env("XDG_DATA_HOME", home.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = serve.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("listening on "), "{line}");
    assert!(home.path().join("moescape").is_dir());
}

/// Log of a server with these flags, while a sweep that isn't there is asked for.
fn logged(flags: &[&str]) -> String {
    const ID: &str = "aB3dE5fG7hI9jK1lM3nO5pQ7";
    let home = tempfile::tempdir().unwrap();
    let mut serve = command(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    serve.arg(home.path()).args(flags).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = serve.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().trim_start_matches("listening on http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "GET /api/v1/sweeps/{ID} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         x-forwarded-for: 192.0.2.7\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    child.kill().unwrap();
    let log = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(!log.contains(ID), "{log}");
    log
}

#[test]
fn the_log_names_the_client_and_no_sweep_at_any_level() {
    let client = r#"client="192.0.2.7""#;
    let text = logged(&[]);
    assert!(text.contains("INFO") && text.contains(client), "{text}");
    assert!(text.contains("/api/v1/sweeps/{id}"), "{text}");
    assert!(!text.contains("DEBUG"), "{text}");
    let trace = logged(&["--log-level", "trace"]);
    assert!(trace.contains("DEBUG") && trace.contains(client), "{trace}");
    assert_eq!(logged(&["--log-level", "error"]), "");
}

#[test]
fn a_log_for_programs_is_an_object_in_each_line() {
    let log = logged(&["--log-format", "json"]);
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let request = lines.iter().find(|line| line["span"]["name"] == "request").unwrap();
    assert_eq!(request["span"]["client"], "192.0.2.7");
    assert_eq!(request["span"]["path"], "/api/v1/sweeps/{id}");
    assert_eq!((&request["level"], &request["status"]), (&"INFO".into(), &404.into()));
    assert!(refused(&["serve", "--log-level", "loud"]).contains("trace"));
}

#[test]
fn what_holds_is_shown_with_where_it_is_from() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("moescape.toml");
    let text = "listen = \"127.0.0.1:1\"\nmax-connections = 7\ntrace-store-mib = 5\n";
    std::fs::write(&file, text).unwrap();
    let shown = |text: &str| {
        let mut serve = command(&["serve", "--print-config", "--max-connections", "9"]);
        serve.env("MOESCAPE_CONFIG", &file).env("MOESCAPE_LISTEN", "127.0.0.1:2");
        serve.env("MOESCAPE_TRUSTED_PROXY", "10.0.0.0/8,192.0.2.7");
        std::fs::write(&file, text).unwrap();
        crate::Run::from(serve.output().unwrap())
    };
    let run = shown(text);
    for line in [
        "listen = \"127.0.0.1:2\"  # environment, MOESCAPE_LISTEN",
        "max-connections = 9  # flag",
        &format!("trace-store-mib = 5  # file, {}", file.display()),
        "sockets-per-address = 256  # default",
        "trusted-proxy = [\"10.0.0.0/8\", \"192.0.2.7\"]  # environment, MOESCAPE_TRUSTED_PROXY",
        "# engine isn't set",
    ] {
        assert!(run.stdout.lines().any(|shown| shown == line), "{line}\n{}", run.stdout);
    }
    let run = shown("maxconnections = 7\ntrace-store-mib = -5\n");
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    std::fs::remove_file(&file).unwrap();
    let path = file.to_str().unwrap();
    let gone = refused(&["serve", "--config", path]);
    assert_text(
        &(run.stderr + &gone).replace(path, "FILE"),
        expect![[r#"
            error: FILE: there is no setting `maxconnections`; the nearest is `max-connections`
            error: FILE: invalid value '-5' for '--trace-store-mib <MIB>': invalid digit found
                in string
            error: can't read FILE: No such file or directory (os error 2)
        "#]],
    );
}
