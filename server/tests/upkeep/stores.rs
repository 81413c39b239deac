//! Stores that past versions wrote, opened by today's server: what they hold is served.
//!
//! Each file of `fixtures/stores` is one that a server of that version of the tables kept, written
//! out as SQL: a sweep that is done and one that is paused; from version 2 the rows of the first;
//! from version 3 two designs; from version 4 a review session; version 5 is
//! the fourth one, opened by a server of that version.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::Value;
use testing::page::Page;
use testing::text::{assert_text, expect};

use crate::process::Process;

/// Store of a version: its sweep that is done and its paused one.
struct Past {
    version: u32,
    done: &'static str,
    paused: &'static str,
}

const PAST: [Past; 5] = [
    Past {
        version: 1,
        done: "c90a6b019ba8b71c648fb163d091c68c",
        paused: "86cf0938223e09fff0937df8fa2485f9",
    },
    Past {
        version: 2,
        done: "b3d6aff49d8353645c6bb36e27188963",
        paused: "f69c34c146625101c6db5244b11dc295",
    },
    Past {
        version: 3,
        done: "134fb4cd29adcabbe58b75505e99ce88",
        paused: "4ed947df92cb610fee3829d03bff690e",
    },
    Past {
        version: 4,
        done: "fd9248f56498ea1e312ebcd0409bb216",
        paused: "bd1b63da56f14bce23d7d6a98e2cacba",
    },
    Past {
        version: 5,
        done: "fd9248f56498ea1e312ebcd0409bb216",
        paused: "bd1b63da56f14bce23d7d6a98e2cacba",
    },
];

/// The designs: one with numbers, and one that breaks a rule.
const DESIGN: &str = "X4rVzGoWO21ylbYA";
const ILLEGAL: &str = "bEAhialHxyXQwfqT";

/// The session, and its links to look at it and to edit it.
const REVIEW: &str = "JkEucOllkTayStXGZu9bU5";
const VIEW: &str = "xXjgEQTrvhD2A9gT3LzLK4";
const EDIT: &str = "8EfbRFlj7JAzYe22GjXZe3";

/// The text of a past store.
fn text(version: u32) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores");
    std::fs::read_to_string(directory.join(format!("v{version}.sql"))).unwrap()
}

fn file(data: &Path) -> PathBuf {
    data.join("moescape.sqlite")
}

/// Makes a data directory with the store of a version, as its server left it.
fn made(version: u32) -> tempfile::TempDir {
    let data = tempfile::tempdir().unwrap();
    let connection = Connection::open(file(data.path())).unwrap();
    connection.execute_batch(&text(version)).unwrap();
    connection.pragma_update(None, "user_version", version).unwrap();
    // Releases of before left no mark of the program in the file.
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    data
}

fn get(server: &Process, path: &str) -> Value {
    let (status, body) = server.send("GET", path, "");
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// The version of a file's tables.
fn version(data: &Path) -> u32 {
    let connection = Connection::open(file(data)).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn there_is_a_store_of_every_version_of_the_tables() {
    let data = tempfile::tempdir().unwrap();
    let server = Process::start(data.path(), &[], Stdio::null());
    assert_eq!(server.send("GET", "/readyz", "").0, 200);
    drop(server);
    let versions: Vec<u32> = PAST.iter().map(|past| past.version).collect();
    let newest = version(data.path());
    assert_eq!(versions, (1..=newest).collect::<Vec<_>>(), "one for each, the newest too");
}

#[test]
fn sweeps_of_every_past_store_are_served() {
    for past in PAST {
        let data = made(past.version);
        let server = Process::start(data.path(), &[], Stdio::null());
        let done = get(&server, &format!("/api/v1/sweeps/{}", past.done));
        assert_eq!((&done["state"], &done["result"]["done"]), (&"done".into(), &4.into()));
        let result = &done["result"];
        assert_eq!((&result["feasible"], &result["complete"]), (&2.into(), &true.into()));
        assert_eq!(result["objectives"][0]["best"][0]["metrics"]["mfu"], 0.401_265_765_634_355_73);
        let paused = get(&server, &format!("/api/v1/sweeps/{}", past.paused));
        assert_eq!(paused["state"], "paused", "{paused}");
        let page = server.send("GET", &format!("/s/{}", past.done), "");
        let title = Page::new(&page.1).text("h1");
        assert!(page.0 == 200 && title == "Small", "{}: {title}", past.version);
        let rows = server.send("GET", &format!("/api/v1/sweeps/{}/rows", past.done), "");
        // Those of another model aren't mixed with today's; version 1 of the tables had none.
        let why = if past.version > 1 { "a result of version 0.4.0 of the model" } else { "rows" };
        assert!(rows.0 == 409 && rows.1.contains(why), "{}: {}", past.version, rows.1);
        drop(server);
        assert_eq!(version(data.path()), 5);
    }
}

#[test]
fn a_paused_sweep_of_every_past_store_goes_on() {
    for past in PAST {
        let data = made(past.version);
        let server = Process::start(data.path(), &[], Stdio::null());
        let path = format!("/api/v1/sweeps/{}", past.paused);
        let (status, body) = server.send("POST", &format!("{path}/resume"), "");
        assert_eq!(status, 200, "{body}");
        let start = std::time::Instant::now();
        loop {
            let found = get(&server, &path);
            assert_eq!(found["state"], "running", "{found}");
            if found["progress"]["done"].as_u64() > Some(16) {
                break;
            }
            assert!(start.elapsed().as_secs() < 120, "{found}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

#[test]
fn designs_of_every_past_store_keep_their_numbers() {
    for past in PAST.iter().filter(|past| past.version >= 3) {
        let data = made(past.version);
        let server = Process::start(data.path(), &[], Stdio::null());
        let found = get(&server, &format!("/api/v1/designs/{DESIGN}"));
        assert_eq!(found["link"], "/?v=1&preset=pangu-ultra-moe-6k&training.micro_batch_size=4");
        assert_eq!(found["model_version"], "0.4.0");
        assert_eq!(found["metrics"]["mfu"], 0.347_979_411_999_363_7, "that of its day");
        assert_ne!(found["current_model_version"], "0.4.0");
        assert_eq!(server.send("GET", &format!("/d/{DESIGN}"), "").0, 200);
        assert!(get(&server, &format!("/api/v1/designs/{ILLEGAL}"))["metrics"].is_null());
    }
}

#[test]
fn a_session_of_every_past_store_opens_and_goes_on() {
    for past in PAST.iter().filter(|past| past.version >= 4) {
        let data = made(past.version);
        let server = Process::start(data.path(), &[], Stdio::null());
        let path = |last: &str| format!("/api/v1/reviews/{REVIEW}/{last}");
        let as_one = |token: &str, method: &str, last: &str, body: &str| {
            let bearer = format!("Bearer {token}");
            server.send_with(method, &path(last), &[("authorization", &bearer)], body)
        };
        let (status, body) = as_one(VIEW, "GET", "state", "");
        assert_eq!(status, 200, "{body}");
        let room: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&room["seq"], &room["name"]), (&4.into(), &"Review".into()));
        let change = r#"{"op":"c-1","change":{"kind":"comment","anchor":"design","text":"Again"},
            "name":"Bob","key":"bob"}"#;
        let (status, body) = as_one(EDIT, "POST", "do", change);
        assert_eq!(status, 200, "{body}");
        let (_, body) = as_one(VIEW, "GET", "log?after=0&limit=100", "");
        let log: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(log["events"].as_array().unwrap().len(), 5, "{body}");
        let report = as_one(VIEW, "GET", "report.md", "");
        assert_eq!(report.0, 200, "{}", report.1);
        for said in ["Does it fit?", "It is the published run."] {
            assert!(
                report.1.lines().any(|line| line.trim_end() == format!("> {said}")),
                "{said}: {}",
                report.1
            );
        }
    }
}

#[test]
fn a_store_of_a_later_version_is_refused_with_what_to_do() {
    let data = made(5);
    let connection = Connection::open(file(data.path())).unwrap();
    connection.pragma_update(None, "user_version", 6).unwrap();
    drop(connection);
    let before = std::fs::read(file(data.path())).unwrap();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_moescape"));
    serve.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data.path());
    let output = serve.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    // Nobody is told to move a good store away.
    let said = said.lines().filter(|line| line.starts_with("error: "));
    let said =
        said.collect::<Vec<_>>().join("\n").replace(&data.path().display().to_string(), "DATA");
    assert_text(
        &said,
        expect![[r#"
        error: DATA/moescape.sqlite is of a newer version: its tables have version 6, this
            program knows 5; the program that made it knows it; the server doesn't start on
            it: start the newer program again; to stay with this one, put the copy that was
            made before the upgrade back by `moescape restore --from COPY --data DATA
            --replace`: what was kept since then isn't in it
    "#]],
    );
    assert_eq!(std::fs::read(file(data.path())).unwrap(), before, "it stays as it is");
}
