//! Latency of the server while a sweep runs: predictions beside it, and the end of a sweep.
//!
//! Starts the server's own program on a free port, with a sweep that would take days.
#![expect(clippy::print_stdout, reason = "a benchmark's report is its output")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails says where")]

#[path = "../tests/process/server.rs"]
mod process;

use std::process::Stdio;
use std::time::{Duration, Instant};

use process::Process;

/// Answers that are measured.
const TIMES: usize = 200;

/// Sweeps that are removed.
const REMOVED: usize = 20;

/// The paper's recipe, as a page sends it.
const DESIGN: &str = r#"{"schema":1,"preset":"pangu-ultra-moe-6k"}"#;

/// About 3 x 10^8 designs.
const SPEC: &str = r#"{"schema":1,"design":{"preset":"pangu-ultra-moe-6k",
    "schedule":{"timing":"closed_form"}},"space":{"tp":[1,2,4,8],"pp":[4,8,16],"ep":[8,16,32,64],
    "gbs":{"from":6144,"to":6144000,"step":6144},"vocab_size":{"from":150000,"to":155999}}}"#;

struct Server(Process);

impl Server {
    /// Sends a request; gives the body and how long it took.
    fn send(&self, method: &str, path: &str, body: &str) -> (String, Duration) {
        let start = Instant::now();
        let (_, body) = self.0.send(method, path, body);
        (body, start.elapsed())
    }

    /// The address of a sweep that was started.
    fn sweep(&self) -> String {
        let (answer, _) = self.send("POST", "/api/v1/sweeps?rows=all", SPEC);
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        answer["status"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    fn predictions(&self) -> Vec<Duration> {
        (0..TIMES).map(|_| self.send("POST", "/api/v1/predict", DESIGN).1).collect()
    }
}

fn main() {
    let data = tempfile::tempdir().unwrap();
    let server = Server(Process::start(data.path(), &[], Stdio::null()));
    report("POST /api/v1/predict alone", server.predictions());
    let sweep = server.sweep();
    report("POST /api/v1/predict beside a sweep", server.predictions());
    server.send("DELETE", &sweep, "");
    let ends = (0..REMOVED).map(|_| {
        let sweep = server.sweep();
        std::thread::sleep(Duration::from_millis(1_200));
        server.send("DELETE", &sweep, "").1
    });
    report("DELETE /api/v1/sweeps/{id} of a sweep that runs", ends.collect());
}

/// Prints the median, the 95th percentile and the longest of some times.
fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{what}: median {:.1} ms, 95 % within {:.1} ms, longest {:.1} ms",
        at(0.5),
        at(0.95),
        at(1.0)
    );
}
