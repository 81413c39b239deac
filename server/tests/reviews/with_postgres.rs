//! Servers that share a database of PostgreSQL: restarts of it, a newer one, and the way there.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Server, data};
use crate::converge;
use crate::postgres::{self, Postgres};

fn moescape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_moescape")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn question() -> Value {
    json!({"kind": "ask", "text": "?"})
}

async fn ready(server: &Server) -> u16 {
    server.send("GET", "/readyz", &[], "").await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_database_are_killed_and_lose_nothing() {
    let postgres = postgres::shared();
    let store = format!("--store={}", postgres.database("two"));
    converge::run(2, 12, Duration::from_secs(6), 2, &[&store]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_was_away_is_used_again() {
    let postgres = Postgres::start();
    let (directory, store) = (data(), format!("--store={}", postgres.database("away")));
    let server = Server::start_with(directory.path(), "127.0.0.1:0", &[&store]);
    let session = server.begin().await;
    let away = tokio::task::spawn_blocking(move || {
        postgres.restart(Duration::from_secs(2));
        postgres
    });
    let (start, mut was_refused) = (Instant::now(), false);
    while !away.is_finished() {
        assert!(start.elapsed() < Duration::from_secs(60));
        was_refused |= ready(&server).await == 503;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(was_refused, "the server said that it isn't ready");
    let _postgres = away.await.unwrap();
    while ready(&server).await != 200 {
        assert!(start.elapsed() < Duration::from_secs(60), "it is ready again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(server.act(&session, &session.edit, "a", &question()).await.status, 200);
    assert_eq!(server.log(&session).await.len(), 2);
}

#[tokio::test]
async fn a_database_of_a_newer_server_or_of_another_program_is_refused() {
    let postgres = postgres::shared();
    let directory = data();
    let begin = |store: &str| {
        let path = directory.path().display().to_string();
        moescape(&["serve", "--listen", "127.0.0.1:0", "--data", &path, "--store", store])
    };
    let newer = postgres.database("newer");
    assert!(postgres.psql("newer", "CREATE TABLE moescape AS SELECT 99::bigint AS version"));
    let refused = text(&begin(&newer).stderr);
    assert!(refused.contains("is of a newer version"), "{refused}");
    let other = postgres.database("other");
    assert!(postgres.psql("other", "CREATE TABLE notes (text TEXT)"));
    let refused = text(&begin(&other).stderr);
    assert!(refused.contains("another program made it"), "{refused}");
}

#[test]
fn what_a_database_refuses_stops_the_server_and_the_doctor_says_what_to_do() {
    let postgres = Postgres::start();
    let (directory, open) = (data(), postgres.database("newer"));
    assert!(postgres.psql("newer", "CREATE TABLE moescape AS SELECT 99::bigint AS version"));
    assert!(postgres.psql("newer", "CREATE ROLE guarded LOGIN PASSWORD 'right'"));
    let rules = "local all guarded scram-sha-256\nlocal all all trust";
    let write = format!(
        "DO $$ BEGIN EXECUTE format('COPY (SELECT unnest(string_to_array(%L, chr(10)))) TO %L', \
         '{rules}', current_setting('hba_file')); PERFORM pg_reload_conf(); END $$"
    );
    assert!(postgres.psql("newer", &write));
    let at = |user: &str, database: &str| {
        open.replace("moescape@", user).replace("/newer", &format!("/{database}"))
    };
    let path = directory.path().display().to_string();
    // Rules are read again a moment after they are told.
    let start = Instant::now();
    let said = |arguments: &[&str], store: &str, word: &str| loop {
        let said = moescape(&[arguments, &["--data", &path, "--store", store]].concat());
        let said = text(&said.stdout) + &text(&said.stderr);
        if said.contains(word) || start.elapsed() > Duration::from_secs(20) {
            return said;
        }
    };
    for (store, found, todo) in [
        (at("guarded:wrong@", "newer"), "password authentication failed", "and pg_hba.conf"),
        (at("guarded@", "newer"), "password missing", "and pg_hba.conf"),
        (at("moescape@", "absent"), "does not exist", "`createdb`"),
        (open.clone(), "tables have version 99", "start the newer program again"),
    ] {
        let doctor = said(&["doctor"], &store, found);
        assert!(doctor.contains(found) && doctor.contains(todo), "{found}: {doctor}");
        let serve = said(&["serve", "--listen", "127.0.0.1:0"], &store, found);
        assert!(serve.contains(found) && serve.contains("doesn't start"), "{found}: {serve}");
    }
    let doctor = said(&["doctor"], "postgres://a@127.0.0.1:1/b", "refused");
    assert!(doctor.contains("start PostgreSQL where --store says"), "{doctor}");
}

#[tokio::test]
async fn a_file_is_brought_into_an_empty_database_and_no_other() {
    let postgres = postgres::shared();
    if std::env::var_os("MOESCAPE_TEST_STORE").is_some() {
        // It begins with a file.
        return;
    }
    let directory = data();
    let path = directory.path().display().to_string();
    let (session, log) = {
        let server = Server::start(directory.path());
        let session = server.begin().await;
        assert_eq!(server.act(&session, &session.edit, "a", &question()).await.status, 200);
        let busy = moescape(&["migrate", "--from", &path, "--to", &postgres.database("filled")]);
        let said = text(&busy.stderr);
        assert!(said.contains("a server runs on"), "{said}");
        let log = server.log(&session).await;
        (session, log)
    };
    let to = postgres.database("filled");
    let moved = moescape(&["migrate", "--from", &path, "--to", &to]);
    let said = text(&moved.stdout);
    assert!(moved.status.success(), "{}", text(&moved.stderr));
    assert!(said.contains("1 review session with 2 events"), "{said}");
    let again = moescape(&["migrate", "--from", &path, "--to", &to]);
    let said = text(&again.stderr);
    assert!(said.contains("isn't empty"), "{said}");
    let store = format!("--store={to}");
    let other = data();
    let server = Server::start_with(other.path(), "127.0.0.1:0", &[&store]);
    assert_eq!(server.log(&session).await, log, "the same link opens the same log");
    let doctor = moescape(&["doctor", "--data", &path, "--store", &to]);
    let said = text(&doctor.stdout);
    for part in ["PostgreSQL ", "clock of the store", "written"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let copy = directory.path().join("copy").display().to_string();
    let refused = moescape(&["backup", "--data", &path, "--to", &copy, "--store", &to]);
    assert!(text(&refused.stderr).contains("pg_dump"), "{}", text(&refused.stderr));
}
