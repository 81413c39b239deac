//! Servers that tell each other by NATS.

use std::time::Duration;

use review::wire::{Ask, Tell};

use crate::client::{Client, Server, data, set};
use crate::converge;
use crate::nats::Nats;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_with_nats_keep_one_order() {
    let nats = Nats::start();
    converge::run(2, 6, Duration::from_secs(3), 1, &["--engine", &nats.url()]).await;
}

#[tokio::test]
async fn those_at_two_servers_see_each_other_by_nats() {
    let nats = Nats::start();
    let (data, url) = (data(), nats.url());
    let start = || Server::start_with(data.path(), "127.0.0.1:0", &["--engine", &url]);
    let (a, b) = (start(), start());
    let session = a.begin().await;
    let mut ann = Client::join(&a.address, &session, &session.edit, "Ann").await;
    let mut bob = Client::join(&b.address, &session, &session.view, "Bob").await;
    let named = |name: &'static str| {
        move |told: &Tell| match told {
            Tell::Present { presence } if presence.person.name == name => Some(()),
            _ => None,
        }
    };
    // Until both servers listen, nothing of this is heard: it is said again.
    meet(&mut ann, &mut bob).await;
    bob.say(&Ask::Here { at: Default::default() }).await.unwrap();
    ann.until(named("Bob")).await.unwrap();
}

/// Ann says that she is there until Bob has seen her.
async fn meet(ann: &mut Client, bob: &mut Client) {
    let ann_there = |told: &Tell| match told {
        Tell::Present { presence } if presence.person.name == "Ann" => Some(()),
        _ => None,
    };
    for _ in 0..150 {
        ann.say(&Ask::Here { at: Default::default() }).await.unwrap();
        let heard = tokio::time::timeout(Duration::from_millis(200), bob.until(ann_there)).await;
        if heard.is_ok() {
            return;
        }
    }
    panic!("Bob never saw Ann");
}

#[tokio::test]
async fn nats_that_is_away_when_a_session_opens_is_waited_for() {
    let mut nats = Nats::start();
    let (data, url) = (data(), nats.url());
    let start = || Server::start_with(data.path(), "127.0.0.1:0", &["--engine", &url]);
    let (a, b) = (start(), start());
    nats.kill();
    let session = a.begin().await;
    let mut ann = Client::join(&a.address, &session, &session.edit, "Ann").await;
    let mut bob = Client::join(&b.address, &session, &session.view, "Bob").await;
    // Without it the store still brings one's edit to the other.
    ann.act("a-1", set("tp", "4")).await.unwrap();
    bob.until(|told| matches!(told, Tell::Event { .. }).then_some(())).await.unwrap();
    nats.restart();
    meet(&mut ann, &mut bob).await;
}
