//! The programs that a test starts; each ends with the test, however that ends.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::nats::Nats;
use crate::process::Process;

/// A program that runs.
pub(crate) struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // The process gets no chance to say goodbye.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Program {
    /// Starts it; its messages go to a file.
    pub(crate) fn start(mut command: Command, log: File) -> Self {
        Self(command.stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }

    /// Asks it to end, as Ctrl-C does, and waits until it did.
    pub(crate) fn interrupt(&mut self) -> Option<i32> {
        self.end("-INT")
    }

    /// Sends it a signal, and waits until it ended.
    pub(crate) fn end(&mut self, signal: &str) -> Option<i32> {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        self.0.wait().unwrap().code()
    }
}

/// Waits for something that takes its time on a busy machine.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a message by NATS's own protocol.
pub(crate) fn publish(nats: &Nats, subject: &str, payload: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", nats.port)).unwrap();
    let length = payload.len();
    let said = format!("CONNECT {{}}\r\nPUB {subject} {length}\r\n{payload}\r\nPING\r\n");
    stream.write_all(said.as_bytes()).unwrap();
    let heard = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(heard.into_iter().any(|line| line == "PONG"));
}

/// Chunks that wait or are worked on.
pub(crate) fn chunks(nats: &Nats) -> u64 {
    let mut stream = TcpStream::connect(("127.0.0.1", nats.port)).unwrap();
    let ask = "CONNECT {}\r\nSUB answer 1\r\nPUB $JS.API.STREAM.INFO.MOESCAPE_WORK answer 0\
               \r\n\r\n";
    stream.write_all(ask.as_bytes()).unwrap();
    let heard = BufReader::new(stream).lines().map(Result::unwrap);
    let line = heard.into_iter().find(|line| line.starts_with('{')).unwrap();
    let info: Value = serde_json::from_str(&line).unwrap();
    info["state"]["messages"].as_u64().unwrap()
}

/// Our program with these arguments.
pub(crate) fn moescape(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_moescape"));
    command.current_dir(home).args(arguments);
    command
}

/// Output of a run that ends well.
#[track_caller]
pub(crate) fn succeeds(home: &Path, arguments: &[&str]) -> String {
    let output = moescape(home, arguments).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Error output of a run that ends with this status.
#[track_caller]
pub(crate) fn fails(home: &Path, arguments: &[&str], status: i32) -> String {
    let output = moescape(home, arguments).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(status), 0), "{stderr}");
    stderr
}

/// A worker with one thread; its messages go to a file.
pub(crate) fn worker(nats: &Nats, log: &Path) -> Program {
    let mut child = moescape(Path::new("."), &["worker", "--engine", &nats.url()])
        .args(["--threads", "1"])
        .stdout(Stdio::piped())
        .stderr(File::create(log).unwrap())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("working for nats://127.0.0.1:"), "{line}");
    Program(child)
}

/// A server.
pub(crate) struct Server(Process);

impl Server {
    pub(crate) fn start(data: &Path, nats: Option<&Nats>) -> Self {
        let engine = nats.map(|nats| ["--engine".to_owned(), nats.url()]);
        let more: Vec<&str> = engine.iter().flatten().map(String::as_str).collect();
        let log = File::create(data.join("server.log")).unwrap();
        Self(Process::start(data, &more, log.into()))
    }

    /// Sends a request and gives status and body.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.0.send(method, path, body)
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        serde_json::from_str(&self.send("GET", path, "").1).unwrap_or(Value::Null)
    }

    /// Asks for a sweep and gives its address.
    pub(crate) fn submit(&self, spec: &str) -> String {
        let (status, answer) = self.send("POST", "/api/v1/sweeps?rows=all", spec);
        assert_eq!(status, 201, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["status"].as_str().unwrap().to_owned()
    }

    /// Number of designs that are done.
    pub(crate) fn done(&self, sweep: &str) -> u64 {
        let status = self.get(sweep);
        status["progress"]["done"].as_u64().unwrap_or(u64::MAX)
    }

    /// Waits until a sweep is done and gives its result.
    pub(crate) fn result(&self, sweep: &str) -> Value {
        wait_for("the sweep is done", || {
            let status = self.get(sweep);
            assert_ne!(status["state"], "failed", "{status}");
            (status["state"] == "done").then(|| status["result"].clone())
        })
    }
}
