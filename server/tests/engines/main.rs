//! One suite for every way to run a sweep: the threads of a process, workers at NATS, shards and
//! their merge. All give the same result to the bit, whatever is killed meanwhile.
//!
//! With `MOESCAPE_SKIP_NATS` set, what needs `nats-server` is left out.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

#[path = "../process/server.rs"]
mod process;
mod processes;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use processes::{Nats, Program, Server, fails, moescape, succeeds, wait_for, worker};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Specs that differ in all that an engine could get wrong.
fn specs() -> Vec<Value> {
    let space = json!({
        "tp": {"powers_of_two": [1, 16]}, "pp": [4, 8, 16], "vpp": [1, 2],
        "ep": {"powers_of_two": [8, 64]}, "mbs": [1, 2, 3],
        "recompute_modules": ["none", ["moe_act", "mla_qkv"]],
        "noop_layers": {"fill": "chunks"},
    });
    let design =
        |timing: &str| json!({"preset": "pangu-ultra-moe-6k", "schedule": {"timing": timing}});
    let grid = json!({
        "schema": 1, "name": "grid", "sample": 50, "design": design("closed_form"),
        "space": space,
    });
    let mut random = grid.clone();
    random["name"] = "random".into();
    random["sampling"] = json!({"method": "random", "count": 500, "seed": 7});
    random["constraints"] = json!(["fits", "mfu >= 0.1", "tp <= 8"]);
    random["objectives"] = json!(["tokens_per_second max", "memory_peak_bytes min"]);
    let mut hypercube = grid.clone();
    hypercube["sampling"] = json!({"method": "lhs", "count": 333, "seed": 3});
    hypercube["design"] = design("simulated");
    vec![grid, random, hypercube]
}

/// Simulated designs: some seconds for one thread.
fn long_spec() -> Value {
    json!({
        "schema": 1,
        "sample": 10,
        "design": {"preset": "pangu-ultra-moe-6k", "schedule": {"timing": "simulated"}},
        "space": {
            "tp": [4, 8], "pp": [8, 16], "vpp": [1, 2], "ep": [16, 32, 64], "mbs": [1, 2],
            "noop_layers": {"fill": "chunks"},
            "gbs": {"from": 6144, "to": 6144 * 40, "step": 6144},
        },
    })
}

/// One whose later designs follow from what the earlier ones gave; each takes some time.
fn refined_spec() -> Value {
    let mut spec = long_spec();
    spec["sampling"] = json!({"method": "refine", "count": 400, "seed": 2});
    spec
}

/// A directory with a spec.
fn home(spec: &Value) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("spec.json"), spec.to_string()).unwrap();
    home
}

fn digest(result: &str) -> Value {
    let result: Value = serde_json::from_str(result).unwrap();
    assert_eq!(result["complete"], true);
    result["digest"].clone()
}

/// Bytes of a file; 0 if there is none.
fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

#[test]
fn a_server_and_shards_give_what_the_command_line_gives() {
    for spec in specs() {
        let home = home(&spec);
        let whole = succeeds(home.path(), &["sweep", "spec.json", "--out", "rows.csv"]);
        let parts = ["part-1.json", "part-2.json", "part-3.json"];
        for (shard, part) in ["1/3", "2/3", "3/3"].iter().zip(parts) {
            succeeds(home.path(), &["sweep", "spec.json", "--shard", shard, "--out", part]);
        }
        assert_eq!(succeeds(home.path(), &["merge", parts[1], parts[2], parts[0]]), whole);
        let server = Server::start(home.path(), None);
        let sweep = server.submit(&spec.to_string());
        assert_eq!(server.result(&sweep), serde_json::from_str::<Value>(&whole).unwrap());
        let rows = server.send("GET", &format!("{sweep}/rows?format=csv&of=all"), "").1;
        assert_eq!(rows, std::fs::read_to_string(home.path().join("rows.csv")).unwrap());
    }
}

#[test]
fn a_sweep_that_refines_is_the_same_on_every_engine_and_has_no_shards() {
    let spec = refined_spec();
    let home = home(&spec);
    let one = ["sweep", "spec.json", "--threads", "1", "--out", "rows.csv"];
    let whole = succeeds(home.path(), &one);
    assert_eq!(succeeds(home.path(), &["sweep", "spec.json", "--threads", "3"]), whole);
    let rows = std::fs::read_to_string(home.path().join("rows.csv")).unwrap();
    let serves = |nats: Option<&Nats>| {
        let server = Server::start(home.path(), nats);
        let sweep = server.submit(&spec.to_string());
        assert_eq!(server.result(&sweep), serde_json::from_str::<Value>(&whole).unwrap());
        let found = server.send("GET", &format!("{sweep}/rows?format=csv&of=all"), "").1;
        assert!(found == rows, "rows in the same order");
    };
    serves(None);
    let said = fails(home.path(), &["sweep", "spec.json", "--shard", "1/2"], 2);
    assert!(said.contains("--engine"), "{said}");
    let Some(nats) = Nats::start() else { return };
    let _workers = [worker(&nats, &home.path().join("1")), worker(&nats, &home.path().join("2"))];
    let engine = ["sweep", "spec.json", "--engine", &nats.url(), "--out", "workers.csv"];
    assert_eq!(succeeds(home.path(), &engine), whole);
    assert!(std::fs::read_to_string(home.path().join("workers.csv")).unwrap() == rows);
    serves(Some(&nats));
    wait_for("nothing is left behind", || (nats.chunks() == 0).then_some(()));
}

#[test]
fn a_sweep_that_refines_goes_on_after_kill_9() {
    let mut spec = refined_spec();
    // Enough for several rounds: each is written down as it begins.
    spec["sampling"]["count"] = json!(2_000);
    let home = home(&spec);
    let whole = undisturbed(home.path());
    // A server that dies twice.
    let server = Server::start(home.path(), None);
    let sweep = server.submit(&spec.to_string());
    wait_for("some rounds are over", || (server.done(&sweep) > 150).then_some(()));
    drop(server);
    let server = Server::start(home.path(), None);
    wait_for("more rounds are over", || (server.done(&sweep) > 250).then_some(()));
    drop(server);
    let server = Server::start(home.path(), None);
    assert_eq!(server.result(&sweep)["digest"], whole);
    drop(server);
    // A command that dies.
    let arguments = ["sweep", "spec.json", "--threads", "1", "--out", "rows.csv"];
    let mut child = moescape(home.path(), &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let checkpoint = home.path().join("rows.csv.checkpoint");
    wait_for("a later round is written down", || {
        let written = std::fs::read_to_string(&checkpoint).unwrap_or_default();
        written.contains("rounds").then_some(())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = succeeds(home.path(), &[&arguments[..], &["--resume"]].concat());
    assert_eq!(digest(&resumed), whole);
}

#[test]
fn workers_that_end_as_they_should_are_none_that_were_lost() {
    let Some(nats) = Nats::start() else { return };
    // One chunk of designs that take long, and more workers than may be lost with it.
    let mut spec = long_spec();
    spec["sampling"] = json!({"method": "random", "count": 120, "seed": 2});
    let home = home(&spec);
    let child = moescape(home.path(), &["sweep", "spec.json", "--engine", &nats.url()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for number in 0..12 {
        let mut worker = worker(&nats, &home.path().join(number.to_string()));
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(worker.interrupt(), Some(0));
    }
    let _last = worker(&nats, &home.path().join("last"));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{:?}", output.status);
    assert_eq!(digest(&String::from_utf8(output.stdout).unwrap()), undisturbed(home.path()));
}

#[test]
fn workers_give_what_one_process_gives() {
    let Some(nats) = Nats::start() else { return };
    let log = tempfile::tempdir().unwrap();
    let _workers = [worker(&nats, &log.path().join("1")), worker(&nats, &log.path().join("2"))];
    for spec in specs() {
        let home = home(&spec);
        let whole = succeeds(home.path(), &["sweep", "spec.json", "--out", "rows.csv"]);
        let engine = ["sweep", "spec.json", "--engine", &nats.url(), "--out", "workers.csv"];
        assert_eq!(succeeds(home.path(), &engine), whole);
        let rows = |name: &str| std::fs::read_to_string(home.path().join(name)).unwrap();
        assert!(rows("rows.csv") == rows("workers.csv"), "rows in the same order");
        let shard = ["--shard", "2/3", "--out"];
        succeeds(home.path(), &[&["sweep", "spec.json"][..], &shard, &["a.json"]].concat());
        succeeds(
            home.path(),
            &[&["sweep", "spec.json", "--engine", &nats.url()][..], &shard, &["b.json"]].concat(),
        );
        assert!(rows("a.json") == rows("b.json"), "a shard by workers");
        let server = Server::start(home.path(), Some(&nats));
        let sweep = server.submit(&spec.to_string());
        assert_eq!(server.result(&sweep), serde_json::from_str::<Value>(&whole).unwrap());
        let found = server.send("GET", &format!("{sweep}/rows?format=csv&of=all"), "").1;
        assert!(found == rows("rows.csv"), "rows of workers");
    }
    wait_for("nothing is left behind", || (nats.chunks() == 0).then_some(()));
}

/// The digest of the long spec without anything that goes wrong.
fn undisturbed(home: &Path) -> Value {
    digest(&succeeds(home, &["sweep", "spec.json"]))
}

#[test]
fn a_worker_that_is_killed_loses_nothing() {
    let Some(nats) = Nats::start() else { return };
    let home = home(&long_spec());
    let first = worker(&nats, &home.path().join("1"));
    let child = moescape(home.path(), &["sweep", "spec.json", "--engine", &nats.url()])
        .args(["--out", "rows.csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the sweep has begun", || {
        (length(&home.path().join("rows.csv")) > 2_000).then_some(())
    });
    drop(first);
    let _second = worker(&nats, &home.path().join("2"));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(digest(&String::from_utf8(output.stdout).unwrap()), undisturbed(home.path()));
}

#[test]
fn a_server_that_is_killed_goes_on_with_its_workers() {
    let Some(nats) = Nats::start() else { return };
    let home = home(&long_spec());
    let _worker = worker(&nats, &home.path().join("1"));
    let server = Server::start(home.path(), Some(&nats));
    let sweep = server.submit(&long_spec().to_string());
    wait_for("the sweep has begun", || (server.done(&sweep) > 200).then_some(()));
    drop(server);
    let server = Server::start(home.path(), Some(&nats));
    assert_eq!(server.result(&sweep)["digest"], undisturbed(home.path()));
    let path = format!("{sweep}/rows?format=csv&of=all");
    let rows = server.send("GET", &path, "").1;
    succeeds(home.path(), &["sweep", "spec.json", "--out", "rows.csv"]);
    let expected = std::fs::read_to_string(home.path().join("rows.csv")).unwrap();
    assert!(rows == expected, "no row is lost or there twice");
}

#[test]
fn nats_that_is_killed_and_started_again_loses_nothing() {
    let Some(mut nats) = Nats::start() else { return };
    let home = home(&long_spec());
    let _worker = worker(&nats, &home.path().join("1"));
    let server = Server::start(home.path(), Some(&nats));
    let sweep = server.submit(&long_spec().to_string());
    wait_for("the sweep has begun", || (server.done(&sweep) > 200).then_some(()));
    nats.kill();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(server.get(&sweep)["state"], "running", "the server answers meanwhile");
    nats.restart();
    let before = server.done(&sweep);
    wait_for("the sweep goes on", || (server.done(&sweep) > before).then_some(()));
    // Even a NATS that lost all that it kept.
    nats.kill();
    nats.restart_empty();
    assert_eq!(server.result(&sweep)["digest"], undisturbed(home.path()));
}

#[test]
fn a_pause_reaches_the_workers() {
    let Some(nats) = Nats::start() else { return };
    let mut spec = long_spec();
    let home = home(&spec);
    let _worker = worker(&nats, &home.path().join("1"));
    let server = Server::start(home.path(), Some(&nats));
    let sweep = server.submit(&spec.to_string());
    wait_for("the sweep has begun", || (server.done(&sweep) > 50).then_some(()));
    let start = Instant::now();
    assert_eq!(server.send("POST", &format!("{sweep}/pause"), "").0, 200);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    wait_for("the chunks are taken back", || (nats.chunks() == 0).then_some(()));
    let before = server.done(&sweep);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.done(&sweep), before);
    assert_eq!(server.send("POST", &format!("{sweep}/resume"), "").0, 200);
    assert_eq!(server.result(&sweep)["digest"], undisturbed(home.path()));
    // One that would take hours is gone at once, from NATS, too.
    spec["space"]["gbs"] = json!({"from": 6144, "to": 6144 * 2500, "step": 6144});
    let sweep = server.submit(&spec.to_string());
    wait_for("the sweep has begun", || (server.done(&sweep) > 10).then_some(()));
    assert_eq!(server.send("DELETE", &sweep, "").0, 204);
    wait_for("the chunks are taken back", || (nats.chunks() == 0).then_some(()));
}

#[test]
fn an_interrupted_sweep_takes_its_chunks_back_and_goes_on_later() {
    let Some(nats) = Nats::start() else { return };
    let home = home(&long_spec());
    let _worker = worker(&nats, &home.path().join("1"));
    let url = nats.url();
    let arguments = ["sweep", "spec.json", "--engine", &url, "--out", "rows.csv"];
    let mut child = moescape(home.path(), &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the sweep has begun", || {
        (length(&home.path().join("rows.csv")) > 2_000).then_some(())
    });
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    wait_for("the chunks are taken back", || (nats.chunks() == 0).then_some(()));
    let resumed = succeeds(home.path(), &[&arguments[..], &["--resume"]].concat());
    assert_eq!(digest(&resumed), undisturbed(home.path()));
}

#[test]
fn a_worker_leaves_chunks_of_another_model_to_others() {
    let Some(nats) = Nats::start() else { return };
    let home = home(&specs()[0]);
    let log = home.path().join("log");
    let mut worker = worker(&nats, &log);
    nats.publish("moescape.work.99_0_1.other", "{}");
    // One that says so only inside goes back, too.
    let subject = format!("moescape.work.{}.mixed", model::MODEL_VERSION.replace('.', "_"));
    let task = json!({
        "model_version": "98.0.0", "coordinator": "x", "sweep": "mixed", "run": 0,
        "start": 0, "end": 1, "rows": null, "spec": "{}",
    });
    nats.publish(&subject, &task.to_string());
    for version in ["99.0.1", "98.0.0"] {
        wait_for("the worker says why", || {
            let said = std::fs::read_to_string(&log).unwrap();
            said.contains(&format!("version {version} of the model")).then_some(())
        });
    }
    assert_eq!(nats.chunks(), 2, "they wait for workers of their own version");
    let swept = succeeds(home.path(), &["sweep", "spec.json", "--engine", &nats.url()]);
    assert_eq!(swept, succeeds(home.path(), &["sweep", "spec.json"]), "the worker goes on");
    assert_eq!(worker.interrupt(), Some(0));
}

#[test]
fn a_sweep_without_workers_says_what_it_waits_for() {
    let Some(nats) = Nats::start() else { return };
    let home = home(&specs()[0]);
    let log = std::fs::File::create(home.path().join("log")).unwrap();
    let url = nats.url();
    let mut child = moescape(home.path(), &["sweep", "spec.json", "--engine", &url])
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    wait_for("it says so", || {
        let said = std::fs::read_to_string(home.path().join("log")).unwrap();
        said.contains("moescape worker --engine").then_some(())
    });
    let _worker = worker(&nats, &home.path().join("1"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_worker_waits_for_nats_and_ends_at_once_when_told_to() {
    if std::env::var_os("MOESCAPE_SKIP_NATS").is_some() {
        return;
    }
    let mut nats = Nats::stopped();
    let home = home(&specs()[0]);
    let start = |log: &str| {
        let log = std::fs::File::create(home.path().join(log)).unwrap();
        Program::start(moescape(home.path(), &["worker", "--engine", &nats.url()]), log)
    };
    let says = |log: &str, words: &str| {
        wait_for(words, || {
            let said = std::fs::read_to_string(home.path().join(log)).unwrap();
            said.contains(words).then_some(())
        });
    };
    let (mut patient, mut leaving) = (start("patient"), start("leaving"));
    for log in ["patient", "leaving"] {
        says(log, "it is tried again in 1 s");
    }
    let told = Instant::now();
    assert_eq!(leaving.end("-TERM"), Some(0));
    assert!(told.elapsed() < Duration::from_secs(1), "{:?}", told.elapsed());
    nats.restart();
    let swept = succeeds(home.path(), &["sweep", "spec.json", "--engine", &nats.url()]);
    assert_eq!(swept, succeeds(home.path(), &["sweep", "spec.json"]));
    assert_eq!(patient.end("-TERM"), Some(0));
}

#[test]
fn nats_that_cannot_be_used_is_an_error_with_a_way_out() {
    let home = home(&specs()[0]);
    let each = |commands: Vec<Vec<&str>>, engine: &str, status: i32| -> Vec<String> {
        let said = commands.into_iter().map(|mut arguments| {
            arguments.extend(["--engine", engine]);
            fails(home.path(), &arguments, status)
        });
        said.collect()
    };
    let waitless = || {
        let serve = vec!["serve", "--listen", "127.0.0.1:0", "--data", "."];
        vec![vec!["sweep", "spec.json"], serve]
    };
    let all = |engine: &str, status: i32| {
        each([waitless(), vec![vec!["worker"]]].concat(), engine, status)
    };
    for said in each(waitless(), "nats://someone:secret@127.0.0.1:1", 1) {
        assert!(said.contains("can't connect to NATS at nats://127.0.0.1:1"), "{said}");
        assert!(said.contains("nats-server -js") && !said.contains("secret"), "{said}");
    }
    for said in all("http://127.0.0.1", 2) {
        assert!(said.contains("nats://127.0.0.1:4222"), "{said}");
    }
    let Some(nats) = Nats::without_streams() else { return };
    for said in all(&nats.url(), 1) {
        assert!(said.contains("JetStream") && said.contains("nats-server -js"), "{said}");
    }
}
