//! All that a team runs, at once: two servers on one PostgreSQL, NATS and a worker, and the guide's
//! nginx before them. Servers are killed in turn while clients edit and sweeps are computed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{self, data};
use crate::converge::{Seen, Servers, trial};
use crate::nats::Nats;
use crate::nginx::{self, Nginx};
use crate::postgres;

/// Minutes that the soak lasts; `cargo xtask soak --minutes N` sets them.
const SOAK: &str = "MOESCAPE_SOAK_MINUTES";

/// Number of clients that edit.
const CLIENTS: u64 = 12;

/// Length and roughness of a run.
struct Pace {
    /// One session after the other.
    rounds: u32,
    /// Number of these rounds, the last ones, in which no server is killed: they show whether the
    /// memory of a server that lives grows.
    calm: u32,
    round: Duration,
    /// Kills in each of the other rounds.
    kills: u32,
    /// Designs of each sweep.
    designs: u32,
}

impl Pace {
    /// Pace of a soak of that many minutes, or of one round that only shows that all of it works.
    fn of(minutes: Option<u32>) -> Self {
        let Some(minutes) = minutes else {
            let round = Duration::from_secs(6);
            return Self { rounds: 1, calm: 0, round, kills: 2, designs: 300 };
        };
        let rounds = minutes.div_ceil(2);
        let round = Duration::from_mins(minutes.into()) / rounds.max(1);
        Self { rounds, calm: rounds / 3, round, kills: 12, designs: 4_000 }
    }
}

/// A worker that ends with the test.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Worker {
    fn start(engine: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_moescape"))
            .args(["worker", "--threads", "1", "--engine", engine])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("working for"), "{line}");
        Self(child)
    }
}

/// Simulated designs; each number gives others of them.
fn spec(number: u32, designs: u32) -> Value {
    json!({
        "schema": 1,
        "name": format!("soak {number}"),
        "sample": 10,
        "design": {"preset": "pangu-ultra-moe-6k", "schedule": {"timing": "simulated"}},
        "space": {
            "tp": [4, 8], "pp": [8, 16], "vpp": [1, 2], "ep": [16, 32, 64], "mbs": [1, 2],
            "noop_layers": {"fill": "chunks"},
            "gbs": {"from": 6144, "to": 6144 * 400, "step": 6144},
        },
        "sampling": {"method": "random", "count": designs, "seed": number},
    })
}

/// The digest that the command line gives alone.
fn expected(home: &Path, spec: &Value) -> Value {
    let path = home.join("spec.json");
    std::fs::write(&path, spec.to_string()).unwrap();
    let mut sweep = Command::new(env!("CARGO_BIN_EXE_moescape"));
    let done = sweep.arg("sweep").arg(path).args(["--threads", "1"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let result: Value = serde_json::from_slice(&done.stdout).unwrap();
    result["digest"].clone()
}

/// Asks until there is an answer: a server that is killed has none, nor the proxy for it.
async fn ask(at: &str, method: &str, path: &str, body: &str, refused: &mut u32) -> Value {
    let start = Instant::now();
    loop {
        let answer = client::send(at, method, path, &[], body).await;
        match answer.status {
            200..300 if !answer.json().is_null() => return answer.json(),
            200..300 | 429 | 500.. => *refused += 1,
            _ => panic!("{method} {path}: {} {}", answer.status, answer.body),
        }
        assert!(start.elapsed() < Duration::from_mins(2), "{} {}", answer.status, answer.body);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Computes one sweep after the other through the proxy until it is enough; gives how many had
/// the digest of the command line, and how many requests had to be asked again.
async fn sweeps(at: String, designs: u32, stop: Arc<AtomicBool>) -> (u32, u32) {
    let (home, mut refused) = (data(), 0);
    for number in 1.. {
        let spec = spec(number, designs);
        let digest = expected(home.path(), &spec);
        let begun = ask(&at, "POST", "/api/v1/sweeps", &spec.to_string(), &mut refused).await;
        let status = begun["status"].as_str().unwrap().to_owned();
        let start = Instant::now();
        let result = loop {
            let now = ask(&at, "GET", &status, "", &mut refused).await;
            assert_ne!(now["state"], "failed", "{now}");
            if now["state"] == "done" {
                break now["result"].clone();
            }
            assert!(start.elapsed() < Duration::from_mins(10), "{now}");
            tokio::time::sleep(Duration::from_millis(500)).await;
        };
        assert_eq!(result["digest"], digest, "sweep {number}");
        if stop.load(Ordering::Relaxed) {
            return (number, refused);
        }
    }
    unreachable!("it ends once it is told to");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs nginx: `cargo xtask soak` and, where it is installed, `cargo xtask test` run it"]
async fn servers_behind_a_proxy_are_killed_and_lose_neither_an_event_nor_a_row() {
    let (postgres, nats) = (postgres::shared(), Nats::start());
    let pace = Pace::of(std::env::var(SOAK).ok().and_then(|minutes| minutes.parse().ok()));
    let (engine, store) = (nats.url(), format!("--store={}", postgres.database("soak")));
    let _worker = Worker::start(&engine);
    let flags = [store.as_str(), "--engine", &engine, "--public-url", "https://moescape.example"];
    let mut servers = Servers::start(2, &flags);
    let [a, b] = servers.addresses.as_slice() else { panic!("two servers") };
    let block = nginx::of_the_guide("operate.md", "upstream moescape");
    let places = [("10.1.2.3:3000", a.as_str()), ("10.1.2.4:3000", b)];
    let proxy = Nginx::start(&block, &places);
    let at = [proxy.address.clone()];
    let stop = Arc::new(AtomicBool::new(false));
    let sweeping = tokio::spawn(sweeps(at[0].clone(), pace.designs, Arc::clone(&stop)));
    let (before, mut all, mut kills) = (servers.memory(), Seen::default(), 0);
    for round in 1..=pace.rounds {
        let rough = if round + pace.calm > pace.rounds { 0 } else { pace.kills };
        let seen = trial(&mut servers, &at, CLIENTS, pace.round, rough).await;
        println!("round {round}: {}", seen.line(rough, &servers));
        kills += rough;
        all.append(seen);
        assert!(!sweeping.is_finished(), "{:?}", sweeping.await);
    }
    stop.store(true, Ordering::Relaxed);
    let (swept, refused) = sweeping.await.unwrap();
    println!("{}, had {before:?} at first", all.line(kills, &servers));
    println!(
        "{swept} sweeps of {} designs had the command line's digest; {refused} of their requests \
         were asked again",
        pace.designs
    );
}
