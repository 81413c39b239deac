//! A NATS of the tests' own on this machine, with its store in a directory of its own; it ends with
//! the test.
#![allow(dead_code, reason = "each binary of tests uses a part")]

use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// One that runs, or did.
pub(crate) struct Nats {
    child: Option<Child>,
    pub(crate) port: u16,
    home: TempDir,
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Nats {
    /// Starts one with JetStream.
    pub(crate) fn start() -> Self {
        let mut nats = Self::stopped();
        nats.restart();
        nats
    }

    /// Starts one without JetStream.
    pub(crate) fn without_streams() -> Self {
        let mut nats = Self::stopped();
        nats.run(&[]);
        nats
    }

    /// One that isn't there yet.
    pub(crate) fn stopped() -> Self {
        // Free a moment ago; NATS must come back at the same one.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self { child: None, port, home: tempfile::tempdir().unwrap() }
    }

    fn run(&mut self, arguments: &[&str]) {
        let log = self.home.path().join("log");
        let child = Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-sd"])
            .arg(self.home.path())
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn();
        self.child = Some(child.expect(
            "nats-server is missing: apt-get install nats-server, or leave its tests out by \
             `cargo xtask test --skip nats`",
        ));
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let said = || std::fs::read_to_string(&log).unwrap_or_default();
            assert!(start.elapsed() < Duration::from_secs(60), "{}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts it again with what it kept.
    pub(crate) fn restart(&mut self) {
        self.run(&["-js"]);
    }

    /// Starts it again as a new one.
    pub(crate) fn restart_empty(&mut self) {
        std::fs::remove_dir_all(self.home.path().join("jetstream")).unwrap();
        self.restart();
    }
}
