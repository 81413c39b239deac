//! A client on a socket, from the first word to the last.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message as Frame, Utf8Bytes, WebSocket};
use review::wire::{Ask, At, PROTOCOL, Tell};
use review::{Person, Role, Seq, Setting, clean_name};
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, interval_at, sleep, timeout};

use super::commit::{Answer, ChangeRequest, Outcome};
use super::message::{Again, Cast, Joined, Joining, Message, Showing, left, may_lead, text};
use super::participant::{Cut, Grant, is_small, is_small_setting};
use super::rate::Bucket;
use super::sessions::{Reviews, check_name, check_op, person};
use crate::ground::calendar::now_millis;
use crate::net::address_counts::Place;

/// Longest time until the first message.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);

/// Time in which a client has to read one message: less than the connection itself waits, as the
/// system holds little of what isn't taken.
const SEND_TIMEOUT: Duration = Duration::from_secs(25);

/// Time that a closing handshake may take, and the time left for it when the server ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
const SHUTDOWN_CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// Interval at which a client is asked whether it is there.
const PING_INTERVAL: Duration = Duration::from_secs(20);

/// Longest silence of a client.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Pause between two things of one client that aren't kept: some 15 a second.
const TRANSIENT_INTERVAL: Duration = Duration::from_millis(66);

/// Messages at once, and then a second.
const RATE: (u32, f64) = (120, 40.0);

/// Messages beyond the rate, or without sense, until the client is sent away.
const MAX_BAD_MESSAGES: u32 = 20;

/// Changes that are under way, at most; then the client waits.
const MAX_IN_FLIGHT: usize = 64;

/// Close codes (RFC 6455).
const CLOSE_GOING_AWAY: u16 = 1_001;
const CLOSE_UNSUPPORTED_DATA: u16 = 1_003;
const CLOSE_POLICY_VIOLATION: u16 = 1_008;
const CLOSE_MESSAGE_TOO_BIG: u16 = 1_009;
const CLOSE_SERVICE_RESTART: u16 = 1_012;
const CLOSE_TRY_AGAIN_LATER: u16 = 1_013;

/// Someone who was let in, and wants to talk.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) grant: Grant,
    /// Token that opened the session, to see whether it still does.
    pub(crate) token: String,
    /// The user that a proxy vouches for.
    pub(crate) user: Option<String>,
    /// The address that they come from.
    pub(crate) address: Arc<str>,
}

/// End of a conversation: the close code that gives the reason, and the last message.
struct End {
    code: u16,
    /// The last message, if there is one.
    last: Option<Tell>,
}

impl End {
    const fn silently(code: u16) -> Self {
        Self { code, last: None }
    }

    fn mistake(code: u16, detail: &str) -> Self {
        Self { code, last: Some(Tell::Mistake { detail: detail.to_owned() }) }
    }

    fn ended(code: u16, detail: &str, again: bool) -> Self {
        let (detail, deleted) = (detail.to_owned(), None);
        Self { code, last: Some(Tell::Ended { detail, again, deleted }) }
    }

    fn link() -> Self {
        Self::ended(CLOSE_POLICY_VIOLATION, "this link was withdrawn or has expired", false)
    }

    fn cut(cut: &Cut) -> Self {
        match cut {
            Cut::Link(_) => Self::link(),
            Cut::Session => {
                let detail = "this session was deleted".to_owned();
                let last = Tell::Ended { detail, again: false, deleted: Some(true) };
                Self { code: CLOSE_POLICY_VIOLATION, last: Some(last) }
            }
        }
    }

    fn closing() -> Self {
        Self::ended(CLOSE_SERVICE_RESTART, "the server ends; another one goes on", true)
    }

    fn broken() -> Self {
        Self::ended(CLOSE_TRY_AGAIN_LATER, "the server can't write changes down now", true)
    }
}

impl Reviews {
    /// Room for one more socket, for as long as it is held.
    pub(crate) fn socket(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.sockets).try_acquire_owned().ok()
    }

    /// Talks with a visitor until one of both has enough, or the server ends.
    pub(crate) async fn talk(
        self: Arc<Self>,
        mut socket: WebSocket,
        visitor: Visitor,
        mut closing: watch::Receiver<bool>,
        held: (OwnedSemaphorePermit, Place),
    ) {
        let mut joined = None;
        // The end is heard in the midst of a message, too: whoever reads nothing would hold it up.
        let end = tokio::select! {
            end = self.converse(&mut socket, &visitor, &mut joined) => end,
            () = ended(&mut closing) => End::closing(),
        };
        if let Some(connection) = joined {
            let _ = self.send(&visitor.grant.review, Message::Leave(connection)).await;
        }
        finish(socket, end, closing).await;
        drop(held);
    }

    /// Talks with a visitor, and says as whom they joined as soon as they did.
    async fn converse(
        self: &Arc<Self>,
        socket: &mut WebSocket,
        visitor: &Visitor,
        joined: &mut Option<u64>,
    ) -> End {
        match begin(self, socket, visitor, joined).await {
            Ok((mut talk, casts, answers)) => talk.run(socket, casts, answers).await,
            Err(end) => end,
        }
    }

    /// Says to someone whose address has too many sockets that this is why they don't come in. A
    /// browser shows nobody the status of a socket that isn't opened.
    pub(crate) async fn turn_away(
        socket: WebSocket,
        closing: watch::Receiver<bool>,
        permit: OwnedSemaphorePermit,
    ) {
        let detail = "as many pages of reviews are open from your address as may be; close some, \
                      or ask who runs the server for more (--sockets-per-address)";
        finish(socket, End::ended(CLOSE_TRY_AGAIN_LATER, detail, true), closing).await;
        drop(permit);
    }
}

/// Says the last words, to those who still listen.
async fn finish(mut socket: WebSocket, end: End, mut closing: watch::Receiver<bool>) {
    let close = async {
        if let Some(last) = &end.last {
            socket.send(Frame::Text(text(last))).await?;
        }
        let frame = CloseFrame { code: end.code, reason: Utf8Bytes::default() };
        socket.send(Frame::Close(Some(frame))).await?;
        // The other side closes, too; whoever drops a socket with bytes to read cuts it off.
        while let Some(Ok(_)) = socket.recv().await {}
        Ok::<_, axum::Error>(())
    };
    tokio::select! {
        _ = timeout(CLOSE_TIMEOUT, close) => {}
        () = async { ended(&mut closing).await; sleep(SHUTDOWN_CLOSE_TIMEOUT).await } => {}
    }
}

/// Hears the first word and lets the visitor in.
async fn begin(
    reviews: &Arc<Reviews>,
    socket: &mut WebSocket,
    visitor: &Visitor,
    joined: &mut Option<u64>,
) -> Result<(Talk, broadcast::Receiver<Cast>, mpsc::UnboundedReceiver<Answer>), End> {
    let hello = timeout(HELLO_TIMEOUT, hello(socket)).await;
    let hello = hello.map_err(|_| {
        End::mistake(CLOSE_POLICY_VIOLATION, "the first message didn't come in time")
    })??;
    let grant = &visitor.grant;
    let Hello { after, last, name, key } = hello;
    let person = person(&grant.review, visitor.user.as_deref(), &key, name.as_deref());
    let person = person.map_err(|why| End::mistake(CLOSE_POLICY_VIOLATION, &why.detail))?;
    let connection = reviews.next_connection();
    let (answer, answered) = oneshot::channel();
    let joining =
        Joining { grant: grant.clone(), person: person.clone(), connection, after, last, answer };
    reviews
        .send(&grant.review, Message::Join(Box::new(joining)))
        .await
        .map_err(|_| End::broken())?;
    let Joined { welcome, seq, known, casts } = match answered.await {
        Ok(Ok(joined)) => joined,
        Ok(Err(_)) => {
            return Err(End::ended(
                CLOSE_TRY_AGAIN_LATER,
                "this session has too many people in it",
                true,
            ));
        }
        Err(_) => return Err(End::broken()),
    };
    *joined = Some(connection);
    let (answers, answered) = mpsc::unbounded_channel();
    let talk = Talk {
        reviews: Arc::clone(reviews),
        grant: grant.clone(),
        person,
        address: Arc::clone(&visitor.address),
        connection,
        seq,
        known,
        answers,
        under_way: 0,
        rate: Bucket::new(RATE.0, RATE.1),
        faults: 0,
        here: None,
        preview: None,
    };
    // Whoever withdrew the link meanwhile spoke to a keeper who didn't know of this visitor.
    match reviews.enter(&grant.review, &visitor.token).await {
        Ok(Some(_)) => send_frame(socket, Frame::Text(welcome)).await?,
        Ok(None) => return Err(End::link()),
        Err(_) => return Err(End::broken()),
    }
    Ok((talk, casts, answered))
}

struct Hello {
    after: Option<Seq>,
    /// Name of that event.
    last: Option<String>,
    name: Option<String>,
    key: String,
}

async fn hello(socket: &mut WebSocket) -> Result<Hello, End> {
    loop {
        let first = match socket.recv().await {
            Some(Ok(Frame::Text(first))) => first,
            Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => continue,
            Some(Ok(Frame::Binary(_))) => return Err(unsuited()),
            Some(Ok(Frame::Close(_))) | None => return Err(End::silently(CLOSE_GOING_AWAY)),
            Some(Err(error)) => return Err(unreadable(&error)),
        };
        let Ok(Ask::Hello { protocol, after, last, name, key }) = serde_json::from_str(&first)
        else {
            return Err(End::mistake(
                CLOSE_POLICY_VIOLATION,
                "the first message has to be `hello`",
            ));
        };
        if protocol != PROTOCOL {
            let detail = format!("this server speaks version {PROTOCOL}: load the page again");
            return Err(End::mistake(CLOSE_POLICY_VIOLATION, &detail));
        }
        return Ok(Hello { after, last, name, key });
    }
}

fn unsuited() -> End {
    End::mistake(CLOSE_UNSUPPORTED_DATA, "messages are JSON text")
}

/// A frame that can't be read: too large, or not what the protocol says.
fn unreadable(error: &axum::Error) -> End {
    tracing::debug!(%error, "a frame can't be read");
    End::mistake(CLOSE_MESSAGE_TOO_BIG, "a message can't be read; it may be too large")
}

/// Sends something, unless the client takes too long to read it.
async fn send_frame(socket: &mut WebSocket, frame: Frame) -> Result<(), End> {
    match timeout(SEND_TIMEOUT, socket.send(frame)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(End::silently(CLOSE_GOING_AWAY)),
        Err(_) => Err(End::silently(CLOSE_TRY_AGAIN_LATER)),
    }
}

/// A conversation.
struct Talk {
    reviews: Arc<Reviews>,
    grant: Grant,
    person: Person,
    address: Arc<str>,
    connection: u64,
    /// The last event that the client got.
    seq: Seq,
    /// Connections that it was told of since it came.
    known: BTreeSet<u64>,
    answers: mpsc::UnboundedSender<Answer>,
    under_way: usize,
    rate: Bucket,
    faults: u32,
    /// Place that its person is at, and the knob in their hand, to be sent with the next frame.
    here: Option<At>,
    preview: Option<Option<Setting>>,
}

impl Talk {
    async fn run(
        &mut self,
        socket: &mut WebSocket,
        mut casts: broadcast::Receiver<Cast>,
        mut answers: mpsc::UnboundedReceiver<Answer>,
    ) -> End {
        let mut ping = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
        let mut frame = interval_at(Instant::now() + TRANSIENT_INTERVAL, TRANSIENT_INTERVAL);
        let mut heard = Instant::now();
        let expired = expiry(self.grant.expires_at_millis);
        tokio::pin!(expired);
        loop {
            let done = tokio::select! {
                got = socket.recv(), if self.under_way < MAX_IN_FLIGHT => {
                    heard = Instant::now();
                    self.handle_frame(socket, got).await
                }
                cast = casts.recv() => self.cast(socket, cast).await,
                answer = answers.recv() => match answer {
                    Some(answer) => self.answer(socket, answer).await,
                    None => Err(End::broken()),
                },
                _ = frame.tick(), if self.here.is_some() || self.preview.is_some() => {
                    self.show().await
                }
                _ = ping.tick() => {
                    if heard.elapsed() >= IDLE_TIMEOUT {
                        Err(End::silently(CLOSE_GOING_AWAY))
                    } else {
                        send_frame(socket, Frame::Ping(Vec::new().into())).await
                    }
                }
                () = &mut expired => Err(End::link()),
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    /// Handles a frame.
    async fn handle_frame(
        &mut self,
        socket: &mut WebSocket,
        got: Option<Result<Frame, axum::Error>>,
    ) -> Result<(), End> {
        let said = match got {
            Some(Ok(Frame::Text(said))) => said,
            // The library answers pings.
            Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => return Ok(()),
            Some(Ok(Frame::Binary(_))) => return Err(unsuited()),
            Some(Ok(Frame::Close(_))) | None => return Err(End::silently(CLOSE_GOING_AWAY)),
            Some(Err(error)) => return Err(unreadable(&error)),
        };
        if !self.rate.take() {
            return self.mistake(socket, "that is more than can be taken; slow down").await;
        }
        match serde_json::from_str::<Ask>(&said) {
            Ok(ask) => self.ask(socket, ask).await,
            Err(error) => self.mistake(socket, &format!("a message makes no sense: {error}")).await,
        }
    }

    /// Says that a message was a mistake, and ends after too many.
    async fn mistake(&mut self, socket: &mut WebSocket, detail: &str) -> Result<(), End> {
        self.faults += 1;
        if self.faults > MAX_BAD_MESSAGES {
            return Err(End::ended(
                CLOSE_POLICY_VIOLATION,
                "too many messages made no sense or came fast",
                true,
            ));
        }
        let detail = detail.chars().take(300).collect();
        send_frame(socket, Frame::Text(text(&Tell::Mistake { detail }))).await
    }

    async fn ask(&mut self, socket: &mut WebSocket, ask: Ask) -> Result<(), End> {
        match ask {
            Ask::Hello { .. } => self.mistake(socket, "`hello` is said once").await,
            Ask::Do { op, change } => {
                let (role, by) = (self.grant.role, self.person.clone());
                if let Err(why) = check_op(&op).and_then(|()| check_name(&by)) {
                    // Only so much of a name that can't be one goes back.
                    let op = op.chars().take(64).collect();
                    return send_frame(socket, Frame::Text(text(&Tell::Refused { op, why }))).await;
                }
                self.under_way += 1;
                let (link, answer) = (Arc::clone(&self.grant.link), self.answers.clone());
                let address = Arc::clone(&self.address);
                let request = ChangeRequest { link, role, by, address, op, change, answer };
                self.send(Message::Do(Box::new(request))).await
            }
            Ask::Name { name } => {
                if self.person.is_vouched {
                    return self.mistake(socket, "your name is the one you signed in by").await;
                }
                match clean_name(&name) {
                    Ok(name) => {
                        self.person.name.clone_from(&name);
                        self.send(Message::Show(self.connection, Showing::Name(name))).await
                    }
                    Err(why) => self.mistake(socket, &why.detail).await,
                }
            }
            Ask::Here { at } if is_small(&at) => {
                self.here = Some(at);
                Ok(())
            }
            Ask::Preview { setting } if setting.as_ref().is_none_or(is_small_setting) => {
                if may_lead(self.grant.role) {
                    self.preview = Some(setting);
                }
                Ok(())
            }
            Ask::Here { .. } | Ask::Preview { .. } => {
                self.mistake(socket, "an id, value or place is too large").await
            }
            Ask::Bring {} if may_lead(self.grant.role) => {
                self.show().await?;
                self.send(Message::Show(self.connection, Showing::Bring)).await
            }
            Ask::Bring {} => self.mistake(socket, &self.grant.role.refusal(Role::Edit)).await,
        }
    }

    /// Tells others what isn't kept, once in a while.
    async fn show(&mut self) -> Result<(), End> {
        if let Some(at) = self.here.take() {
            self.send(Message::Show(self.connection, Showing::Here(at))).await?;
        }
        if let Some(setting) = self.preview.take() {
            self.send(Message::Show(self.connection, Showing::Preview(setting))).await?;
        }
        Ok(())
    }

    async fn send(&self, message: Message) -> Result<(), End> {
        self.reviews.send(&self.grant.review, message).await.map_err(|_| End::broken())
    }

    /// Tells the client what became of a change.
    async fn answer(&mut self, socket: &mut WebSocket, answer: Answer) -> Result<(), End> {
        self.under_way = self.under_way.saturating_sub(1);
        let Answer { op, outcome } = answer;
        let told = match outcome {
            // All get it, this client among them.
            Outcome::New(_) => return Ok(()),
            Outcome::Known(event) if event.seq > self.seq => return Ok(()),
            Outcome::Known(event) => Tell::Event { event: Box::new(event.as_ref().clone()) },
            Outcome::Refused(why) => Tell::Refused { op, why },
            Outcome::Ended(cut) => return Err(End::cut(&cut)),
            Outcome::Broken => return Err(End::broken()),
        };
        send_frame(socket, Frame::Text(text(&told))).await
    }

    /// Sends the client what all get.
    async fn cast(
        &mut self,
        socket: &mut WebSocket,
        cast: Result<Cast, broadcast::error::RecvError>,
    ) -> Result<(), End> {
        let said = match cast {
            Ok(Cast::Event(seq, said)) => {
                if seq <= self.seq {
                    return Ok(());
                }
                if seq > self.seq + 1 {
                    return self.anew(socket).await;
                }
                self.seq = seq;
                said
            }
            Ok(Cast::Tell(of, _) | Cast::Gone(of, _)) if of == self.connection => return Ok(()),
            Ok(Cast::Tell(of, said)) => {
                self.known.insert(of);
                said
            }
            Ok(Cast::Gone(of, said)) => {
                self.known.remove(&of);
                said
            }
            Ok(Cast::Cut(Cut::Link(link))) if link != self.grant.link => return Ok(()),
            Ok(Cast::Cut(cut)) => return Err(End::cut(&cut)),
            // The client reads slowly: it gets all at once in place of what it missed.
            Err(broadcast::error::RecvError::Lagged(_)) => return self.anew(socket).await,
            Err(broadcast::error::RecvError::Closed) => {
                return Err(End::ended(CLOSE_TRY_AGAIN_LATER, "the session was closed", true));
            }
        };
        send_frame(socket, Frame::Text(said)).await
    }

    /// Tells the client everything anew.
    async fn anew(&mut self, socket: &mut WebSocket) -> Result<(), End> {
        let (answer, answered) = oneshot::channel();
        self.send(Message::Again(answer)).await?;
        let Again { snapshot, seq, people } = answered.await.map_err(|_| End::broken())?;
        self.seq = self.seq.max(seq);
        send_frame(socket, Frame::Text(snapshot)).await?;
        for connection in left(&self.known, &people) {
            send_frame(socket, Frame::Text(text(&Tell::Gone { connection }))).await?;
        }
        self.known = people.iter().map(|presence| presence.connection).collect();
        for presence in people {
            if presence.connection != self.connection {
                send_frame(socket, Frame::Text(text(&Tell::Present { presence }))).await?;
            }
        }
        // A link may have been withdrawn in what was missed.
        let links = self.reviews.links(&self.grant.review).await.map_err(|_| End::broken())?;
        let mut links = links.iter().filter(|link| link.is_open(now_millis()));
        links.any(|link| *link.id == *self.grant.link).then_some(()).ok_or_else(End::link)
    }
}

/// Waits until the server ends.
async fn ended(closing: &mut watch::Receiver<bool>) {
    // Whoever would say so is gone: it ended.
    drop(closing.wait_for(|closing| *closing).await);
}

/// Waits until a link expires: for ever where it doesn't.
async fn expiry(at_millis: Option<u64>) {
    let Some(at) = at_millis else { return std::future::pending().await };
    // The clock may be set; a long wait is looked at again.
    while let Some(left) = at.checked_sub(now_millis()).filter(|left| *left > 0) {
        sleep(Duration::from_millis(left.min(60_000))).await;
    }
}
