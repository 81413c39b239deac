//! A copy of what a server keeps, and the way back.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use model::routing::{Trace, text};
use serde_json::Value;
use tempfile::TempDir;

use crate::client::{Client, Server, Session, begun, data, set};

fn moescape(arguments: &[&str], paths: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_moescape"));
    command.args(arguments);
    for (flag, path) in paths {
        command.arg(flag).arg(path);
    }
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn a_copy_is_made_while_the_server_runs_and_opens_elsewhere() {
    let (data, elsewhere) = (data(), data());
    let copy = elsewhere.path().join("copy");
    let server = Server::start(data.path());
    let session = server.begin().await;
    let trace = Trace::new([1, 1, 2], vec![3, 5]).unwrap();
    let stored = server.send("POST", "/api/v1/traces", &[], &text::write(&trace)).await;
    assert_eq!(stored.status, 201, "{}", stored.body);
    let mut ann = Client::join(&server.address, &session, &session.edit, "Ann").await;
    ann.act("a-1", set("tp", "4")).await.unwrap();
    let happens =
        |told: &review::wire::Tell| matches!(told, review::wire::Tell::Event { .. }).then_some(());
    ann.until(happens).await.unwrap();
    let made = moescape(&["backup"], &[("--data", data.path()), ("--to", &copy)]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
    let files = ["manifest.json", "moescape.sqlite", "traces"];
    let mut there: Vec<_> = std::fs::read_dir(&copy).unwrap().map(|file| file.unwrap()).collect();
    there.sort_by_key(|file| file.file_name());
    assert_eq!(there.iter().map(|file| file.file_name()).collect::<Vec<_>>(), files);
    let manifest = std::fs::read(copy.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(
        (&manifest["counts"]["events"], &manifest["counts"]["traces"]),
        (&2.into(), &1.into())
    );
    let again = moescape(&["backup"], &[("--data", data.path()), ("--to", &copy)]);
    assert_eq!(again.status.code(), Some(2), "a copy isn't written over");
    let log = server.log(&session).await;
    ann.act("a-2", set("tp", "8")).await.unwrap();
    ann.until(happens).await.unwrap();
    let restored = elsewhere.path().join("restored");
    let paths = [("--from", copy.as_path()), ("--data", restored.as_path())];
    let back = moescape(&["restore"], &paths);
    assert_eq!(back.status.code(), Some(0), "{}", said(&back));
    let other = Server::start(&restored);
    assert_eq!(other.log(&session).await, log, "what came later isn't in it");
    let path = format!("/api/v1/traces/{}", trace.content_hash());
    assert_eq!(other.send("GET", &path, &[], "").await.status, 200);
    let back = moescape(&["restore", "--replace"], &paths);
    assert_eq!(back.status.code(), Some(2), "a server runs there: {}", said(&back));
    assert!(said(&back).contains("a server runs on"), "{}", said(&back));
    assert_eq!(other.log(&session).await, log, "nothing was touched");
    drop(other);
    let back = moescape(&["restore"], &paths);
    assert_eq!(back.status.code(), Some(2), "{}", said(&back));
    assert!(said(&back).contains("--replace"), "{}", said(&back));
    let back = moescape(&["restore", "--replace"], &paths);
    assert_eq!(back.status.code(), Some(0), "{}", said(&back));
}

/// A store with a session in it, as a server left it that was killed: its log holds what came last.
async fn store() -> (TempDir, Session) {
    let (data, server, session) = begun().await;
    let change = serde_json::json!({"kind": "rename", "name": "Another name"});
    assert_eq!(server.act(&session, &session.own, "one", &change).await.status, 200);
    server.kill();
    std::fs::remove_file(data.path().join("server.log")).unwrap();
    (data, session)
}

/// Number of events of a session in a store; 0 if it isn't there.
async fn events(data: &Path, session: &Session) -> usize {
    let server = Server::start(data);
    let answer = server.ask("GET", &session.api("log"), &session.view, &Value::Null).await;
    server.kill();
    std::fs::remove_file(data.join("server.log")).unwrap();
    answer.json()["events"].as_array().map_or(0, Vec::len)
}

fn restore(from: &Path, data: &Path) -> Output {
    moescape(&["restore", "--replace"], &[("--from", from), ("--data", data)])
}

#[track_caller]
fn backup(data: &Path, to: &Path) {
    let made = moescape(&["backup"], &[("--data", data), ("--to", to)]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
}

/// Copies the files of a directory, and of those in it.
fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_all(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

/// Changes one byte of a file.
fn spoil(file: &Path, at: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    bytes[at] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn what_is_no_whole_copy_never_takes_the_place_of_a_store() {
    type Spoil = fn(&Path);
    let spoils: &[(&str, &str, Spoil)] = &[
        ("empty", "is empty", |copy| std::fs::write(copy.join(DATABASE), "").unwrap()),
        ("of zero bytes alone", "is empty", |copy| {
            std::fs::remove_file(copy.join("manifest.json")).unwrap();
            std::fs::write(copy.join(DATABASE), "").unwrap();
        }),
        ("cut off", "its manifest says", |copy| {
            let bytes = std::fs::read(copy.join(DATABASE)).unwrap();
            std::fs::write(copy.join(DATABASE), &bytes[..bytes.len() - 4_096]).unwrap();
        }),
        ("cut off, without a manifest", "is damaged", |copy| {
            std::fs::remove_file(copy.join("manifest.json")).unwrap();
            let bytes = std::fs::read(copy.join(DATABASE)).unwrap();
            std::fs::write(copy.join(DATABASE), &bytes[..bytes.len() - 4_096]).unwrap();
        }),
        ("of other bytes", "other bytes", |copy| spoil(&copy.join(DATABASE), 9_000)),
        ("with another trace", "other bytes", |copy| spoil(&trace_of(copy), 20)),
        ("without its trace", "traces", |copy| std::fs::remove_file(trace_of(copy)).unwrap()),
        ("with a journal", "isn't a finished copy", |copy| {
            std::fs::write(copy.join(format!("{DATABASE}-journal")), "x").unwrap();
        }),
        ("with a log", "isn't a finished copy", |copy| {
            std::fs::write(copy.join(format!("{DATABASE}-wal")), "x").unwrap();
        }),
        ("of a manifest that is cut off", "can't be read", |copy| {
            std::fs::write(copy.join("manifest.json"), "{\"format\": 1").unwrap();
        }),
        ("of a later format", "newer", |copy| {
            let text = std::fs::read_to_string(copy.join("manifest.json")).unwrap();
            let text = text.replace("\"format\": 1", "\"format\": 2");
            std::fs::write(copy.join("manifest.json"), text).unwrap();
        }),
        ("of another program", "another program", |copy| {
            std::fs::remove_file(copy.join("manifest.json")).unwrap();
            std::fs::remove_file(copy.join(DATABASE)).unwrap();
            let other = rusqlite::Connection::open(copy.join(DATABASE)).unwrap();
            other.execute_batch("CREATE TABLE notes (text)").unwrap();
        }),
        ("that is text", "isn't a database", |copy| {
            std::fs::remove_file(copy.join("manifest.json")).unwrap();
            std::fs::write(copy.join(DATABASE), "x".repeat(9_000)).unwrap();
        }),
    ];
    let (data, session) = store().await;
    let home = tempfile::tempdir().unwrap();
    let good = home.path().join("good");
    let server = Server::start(data.path());
    let trace = Trace::new([1, 1, 2], vec![3, 5]).unwrap();
    let stored = server.send("POST", "/api/v1/traces", &[], &text::write(&trace)).await;
    assert_eq!(stored.status, 201, "{}", stored.body);
    server.kill();
    backup(data.path(), &good);
    for (name, why, spoil) in spoils {
        let copy = home.path().join(name);
        copy_all(&good, &copy);
        spoil(&copy);
        let back = restore(&copy, data.path());
        assert!(matches!(back.status.code(), Some(1 | 2)), "a copy {name}: {}", said(&back));
        assert!(said(&back).contains(why), "a copy {name}: {}", said(&back));
        assert!(!data.path().join("moescape.part").exists(), "a copy {name} leaves its parts");
    }
    assert_eq!(events(data.path(), &session).await, 2, "the store is as it was");
    let back = restore(&good, data.path());
    assert_eq!(back.status.code(), Some(0), "{}", said(&back));
}

const DATABASE: &str = "moescape.sqlite";

fn trace_of(copy: &Path) -> PathBuf {
    std::fs::read_dir(copy.join("traces")).unwrap().next().unwrap().unwrap().path()
}

#[tokio::test]
async fn a_copy_of_an_earlier_release_is_taken_if_it_is_whole_and_said_to_have_no_manifest() {
    let (data, session) = store().await;
    let (home, other) = (tempfile::tempdir().unwrap(), store().await.0);
    let copy = home.path().join("copy");
    backup(data.path(), &copy);
    std::fs::remove_file(copy.join("manifest.json")).unwrap();
    let file = rusqlite::Connection::open(copy.join(DATABASE)).unwrap();
    file.pragma_update(None, "application_id", 0).unwrap();
    file.close().unwrap();
    let back = restore(&copy, other.path());
    assert_eq!(back.status.code(), Some(0), "{}", said(&back));
    assert!(said(&back).contains("no manifest"), "{}", said(&back));
    assert_eq!(events(other.path(), &session).await, 2);
}

#[tokio::test]
async fn the_log_of_a_store_that_is_replaced_gets_into_no_other() {
    let ((old, before), (new, after)) = (store().await, store().await);
    assert!(old.path().join("moescape.sqlite-wal").metadata().unwrap().len() > 0);
    let home = tempfile::tempdir().unwrap();
    let copy = home.path().join("copy");
    backup(new.path(), &copy);
    let back = restore(&copy, old.path());
    assert_eq!(back.status.code(), Some(0), "{}", said(&back));
    assert!(!old.path().join("moescape.sqlite-wal").exists());
    assert_eq!((events(old.path(), &after).await, events(old.path(), &before).await), (2, 0));
    // The same over what SQLite can't open, with a log that is no use to anyone.
    std::fs::write(old.path().join(DATABASE), "x".repeat(9_000)).unwrap();
    std::fs::write(old.path().join("moescape.sqlite-wal"), "y".repeat(9_000)).unwrap();
    let back = restore(&copy, old.path());
    assert_eq!(back.status.code(), Some(0), "{}", said(&back));
    assert_eq!(events(old.path(), &after).await, 2);
}

/// Runs a command and kills it after a while.
fn killed(arguments: &[&str], paths: &[(&str, &Path)], after: Duration) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_moescape"));
    command.args(arguments);
    for (flag, path) in paths {
        command.arg(flag).arg(path);
    }
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    let _ = child.kill();
    child.wait().unwrap();
}

/// Moments in a run of a command that takes so long, from its first on.
fn moments(whole: Duration) -> impl Iterator<Item = Duration> {
    (0..5).map(move |step| whole * step / 4)
}

#[tokio::test]
async fn a_backup_that_is_killed_is_no_copy_and_is_made_again_in_its_place() {
    let (data, session) = store().await;
    let home = tempfile::tempdir().unwrap();
    let start = Instant::now();
    backup(data.path(), &home.path().join("first"));
    for (number, after) in moments(start.elapsed()).enumerate() {
        let [copy, target] =
            ["copy", "target"].map(|name| home.path().join(format!("{name}{number}")));
        killed(&["backup"], &[("--data", data.path()), ("--to", &copy)], after);
        if !copy.join(DATABASE).exists() {
            let back = moescape(&["restore"], &[("--from", &copy), ("--data", &target)]);
            assert_eq!(back.status.code(), Some(2), "{}", said(&back));
            assert!(!target.exists(), "nothing was touched");
            backup(data.path(), &copy);
        }
        assert!(!copy.join("moescape.part/moescape.sqlite").exists());
        let back = restore(&copy, &target);
        assert_eq!(back.status.code(), Some(0), "{}", said(&back));
        assert_eq!(events(&target, &session).await, 2);
    }
}

#[tokio::test]
async fn a_restore_that_is_killed_leaves_the_old_store_or_the_new_one() {
    let ((old, before), (new, after)) = (store().await, store().await);
    let home = tempfile::tempdir().unwrap();
    let [copy, first] = ["copy", "first"].map(|name| home.path().join(name));
    backup(new.path(), &copy);
    let start = Instant::now();
    assert_eq!(restore(&copy, &first).status.code(), Some(0));
    for (number, moment) in moments(start.elapsed()).enumerate() {
        let data = home.path().join(number.to_string());
        copy_all(old.path(), &data);
        killed(&["restore", "--replace"], &[("--from", &copy), ("--data", &data)], moment);
        let found = (events(&data, &before).await, events(&data, &after).await);
        assert!(found == (2, 0) || found == (0, 2), "{found:?} after {moment:?}");
        assert!(!data.join("moescape.part").exists(), "the server removes what was left");
    }
}

#[test]
fn what_is_no_copy_is_not_restored() {
    let (from, to) = (data(), data());
    let restore = || {
        let to = to.path().join("new");
        moescape(&["restore"], &[("--from", from.path()), ("--data", &to)])
    };
    assert_eq!(restore().status.code(), Some(2));
    std::fs::write(from.path().join("moescape.sqlite"), "x".repeat(9_000)).unwrap();
    let damaged = restore();
    assert_eq!(damaged.status.code(), Some(1), "{}", said(&damaged));
    assert!(!to.path().join("new").exists(), "nothing was touched");
    let none = moescape(&["backup"], &[("--data", to.path()), ("--to", &to.path().join("copy"))]);
    assert_eq!(none.status.code(), Some(2));
}
