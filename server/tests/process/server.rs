//! The server's own program on a free port, for tests and measurements; it ends with whoever
//! started it, however that ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that runs.
pub(crate) struct Process {
    pub(crate) child: Child,
    /// Address where it listens, such as `127.0.0.1:3000`.
    pub(crate) address: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It gets no chance to say goodbye.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Starts it on a data directory, with more arguments, and waits until it listens.
    pub(crate) fn start(data: &Path, more: &[&str], log: Stdio) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_moescape"));
        program.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data).args(more);
        Self::spawn(program, log)
    }

    /// Starts a server with few descriptors.
    #[allow(dead_code, reason = "few tests use it")]
    pub(crate) fn start_with_descriptors(number: u32, data: &Path, log: Stdio) -> Self {
        let mut shell = Command::new("sh");
        let start =
            format!("ulimit -n {number} && exec \"$0\" serve --listen 127.0.0.1:0 --data \"$1\"");
        shell.args(["-c", &start, env!("CARGO_BIN_EXE_moescape")]).arg(data);
        Self::spawn(shell, log)
    }

    fn spawn(mut program: Command, log: Stdio) -> Self {
        let mut child = program.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("listening on http://").to_owned();
        Self { child, address }
    }

    /// Sends a request and gives status and body.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.send_with(method, path, &[], body)
    }

    /// Sends a request with more headers.
    pub(crate) fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let more: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let request = format!(
            "{method} {path} HTTP/1.0\r\nhost: localhost\r\n{more}\
             content-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }
}
