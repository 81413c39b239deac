//! The guide's nginx that asks who a visitor is, and what the server makes of it. In the place of
//! oauth2-proxy stands a listener that answers `/oauth2/auth` as its documentation says: 202 with
//! `X-Auth-Request-*`, or 401.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::client::{self, Answer, LINK, Server, connect, data};
use crate::nginx::{self, Nginx};

/// Cookies of those who are signed in, and what is known of them: name and groups.
const PEOPLE: [(&str, &str, &str); 2] =
    [("_oauth2_proxy=ann", "ann", "architects,staff"), ("_oauth2_proxy=eve", "eve", "guests")];

/// Starts the stand-in, which ends with the test's process; gives its address.
fn sign_in() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever asked may be gone.
            let _ = answer(stream);
        }
    });
    address
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let lines = BufReader::new(stream.try_clone()?).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let is_check = head.first().is_some_and(|line| line.starts_with("GET /oauth2/auth "));
    let is_signed_in = |cookie: &str| head.iter().any(|line| line.ends_with(cookie));
    let found = PEOPLE.iter().find(|(cookie, ..)| is_signed_in(cookie));
    let (status, more) = match found {
        Some((_, name, groups)) if is_check => (
            "202 Accepted",
            format!(
                "X-Auth-Request-User: id-of-{name}\r\nX-Auth-Request-Email: {name}@team.example\
                 \r\nX-Auth-Request-Preferred-Username: {name}\r\n\
                 X-Auth-Request-Groups: {groups}\r\n"
            ),
        ),
        None if is_check => ("401 Unauthorized", String::new()),
        _ => ("200 OK", String::new()),
    };
    write!(stream, "HTTP/1.1 {status}\r\n{more}Content-Length: 0\r\nConnection: close\r\n\r\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs nginx: where it is installed, `cargo xtask test` runs it"]
async fn the_proxy_says_who_may_make_something_and_visitors_do_not() {
    let data = data();
    let flags = "--user-header X-Forwarded-Preferred-Username --groups-header X-Forwarded-Groups \
                 --create-groups architects,infra --trusted-proxy 127.0.0.1";
    let flags: Vec<&str> = flags.split(' ').collect();
    let server = Server::start_with(data.path(), "127.0.0.1:0", &flags);
    let block = nginx::of_the_guide("operate.md", "auth_request /oauth2/auth");
    let sign_in = sign_in();
    let places = [("127.0.0.1:4180", sign_in.as_str()), ("127.0.0.1:3000", &server.address)];
    let proxy = Nginx::start(&block, &places);
    let at = proxy.address.as_str();
    let ann = ("cookie", "_oauth2_proxy=ann");
    let eve = ("cookie", "_oauth2_proxy=eve");
    let forged = [("x-forwarded-groups", "architects"), ("x-forwarded-preferred-username", "ann")];
    let body = json!({"name": "Review", "link": LINK, "key": "k"}).to_string();
    let begin = async |headers: &[(&str, &str)]| -> Answer {
        client::send(at, "POST", "/api/v1/reviews", headers, &body).await
    };
    // Nobody who isn't signed in comes through, whatever they say of themselves.
    for headers in [&[][..], &forged] {
        assert_eq!(begin(headers).await.status, 403);
        assert_eq!(client::send(at, "GET", "/readyz", headers, "").await.status, 403);
    }
    // Who is of none of the groups looks and makes nothing, nor by saying that they are.
    assert_eq!(client::send(at, "GET", "/readyz", &[eve], "").await.status, 200);
    for headers in [&[eve][..], &[eve, forged[0], forged[1]]] {
        let refused = begin(headers).await;
        assert_eq!(refused.status, 403, "{}", refused.body);
        assert!(refused.body.contains("guests"), "{}", refused.body);
    }
    // Who is may, by the name that they signed in with, over the socket, too.
    let begun = begin(&[ann, ("x-forwarded-preferred-username", "Eve")]).await;
    assert_eq!(begun.status, 201, "{}", begun.body);
    let begun = begun.json();
    let link = begun["links"].as_array().unwrap().iter().find(|link| link["role"] == "own");
    let bearer = format!("Bearer {}", link.unwrap()["token"].as_str().unwrap());
    let path = format!("/api/v1/reviews/{}", begun["id"].as_str().unwrap());
    let by = [("authorization", bearer.as_str()), ann, forged[0]];
    let log = client::send(at, "GET", &format!("{path}/log"), &by, "").await.json();
    let maker = &log["events"][0]["by"];
    assert_eq!(
        (&maker["name"], &maker["is_vouched"]),
        (&json!("ann"), &Value::Bool(true)),
        "{log}"
    );
    let mut client = connect(at, &format!("{path}/socket"), &by).await.unwrap();
    let you = client.greet(Some("Somebody else"), "").await.unwrap();
    assert!(you.is_vouched && you.name == "ann", "{you:?}");
}
