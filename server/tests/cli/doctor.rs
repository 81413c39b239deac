//! `moescape doctor`, on set-ups that are broken in one way each.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::{Run, command, refused};

/// Findings on a data directory: exit status, and state and words of each check.
fn doctor(data: &Path, more: &[&str]) -> (i32, Value) {
    let mut doctor = command(&["doctor", "--json", "--data"]);
    // Whatever else runs on this machine.
    doctor.env("MOESCAPE_LISTEN", "127.0.0.1:0");
    told(doctor.arg(data).args(more))
}

fn told(doctor: &mut Command) -> (i32, Value) {
    let run = Run::from(doctor.output().unwrap());
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
    is_broken(doctor(data, more), name, words);
}

#[track_caller]
fn is_broken((status, said): (i32, Value), name: &str, words: &str) {
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
    let mut doctor = command(&["doctor", "--data"]);
    doctor.arg(data.path()).env("MOESCAPE_LISTEN", "127.0.0.1:0");
    let table = Run::from(doctor.output().unwrap());
    assert_eq!(table.status, 0);
    for name in ["listen", "configuration", "writable", "room", "traces", "clock", "descriptors"] {
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
    // The system's own user may write anywhere: another one is refused.
    if fs::write(data.path().join("probe"), "").is_err() {
        breaks(data.path(), &[], "writable", "let the server's user write there");
    } else {
        use std::os::unix::process::CommandExt;
        fs::remove_file(data.path().join("probe")).unwrap();
        std::os::unix::fs::chown(data.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        let mut doctor = command(&["doctor", "--json", "--data"]);
        doctor.arg(data.path()).env("MOESCAPE_LISTEN", "127.0.0.1:0").current_dir("/");
        doctor.uid(NOBODY).gid(NOBODY);
        is_broken(told(&mut doctor), "writable", "let the server's user write there");
    }
    set(0o700);
}

/// Findings with these settings in a file.
fn with(data: &Path, settings: &str) -> (i32, Value) {
    let file = data.join("moescape.toml");
    fs::write(&file, settings).unwrap();
    doctor(data, &["--config", file.to_str().unwrap()])
}

#[test]
fn an_audit_log_that_takes_no_lines_is_broken() {
    let data = tempfile::tempdir().unwrap();
    let at = |path: &str| {
        let path = data.path().join(path);
        with(data.path(), &format!("audit-log = {:?}\n", path.display().to_string()))
    };
    let fine = |path: &str, words: &str| {
        let (status, said) = at(path);
        assert_eq!(status, 0, "{said}");
        assert!(check(&said, "audit log").1.contains(words), "{said}");
    };
    fine("audit.jsonl", "isn't there yet: the server makes it");
    assert!(!data.path().join("audit.jsonl").exists(), "nothing is left");
    fs::write(data.path().join("audit.jsonl"), "{}\n").unwrap();
    fine("audit.jsonl", "takes lines");
    assert_eq!(fs::read(data.path().join("audit.jsonl")).unwrap(), b"{}\n");
    is_broken(at("missing/audit.jsonl"), "audit log", "make its directory");
    is_broken(at("audit.jsonl/more"), "audit log", "name a file in a directory");
    is_broken(at("."), "audit log", "is a directory; name a file by --audit-log");
}

#[test]
fn copies_and_an_archive_that_cannot_be_written_are_broken() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("file");
    fs::write(&file, "").unwrap();
    let at = |key: &str, path: &Path| {
        let path = path.display().to_string();
        let more = if key == "backup-to" { "" } else { "keep-days = 30\n" };
        with(data.path(), &format!("{more}{key} = {path:?}\n"))
    };
    let copies = data.path().join("copies/of/it");
    let (status, said) = at("backup-to", &copies);
    assert_eq!((status, check(&said, "backups").0.as_str()), (0, "warning"), "{said}");
    assert_eq!(at("archive-to", &copies).0, 0);
    assert!(!data.path().join("copies").exists(), "nothing is left");
    for (key, name) in [("backup-to", "backups"), ("archive-to", "archive")] {
        is_broken(at(key, &file), name, "move the file away, or name a directory");
        is_broken(at(key, &file.join("below")), name, "move the file away, or name a directory");
        #[cfg(target_os = "linux")]
        is_broken(at(key, Path::new("/proc/moescape/copies")), name, "ReadWritePaths of a unit");
        #[cfg(target_os = "linux")]
        is_broken(at(key, Path::new("/proc")), name, "let the server's user write there");
    }
}

/// The user of nothing.
#[cfg(unix)]
const NOBODY: u32 = 65_534;

/// A disk of 1 MiB, in a space of mounts that ends with the command; without the right to make one
/// there is nothing to look at.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_broken_and_said_to_be_full() {
    let data = tempfile::tempdir().unwrap();
    let can = |more: &[&str]| {
        let mut unshare = Command::new("unshare");
        let mount = "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$0\"";
        unshare.args(more).args(["sh", "-c", mount]).arg(data.path()).stderr(Stdio::null());
        unshare.status().is_ok_and(|status| status.success())
    };
    let ways: [&[&str]; 2] = [&["--mount"], &["--mount", "--user", "--map-root-user"]];
    let Some(way) = ways.into_iter().find(|way| can(way)) else {
        eprintln!("left out: no disk can be mounted here");
        return;
    };
    let fill = "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$0\" || exit 9\n\
                dd if=/dev/zero of=\"$0/moescape.lock\" bs=4096 2>/dev/null\n\
                exec \"$1\" doctor --json --data \"$0\"";
    let mut unshare = Command::new("unshare");
    unshare.args(way).args(["sh", "-c", fill]).arg(data.path());
    unshare.arg(env!("CARGO_BIN_EXE_moescape")).env("MOESCAPE_LISTEN", "127.0.0.1:0");
    let (status, said) = told(&mut unshare);
    assert_eq!(status, 1, "{said}");
    let (state, text) = check(&said, "writable");
    assert!(state == "broken" && text.contains("the disk is full: make room"), "{said}");
    let (state, text) = check(&said, "room");
    assert!(state == "broken" && text.contains("0 MiB free; make room"), "{said}");
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
    breaks(data.path(), &[], "store", "its tables have version 99");
    breaks(data.path(), &[], "store", "start the newer program again");
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
    let wrong = |line: &str, words: &str| {
        fs::write(file, line).unwrap();
        breaks(data.path(), &["--config", file], "configuration", words);
    };
    wrong("trusted-proxy = [\"10.1.2.0/33\"]", "33 bits are more than its 32");
    wrong("trusted-proxy = [\"proxy.example\"]", "isn't a network such as 10.1.2.0/24");
    wrong("public-url = \"moescape.example\"", "isn't an origin such as https://moescape.example");
    wrong("site = \"/a\"\nsite = \"/b\"", "line 2");
}

#[test]
fn a_public_url_without_tls_is_a_warning_unless_it_is_this_machine() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("moescape.toml");
    let with = |url: &str| {
        fs::write(&file, format!("public-url = \"{url}\"\n")).unwrap();
        let (status, said) = doctor(data.path(), &["--config", file.to_str().unwrap()]);
        assert_eq!(status, 0, "{said}");
        check(&said, "public URL")
    };
    let (state, text) = with("http://moescape.example");
    assert!(state == "warning" && text.contains("put a proxy with TLS in front"), "{text}");
    assert_eq!(with("https://moescape.example").0, "ok");
    assert_eq!(with("http://localhost:3000").0, "ok");
    assert_eq!(with("http://localhost.example").0, "warning");
}

#[test]
fn a_site_that_is_not_there_is_broken() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("moescape.toml");
    fs::write(&file, "site = \"/nowhere\"\n").unwrap();
    let file = file.to_str().unwrap();
    breaks(data.path(), &["--config", file], "site", "can't read /nowhere");
    breaks(data.path(), &["--config", file], "site", "cargo xtask site --release");
}

#[test]
fn a_port_that_another_program_has_is_broken_and_one_that_a_server_has_is_fine() {
    let data = used();
    let file = data.path().join("moescape.toml");
    let at = |address: &str| {
        fs::write(&file, format!("listen = \"{address}\"\n")).unwrap();
        let mut doctor = command(&["doctor", "--json", "--config"]);
        told(doctor.arg(&file).arg("--data").arg(data.path()))
    };
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    // It takes the connection and says nothing.
    let address = busy.local_addr().unwrap().to_string();
    is_broken(at(&address), "listen", "another program listens there");
    drop(busy);
    let server = crate::serve::on(data.path());
    let (status, said) = at(server.address());
    assert_eq!(status, 0, "{said}");
    assert!(check(&said, "listen").1.contains("a server answers"), "{said}");
    is_broken(at("192.0.2.1:3000"), "listen", "this machine doesn't have that address");
    is_broken(at("nonsense"), "listen", "takes ADDRESS:PORT");
}

#[test]
fn a_store_from_the_future_says_that_the_clock_is_wrong() {
    let data = used();
    let store = fs::File::options().append(true).open(data.path().join("moescape.sqlite")).unwrap();
    let tomorrow = SystemTime::now() + Duration::from_hours(24);
    store.set_modified(tomorrow).unwrap();
    drop(store);
    breaks(data.path(), &[], "clock", "set the clock, as by NTP");
}

#[test]
fn a_server_is_asked_for_its_health_by_the_binary_itself() {
    let data = tempfile::tempdir().unwrap();
    let server = crate::serve::on(data.path());
    let asked = |url: &str| Run::from(command(&["doctor", "--health", url]).output().unwrap());
    let url = format!("http://{}", server.address());
    let ready = asked(&url);
    assert_eq!((ready.status, ready.stdout), (0, format!("{url} is ready\n")));
    let mut by_settings = command(&["doctor", "--health"]);
    let everywhere = server.address().replace("127.0.0.1", "0.0.0.0");
    let by_settings = Run::from(by_settings.env("MOESCAPE_LISTEN", everywhere).output().unwrap());
    assert_eq!((by_settings.status, by_settings.stdout), (0, format!("{url} is ready\n")));
    drop(server);
    let gone = asked(&url);
    assert_eq!(gone.status, 1);
    assert!(gone.stderr.contains("isn't ready: nothing listens there"), "{}", gone.stderr);
    assert!(refused(&["doctor", "--health", "https://a:1"]).contains("no TLS"));
}

#[test]
fn nats_that_does_not_answer_is_broken() {
    let data = tempfile::tempdir().unwrap();
    // Nobody listens there any more.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    breaks(data.path(), &["--engine", &format!("nats://{free}")], "NATS", "nats-server -js");
}

mod with_nats {
    use super::breaks;
    use crate::nats::Nats;

    #[test]
    fn one_without_jetstream_is_broken() {
        let (data, nats) = (tempfile::tempdir().unwrap(), Nats::without_streams());
        breaks(data.path(), &["--engine", &nats.url()], "NATS", "has no JetStream");
    }
}

#[cfg(unix)]
#[test]
fn fewer_descriptors_than_connections_are_broken() {
    let data = tempfile::tempdir().unwrap();
    let mut shell = std::process::Command::new("sh");
    let doctor = "ulimit -n 128 && MOESCAPE_LISTEN=127.0.0.1:0 exec \"$0\" doctor --data \"$1\"";
    shell.args(["-c", doctor, env!("CARGO_BIN_EXE_moescape")]).arg(data.path());
    let run = Run::from(shell.output().unwrap());
    assert_eq!(run.status, 1, "{}", run.stdout);
    assert!(run.stdout.contains("enough for 80 of 4096 connections"), "{}", run.stdout);
    assert!(run.stdout.contains("LimitNOFILE"), "{}", run.stdout);
}
