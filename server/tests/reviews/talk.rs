//! Conversations over a session's socket.

use std::time::{Duration, Instant};

use review::wire::{Ask, At, Cursor, PROTOCOL, Start, Tell};
use review::{Cause, Change};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::client::{Client, Server, TIMEOUT, begun, connect, data, set};

#[tokio::test]
async fn what_one_does_the_other_hears_and_the_store_has() {
    let (data, server, session) = begun().await;
    let at = &server.address;
    let (mut ann, start) = Client::enter(at, &session, &session.edit, "Ann", None).await.unwrap();
    let Start::Room { room } = start else { panic!("{start:?}") };
    assert_eq!((room.seq, room.name.as_str()), (1, "Review"));
    let mut bob = Client::join(at, &session, &session.view, "Bob").await;
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
    let (_data, server, session) = begun().await;
    let mut viewer = Client::join(&server.address, &session, &session.view, "Eve").await;
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
    let (_data, server, session) = begun().await;
    let at = &server.address;
    let mut ann = Client::join(at, &session, &session.edit, "Ann").await;
    let mut bob = Client::join(at, &session, &session.view, "Bob").await;
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
    let (_data, server, session) = begun().await;
    let at = &server.address;
    let mut ann = Client::join(at, &session, &session.edit, "Ann").await;
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
            eve.greet(Some("Eve"), "k").await.unwrap();
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
    let (_data, server, session) = begun().await;
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
    let (_data, server, session) = begun().await;
    let mut ann = Client::join(&server.address, &session, &session.edit, "Ann").await;
    server.interrupt();
    let (heard, code) = ann.hear_the_rest().await;
    assert!(matches!(heard.last(), Some(Tell::Ended { again: true, .. })), "{heard:?}");
    assert_eq!(code, Some(1012));
    assert_eq!(server.wait(), Some(0));
}

#[tokio::test]
async fn who_reads_nothing_keeps_no_server_from_ending() {
    let (_data, server, session) = begun().await;
    let mut deaf = Client::open_narrow(&server.address, &session, &session.view).await;
    deaf.greet(None, "deaf").await.unwrap();
    // More than its connection holds: the server is in the midst of a message to it.
    for number in 0..240 {
        let text = "é".repeat(review::MAX_TEXT_LEN);
        let change = json!({"kind": "comment", "anchor": "design", "text": text});
        let op = format!("c-{number}");
        loop {
            let told = server.act(&session, &session.comment, &op, &change).await;
            if told.status != 429 {
                assert_eq!(told.status, 200, "{}", told.body);
                break;
            }
            // So much is taken at once, and then some each second.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let start = Instant::now();
    server.interrupt();
    assert_eq!(server.wait(), Some(0));
    // Half a second, on a machine that isn't busy; requests under way would have ten.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn another_version_of_the_protocol_is_refused() {
    let (_data, server, session) = begun().await;
    let mut client = Client::open(&server.address, &session, &session.view).await.unwrap();
    let key = "k".to_owned();
    let hello = Ask::Hello { protocol: 99, after: None, last: None, name: None, key };
    client.say(&hello).await.unwrap();
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
    let you = client.greet(Some("Somebody else"), "").await.unwrap();
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

#[tokio::test]
async fn a_decision_over_a_socket_is_in_the_audit_log_with_the_address() {
    let data = data();
    let log = data.path().join("audit.jsonl");
    let audit = format!("--audit-log={}", log.display());
    let server = Server::start_with(data.path(), "127.0.0.1:0", &[&audit]);
    let session = server.begin().await;
    let bearer = format!("Bearer {}", session.own);
    let headers = [("authorization", bearer.as_str()), ("x-forwarded-for", "198.51.100.7")];
    let mut client = connect(&server.address, &session.api("socket"), &headers).await.unwrap();
    client.greet(Some("Ann"), "a key").await.unwrap();
    let decide = json!({"kind": "decide", "outcome": "approve", "reason": "So"});
    client.act("d-1", serde_json::from_value(decide).unwrap()).await.unwrap();
    client.until(|told| matches!(told, Tell::Event { .. }).then_some(())).await.unwrap();
    let decided = async {
        loop {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            if let Some(line) = text.lines().find(|line| line.contains("session.decide")) {
                return serde_json::from_str::<Value>(line).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let decided = tokio::time::timeout(TIMEOUT, decided).await.unwrap();
    assert_eq!(decided["address"], "198.51.100.7", "{decided}");
}

#[tokio::test]
async fn whoever_has_seen_another_log_gets_the_whole_room() {
    let (_data, server, session) = begun().await;
    let at = &server.address;
    let mut ann = Client::join(at, &session, &session.edit, "Ann").await;
    ann.act("a-1", set("tp", "4")).await.unwrap();
    ann.until(|told| matches!(told, Tell::Event { .. }).then_some(())).await.unwrap();
    let start = async |after, last: Option<&str>| {
        let mut client = Client::open(at, &session, &session.view).await.unwrap();
        let (last, key) = (last.map(str::to_owned), "k".to_owned());
        let after = Some(after);
        let hello = Ask::Hello { protocol: PROTOCOL, after, last, name: None, key };
        client.say(&hello).await.unwrap();
        let Tell::Welcome { start, .. } = client.hear().await.unwrap() else {
            panic!("no welcome")
        };
        start
    };
    assert_eq!(start(2, Some("a-1")).await, Start::Events { events: vec![] });
    assert_eq!(start(2, None).await, Start::Events { events: vec![] });
    // The event of that number is another one, and one that isn't there yet was seen elsewhere.
    for (after, last) in [(2, Some("b-1")), (7, Some("a-6")), (7, None)] {
        let Start::Room { room } = start(after, last).await else { panic!("{after} {last:?}") };
        assert_eq!(room.seq, 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_reads_too_slowly_gets_the_room_as_a_whole() {
    const WRITERS: usize = 12;
    // More than what waits in the server and what 4 MiB of the system's buffers hold.
    const EACH: usize = 140;
    let (_data, server, session) = begun().await;
    let at = &server.address;
    let mut slow = Client::open_narrow(at, &session, &session.view).await;
    slow.greet(None, "slow").await.unwrap();
    // It reads nothing while more is said than its connection and the server's patience hold.
    let mut writers = vec![];
    for number in 0..WRITERS {
        let name = format!("person-{number}");
        let mut writer = Client::join(at, &session, &session.comment, &name).await;
        writers.push(tokio::spawn(async move {
            for count in 0..EACH {
                let (anchor, text) = (review::Anchor::Design, "é".repeat(review::MAX_TEXT_LEN));
                let op = format!("{number}-{count}");
                writer.act(&op, Change::Comment { anchor, text, said: None }).await.unwrap();
                // Whoever writes reads, too, or would be slow as well.
                let own = |told: &Tell| match told {
                    Tell::Event { event } if event.op == op => Some(()),
                    Tell::Refused { why, .. } => panic!("{why}"),
                    _ => None,
                };
                writer.until(own).await.unwrap();
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let snapshot = slow.until(|told| match told {
        Tell::Snapshot { room } => Some(room.as_ref().clone()),
        _ => None,
    });
    let snapshot = tokio::time::timeout(Duration::from_secs(60), snapshot).await;
    let snapshot = snapshot.expect("the room as a whole in time");
    let mut room = snapshot.expect("it is told what it missed and not sent away");
    assert!(room.threads.len() > 100, "{}", room.threads.len());
    let whole = server.room(&session).await;
    assert_eq!(whole.threads.len(), WRITERS * EACH);
    while room.seq < whole.seq {
        match slow.hear().await.unwrap() {
            Tell::Event { event } if event.seq == room.seq + 1 => room.apply(&event),
            Tell::Event { event } => assert!(event.seq <= room.seq, "a gap before {}", event.seq),
            Tell::Snapshot { room: newer } => room = *newer,
            _ => {}
        }
    }
    assert_eq!(room, whole);
}

#[tokio::test]
async fn a_store_that_fails_takes_nothing_and_says_so() {
    if std::env::var_os("MOESCAPE_TEST_STORE").is_some() {
        // It breaks a file of SQLite.
        return;
    }
    let (data, server, session) = begun().await;
    let at = &server.address;
    let mut ann = Client::join(at, &session, &session.edit, "Ann").await;
    let mut bob = Client::join(at, &session, &session.view, "Bob").await;
    let disk = rusqlite::Connection::open(data.path().join("moescape.sqlite")).unwrap();
    disk.busy_timeout(Duration::from_secs(10)).unwrap();
    disk.execute_batch(
        "CREATE TRIGGER full BEFORE INSERT ON review_event
         BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
    )
    .unwrap();
    ann.act("a-1", set("tp", "4")).await.unwrap();
    let (heard, code) = ann.hear_the_rest().await;
    let Some(Tell::Ended { detail, again: true, .. }) = heard.last() else { panic!("{heard:?}") };
    assert!(detail.contains("can't write") && code == Some(1013), "{detail}");
    let change = json!({"kind": "ask", "text": "?"});
    let answer = server.act(&session, &session.edit, "b-1", &change).await;
    assert_eq!(answer.status, 503, "{}", answer.body);
    assert!(!answer.body.contains("disk"), "what is wrong is the log's: {}", answer.body);
    while let Some(told) = bob.hear_within(Duration::from_millis(300)).await {
        assert!(!matches!(told.unwrap(), Tell::Event { .. }), "told, and not written down");
    }
    disk.execute_batch("DROP TRIGGER full").unwrap();
    // The same by the same name goes through once the disk is there again.
    let (mut ann, _) = Client::enter(at, &session, &session.edit, "Ann", Some(1)).await.unwrap();
    ann.act("a-1", set("tp", "4")).await.unwrap();
    ann.until(|told| matches!(told, Tell::Event { .. }).then_some(())).await.unwrap();
    let log = server.log(&session).await;
    assert_eq!((log.len(), log[1].op.as_str()), (2, "a-1"));
}

#[tokio::test]
async fn what_is_written_is_made_html_that_can_do_nothing() {
    let (_data, server, session) = begun().await;
    let change = json!({"kind": "comment", "anchor": "design",
        "text": "Too **much** <img src=x onerror=alert(1)>"});
    assert_eq!(server.act(&session, &session.comment, "c-1", &change).await.status, 200);
    let prose = session.api("prose?of=1,2,3");
    let answer = server.ask("GET", &prose, &session.view, &Value::Null).await;
    let expected = "<p>Too <strong>much</strong> &lt;img src=x onerror=alert(1)&gt;</p>\n";
    assert_eq!(answer.json(), json!({"2": expected}), "{}", answer.body);
    for wrong in ["prose", "prose?of=", "prose?of=a", &format!("prose?of=1{}", ",1".repeat(100))] {
        let answer = server.ask("GET", &session.api(wrong), &session.view, &Value::Null).await;
        assert_eq!(answer.status, 400, "{wrong}");
    }
    assert_eq!(server.send("GET", &prose, &[], "").await.status, 404);
}
