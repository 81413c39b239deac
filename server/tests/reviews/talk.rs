//! What is said over a session's socket.

use std::time::Duration;

use review::wire::{Ask, At, Cursor, PROTOCOL, Start, Tell};
use review::{Cause, Change};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Client, Server, connect, data, set};

#[tokio::test]
async fn what_one_does_the_other_hears_and_the_store_has() {
    let data = data();
    let server = Server::start(data.path());
    let session = server.begin().await;
    let at = &server.address;
    let (mut ann, start) = Client::enter(at, &session, &session.edit, "Ann", None).await.unwrap();
    let Start::Room { room } = start else { panic!("{start:?}") };
    assert_eq!((room.seq, room.name.as_str()), (1, "Review"));
    let (mut bob, _) = Client::enter(at, &session, &session.view, "Bob", None).await.unwrap();
    ann.act("a-1", set("tp", "4")).await.unwrap();
    let hears = |told: &Tell| match told {
        Tell::Event { event } => Some(event.as_ref().clone()),
        _ => None,
    };
    let (to_ann, to_bob) = (ann.until(hears).await.unwrap(), bob.until(hears).await.unwrap());
    assert_eq!(to_ann, to_bob);
    assert_eq!((to_ann.seq, to_ann.by.name.as_str(), to_ann.op.as_str()), (2, "Ann", "a-1"));
    // The same again is answered by the same event, and happens once.
    ann.act("a-1", set("tp", "8")).await.unwrap();
    assert_eq!(ann.until(hears).await.unwrap(), to_ann);
    assert_eq!(server.room(&session).await.seq, 2);
    drop(server);
    let server = Server::start(data.path());
    let log = server.log(&session).await;
    assert_eq!((log.len(), &log[1]), (2, &to_ann));
    // Who comes back is told what they missed.
    let at = &server.address;
    let (_, start) = Client::enter(at, &session, &session.view, "Bob", Some(1)).await.unwrap();
    assert_eq!(start, Start::Events { events: vec![to_ann] });
}

#[tokio::test]
async fn a_viewer_changes_nothing_whatever_they_send() {
    let data = data();
    let server = Server::start(data.path());
    let session = server.begin().await;
    let (mut viewer, _) =
        Client::enter(&server.address, &session, &session.view, "Eve", None).await.unwrap();
    let changes = [
        json!({"kind": "set", "settings": [{"knob": "tp", "value": "4"}]}),
        json!({"kind": "comment", "anchor": "design", "text": "x"}),
        json!({"kind": "decide", "outcome": "approve", "reason": "x"}),
        json!({"kind": "create", "name": "x", "link": "preset=pangu-ultra-moe-6k"}),
    ];
    for (place, change) in changes.iter().enumerate() {
        let op = format!("e-{place}");
        let frame = json!({"kind": "do", "op": op, "change": change}).to_string();
        viewer.send(Message::text(frame)).await.unwrap();
        let why = viewer.until(|told| match told {
            Tell::Refused { op: of, why } if *of == op => Some(why.clone()),
            _ => None,
        });
        assert_eq!(why.await.unwrap().cause, Cause::Role);
        let answer = server.act(&session, &session.view, &op, change).await;
        assert_eq!(answer.status, 403, "{}", answer.body);
    }
    viewer.send(Message::text(r#"{"kind":"bring"}"#)).await.unwrap();
    let refused = |told: &Tell| matches!(told, Tell::Mistake { .. }).then_some(());
    viewer.until(refused).await.unwrap();
    assert_eq!(server.room(&session).await.seq, 1);
    // A commenter comments and no more.
    let answer = server.act(&session, &session.comment, "c-1", &changes[0]).await;
    assert_eq!(answer.status, 403);
    let answer = server.act(&session, &session.comment, "c-2", &changes[1]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["event"]["change"]["said"]["model_version"], model::MODEL_VERSION);
}

#[tokio::test]
async fn those_who_are_there_see_each_other() {
    let data = data();
    let server = Server::start(data.path());
    let session = server.begin().await;
    let at = &server.address;
    let (mut ann, _) = Client::enter(at, &session, &session.edit, "Ann", None).await.unwrap();
    let (mut bob, _) = Client::enter(at, &session, &session.view, "Bob", None).await.unwrap();
    let came = |told: &Tell| match told {
        Tell::Present { presence } => Some(presence.clone()),
        _ => None,
    };
    let presence = ann.until(came).await.unwrap();
    assert_eq!(presence.person.name, "Bob");
    let cursor = Some(Cursor { chart: "memory".to_owned(), x: 0.5, y: 0.25 });
    let here = At { view: Some("memory".to_owned()), cursor, ..At::default() };
    bob.say(&Ask::Here { at: here.clone() }).await.unwrap();
    assert_eq!(ann.until(came).await.unwrap().at, here);
    ann.say(&Ask::Preview {
        setting: Some(review::Setting { knob: "tp".to_owned(), value: Some("2".to_owned()) }),
    })
    .await
    .unwrap();
    let previewed = bob.until(|told| match told {
        Tell::Preview { setting, .. } => setting.clone(),
        _ => None,
    });
    assert_eq!(previewed.await.unwrap().value.as_deref(), Some("2"));
    drop(bob);
    let gone = ann.until(|told| match told {
        Tell::Gone { connection } => Some(*connection),
        _ => None,
    });
    assert_eq!(gone.await.unwrap(), presence.connection);
    assert_eq!(server.room(&session).await.seq, 1, "nothing of it is kept");
}

#[tokio::test]
async fn what_makes_no_sense_harms_nobody() {
    let data = data();
    let server = Server::start(data.path());
    let session = server.begin().await;
    let at = &server.address;
    let (mut ann, _) = Client::enter(at, &session, &session.edit, "Ann", None).await.unwrap();
    let mut seed = 0x9e37_79b9_u32;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed
    };
    for round in 0..60 {
        let mut eve = Client::open(at, &session, &session.edit).await.unwrap();
        if round % 2 == 0 {
            let name = Some("Eve".to_owned());
            let key = "k".to_owned();
            eve.say(&Ask::Hello { protocol: PROTOCOL, after: None, name, key }).await.unwrap();
        }
        let bytes: Vec<u8> = (0..random() % 300).map(|_| random() as u8).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // Nobody waits for an answer: it may be a mistake or the end.
        let _ = eve
            .send(if round % 3 == 0 { Message::binary(bytes) } else { Message::text(text) })
            .await;
    }
    for bad in ["", "{", "[]", "{\"kind\":\"x\"}", "{\"kind\":\"do\"}"] {
        ann.send(Message::text(bad)).await.unwrap();
        let mistake = |told: &Tell| matches!(told, Tell::Mistake { .. }).then_some(());
        ann.until(mistake).await.unwrap();
    }
    ann.act("a-1", set("tp", "4")).await.unwrap();
    let happens = |told: &Tell| matches!(told, Tell::Event { .. }).then_some(());
    ann.until(happens).await.unwrap();
}

#[tokio::test]
async fn what_is_too_large_or_too_much_is_refused() {
    let data = data();
    let server = Server::start(data.path());
    let session = server.begin().await;
    let at = &server.address;
    let enter = || Client::enter(at, &session, &session.edit, "Ann", None);
    let (mut ann, _) = enter().await.unwrap();
    let refused = |told: &Tell| match told {
        Tell::Refused { why, .. } => Some(why.cause),
        _ => None,
    };
    for (op, change) in [
        ("a-1", Change::Rename { name: "x".repeat(121) }),
        ("a-2", Change::Ask { text: "x".repeat(4_001) }),
        ("", Change::Ask { text: "x".to_owned() }),
        ("a b", Change::Ask { text: "x".to_owned() }),
    ] {
        ann.act(op, change).await.unwrap();
        assert_eq!(ann.until(refused).await.unwrap(), Cause::Invalid);
    }
    ann.send(Message::text("x".repeat(70_000))).await.unwrap();
    let (_, code) = ann.hear_the_rest().await;
    assert_eq!(code, Some(1009));
    let body =
        json!({"op": "h-1", "change": {"kind": "ask", "text": "x"}, "name": "x".repeat(121)});
    let answer = server.ask("POST", &session.api("do"), &session.edit, &body).await;
    assert_eq!(answer.status, 400);
    // Who talks too fast is told so, and then sent away.
    let (mut bob, _) = enter().await.unwrap();
    for _ in 0..400 {
        if bob.say(&Ask::Here { at: At::default() }).await.is_err() {
            break;
        }
    }
    let (heard, code) = bob.hear_the_rest().await;
    assert!(heard.iter().any(|told| matches!(told, Tell::Mistake { .. })), "{heard:?}");
    assert_eq!(code, Some(1008), "{heard:?}");
    assert_eq!(server.room(&session).await.seq, 1);
}

#[tokio::test]
async fn a_server_that_ends_says_so() {
    let data = data();
    let server = Server::start(data.path());
    let session = server.begin().await;
    let (mut ann, _) =
        Client::enter(&server.address, &session, &session.edit, "Ann", None).await.unwrap();
    server.interrupt();
    let (heard, code) = ann.hear_the_rest().await;
    assert!(matches!(heard.last(), Some(Tell::Ended { again: true, .. })), "{heard:?}");
    assert_eq!(code, Some(1012));
    assert_eq!(server.wait(), Some(0));
}

#[tokio::test]
async fn another_version_of_the_protocol_is_refused() {
    let data = data();
    let server = Server::start(data.path());
    let session = server.begin().await;
    let mut client = Client::open(&server.address, &session, &session.view).await.unwrap();
    let key = "k".to_owned();
    client.say(&Ask::Hello { protocol: 99, after: None, name: None, key }).await.unwrap();
    let (heard, code) = client.hear_the_rest().await;
    assert!(matches!(heard.last(), Some(Tell::Mistake { .. })), "{heard:?}");
    assert_eq!(code, Some(1008));
}

#[tokio::test]
async fn a_proxy_that_is_believed_gives_names() {
    let data = data();
    let server = Server::start_with(data.path(), "127.0.0.1:0", &["--user-header", "x-user"]);
    let session = server.begin().await;
    let bearer = format!("Bearer {}", session.edit);
    let headers = [("authorization", bearer.as_str()), ("x-user", "Ann Lee")];
    let mut client = connect(&server.address, &session.api("socket"), &headers).await.unwrap();
    let (name, key) = (Some("Somebody else".to_owned()), String::new());
    client.say(&Ask::Hello { protocol: PROTOCOL, after: None, name, key }).await.unwrap();
    let you = client.until(|told| match told {
        Tell::Welcome { you, .. } => Some(you.clone()),
        _ => None,
    });
    let you = you.await.unwrap();
    assert!(you.is_vouched && you.name == "Ann Lee" && you.id.len() == 16, "{you:?}");
    // Without the flag the header is just a header.
    drop(server);
    let server = Server::start(data.path());
    let body = json!({"op": "h", "change": {"kind": "ask", "text": "?"}, "name": "B", "key": "b"});
    let answer = server.send("POST", &session.api("do"), &headers, &body.to_string()).await;
    assert_eq!(answer.json()["event"]["by"]["name"], "B", "{}", answer.body);
    assert_eq!(answer.json()["event"]["by"]["is_vouched"], Value::Bool(false));
    assert!(client.hear_within(Duration::from_millis(10)).await.is_none_or(|it| it.is_err()));
}
