//! `moescape doctor`, on set-ups that are broken in one way each.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;

use crate::{Run, command, run};

/// What it says of a data directory: exit status, and state and words of each check.
fn doctor(data: &Path, more: &[&str]) -> (i32, Value) {
    let mut doctor = command(&["doctor", "--json", "--data"]);
    let run = Run::from(doctor.arg(data).args(more).output().unwrap());
    let said: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(said["ok"], Value::Bool(run.status == 0), "{}", run.stdout);
    (run.status, said)
}

/// The check of this name: its state, and what it found and says to do.
fn check(said: &Value, name: &str) -> (String, String) {
    let checks = said["checks"].as_array().unwrap();
    let one = checks.iter().find(|check| check["check"] == name);
    let one = one.unwrap_or_else(|| panic!("{name}: {said}"));
    let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
    assert_eq!(text("todo").is_empty(), text("state") == "ok", "{one}");
    (text("state"), format!("{}; {}", text("found"), text("todo")))
}

/// Exactly this check is broken, in these words.
#[track_caller]
fn breaks(data: &Path, more: &[&str], name: &str, words: &str) {
    let (status, said) = doctor(data, more);
    let (state, text) = check(&said, name);
    assert_eq!((status, state.as_str()), (1, "broken"), "{said}");
    assert!(text.contains(words), "{words}: {text}");
    let checks = said["checks"].as_array().unwrap();
    let broken = checks.iter().filter(|check| check["state"] == "broken").count();
    assert_eq!(broken, 1, "{said}");
}

/// A data directory in which a server kept something.
fn used() -> tempfile::TempDir {
    let data = tempfile::tempdir().unwrap();
    let server = crate::serve::on(data.path());
    assert_eq!(server.get("/readyz"), "HTTP/1.1 200 OK");
    drop(server);
    data
}

#[test]
fn a_directory_that_a_server_used_is_fine() {
    let data = used();
    let (status, said) = doctor(data.path(), &[]);
    assert_eq!(status, 0, "{said}");
    assert!(check(&said, "store").1.contains("whole"), "{said}");
    assert!(check(&said, "versions").1.contains(model::MODEL_VERSION));
    let table = run(&["doctor", "--data", data.path().to_str().unwrap()]);
    assert_eq!(table.status, 0);
    for name in ["configuration", "writable", "room", "traces", "clock", "descriptors"] {
        assert!(table.stdout.contains(name), "{name}\n{}", table.stdout);
    }
    let left = fs::read_dir(data.path()).unwrap().flatten();
    assert!(left.into_iter().all(|it| !it.file_name().to_string_lossy().contains("doctor")));
}

#[test]
fn a_data_directory_that_is_not_one_is_broken() {
    let home = tempfile::tempdir().unwrap();
    breaks(&home.path().join("missing"), &[], "data", "isn't there; name the right one by --data");
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    breaks(&file, &[], "data", "isn't a directory; move the file away");
}

#[cfg(unix)]
#[test]
fn permissions_that_let_others_in_or_the_server_out_are_broken() {
    use std::os::unix::fs::PermissionsExt;
    let data = tempfile::tempdir().unwrap();
    let set = |mode| fs::set_permissions(data.path(), fs::Permissions::from_mode(mode)).unwrap();
    set(0o777);
    breaks(data.path(), &[], "permissions", "chmod 700");
    set(0o500);
    // The system's own user may write anywhere, and then there is nothing to find.
    let is_refused = fs::write(data.path().join("probe"), "").is_err();
    if is_refused {
        breaks(data.path(), &[], "writable", "let the server's user write there");
    }
    set(0o700);
}

#[test]
fn a_store_that_is_damaged_newer_or_no_file_is_broken() {
    let data = used();
    let store = data.path().join("moescape.sqlite");
    let whole = fs::read(&store).unwrap();
    let mut damaged = whole.clone();
    damaged[4_096..].fill(0x5a);
    fs::write(&store, &damaged).unwrap();
    breaks(data.path(), &[], "store", "moescape restore");
    // The version of the tables, at byte 60 of the file (sqlite.org/fileformat.html, 1.3).
    let mut newer = whole;
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&store, &newer).unwrap();
    breaks(data.path(), &[], "store", "newer version");
    fs::remove_file(&store).unwrap();
    fs::create_dir(&store).unwrap();
    breaks(data.path(), &[], "store", "isn't a file");
}

#[test]
fn what_is_no_trace_among_the_traces_is_found() {
    let data = tempfile::tempdir().unwrap();
    let traces = data.path().join("traces");
    fs::create_dir(&traces).unwrap();
    fs::write(traces.join(format!("{}.gz", "0a".repeat(16))), "not compressed").unwrap();
    breaks(data.path(), &[], "traces", "is no trace");
    fs::remove_dir_all(&traces).unwrap();
    fs::write(&traces, "").unwrap();
    breaks(data.path(), &[], "traces", "it must be a directory");
}

#[test]
fn settings_that_are_wrong_are_said() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("moescape.toml");
    fs::write(&file, "lisen = \"127.0.0.1:0\"\n").unwrap();
    let file = file.to_str().unwrap();
    breaks(data.path(), &["--config", file], "configuration", "the nearest is `listen`");
    breaks(data.path(), &["--config", "/nowhere.toml"], "configuration", "can't read");
    breaks(data.path(), &["--engine", "http://nats"], "configuration", "nats://127.0.0.1:4222");
}

#[test]
fn nats_that_does_not_answer_is_broken() {
    let data = tempfile::tempdir().unwrap();
    // Nobody listens there any more.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    breaks(data.path(), &["--engine", &format!("nats://{free}")], "NATS", "nats-server -js");
}

#[cfg(unix)]
#[test]
fn fewer_descriptors_than_connections_are_broken() {
    let data = tempfile::tempdir().unwrap();
    let mut shell = std::process::Command::new("sh");
    let doctor = "ulimit -n 128 && exec \"$0\" doctor --data \"$1\"";
    shell.args(["-c", doctor, env!("CARGO_BIN_EXE_moescape")]).arg(data.path());
    let run = Run::from(shell.output().unwrap());
    assert_eq!(run.status, 1, "{}", run.stdout);
    assert!(run.stdout.contains("enough for 80 of 4096 connections"), "{}", run.stdout);
    assert!(run.stdout.contains("LimitNOFILE"), "{}", run.stdout);
}
