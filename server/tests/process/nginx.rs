//! An nginx of the tests' own on this machine, with a block of the guide as its configuration; it
//! ends with the test.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Path where Debian has it; elsewhere it is on the path.
const DEBIAN: &str = "/usr/sbin/nginx";

/// One that runs.
pub(crate) struct Nginx {
    child: Child,
    /// Address where it listens.
    pub(crate) address: String,
    home: TempDir,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Nginx {
    /// Starts one with what the guide shows for `http`, once each of `changes` has put an address
    /// of this machine in the place of the guide's; its certificate is left out.
    pub(crate) fn start(block: &str, changes: &[(&str, &str)]) -> Self {
        let program = if Path::new(DEBIAN).exists() { DEBIAN } else { "nginx" };
        let home = tempfile::Builder::new().prefix("moescape-nginx").tempdir().unwrap();
        // Free a moment ago.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let listen = format!("listen {address};");
        let mut text = block.to_owned();
        for (from, to) in [("listen 443 ssl;", listen.as_str())].iter().chain(changes) {
            assert!(text.contains(from), "the guide has {from}: {text}");
            text = text.replace(from, to);
        }
        let path = home.path().join("nginx.conf");
        std::fs::write(&path, configuration(home.path(), &text)).unwrap();
        let started = Command::new(program)
            .arg("-p")
            .arg(home.path())
            .arg("-c")
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = started.expect("nginx is missing: apt-get install nginx");
        let this = Self { child, address, home };
        let start = Instant::now();
        while TcpStream::connect(&this.address).is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "{}", this.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        this
    }

    /// Log, errors of connections among it.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }
}

/// A block of the guide as the whole configuration of one process that writes below `home` only.
fn configuration(home: &Path, block: &str) -> String {
    let home = home.display();
    let places: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("  {kind}_temp_path {home}/{kind};\n"))
        .collect();
    format!(
        "daemon off;\nmaster_process off;\npid {home}/pid;\nerror_log {home}/log;\n\
         events {{ worker_connections 1024; }}\nhttp {{\n  access_log off;\n{places}{block}\n}}\n"
    )
}

/// The block of nginx in a page of the guide that has these words.
pub(crate) fn of_the_guide(page: &str, words: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let mut blocks = text.split("```nginx\n").skip(1).filter_map(|part| part.split("```").next());
    blocks.find(|block| block.contains(words)).expect("the guide shows it").to_owned()
}
