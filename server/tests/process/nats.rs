//! A NATS of the tests' own with JetStream, and a worker of it; both end with the test.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// One that runs.
pub(crate) struct Nats {
    child: Child,
    pub(crate) port: u16,
    _home: TempDir,
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Nats {
    /// Starts one; `None` if tests with NATS are left out.
    pub(crate) fn start() -> Option<Self> {
        if std::env::var_os("MOESCAPE_SKIP_NATS").is_some() {
            return None;
        }
        // Free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Some(Self::start_at(port))
    }

    pub(crate) fn start_at(port: u16) -> Self {
        let home = tempfile::tempdir().unwrap();
        let child = Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
            .arg(home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server: install it, or leave it out by `cargo xtask test --skip nats`");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { child, port, _home: home }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}
