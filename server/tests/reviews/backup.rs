//! A copy of what a server keeps, and the way back.

use std::path::Path;
use std::process::{Command, Output};

use model::routing::{Trace, text};

use crate::client::{Client, Server, data, set};

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
    let (mut ann, _) =
        Client::enter(&server.address, &session, &session.edit, "Ann", None).await.unwrap();
    ann.act("a-1", set("tp", "4")).await.unwrap();
    let happens =
        |told: &review::wire::Tell| matches!(told, review::wire::Tell::Event { .. }).then_some(());
    ann.until(happens).await.unwrap();
    let made = moescape(&["backup"], &[("--data", data.path()), ("--to", &copy)]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
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
