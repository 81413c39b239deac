//! Access to sessions: who comes in, and who doesn't.

use std::time::{Duration, Instant};

use review::wire::{Ask, Tell};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Client, Server, begun, connect, data};

#[tokio::test]
async fn a_link_becomes_a_cookie_and_leaves_the_address_bar() {
    let (_data, server, session) = begun().await;
    let page = format!("/r/{}", session.id);
    let key = format!("{page}?key={}", session.view);
    let entered = server.send("GET", &key, &[("x-forwarded-proto", "https")], "").await;
    assert_eq!(entered.status, 303, "{}", entered.head);
    assert!(entered.head.contains(&format!("location: {page}\r\n")), "{}", entered.head);
    let cookie = entered.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    for part in ["; HttpOnly", "; SameSite=Lax", "; Secure", &format!("; Path={page};")] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap();
    let open = server.send("GET", &page, &[("cookie", cookie)], "").await;
    assert_eq!(open.status, 200);
    assert!(!open.body.contains(&session.view), "the page holds no secret");
    let state = server.send("GET", &format!("{page}/state"), &[("cookie", cookie)], "").await;
    assert_eq!(state.status, 200, "{}", state.body);
    assert!(state.head.contains("cache-control: no-store"), "{}", state.head);
    // The cookie is no way in for programs, and a weaker link takes nothing from an owner.
    let api = server.send("GET", &session.api("state"), &[], "").await;
    assert_eq!(api.status, 404);
    let own = format!("review_{}={}", session.id, session.own);
    let entered = server.send("GET", &key, &[("cookie", own.as_str())], "").await;
    assert!(entered.status == 303 && !entered.head.contains("set-cookie"), "{}", entered.head);
}

#[tokio::test]
async fn a_wrong_token_and_a_session_that_is_not_there_are_the_same() {
    let (_data, server, session) = begun().await;
    let other = server.begin().await;
    let nowhere = "0123456789abcdefghijkl";
    let plain = |answer: crate::client::Answer| {
        let head = answer.head.lines().filter(|line| {
            let named = ["x-request-id", "date"];
            !named.iter().any(|name| line.starts_with(name))
        });
        (head.map(str::to_owned).collect::<Vec<_>>(), answer.body)
    };
    for path in ["state", "log", "do", "links", "socket", "report.md"] {
        let method = if path == "do" { "POST" } else { "GET" };
        let mut answers = vec![];
        for (id, token) in
            [(&*session.id, nowhere), (nowhere, nowhere), (&*session.id, &*other.own), ("x", "y")]
        {
            let path = format!("/api/v1/reviews/{id}/{path}");
            let answer = server.ask(method, &path, token, &Value::Null).await;
            assert_eq!(answer.status, 404, "{path} {}", answer.body);
            answers.push(plain(answer));
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    }
    let page = |id: &str, key: &str| format!("/r/{id}?key={key}");
    let wrong = server.send("GET", &page(&session.id, nowhere), &[], "").await;
    let missing = server.send("GET", &page(nowhere, nowhere), &[], "").await;
    assert_eq!(wrong.status, 404);
    // Each page has a nonce of its own, which says nothing.
    let [wrong, missing] = [wrong, missing].map(|answer| {
        let (head, body) = plain(answer);
        let text = format!("{}\n{body}", head.join("\n"));
        let nonce = text.split_once("'nonce-").and_then(|(_, rest)| rest.split_once('\''));
        let nonce = nonce.map(|(nonce, _)| nonce.to_owned()).unwrap();
        text.replace(&nonce, "")
    });
    assert_eq!(wrong, missing);
}

#[tokio::test]
async fn a_withdrawn_or_expired_link_is_cut_at_once() {
    let (_data, server, session) = begun().await;
    let made = json!({"role": "edit", "name": "For Bob"});
    let link = server.ask("POST", &session.api("links"), &session.own, &made).await;
    assert_eq!(link.status, 201, "{}", link.body);
    let link = link.json();
    let token = link["token"].as_str().unwrap();
    let at = &server.address;
    let mut bob = Client::join(at, &session, token, "Bob").await;
    let mut ann = Client::join(at, &session, &session.edit, "Ann").await;
    let path = session.api(&format!("links/{}", link["id"].as_str().unwrap()));
    for (token, status) in [(&session.edit, 403), (&session.own, 204), (&session.own, 204)] {
        assert_eq!(server.ask("DELETE", &path, token, &Value::Null).await.status, status);
    }
    let (heard, code) = bob.hear_the_rest().await;
    assert!(matches!(heard.last(), Some(Tell::Ended { again: false, .. })), "{heard:?}");
    assert_eq!(code, Some(1008));
    let change = json!({"kind": "ask", "text": "?"});
    assert_eq!(server.act(&session, token, "b-1", &change).await.status, 404);
    assert_eq!(Client::open(at, &session, token).await.err(), Some(404));
    // Another link goes on.
    ann.say(&Ask::Here { at: Default::default() }).await.unwrap();
    let list = server.ask("GET", &session.api("links"), &session.own, &Value::Null).await;
    assert!(!list.body.contains("token") && list.body.contains("For Bob"), "{}", list.body);
    let made = json!({"role": "view", "expires_in_seconds": 1});
    let link = server.ask("POST", &session.api("links"), &session.own, &made).await.json();
    let token = link["token"].as_str().unwrap();
    let mut eve = Client::join(at, &session, token, "Eve").await;
    let (heard, _) = eve.hear_the_rest().await;
    assert!(matches!(heard.last(), Some(Tell::Ended { again: false, .. })), "{heard:?}");
    assert_eq!(Client::open(at, &session, token).await.err(), Some(404));
}

#[tokio::test]
async fn who_is_in_a_session_that_is_deleted_hears_so_and_nobody_else_does() {
    let (_data, server, session) = begun().await;
    let at = &server.address;
    let mut bob = Client::join(at, &session, &session.view, "Bob").await;
    let path = session.api("");
    let path = path.trim_end_matches('/');
    assert_eq!(server.ask("DELETE", path, &session.own, &Value::Null).await.status, 204);
    let (heard, code) = bob.hear_the_rest().await;
    let Some(Tell::Ended { detail, again, deleted }) = heard.last() else { panic!("{heard:?}") };
    assert_eq!((detail.as_str(), *again), ("this session was deleted", false));
    assert_eq!((*deleted, code), (Some(true), Some(1008)));
    // To those outside it is as if it had never been.
    let nowhere = "0123456789abcdefghijkl";
    let never = format!("/api/v1/reviews/{nowhere}/state");
    let never = server.ask("GET", &never, &session.view, &Value::Null).await;
    let gone = server.ask("GET", &session.api("state"), &session.view, &Value::Null).await;
    assert_eq!((gone.status, gone.body), (404, never.body));
    assert_eq!(Client::open(at, &session, &session.view).await.err(), Some(404));
}

#[tokio::test]
async fn a_page_of_another_site_opens_no_socket_and_changes_nothing() {
    let (_data, server, session) = begun().await;
    let cookie = format!("review_{}={}", session.id, session.edit);
    let socket = format!("/r/{}/socket", session.id);
    let ours = format!("http://{}", server.address);
    let at = &server.address;
    for origin in ["https://evil.example", "null", "http://127.0.0.1"] {
        let headers = [("cookie", cookie.as_str()), ("origin", origin)];
        assert_eq!(connect(at, &socket, &headers).await.err(), Some(403), "{origin}");
        let body = json!({"op": "e", "change": {"kind": "ask", "text": "?"}, "name": "E",
            "key": "e"});
        let path = format!("/r/{}/do", session.id);
        let answer = server.send("POST", &path, &headers, &body.to_string()).await;
        assert_eq!(answer.status, 403, "{origin}");
    }
    let silent = connect(at, &socket, &[("cookie", &cookie)]).await;
    assert_eq!(silent.err(), Some(403), "a browser says where it comes from");
    let headers = [("cookie", cookie.as_str()), ("origin", ours.as_str())];
    let mut client = connect(at, &socket, &headers).await.unwrap();
    client.greet(None, "k").await.unwrap();
    assert_eq!(server.room(&session).await.seq, 1);
}

#[tokio::test]
async fn an_address_has_so_many_sockets_and_is_told_so() {
    let data = data();
    let flags = ["--sockets-per-address", "2"];
    let server = Server::start_with(data.path(), "127.0.0.1:0", &flags);
    let session = server.begin().await;
    let at = &server.address;
    let enter = |name| Client::enter(at, &session, &session.view, name, None);
    let (ann, _bob) = (enter("Ann").await.unwrap(), enter("Bob").await.unwrap());
    let mut third = Client::open(at, &session, &session.view).await.unwrap();
    let (heard, code) = third.hear_the_rest().await;
    let [Tell::Ended { detail, again: true, .. }] = heard.as_slice() else { panic!("{heard:?}") };
    assert!(detail.contains("from your address"), "{detail}");
    assert_eq!(code, Some(1013));
    // Someone whom a proxy names comes from elsewhere.
    let bearer = format!("Bearer {}", session.view);
    let headers = [("authorization", bearer.as_str()), ("x-forwarded-for", "192.0.2.1")];
    let mut other = connect(at, &session.api("socket"), &headers).await.unwrap();
    other.greet(None, "k").await.unwrap();
    // Who leaves makes room.
    drop(ann);
    let start = Instant::now();
    while enter("Cleo").await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(30), "the place isn't given back");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn who_sends_a_letter_now_and_then_is_not_waited_for() {
    let data = data();
    let server = Server::start(data.path());
    let mut slow = TcpStream::connect(&server.address).await.unwrap();
    let start = Instant::now();
    slow.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n").await.unwrap();
    let (mut read, mut write) = slow.into_split();
    let drip = tokio::spawn(async move {
        while write.write_all(b"x: y\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    let mut answer = vec![];
    let _ = read.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    assert!(start.elapsed() < Duration::from_secs(90), "it was held for ever");
    drip.abort();
}
