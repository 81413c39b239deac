//! Review sessions under load: how long an edit takes from hand to every screen, what a session
//! takes of memory, and that nothing is lost when the server is killed twice in a minute.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement prints, or ends")]

#[path = "../tests/reviews/client.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod client;
#[path = "../tests/reviews/converge.rs"]
mod converge;
#[path = "../tests/process/postgres.rs"]
mod postgres;

use std::time::{Duration, Instant};

use client::{Client, Server, begun, data, set};
use review::wire::Tell;

/// People of a session whose edits are timed.
const PEOPLE: usize = 20;

/// Edits that are timed.
const EDITS: usize = 500;

/// Sessions that are held at once, and people in each.
const SESSIONS: usize = 100;
const IN_EACH: usize = 5;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        latency().await;
        held().await;
        let start = Instant::now();
        converge::run(1, 20, Duration::from_secs(60), 2, &[]).await;
        println!(
            "20 clients, two kills: one design and one log, nothing lost or repeated, {:.0} s",
            start.elapsed().as_secs_f64()
        );
    });
}

/// Measures the time from the send of one to the receipt of all.
async fn latency() {
    let (_data, server, session) = begun().await;
    let (mut first, _) =
        Client::enter(&server.address, &session, &session.edit, "first", None).await.unwrap();
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    for number in 1..PEOPLE {
        let name = format!("person-{number}");
        let entered = Client::enter(&server.address, &session, &session.view, &name, None).await;
        let (mut client, _) = entered.unwrap();
        let told = told.clone();
        tokio::spawn(async move {
            while let Ok(said) = client.hear().await {
                if let Tell::Event { event } = said {
                    let _ = told.send((event.op, Instant::now()));
                }
            }
        });
    }
    let mut times = Vec::with_capacity(EDITS * (PEOPLE - 1));
    for edit in 0..EDITS {
        let op = format!("bench-{edit}");
        let start = Instant::now();
        let value = if edit % 2 == 0 { "4" } else { "8" };
        first.act(&op, set("tp", value)).await.unwrap();
        for _ in 1..PEOPLE {
            let (of, when) = heard.recv().await.unwrap();
            assert_eq!(of, op);
            times.push(when - start);
        }
        // Below the rate at which a client is slowed down.
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{EDITS} edits to {PEOPLE} people: p50 {:.1} ms, p95 {:.1} ms from send to receipt",
        at(0.5),
        at(0.95)
    );
}

/// Measures the memory that sessions with people in them take.
async fn held() {
    let data = data();
    let most = (SESSIONS * IN_EACH).to_string();
    let flags = ["--sockets-per-address", most.as_str()];
    let server = Server::start_with(data.path(), "127.0.0.1:0", &flags);
    let before = server.resident_kib();
    let mut clients = vec![];
    for _ in 0..SESSIONS {
        let session = server.begin().await;
        for number in 0..IN_EACH {
            let name = format!("person-{number}");
            let entered =
                Client::enter(&server.address, &session, &session.edit, &name, None).await;
            clients.push(entered.unwrap().0);
        }
    }
    let Some((before, after)) = before.zip(server.resident_kib()) else {
        println!("{SESSIONS} sessions with {IN_EACH} people each are held");
        return;
    };
    println!(
        "{SESSIONS} sessions with {IN_EACH} people each are held: {} KiB for each session",
        after.saturating_sub(before) / SESSIONS as u64
    );
    drop(clients);
}
