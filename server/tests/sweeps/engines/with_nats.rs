//! Workers at NATS, which is killed and comes back, as they are and do.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testing::text::{assert_text, expect};

use super::{
    COMMANDS, digest, ended_by, home, length, long_spec, refined_spec, serves_the_same, specs,
    undisturbed,
};
use crate::nats::Nats;
use crate::processes::{Program, Server, chunks, moescape, publish, succeeds, wait_for, worker};

#[test]
fn workers_that_end_as_they_should_are_none_that_were_lost() {
    let nats = Nats::start();
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
    let nats = Nats::start();
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
    wait_for("nothing is left behind", || (chunks(&nats) == 0).then_some(()));
}

#[test]
fn a_worker_that_is_killed_loses_nothing() {
    let nats = Nats::start();
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
    let nats = Nats::start();
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
    let mut nats = Nats::start();
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
    let nats = Nats::start();
    let mut spec = long_spec();
    let home = home(&spec);
    let _worker = worker(&nats, &home.path().join("1"));
    let server = Server::start(home.path(), Some(&nats));
    let sweep = server.submit(&spec.to_string());
    wait_for("the sweep has begun", || (server.done(&sweep) > 50).then_some(()));
    let start = Instant::now();
    assert_eq!(server.send("POST", &format!("{sweep}/pause"), "").0, 200);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    wait_for("the chunks are taken back", || (chunks(&nats) == 0).then_some(()));
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
    wait_for("the chunks are taken back", || (chunks(&nats) == 0).then_some(()));
}

#[test]
fn an_interrupted_sweep_takes_its_chunks_back_and_goes_on_later() {
    let nats = Nats::start();
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
    wait_for("the chunks are taken back", || (chunks(&nats) == 0).then_some(()));
    let resumed = succeeds(home.path(), &[&arguments[..], &["--resume"]].concat());
    assert_eq!(digest(&resumed), undisturbed(home.path()));
}

#[test]
fn a_worker_leaves_chunks_of_another_model_to_others() {
    let nats = Nats::start();
    let home = home(&specs()[0]);
    let log = home.path().join("log");
    let mut worker = worker(&nats, &log);
    publish(&nats, "moescape.work.99_0_1.other", "{}");
    // One that says so only inside goes back, too.
    let subject = format!("moescape.work.{}.mixed", model::MODEL_VERSION.replace('.', "_"));
    let task = json!({
        "model_version": "98.0.0", "coordinator": "x", "sweep": "mixed", "run": 0,
        "start": 0, "end": 1, "rows": null, "spec": "{}",
    });
    publish(&nats, &subject, &task.to_string());
    for version in ["99.0.1", "98.0.0"] {
        wait_for("the worker says why", || {
            let said = std::fs::read_to_string(&log).unwrap();
            said.contains(&format!("version {version} of the model")).then_some(())
        });
    }
    assert_eq!(chunks(&nats), 2, "they wait for workers of their own version");
    let swept = succeeds(home.path(), &["sweep", "spec.json", "--engine", &nats.url()]);
    assert_eq!(swept, succeeds(home.path(), &["sweep", "spec.json"]), "the worker goes on");
    assert_eq!(worker.interrupt(), Some(0));
}

#[test]
fn a_sweep_without_workers_says_what_it_waits_for() {
    let nats = Nats::start();
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
fn a_sweep_that_refines_is_the_same_by_workers() {
    let spec = refined_spec();
    let home = home(&spec);
    let whole = succeeds(home.path(), &["sweep", "spec.json", "--out", "rows.csv"]);
    let rows = std::fs::read_to_string(home.path().join("rows.csv")).unwrap();
    let nats = Nats::start();
    let _workers = [worker(&nats, &home.path().join("1")), worker(&nats, &home.path().join("2"))];
    let engine = ["sweep", "spec.json", "--engine", &nats.url(), "--out", "workers.csv"];
    assert_eq!(succeeds(home.path(), &engine), whole);
    assert!(std::fs::read_to_string(home.path().join("workers.csv")).unwrap() == rows);
    serves_the_same(&Server::start(home.path(), Some(&nats)), &spec, &whole, &rows);
    wait_for("nothing is left behind", || (chunks(&nats) == 0).then_some(()));
}

#[test]
fn one_without_jetstream_is_an_error_with_a_way_out() {
    let nats = Nats::without_streams();
    let said = ended_by(&nats.url(), &COMMANDS, 1).replace(&nats.port.to_string(), "PORT");
    assert_text(
        &said,
        &expect![[r#"
        $ moescape sweep
        error: NATS at nats://127.0.0.1:PORT has no JetStream, which sweeps need: start it
            by `nats-server -js`, or add `jetstream {}` to its configuration (requested
            JetStream resource does not exist)
        $ moescape serve
        error: NATS at nats://127.0.0.1:PORT has no JetStream, which sweeps need: start it
            by `nats-server -js`, or add `jetstream {}` to its configuration (requested
            JetStream resource does not exist)
        $ moescape worker
        error: NATS at nats://127.0.0.1:PORT has no JetStream, which sweeps need: start it
            by `nats-server -js`, or add `jetstream {}` to its configuration (requested
            JetStream resource does not exist)
    "#]],
    );
}
