//! One suite for every way to run a sweep: the threads of a process, a server, shards and their
//! merge, and workers at NATS. All give the same result to the bit, whatever is killed meanwhile.

mod with_nats;

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use testing::text::{assert_text, expect};

use crate::processes::{Server, fails, moescape, succeeds, wait_for};

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

/// A server gives the result of the command line, and its rows in the same order.
fn serves_the_same(server: &Server, spec: &Value, whole: &str, rows: &str) {
    let sweep = server.submit(&spec.to_string());
    assert_eq!(server.result(&sweep), serde_json::from_str::<Value>(whole).unwrap());
    let found = server.send("GET", &format!("{sweep}/rows?format=csv&of=all"), "").1;
    assert!(found == rows, "rows in the same order");
}

/// The digest of the long spec without anything that goes wrong.
fn undisturbed(home: &Path) -> Value {
    digest(&succeeds(home, &["sweep", "spec.json"]))
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
fn a_sweep_that_refines_is_the_same_by_a_server_and_has_no_shards() {
    let spec = refined_spec();
    let home = home(&spec);
    let one = ["sweep", "spec.json", "--threads", "1", "--out", "rows.csv"];
    let whole = succeeds(home.path(), &one);
    assert_eq!(succeeds(home.path(), &["sweep", "spec.json", "--threads", "3"]), whole);
    let rows = std::fs::read_to_string(home.path().join("rows.csv")).unwrap();
    serves_the_same(&Server::start(home.path(), None), &spec, &whole, &rows);
    let said = fails(home.path(), &["sweep", "spec.json", "--shard", "1/2"], 2);
    assert_text(
        &said,
        &expect![[r#"
        error: a sweep that refines has no shards, as each round follows from all of the one
            before: run it whole, or let workers do it by --engine
    "#]],
    );
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

/// Commands that take an engine; a worker waits for one.
const COMMANDS: [&[&str]; 3] =
    [&["sweep", "spec.json"], &["serve", "--listen", "127.0.0.1:0", "--data", "."], &["worker"]];

/// Messages of the commands about an engine that ends it with this status.
fn ended_by(engine: &str, commands: &[&[&str]], status: i32) -> String {
    let home = home(&specs()[0]);
    let said = commands.iter().map(|command| {
        let said = fails(home.path(), &[*command, &["--engine", engine]].concat(), status);
        // Lines of the log begin with their time.
        let said = said.lines().filter(|line| !line.starts_with(|it: char| it.is_ascii_digit()));
        let said: String = said.map(|line| format!("{line}\n")).collect();
        format!("$ moescape {}\n{said}", command[0])
    });
    said.collect()
}

#[test]
fn an_engine_that_cannot_be_used_is_an_error_with_a_way_out() {
    // Whoever signs in stands in no message.
    let lost = ended_by("nats://someone:secret@127.0.0.1:1", &COMMANDS[..2], 1);
    assert_text(
        &lost,
        &expect![[r#"
        $ moescape sweep
        error: can't connect to NATS at nats://127.0.0.1:1: IO error: Connection refused (os
            error 111); `nats-server -js` starts one
        $ moescape serve
        error: can't connect to NATS at nats://127.0.0.1:1: IO error: Connection refused (os
            error 111); `nats-server -js` starts one
    "#]],
    );
    assert_text(
        &ended_by("http://127.0.0.1", &COMMANDS, 2),
        &expect![[r#"
        $ moescape sweep
        error: invalid value 'http://127.0.0.1' for '--engine <nats://HOST:PORT>': takes the
            address of NATS, such as nats://127.0.0.1:4222

        For more information, try '--help'.
        $ moescape serve
        error: invalid value 'http://127.0.0.1' for '--engine <nats://HOST:PORT>': takes the
            address of NATS, such as nats://127.0.0.1:4222

        For more information, try '--help'.
        $ moescape worker
        error: invalid value 'http://127.0.0.1' for '--engine <nats://HOST:PORT>': takes the
            address of NATS, such as nats://127.0.0.1:4222

        For more information, try '--help'.
    "#]],
    );
}
