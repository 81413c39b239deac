//! Several servers on one store.

use std::time::Duration;

use review::wire::Tell;
use serde_json::Value;

use crate::client::{Client, Server, data, set};
use crate::converge;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_store_keep_one_order() {
    converge::run(2, 8, Duration::from_secs(4), 1, &[]).await;
}

#[tokio::test]
async fn what_happens_at_one_server_is_told_at_the_other() {
    let data = data();
    let (a, b) = (Server::start(data.path()), Server::start(data.path()));
    let session = a.begin().await;
    let mut ann = Client::join(&a.address, &session, &session.edit, "Ann").await;
    let mut bob = Client::join(&b.address, &session, &session.view, "Bob").await;
    ann.act("a-1", set("tp", "4")).await.unwrap();
    let happens = |told: &Tell| match told {
        Tell::Event { event } => Some(event.as_ref().clone()),
        _ => None,
    };
    assert_eq!(bob.until(happens).await.unwrap(), ann.until(happens).await.unwrap());
    // A link that is withdrawn at one server ends at the other.
    let links = a.ask("GET", &session.api("links"), &session.own, &Value::Null).await.json();
    let links = links["links"].as_array().unwrap();
    let view = links.iter().find(|link| link["role"] == "view").unwrap();
    let path = session.api(&format!("links/{}", view["id"].as_str().unwrap()));
    assert_eq!(a.ask("DELETE", &path, &session.own, &Value::Null).await.status, 204);
    let (heard, _) = bob.hear_the_rest().await;
    assert!(matches!(heard.last(), Some(Tell::Ended { again: false, .. })), "{heard:?}");
}
