//! Who keeps a session that is open: one task, so that there is one order of everything.
//!
//! The store has the last word. A keeper settles what waits together, in one transaction, and
//! tells it only then. That another server keeps the same session at the same time is fine: what
//! it added is found before anything is added here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use review::wire::{At, Presence, Start, Tell};
use review::{Person, Role, Room, Seq, Setting};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::{Instant, interval_at, sleep_until};

use super::foreign::Foreign;
use super::seat::{Grant, Seat};
use super::settle::{Answer, Asked, Batch, Outcome, Settled, settle};
use super::{Reviews, ledger};
use crate::logged;
use crate::nats::{Notice, NoticeKind};

/// Changes that are written down together, at most.
const BATCH: usize = 64;

/// What one client may be behind before it gets everything anew.
const BEHIND: usize = 1_024;

/// People in a session, at most, through this server.
const MAX_PEOPLE: usize = 200;

/// Events that someone who comes back is told one by one; more than that are the whole room.
const MAX_MISSED: u64 = 500;

/// Events after which the room is kept again.
const SAVE_EVERY: u64 = 500;

/// How often the store is looked at for what other servers did.
const LOOK: Duration = Duration::from_secs(2);

/// How long a session stays open that nobody is in.
const IDLE: Duration = Duration::from_secs(30);

/// What is said to a keeper.
#[derive(Debug)]
pub(crate) enum Message {
    /// A change is asked for.
    Do(Box<Asked>),
    /// Someone comes.
    Join(Box<Joining>),
    /// Someone was told too little.
    Again(oneshot::Sender<Again>),
    /// Someone says something that isn't kept.
    Say(u64, Saying),
    /// Someone leaves.
    Leave(u64),
    /// A link was withdrawn.
    Cut(String),
    /// Another server says something.
    Heard(Notice),
}

/// Someone who comes.
#[derive(Debug)]
pub(crate) struct Joining {
    pub(crate) grant: Grant,
    pub(crate) person: Person,
    pub(crate) connection: u64,
    /// The last event that they have, and what it is called, as far as they know.
    pub(crate) after: Option<Seq>,
    pub(crate) last: Option<String>,
    pub(crate) answer: oneshot::Sender<Result<Joined, Full>>,
}

/// So many are in a session that nobody can come in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full;

/// Someone who is in.
#[derive(Debug)]
pub(crate) struct Joined {
    /// The first thing to tell them.
    pub(crate) welcome: Utf8Bytes,
    /// The last event in it.
    pub(crate) seq: Seq,
    /// Connections that it names.
    pub(crate) known: BTreeSet<u64>,
    /// What is told from then on.
    pub(crate) casts: broadcast::Receiver<Cast>,
}

/// Everything, once more.
#[derive(Debug)]
pub(crate) struct Again {
    pub(crate) snapshot: Utf8Bytes,
    pub(crate) seq: Seq,
    pub(crate) people: Vec<Presence>,
}

/// What isn't kept.
#[derive(Clone, Debug)]
pub(crate) enum Saying {
    Here(At),
    Name(String),
    Preview(Option<Setting>),
    Bring,
}

/// What all who are there are told.
#[derive(Clone, Debug)]
pub(crate) enum Cast {
    /// An event, with its number.
    Event(Seq, Utf8Bytes),
    /// Something that isn't kept, with the connection that it is of.
    Tell(u64, Utf8Bytes),
    /// Someone left.
    Gone(u64, Utf8Bytes),
    /// A link ended: whoever came by it leaves.
    Cut(Arc<str>),
}

/// A task with a session.
#[derive(Debug)]
pub(super) struct Keeper {
    reviews: Arc<Reviews>,
    review: Arc<str>,
    /// None before it is loaded, and after the store failed.
    room: Option<Room>,
    /// The last event that was told.
    told: Option<Seq>,
    saved: Seq,
    seats: BTreeMap<u64, Seat>,
    foreign: Foreign,
    casts: broadcast::Sender<Cast>,
    /// The room as it was last told, as text.
    snapshot: Option<(Seq, Utf8Bytes)>,
}

impl Keeper {
    pub(super) fn new(reviews: Arc<Reviews>, review: Arc<str>) -> Self {
        let (casts, _) = broadcast::channel(BEHIND);
        Self {
            reviews,
            review,
            room: None,
            told: None,
            saved: 0,
            seats: BTreeMap::new(),
            foreign: Foreign::default(),
            casts,
            snapshot: None,
        }
    }

    /// Keeps the session until nobody has been in it for a while.
    pub(super) async fn run(mut self, mut mailbox: mpsc::Receiver<Message>) {
        self.say(NoticeKind::Who);
        let mut look = interval_at(Instant::now() + LOOK, LOOK);
        let mut idle = Instant::now() + IDLE;
        loop {
            let message = tokio::select! {
                message = mailbox.recv() => message,
                _ = look.tick(), if !self.seats.is_empty() => {
                    self.beat().await;
                    continue;
                }
                () = sleep_until(idle), if self.seats.is_empty() => break,
            };
            let Some(message) = message else { return };
            self.take(message, &mut mailbox).await;
            idle = Instant::now() + IDLE;
        }
        // Whoever finds the mailbox closed asks for another keeper.
        self.reviews.forget(&self.review, &mut mailbox);
        self.save(0).await;
    }

    /// Takes a message, and with a change all changes that wait behind it.
    async fn take(&mut self, message: Message, mailbox: &mut mpsc::Receiver<Message>) {
        let (mut asked, mut next) = (vec![], Some(message));
        while let Some(message) = next {
            match message {
                Message::Do(change) => asked.push(*change),
                // These see the room after what was asked for before them.
                Message::Join(_) | Message::Again(_) if !asked.is_empty() => {
                    self.settle(std::mem::take(&mut asked)).await;
                    self.act(message).await;
                }
                Message::Join(_)
                | Message::Again(_)
                | Message::Say(..)
                | Message::Leave(_)
                | Message::Cut(_)
                | Message::Heard(_) => self.act(message).await,
            }
            next = if asked.len() < BATCH { mailbox.try_recv().ok() } else { None };
        }
        if !asked.is_empty() {
            self.settle(asked).await;
        }
    }

    async fn act(&mut self, message: Message) {
        match message {
            Message::Do(change) => self.settle(vec![*change]).await,
            Message::Join(joining) => self.join(*joining).await,
            Message::Again(answer) => {
                if let Some((seq, snapshot)) = self.current().await {
                    let people = self.people().collect();
                    let _ = answer.send(Again { snapshot, seq, people });
                }
            }
            Message::Say(connection, saying) => self.hear(connection, saying),
            Message::Leave(connection) => {
                if self.seats.remove(&connection).is_some() {
                    self.tell(connection, &Tell::Gone { connection });
                }
            }
            Message::Cut(link) => {
                self.say(NoticeKind::Cut { link: link.clone() });
                self.cut(link);
            }
            Message::Heard(notice) => self.heard(notice).await,
        }
    }

    /// Settles changes, and whatever happened through other servers.
    async fn settle(&mut self, asked: Vec<Asked>) {
        let reviews = Arc::clone(&self.reviews);
        let answers: Vec<_> =
            asked.iter().map(|asked| (asked.op.clone(), asked.answer.clone())).collect();
        let batch = Batch {
            review: Arc::clone(&self.review),
            room: self.room.take(),
            told: self.told,
            links: self.seats.values().map(|seat| seat.link.to_string()).collect(),
            asked,
        };
        let work = move || settle(&reviews.store()?, batch);
        let review = logged::key(&self.review);
        let outcomes = match tokio::task::spawn_blocking(work).await {
            Ok(Ok(settled)) => self.settled(settled),
            Ok(Err(error)) => {
                tracing::error!(review, %error, "changes can't be written down");
                vec![]
            }
            Err(error) => {
                tracing::error!(review, %error, "changes couldn't be settled");
                vec![]
            }
        };
        let outcomes = outcomes.into_iter().chain(std::iter::repeat(Outcome::Broken));
        for ((op, answer), outcome) in answers.into_iter().zip(outcomes) {
            // Who asked may be gone.
            let _ = answer.send(Answer { op, outcome });
        }
        self.save(SAVE_EVERY).await;
    }

    fn settled(&mut self, settled: Settled) -> Vec<Outcome> {
        let Settled { room, events, outcomes, ended } = settled;
        let before = self.told;
        self.told = Some(room.seq);
        if before.is_none() {
            self.saved = room.seq;
        }
        self.room = Some(room);
        for event in events {
            let told = Tell::Event { event: Box::new(event.as_ref().clone()) };
            let _ = self.casts.send(Cast::Event(event.seq, text(&told)));
        }
        if outcomes.iter().any(|outcome| matches!(outcome, Outcome::New(_))) {
            self.say(NoticeKind::Seq { seq: self.told.unwrap_or_default() });
        }
        ended.into_iter().for_each(|link| self.cut(link));
        outcomes
    }

    /// Keeps the room where that hasn't been done for so many events.
    async fn save(&mut self, every: u64) {
        let Some(room) = &self.room else { return };
        if room.seq <= self.saved + every {
            return;
        }
        self.saved = room.seq;
        let (reviews, review, room) =
            (Arc::clone(&self.reviews), Arc::clone(&self.review), room.clone());
        let work = move || {
            let json = serde_json::to_string(&room).unwrap_or_default();
            ledger::save(&reviews.store()?, &review, room.seq, json)
        };
        if let Ok(Err(error)) = tokio::task::spawn_blocking(work).await {
            // The next opening is slower, and that is all.
            tracing::warn!(review = logged::key(&self.review), %error, "a room can't be kept");
        }
    }

    /// The room as text, with its last event; none while the store can't be used.
    async fn current(&mut self) -> Option<(Seq, Utf8Bytes)> {
        if self.room.is_none() {
            self.settle(vec![]).await;
        }
        let room = self.room.as_ref()?;
        if let Some((seq, snapshot)) = &self.snapshot
            && *seq == room.seq
        {
            return Some((*seq, snapshot.clone()));
        }
        let snapshot = text(&Tell::Snapshot { room: Box::new(room.clone()) });
        self.snapshot = Some((room.seq, snapshot.clone()));
        Some((room.seq, snapshot))
    }

    async fn join(&mut self, joining: Joining) {
        let Joining { grant, person, connection, after, last, answer } = joining;
        if self.seats.len() >= MAX_PEOPLE {
            let _ = answer.send(Err(Full));
            return;
        }
        self.settle(vec![]).await;
        // Without a room nobody comes in: the answer is dropped, and they try again.
        let Some(start) = self.start(after, last).await else { return };
        let Some(room) = &self.room else { return };
        let seq = room.seq;
        let presence = Presence { connection, person, role: grant.role, at: At::default() };
        let welcome = text(&Tell::Welcome {
            connection,
            you: presence.person.clone(),
            role: grant.role,
            model_version: model::MODEL_VERSION.to_owned(),
            start,
            people: self.people().collect(),
        });
        let known = self.people().map(|presence| presence.connection).collect();
        let joined = Joined { welcome, seq, known, casts: self.casts.subscribe() };
        if answer.send(Ok(joined)).is_err() {
            return;
        }
        self.tell(connection, &Tell::Present { presence: presence.clone() });
        self.seats.insert(connection, Seat { link: grant.link, presence });
    }

    /// Where someone goes on who has that event.
    async fn start(&self, after: Option<Seq>, last: Option<String>) -> Option<Start> {
        let room = self.room.as_ref()?;
        let whole = || Some(Start::Room { room: Box::new(room.clone()) });
        let missed = after.and_then(|after| room.seq.checked_sub(after));
        let (Some(after), Some(missed)) = (after, missed) else { return whole() };
        if missed > MAX_MISSED {
            return whole();
        }
        let (reviews, review, newest) =
            (Arc::clone(&self.reviews), Arc::clone(&self.review), room.seq);
        // With the one that they have: in a store that was brought back it may be another one.
        let from = after.saturating_sub(1);
        let work = move || ledger::events(&reviews.store()?, &review, from, missed as u32 + 1);
        let mut events = tokio::task::spawn_blocking(work).await.ok()?.ok()?;
        if let Some(first) = events.first().filter(|first| first.seq == after) {
            if last.is_some_and(|last| last != first.op) {
                return whole();
            }
            events.remove(0);
        }
        if events.last().is_none_or(|event| event.seq == newest) {
            return Some(Start::Events { events });
        }
        whole()
    }

    /// All who are there, here and through other servers.
    fn people(&self) -> impl Iterator<Item = Presence> {
        self.seats.values().map(|seat| &seat.presence).chain(self.foreign.people()).cloned()
    }

    fn hear(&mut self, connection: u64, saying: Saying) {
        let Some(seat) = self.seats.get_mut(&connection) else { return };
        let presence = &mut seat.presence;
        let told = match saying {
            Saying::Here(at) => {
                presence.at = at;
                Tell::Present { presence: presence.clone() }
            }
            Saying::Name(name) => {
                presence.person.name = name;
                Tell::Present { presence: presence.clone() }
            }
            Saying::Preview(setting) => Tell::Preview { connection, setting },
            Saying::Bring => Tell::Bring { connection, at: presence.at.clone() },
        };
        self.tell(connection, &told);
    }

    /// Tells something of someone here to all, also through other servers.
    fn tell(&self, connection: u64, told: &Tell) {
        let said = text(told);
        self.say(NoticeKind::Tell { connection, text: said.as_str().to_owned() });
        let is_gone = matches!(told, Tell::Gone { .. });
        let cast = if is_gone { Cast::Gone } else { Cast::Tell }(connection, said);
        let _ = self.casts.send(cast);
    }

    fn cut(&mut self, link: String) {
        // Those who came by it leave by themselves.
        let _ = self.casts.send(Cast::Cut(link.into()));
    }

    fn say(&self, kind: NoticeKind) {
        self.reviews.notices.say(&self.review, kind);
    }

    async fn heard(&mut self, notice: Notice) {
        match notice.kind {
            NoticeKind::Seq { seq } => {
                if self.told.is_some_and(|told| told < seq) {
                    self.settle(vec![]).await;
                }
            }
            NoticeKind::Cut { link } => self.cut(link),
            NoticeKind::Who => self.show(),
            NoticeKind::Tell { connection, text } => {
                if let Some(told) = self.foreign.take(connection, &text) {
                    let _ = self.casts.send(told);
                }
            }
        }
    }

    /// Tells other servers who is here.
    fn show(&self) {
        for (connection, seat) in &self.seats {
            let told = text(&Tell::Present { presence: seat.presence.clone() });
            let text = told.as_str().to_owned();
            self.say(NoticeKind::Tell { connection: *connection, text });
        }
    }

    /// What is done now and then while somebody is there.
    async fn beat(&mut self) {
        self.settle(vec![]).await;
        if self.foreign.is_time() {
            self.show();
        }
        for connection in self.foreign.silent() {
            let gone = text(&Tell::Gone { connection });
            let _ = self.casts.send(Cast::Gone(connection, gone));
        }
    }
}

/// What is told, as it is sent.
pub(crate) fn text(told: &Tell) -> Utf8Bytes {
    // Neither a map with keys that aren't text nor a number that isn't one is in it.
    serde_json::to_string(told).unwrap_or_default().into()
}

/// May someone of that role show knobs on their way, and ask everyone to look?
pub(crate) fn may_lead(role: Role) -> bool {
    role >= Role::Edit
}

/// Connections that all have left, of those that someone was told of.
pub(crate) fn left(known: &BTreeSet<u64>, people: &[Presence]) -> Vec<u64> {
    let there: BTreeSet<u64> = people.iter().map(|presence| presence.connection).collect();
    known.difference(&there).copied().collect()
}
