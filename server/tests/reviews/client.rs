//! A server as a process, and clients of it: requests by hand, sockets by a library.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use review::wire::{Ask, PROTOCOL, Start, Tell};
use review::{Change, Person, Room, Setting};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::postgres;

/// Longest time that anything may take on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// The design that sessions begin with.
pub(crate) const LINK: &str = "preset=pangu-ultra-moe-6k";

/// A server that ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, "127.0.0.1:0", &[])
    }

    pub(crate) fn start_with(data: &Path, listen: &str, more: &[&str]) -> Self {
        let has_store = more.iter().any(|flag| flag.starts_with("--store"));
        let store = if has_store { None } else { postgres::of(data) };
        let store = store.map(|address| format!("--store={address}"));
        // Where the last server was killed a moment ago, its port may be busy for another one.
        for _ in 0..50 {
            let log = File::options().create(true).append(true).open(data.join("server.log"));
            let mut child = Command::new(env!("CARGO_BIN_EXE_moescape"))
                .args(["serve", "--listen", listen, "--data"])
                .arg(data)
                .args(more)
                .args(&store)
                .stdout(Stdio::piped())
                .stderr(log.unwrap())
                .spawn()
                .unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            if let Some(address) = line.trim().strip_prefix("listening on http://") {
                return Self { child, address: address.to_owned() };
            }
            child.wait().unwrap();
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{}", std::fs::read_to_string(data.join("server.log")).unwrap());
    }

    /// Ends it without a word.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end.
    pub(crate) fn interrupt(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    pub(crate) fn wait(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Memory that it takes now, where the system says so.
    #[allow(dead_code, reason = "the bench asks for it, the tests don't")]
    pub(crate) fn resident_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    /// Sends a request with these headers, and gives status, headers and body.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        send(&self.address, method, path, headers, body).await
    }

    /// Sends a request with a token.
    pub(crate) async fn ask(&self, method: &str, path: &str, token: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let bearer = format!("Bearer {token}");
        self.send(method, path, &[("authorization", &bearer)], &body).await
    }

    /// Begins a session.
    pub(crate) async fn begin(&self) -> Session {
        let body = json!({"name": "Review", "link": LINK, "person": "Ann", "key": "ann"});
        let answer = self.send("POST", "/api/v1/reviews", &[], &body.to_string()).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        let begun = answer.json();
        let token = |role: &str| {
            let links = begun["links"].as_array().unwrap();
            let link = links.iter().find(|link| link["role"] == role).unwrap();
            link["token"].as_str().unwrap().to_owned()
        };
        Session {
            id: begun["id"].as_str().unwrap().to_owned(),
            own: token("own"),
            edit: token("edit"),
            comment: token("comment"),
            view: token("view"),
        }
    }

    /// The room as the server has it.
    pub(crate) async fn room(&self, session: &Session) -> Room {
        let answer = self.ask("GET", &session.api("state"), &session.view, &Value::Null).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// Everything that happened.
    pub(crate) async fn log(&self, session: &Session) -> Vec<review::Event> {
        let mut events: Vec<review::Event> = vec![];
        loop {
            let after = events.last().map_or(0, |event| event.seq);
            let path = session.api(&format!("log?after={after}&limit=1000"));
            let answer = self.ask("GET", &path, &session.view, &Value::Null).await;
            let page: Vec<review::Event> =
                serde_json::from_value(answer.json()["events"].take()).unwrap();
            if page.is_empty() {
                return events;
            }
            events.extend(page);
        }
    }

    /// Asks for a change over HTTP.
    pub(crate) async fn act(
        &self,
        session: &Session,
        token: &str,
        op: &str,
        change: &Value,
    ) -> Answer {
        let body = json!({"op": op, "change": change, "name": "Bob", "key": "bob"});
        self.ask("POST", &session.api("do"), token, &body).await
    }
}

/// Sends a request to a server, or to the proxy before it.
pub(crate) async fn send(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("connection: close\r\ncontent-length: {length}\r\n\r\n{body}"));
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    timeout(TIMEOUT, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }
}

/// A session and a way in for each role.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) own: String,
    pub(crate) edit: String,
    pub(crate) comment: String,
    pub(crate) view: String,
}

impl Session {
    pub(crate) fn api(&self, path: &str) -> String {
        format!("/api/v1/reviews/{}/{path}", self.id)
    }
}

/// A client on a socket.
pub(crate) struct Client {
    socket: WebSocketStream<TcpStream>,
}

/// Close code of a socket that isn't there any more, if it had one.
#[derive(Debug)]
pub(crate) struct Cut(pub(crate) Option<u16>);

/// Opens a socket with these headers; the status where it isn't opened.
pub(crate) async fn connect(
    address: &str,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<Client, u16> {
    let stream = TcpStream::connect(address).await.map_err(|_| 0u16)?;
    connect_by(stream, address, path, headers).await
}

/// Connects by a connection of one's own.
async fn connect_by(
    stream: TcpStream,
    address: &str,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<Client, u16> {
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((socket, _)) => Ok(Client { socket }),
        Err(tungstenite::Error::Http(answer)) => Err(answer.status().as_u16()),
        Err(_) => Err(0),
    }
}

impl Client {
    /// Opens a socket by a token.
    pub(crate) async fn open(address: &str, session: &Session, token: &str) -> Result<Self, u16> {
        let bearer = format!("Bearer {token}");
        connect(address, &session.api("socket"), &[("authorization", &bearer)]).await
    }

    /// Opens a socket that takes little at once: whoever doesn't read it soon holds the server up.
    pub(crate) async fn open_narrow(address: &str, session: &Session, token: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        let stream = socket.connect(address.parse().unwrap()).await.unwrap();
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        connect_by(stream, address, &session.api("socket"), &headers).await.unwrap()
    }

    /// Comes in: the room, or the events that were missed.
    pub(crate) async fn enter(
        address: &str,
        session: &Session,
        token: &str,
        name: &str,
        after: Option<u64>,
    ) -> Result<(Self, Start), Cut> {
        let stream = TcpStream::connect(address).await.map_err(|_| Cut(None))?;
        Self::enter_by(stream, address, session, (token, name), after).await
    }

    /// Enters a session from an address of this machine that is this client's own, as far as the
    /// system has several: who is before the servers tells clients apart by it.
    pub(crate) async fn enter_from(
        number: u64,
        address: &str,
        session: &Session,
        who: (&str, &str),
        after: Option<u64>,
    ) -> Result<(Self, Start), Cut> {
        let socket = TcpSocket::new_v4().unwrap();
        let own = Ipv4Addr::new(127, 0, 1, u8::try_from(number).unwrap_or(u8::MAX));
        let _ = socket.bind((own, 0).into());
        let stream = socket.connect(address.parse().unwrap()).await.map_err(|_| Cut(None))?;
        Self::enter_by(stream, address, session, who, after).await
    }

    async fn enter_by(
        stream: TcpStream,
        address: &str,
        session: &Session,
        (token, name): (&str, &str),
        after: Option<u64>,
    ) -> Result<(Self, Start), Cut> {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        let opened = connect_by(stream, address, &session.api("socket"), &headers).await;
        let mut client = opened.map_err(|_| Cut(None))?;
        let (key, name) = (format!("key of {name}"), Some(name.to_owned()));
        client.say(&Ask::Hello { protocol: PROTOCOL, after, last: None, name, key }).await?;
        let Tell::Welcome { start, .. } = client.hear().await? else { return Err(Cut(None)) };
        Ok((client, start))
    }

    /// Comes in for the first time.
    pub(crate) async fn join(address: &str, session: &Session, token: &str, name: &str) -> Self {
        Self::enter(address, session, token, name, None).await.unwrap().0
    }

    /// Says the first word, and gives who the server takes the client for.
    pub(crate) async fn greet(&mut self, name: Option<&str>, key: &str) -> Result<Person, Cut> {
        let (name, key) = (name.map(str::to_owned), key.to_owned());
        self.say(&Ask::Hello { protocol: PROTOCOL, after: None, last: None, name, key }).await?;
        let Tell::Welcome { you, .. } = self.hear().await? else { return Err(Cut(None)) };
        Ok(you)
    }

    pub(crate) async fn say(&mut self, ask: &Ask) -> Result<(), Cut> {
        self.send(Message::text(serde_json::to_string(ask).unwrap())).await
    }

    pub(crate) async fn send(&mut self, message: Message) -> Result<(), Cut> {
        self.socket.send(message).await.map_err(|_| Cut(None))
    }

    /// Asks for a change.
    pub(crate) async fn act(&mut self, op: &str, change: Change) -> Result<(), Cut> {
        self.say(&Ask::Do { op: op.to_owned(), change }).await
    }

    /// The next thing that the server says.
    pub(crate) async fn hear(&mut self) -> Result<Tell, Cut> {
        loop {
            let next = timeout(TIMEOUT, self.socket.next()).await.expect("nothing is said");
            match next {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(frame))) => {
                    return Err(Cut(frame.map(|CloseFrame { code, .. }| code.into())));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(Cut(None)),
            }
        }
    }

    /// Next message within this time, if any.
    pub(crate) async fn hear_within(&mut self, time: Duration) -> Option<Result<Tell, Cut>> {
        timeout(time, self.hear()).await.ok()
    }

    /// Hears until something is so.
    pub(crate) async fn until<T>(
        &mut self,
        mut look: impl FnMut(&Tell) -> Option<T>,
    ) -> Result<T, Cut> {
        loop {
            let told = self.hear().await?;
            if let Some(found) = look(&told) {
                return Ok(found);
            }
        }
    }

    /// Hears until the server has said its last word; gives all of it with the close code.
    pub(crate) async fn hear_the_rest(&mut self) -> (Vec<Tell>, Option<u16>) {
        let mut heard = vec![];
        loop {
            match self.hear().await {
                Ok(told) => heard.push(told),
                Err(Cut(code)) => return (heard, code),
            }
        }
    }
}

/// Sets one knob.
pub(crate) fn set(knob: &str, value: &str) -> Change {
    let settings = vec![Setting { knob: knob.to_owned(), value: Some(value.to_owned()) }];
    Change::Set { settings }
}

/// A server on a directory of its own, with a session.
pub(crate) async fn begun() -> (TempDir, Server, Session) {
    let data = data();
    let server = Server::start(data.path());
    let session = server.begin().await;
    (data, server, session)
}

/// A new directory for data.
pub(crate) fn data() -> TempDir {
    tempfile::tempdir().unwrap()
}
