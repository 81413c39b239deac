//! Tools of the operator of a team's server: limits, retention, copies, an audit log, groups, and
//! the command that looks into all of it. Every server here is a process of its own.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

mod limits;
#[path = "../process/postgres.rs"]
mod postgres;
#[path = "../process/server.rs"]
mod process;
mod stores;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use process::Process;
use serde_json::{Value, json};
use tempfile::TempDir;

const TRACE: &str = "step,layer,expert,tokens\n0,0,0,3\n0,0,1,5\n";

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The owner's cookie that it sets.
    fn owner(&self) -> String {
        let start = self.head.find("owner=").unwrap_or_else(|| panic!("{}", self.head));
        self.head[start..].split(';').next().unwrap().to_owned()
    }

    #[track_caller]
    fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}{}", self.head, self.body);
        self
    }
}

fn ask(server: &Process, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.0\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n\
         {body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn serve(data: &Path, more: &[&str]) -> Process {
    let store = postgres::of(data).map(|address| ["--store".to_owned(), address]);
    let store = store.iter().flatten().map(String::as_str);
    let all: Vec<&str> = store.chain(more.iter().copied()).collect();
    Process::start(data, &all, Stdio::null())
}

fn design(batch: u32) -> String {
    json!({"link": format!("v=1&preset=pangu-ultra-moe-6k&gbs={}", 6144 * batch), "name": "mine"})
        .to_string()
}

fn session() -> String {
    json!({"name": "Review", "link": "v=1&preset=pangu-ultra-moe-6k", "person": "Ann"}).to_string()
}

fn sweep() -> String {
    json!({
        "schema": 1, "sample": 10, "space": {"tp": [4, 8]},
        "design": {"preset": "pangu-ultra-moe-6k", "schedule": {"timing": "closed_form"}},
    })
    .to_string()
}

#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// `moescape admin` on a data directory: status, what it prints, what it says.
fn admin(data: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_moescape"));
    command.arg("admin").args(arguments).arg("--data").arg(data);
    command.args(postgres::of(data).map(|address| format!("--store={address}")));
    let done = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

/// One of each kind, by one owner, whose cookie is given.
fn one_of_each(server: &Process) -> (String, [String; 4]) {
    let made = ask(server, "POST", "/api/v1/designs", &[], &design(1)).is(201);
    let owner = made.owner();
    let by = [("cookie", owner.as_str())];
    let mut ids = vec![made.json()["id"].as_str().unwrap().to_owned()];
    for (path, body, id) in [
        ("/api/v1/reviews", session(), "id"),
        ("/api/v1/sweeps", sweep(), "id"),
        ("/api/v1/traces", TRACE.to_owned(), "hash"),
    ] {
        let made = ask(server, "POST", path, &by, &body).is(201);
        assert_eq!(made.owner(), owner);
        ids.push(made.json()[id].as_str().unwrap().to_owned());
    }
    (owner, ids.try_into().unwrap())
}

#[test]
fn nothing_is_said_to_be_kept_in_a_file_that_is_gone_and_an_emptied_one_is_not_taken_for_new() {
    if std::env::var_os("MOESCAPE_TEST_STORE").is_some() {
        // PostgreSQL sees to its own files.
        return;
    }
    let home = TempDir::new().unwrap();
    let data = home.path().join("data");
    let file = data.join("moescape.sqlite");
    let server = serve(&data, &[]);
    let made = ask(&server, "POST", "/api/v1/designs", &[], &design(1)).is(201);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::read_dir(&data).unwrap().flatten().count(), 4, "no mark is left");
    for ending in ["", "-wal", "-shm"] {
        let part = data.join(format!("moescape.sqlite{ending}"));
        std::fs::rename(&part, data.join(format!("moved{ending}"))).unwrap();
    }
    ask(&server, "POST", "/api/v1/designs", &[], &design(2)).is(503);
    for ending in ["", "-wal", "-shm"] {
        let part = data.join(format!("moescape.sqlite{ending}"));
        std::fs::rename(data.join(format!("moved{ending}")), &part).unwrap();
    }
    ask(&server, "POST", "/api/v1/designs", &[], &design(2)).is(201);
    ask(&server, "GET", &format!("/d/{id}"), &[], "").is(200);
    drop(server);
    let start = || {
        let mut serve = Command::new(env!("CARGO_BIN_EXE_moescape"));
        serve.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
        let done = serve.output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    for ending in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(data.join(format!("moescape.sqlite{ending}")));
    }
    std::fs::write(&file, "").unwrap();
    let (status, said) = start();
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("is empty") && said.contains("moescape restore"), "{said}");
    // One whose making was cut off begins anew.
    std::fs::write(data.join("moescape.sqlite-making"), "").unwrap();
    let server = serve(&data, &[]);
    ask(&server, "POST", "/api/v1/designs", &[], &design(1)).is(201);
    assert!(!data.join("moescape.sqlite-making").exists());
}

#[test]
fn what_is_uploaded_or_begun_is_deleted_by_its_owner_alone() {
    let data = tempfile::tempdir().unwrap();
    let server = serve(data.path(), &[]);
    let made = ask(&server, "POST", "/api/v1/traces", &[], TRACE).is(201);
    let (first, hash) = (made.owner(), made.json()["hash"].as_str().unwrap().to_owned());
    let second = ask(&server, "POST", "/api/v1/traces", &[], TRACE).is(201).owner();
    let path = format!("/api/v1/traces/{hash}");
    let delete = |by: &[(&str, &str)]| ask(&server, "DELETE", &path, by, "").status;
    assert_eq!((delete(&[]), delete(&[("cookie", "owner=00")])), (403, 403));
    assert_eq!(delete(&[("cookie", &first)]), 204);
    assert_eq!((delete(&[("cookie", &first)]), server.send("GET", &path, "").0), (403, 200));
    assert_eq!(delete(&[("cookie", &second)]), 204);
    assert_eq!((delete(&[("cookie", &second)]), server.send("GET", &path, "").0), (404, 404));
    let begun = ask(&server, "POST", "/api/v1/reviews", &[], &session()).is(201).json();
    let path = format!("/api/v1/reviews/{}", begun["id"].as_str().unwrap());
    let token = |role: &str| {
        let links = begun["links"].as_array().unwrap();
        let link = links.iter().find(|link| link["role"] == role).unwrap();
        format!("Bearer {}", link["token"].as_str().unwrap())
    };
    let by = |role: &str, method: &str, rest: &str| {
        ask(&server, method, &format!("{path}{rest}"), &[("authorization", &token(role))], "")
            .status
    };
    assert_eq!(by("edit", "DELETE", ""), 403);
    assert_eq!((by("own", "GET", "/state"), by("own", "DELETE", "")), (200, 204));
    assert_eq!((by("own", "GET", "/state"), by("view", "GET", "/log")), (404, 404));
}

/// Makes everything that is kept `days` older.
fn age(data: &Path, days: u64) {
    let secs = days * 86_400;
    let millis = secs * 1_000;
    let older = format!(
        "UPDATE sweep SET created_at_secs = created_at_secs - {secs};
         UPDATE design SET created_at_secs = created_at_secs - {secs};
         UPDATE design_entry SET created_at_secs = created_at_secs - {secs};
         UPDATE review SET created_at_millis = created_at_millis - {millis};
         UPDATE review_event SET at_millis = at_millis - {millis};
         UPDATE opened SET day = day - {days};"
    );
    if let Some((postgres, name)) = postgres::beside(data) {
        assert!(postgres.psql(&name, &older));
    } else {
        let store = rusqlite::Connection::open(data.join("moescape.sqlite")).unwrap();
        store.busy_timeout(Duration::from_secs(10)).unwrap();
        store.execute_batch(&older).unwrap();
    }
    for entry in std::fs::read_dir(data.join("traces")).unwrap() {
        let file = std::fs::File::options().append(true).open(entry.unwrap().path()).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(secs)).unwrap();
    }
}

#[test]
fn what_nobody_uses_goes_to_the_archive_and_short_links_stay() {
    let home = TempDir::new().unwrap();
    let (data, archive) = (home.path().join("data"), home.path().join("archive"));
    let server = serve(&data, &[]);
    let (_, [design, session, sweep, trace]) = one_of_each(&server);
    wait_for("the sweep is done", || {
        server.send("GET", &format!("/api/v1/sweeps/{sweep}"), "").1.contains("\"done\"")
    });
    drop(server);
    age(&data, 40);
    let archive_text = archive.to_str().unwrap();
    let metrics = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let metrics = metrics.to_string();
    let more = ["--keep-days", "30", "--archive-to", archive_text, "--metrics-listen", &metrics];
    let server = serve(&data, &more);
    wait_for("they are gone", || {
        let listed = admin(&data, &["list", "--json"]).1;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        listed["things"].as_array().unwrap().len() == 1
    });
    assert_eq!(server.send("GET", &format!("/d/{design}"), "").0, 200);
    assert_eq!(server.send("GET", &format!("/api/v1/sweeps/{sweep}"), "").0, 404);
    assert_eq!(server.send("GET", &format!("/api/v1/traces/{trace}"), "").0, 404);
    let kept: String = std::fs::read_dir(&archive)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    for id in [&session, &sweep, &trace] {
        assert!(kept.contains(id.as_str()), "{id}: {kept}");
    }
    assert!(kept.contains("\"create\"") && kept.contains("\"spec\":{"), "{kept}");
    assert!(archive.join(format!("traces/{trace}.gz")).exists());
    let mut scrape = TcpStream::connect(&metrics).unwrap();
    scrape.write_all(b"GET /metrics HTTP/1.0\r\nhost: localhost\r\n\r\n").unwrap();
    let mut text = String::new();
    scrape.read_to_string(&mut text).unwrap();
    for kind in ["sessions", "sweeps", "traces"] {
        assert!(text.contains(&format!("moescape_expired_total{{kind=\"{kind}\"}} 1")), "{text}");
    }
}

#[test]
fn what_is_opened_stays() {
    let home = TempDir::new().unwrap();
    let data = home.path().join("data");
    let server = serve(&data, &[]);
    let (_, [design, _, sweep, trace]) = one_of_each(&server);
    wait_for("the sweep is done", || {
        server.send("GET", &format!("/api/v1/sweeps/{sweep}"), "").1.contains("\"done\"")
    });
    drop(server);
    age(&data, 40);
    let server = serve(&data, &[]);
    for path in [format!("/d/{design}"), format!("/s/{sweep}"), format!("/api/v1/traces/{trace}")] {
        assert_eq!(server.send("GET", &path, "").0, 200, "{path}");
    }
    let listed = || admin(&data, &["list", "--json"]).1.matches("\"used_at\":\"").count();
    let today = || {
        let listed: Value = serde_json::from_str(&admin(&data, &["list", "--json"]).1).unwrap();
        let things = listed["things"].as_array().unwrap().clone();
        things.iter().filter(|it| it["used_at"].as_str() > it["created_at"].as_str()).count()
    };
    // A trace's file has one time.
    wait_for("it is noted", || today() == 2);
    drop(server);
    let more = ["--keep-days", "30", "--keep-designs-days", "30", "--archive-to", "none"];
    let _server = serve(&data, &more);
    wait_for("the session is gone", || listed() == 3);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(listed(), 3);
}

#[test]
fn an_operator_sees_exports_and_deletes_what_an_owner_keeps() {
    let home = TempDir::new().unwrap();
    let data = home.path().join("data");
    let server = serve(&data, &[]);
    let (owner, ids) = one_of_each(&server);
    ask(&server, "POST", "/api/v1/designs", &[], &design(1)).is(201);
    let (status, usage, _) = admin(&data, &["usage", "--json"]);
    let usage: Value = serde_json::from_str(&usage).unwrap();
    let usage = usage["usage"].as_array().unwrap();
    assert_eq!((status, usage.len()), (0, 5));
    assert!(usage.iter().all(|it| it["count"] == 1 && it["bytes"].as_u64() > Some(0)), "{usage:?}");
    let trace = usage.iter().find(|it| it["kind"] == "trace").unwrap();
    let hash = trace["owner"].as_str().unwrap().to_owned();
    assert!(!hash.contains(owner.trim_start_matches("owner=")), "no key is shown");
    let listed = admin(&data, &["list", "sweeps", "--owner", &hash[..8]]).1;
    assert!(listed.contains(&ids[2]) && !listed.contains(&ids[0]), "{listed}");
    let export = admin(&data, &["export", "--owner", &hash]).1;
    let lines: Vec<Value> = export.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    for (kind, id) in ["design", "session", "sweep", "trace"].iter().zip(&ids) {
        assert!(lines.iter().any(|it| it["kind"] == **kind && it["id"] == **id), "{export}");
    }
    assert_eq!(lines.iter().filter(|it| it["kind"] == "event").count(), 1);
    let shown = admin(&data, &["show", &ids[1]]).1;
    assert!(shown.starts_with("{") && shown.lines().count() == 2, "{shown}");
    let (status, _, said) = admin(&data, &["delete", "--owner", &hash]);
    assert!(status == 2 && said.contains("4 things") && said.contains("--yes"), "{said}");
    assert_eq!(server.send("GET", &format!("/api/v1/sweeps/{}", ids[2]), "").0, 200);
    assert_eq!(admin(&data, &["delete", "--owner", &hash, "--yes"]).0, 0);
    // The other owner of the same design has it still.
    assert_eq!(server.send("GET", &format!("/d/{}", ids[0]), "").0, 200);
    wait_for("the server knows", || {
        server.send("GET", &format!("/api/v1/traces/{}", ids[3]), "").0 == 404
    });
    let (status, _, said) = admin(&data, &["export", "--owner", &hash]);
    assert!(status == 2 && said.contains("nobody"), "{said}");
    assert_eq!(admin(&data, &["delete", "nonsense", "--yes"]).0, 2);
}

#[test]
fn copies_are_made_again_and_again_and_the_newest_stay() {
    if std::env::var_os("MOESCAPE_TEST_STORE").is_some() {
        // They are of files: PostgreSQL has its own.
        return;
    }
    let home = TempDir::new().unwrap();
    let (data, to) = (home.path().join("data"), home.path().join("copies"));
    let to_text = to.to_str().unwrap();
    let more = ["--backup-to", to_text, "--backup-every", "1s", "--backup-keep", "2"];
    let server = serve(&data, &more);
    let (_, ids) = one_of_each(&server);
    let names = || {
        let entries = std::fs::read_dir(&to).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.path()).collect();
        names.sort();
        names
    };
    wait_for("there are some", || names().len() >= 2);
    let first = names()[0].clone();
    wait_for("old ones go", || !first.exists());
    drop(server);
    let newest = names().into_iter().rev().find(|it| it.join("moescape.sqlite").exists()).unwrap();
    let restored = home.path().join("restored");
    let done = Command::new(env!("CARGO_BIN_EXE_moescape"))
        .args(["restore", "--from", newest.to_str().unwrap(), "--data"])
        .arg(&restored)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let server = serve(&restored, &[]);
    assert_eq!(server.send("GET", &format!("/d/{}", ids[0]), "").0, 200);
}

#[test]
fn the_audit_log_says_who_did_what_and_who_was_kept_out() {
    let home = TempDir::new().unwrap();
    let (data, log) = (home.path().join("data"), home.path().join("audit.jsonl"));
    let log_text = log.to_str().unwrap();
    let server = serve(&data, &["--audit-log", log_text, "--user-header", "x-user"]);
    let lines = || {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines
    };
    let ann = [("x-user", "Ann"), ("x-forwarded-for", "198.51.100.7")];
    let begun = ask(&server, "POST", "/api/v1/reviews", &ann, &session()).is(201);
    let owner = begun.owner();
    let begun = begun.json();
    let id = begun["id"].as_str().unwrap();
    let path = format!("/api/v1/reviews/{id}");
    let own = format!("Bearer {}", begun["links"][0]["token"].as_str().unwrap());
    let by = [ann[0], ann[1], ("authorization", own.as_str()), ("cookie", owner.as_str())];
    let made = ask(&server, "POST", &format!("{path}/links"), &by, r#"{"role":"view"}"#).is(201);
    let link = made.json()["id"].as_str().unwrap().to_owned();
    ask(&server, "DELETE", &format!("{path}/links/{link}"), &by, "").is(204);
    let decide = json!({"kind": "decide", "outcome": "approve", "reason": "So"});
    let decide = json!({"op": "d1", "change": decide});
    let decided = ask(&server, "POST", &format!("{path}/do"), &by, &decide.to_string());
    let wrong = [("authorization", "Bearer 0000000000000000000000")];
    ask(&server, "GET", &format!("{path}/state"), &wrong, "").is(404);
    ask(&server, "GET", &format!("{path}/state"), &by, "").is(200);
    ask(&server, "DELETE", &path, &by, "").is(204);
    // What other sites make a browser send, and what asks for another name.
    let evil = [("origin", "http://evil.example")];
    ask(&server, "POST", "/api/v1/designs", &evil, &design(1)).is(403);
    ask(&server, "POST", "/api/v1/predict", &evil, "{}").is(403);
    let rebound = format!("http://evil.example{path}/state");
    ask(&server, "GET", &rebound, &by, "").is(421);
    // An identity that can't be believed is nobody's.
    let two = [("x-user", "Mallory"), ("x-user", "Ann")];
    ask(&server, "POST", "/api/v1/designs", &two, &design(1)).is(400);
    let expected = if decided.status == 200 { 10 } else { panic!("{}", decided.body) };
    wait_for("all is told", || lines().len() >= expected);
    let lines = lines();
    let acts: Vec<&str> = lines.iter().map(|line| line["act"].as_str().unwrap()).collect();
    assert_eq!(
        acts,
        [
            "session.create",
            "session.make_link",
            "session.withdraw_link",
            "session.decide",
            "session.open",
            "session.delete",
            "design.create",
            "other.send",
            "session.open",
            "design.create",
        ]
    );
    let statuses: Vec<_> = lines[6..].iter().map(|line| line["status"].as_u64()).collect();
    assert_eq!(statuses, [403, 403, 421, 400].map(Some));
    assert!(lines[6..].iter().all(|line| line["refused"] == true), "{lines:?}");
    assert_eq!(lines[9]["user"], Value::Null);
    let lines = &lines[..6];
    assert!(lines.iter().all(|line| line["of"] == lines[0]["of"]), "{lines:?}");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains(id) && !text.contains(&own[7..]), "no way in stands in it");
    assert_eq!(lines[1]["user"], "Ann");
    for line in [&lines[1], &lines[3]] {
        assert_eq!(line["address"], "198.51.100.7", "{line}");
    }
    assert_eq!(lines[1]["owner"].as_str().map(str::len), Some(8));
    let refused: Vec<bool> = lines.iter().map(|line| line["refused"] == true).collect();
    assert_eq!(refused, [false, false, false, false, true, false]);
}

#[test]
fn where_users_are_known_a_sweep_is_paused_and_removed_by_who_began_it() {
    let data = tempfile::tempdir().unwrap();
    let server = serve(data.path(), &["--user-header", "x-user"]);
    let begin = |headers: &[(&str, &str)]| {
        let made = ask(&server, "POST", "/api/v1/sweeps", headers, &sweep()).is(201);
        (made.owner(), format!("/api/v1/sweeps/{}", made.json()["id"].as_str().unwrap()))
    };
    let (ann, bob) = (("x-user", "Ann"), ("x-user", "Bob"));
    let delete = |path: &str, headers: &[(&str, &str)]| ask(&server, "DELETE", path, headers, "");
    let (owner, path) = begin(&[ann]);
    for (method, rest) in [("DELETE", ""), ("POST", "/pause"), ("POST", "/resume")] {
        let refused = ask(&server, method, &format!("{path}{rest}"), &[bob], "").is(403);
        assert!(refused.body.contains("somebody else's"), "{}", refused.body);
    }
    delete(&path, &[]).is(403);
    delete(&path, &[bob, ("cookie", "owner=00000000000000000000000000000000")]).is(403);
    // Anybody may look; whoever began it may remove it, in another browser, too.
    ask(&server, "GET", &path, &[bob], "").is(200);
    delete(&path, &[ann]).is(204);
    ask(&server, "GET", &path, &[ann], "").is(404);
    let (_, path) = begin(&[ann]);
    delete(&path, &[ann]).is(204);
    // A browser is its user's, and nobody's without one.
    let (other, path) = begin(&[ann, ("cookie", &owner)]);
    assert_eq!(other, owner);
    delete(&path, &[("cookie", &owner)]).is(403);
    delete(&path, &[ann]).is(204);
    // What a browser began before users were known is its user's.
    drop(server);
    let server = serve(data.path(), &[]);
    let made = ask(&server, "POST", "/api/v1/sweeps", &[("cookie", &owner)], &sweep()).is(201);
    let path = format!("/api/v1/sweeps/{}", made.json()["id"].as_str().unwrap());
    drop(server);
    let server = serve(data.path(), &["--user-header", "x-user"]);
    let delete = |path: &str, headers: &[(&str, &str)]| ask(&server, "DELETE", path, headers, "");
    delete(&path, &[bob]).is(403);
    delete(&path, &[bob, ("cookie", &owner)]).is(204);
    drop(server);
    // Where nobody is known an id is all that it takes, as before.
    let server = serve(data.path(), &[]);
    let made = ask(&server, "POST", "/api/v1/sweeps", &[], &sweep()).is(201).json();
    let path = format!("/api/v1/sweeps/{}", made["id"].as_str().unwrap());
    ask(&server, "DELETE", &path, &[], "").is(204);
}

#[test]
fn others_than_the_groups_look_and_compute_and_make_nothing() {
    let data = tempfile::tempdir().unwrap();
    let groups = ["--groups-header", "X-Forwarded-Groups", "--create-groups", "design,infra"];
    let server = serve(data.path(), &groups);
    let of = |group: &'static str| [("x-forwarded-groups", group)];
    for (path, body) in [
        ("/api/v1/designs", design(1)),
        ("/api/v1/reviews", session()),
        ("/api/v1/sweeps", sweep()),
        ("/api/v1/traces", TRACE.to_owned()),
    ] {
        let refused = ask(&server, "POST", path, &of("guests"), &body).is(403).json();
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("design, infra") && detail.contains("guests"), "{detail}");
        ask(&server, "POST", path, &[], &body).is(403);
        ask(&server, "POST", path, &of("guests,infra"), &body).is(201);
    }
    // On the sheet they are told so, and may still delete what is theirs.
    let form = [of("guests")[0], ("content-type", "application/x-www-form-urlencoded")];
    let body = "action=store&link=preset%3Dpangu-ultra-moe-6k";
    let refused = ask(&server, "POST", "/share", &form, body).is(403);
    assert!(refused.body.contains("design, infra"), "{}", refused.body);
    for page in ["/", "/learn", "/sweep"] {
        ask(&server, "GET", page, &of("guests"), "").is(200);
    }
    ask(
        &server,
        "POST",
        "/api/v1/predict",
        &of("guests"),
        r#"{"schema":1,"preset":"pangu-ultra-moe-6k"}"#,
    )
    .is(200);
}
