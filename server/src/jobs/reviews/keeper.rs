//! The keeper of a session that is open: one task, so that there is one order of everything.
//!
//! The store has the last word. A keeper commits what waits together, in one transaction, and
//! tells it only then. That another server keeps the same session at the same time is fine: what
//! it added is found before anything is added here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use review::wire::{At, Presence, Start, Tell};
use review::{Change, Room, Seq};
use tokio::sync::{broadcast, mpsc};
use tokio::time::{Instant, interval_at, sleep_until};

use super::commit::{Answer, Batch, ChangeRequest, Committed, Outcome, commit_changes};
use super::foreign::Foreign;
use super::ledger;
use super::message::{Again, Cast, Full, Joined, Joining, Message, Showing, text};
use super::notice::NoticeKind;
use super::participant::{Cut, Participant};
use super::shared::Shared;
use crate::ground::log_fields;
use crate::people::audit::Line;

/// Changes that are written down together, at most.
const MAX_BATCH_CHANGES: usize = 64;

/// Messages that one client may be behind before it gets everything anew.
const MAX_BACKLOG_MESSAGES: usize = 1_024;

/// People in a session, at most, through this server.
const MAX_PEOPLE: usize = 200;

/// Events that someone who comes back gets one by one; more than that are the whole room.
const MAX_MISSED: u64 = 500;

/// Events after which the room is kept again.
const SNAPSHOT_EVENTS: u64 = 500;

/// Interval at which the store is read for what other servers did.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Time for which a session stays open that nobody is in.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// A task with a session.
#[derive(Debug)]
pub(super) struct Keeper {
    shared: Arc<Shared>,
    review: Arc<str>,
    /// The room; `None` before it is loaded, and after the store failed.
    room: Option<Room>,
    /// The last event that participants have.
    published: Option<Seq>,
    saved: Seq,
    participants: BTreeMap<u64, Participant>,
    foreign: Foreign,
    casts: broadcast::Sender<Cast>,
    /// The room as it was last sent, as text.
    snapshot: Option<(Seq, Utf8Bytes)>,
}

impl Keeper {
    pub(super) fn new(shared: Arc<Shared>, review: Arc<str>) -> Self {
        let (casts, _) = broadcast::channel(MAX_BACKLOG_MESSAGES);
        Self {
            shared,
            review,
            room: None,
            published: None,
            saved: 0,
            participants: BTreeMap::new(),
            foreign: Foreign::default(),
            casts,
            snapshot: None,
        }
    }

    /// Keeps the session until nobody has been in it for a while.
    pub(super) async fn run(mut self, mut mailbox: mpsc::Receiver<Message>) {
        self.notify(NoticeKind::Who);
        let mut poll = interval_at(Instant::now() + POLL_INTERVAL, POLL_INTERVAL);
        let mut idle = Instant::now() + IDLE_TIMEOUT;
        loop {
            let message = tokio::select! {
                message = mailbox.recv() => message,
                _ = poll.tick(), if !self.participants.is_empty() => {
                    self.poll().await;
                    continue;
                }
                () = sleep_until(idle), if self.participants.is_empty() => break,
            };
            let Some(message) = message else { return };
            self.take(message, &mut mailbox).await;
            idle = Instant::now() + IDLE_TIMEOUT;
        }
        // Whoever finds the mailbox closed asks for another keeper.
        self.shared.forget(&self.review, &mut mailbox);
        self.save(0).await;
    }

    /// Takes a message, and with a change all changes that wait behind it.
    async fn take(&mut self, message: Message, mailbox: &mut mpsc::Receiver<Message>) {
        let (mut requests, mut next) = (vec![], Some(message));
        while let Some(message) = next {
            match message {
                Message::Do(change) => requests.push(*change),
                // These see the room after what was requested before them.
                Message::Join(_) | Message::Again(_) if !requests.is_empty() => {
                    self.commit(std::mem::take(&mut requests)).await;
                    self.act(message).await;
                }
                Message::Join(_)
                | Message::Again(_)
                | Message::Show(..)
                | Message::Leave(_)
                | Message::Cut(_)
                | Message::Notice(_) => self.act(message).await,
            }
            next = if requests.len() < MAX_BATCH_CHANGES { mailbox.try_recv().ok() } else { None };
        }
        if !requests.is_empty() {
            self.commit(requests).await;
        }
    }

    async fn act(&mut self, message: Message) {
        match message {
            Message::Do(change) => self.commit(vec![*change]).await,
            Message::Join(joining) => self.join(*joining).await,
            Message::Again(answer) => {
                if let Some((seq, snapshot)) = self.current().await {
                    let people = self.people().collect();
                    let _ = answer.send(Again { snapshot, seq, people });
                }
            }
            Message::Show(connection, showing) => self.show(connection, showing),
            Message::Leave(connection) => {
                if self.participants.remove(&connection).is_some() {
                    self.tell(connection, &Tell::Gone { connection });
                }
            }
            Message::Cut(cut) => {
                self.notify(match &cut {
                    Cut::Link(link) => NoticeKind::Cut { link: link.to_string() },
                    Cut::Session => NoticeKind::Deleted,
                });
                self.cut(cut);
            }
            Message::Notice(notice) => self.take_notice(notice).await,
        }
    }

    /// Commits changes, and takes whatever happened through other servers.
    async fn commit(&mut self, requests: Vec<ChangeRequest>) {
        let shared = Arc::clone(&self.shared);
        let asked = |request: &ChangeRequest| {
            (request.op.clone(), request.answer.clone(), Arc::clone(&request.address))
        };
        let answers: Vec<_> = requests.iter().map(asked).collect();
        let batch = Batch {
            review: Arc::clone(&self.review),
            room: self.room.take(),
            published: self.published,
            links: self.participants.values().map(|one| one.link.to_string()).collect(),
            requests,
        };
        let work = move || commit_changes(&shared.store()?, batch);
        let review = log_fields::key(&self.review);
        let outcomes = match tokio::task::spawn_blocking(work).await {
            Ok(Ok(committed)) => self.publish(committed),
            Ok(Err(error)) => {
                tracing::error!(review, %error, "changes can't be written down");
                vec![]
            }
            Err(error) => {
                tracing::error!(review, %error, "changes couldn't be committed");
                vec![]
            }
        };
        let outcomes = outcomes.into_iter().chain(std::iter::repeat(Outcome::Broken));
        for ((op, answer, address), outcome) in answers.into_iter().zip(outcomes) {
            self.tell_decision(&outcome, &address);
            // Whoever requested it may be gone.
            let _ = answer.send(Answer { op, outcome });
        }
        self.save(SNAPSHOT_EVENTS).await;
    }

    fn publish(&mut self, committed: Committed) -> Vec<Outcome> {
        let Committed { room, events, outcomes, ended } = committed;
        let before = self.published;
        self.published = Some(room.seq);
        if before.is_none() {
            self.saved = room.seq;
        }
        self.room = Some(room);
        for event in events {
            let event_message = Tell::Event { event: Box::new(event.as_ref().clone()) };
            let _ = self.casts.send(Cast::Event(event.seq, text(&event_message)));
        }
        if outcomes.iter().any(|outcome| matches!(outcome, Outcome::New(_))) {
            self.notify(NoticeKind::Seq { seq: self.published.unwrap_or_default() });
        }
        if ended.is_deleted {
            self.cut(Cut::Session);
        } else {
            ended.links.into_iter().for_each(|link| self.cut(Cut::Link(link.into())));
        }
        outcomes
    }

    /// Tells the audit log who decided, and from where.
    fn tell_decision(&self, outcome: &Outcome, address: &str) {
        let (Some(audit), Outcome::New(event)) = (self.shared.audit.get(), outcome) else { return };
        if matches!(event.change, Change::Decide { .. }) {
            let user = event.by.is_vouched.then(|| event.by.name.clone());
            let (act, of) = ("session.decide".to_owned(), log_fields::key(&self.review));
            let address = Some(address.to_owned());
            audit.record(Line { act, of: Some(of), user, address, ..Line::default() });
        }
    }

    /// Keeps the room if that hasn't been done for `every` events.
    async fn save(&mut self, every: u64) {
        let Some(room) = &self.room else { return };
        if room.seq <= self.saved + every {
            return;
        }
        self.saved = room.seq;
        let (shared, review, room) =
            (Arc::clone(&self.shared), Arc::clone(&self.review), room.clone());
        let work = move || {
            let json = serde_json::to_string(&room).unwrap_or_default();
            ledger::save(&shared.store()?, &review, room.seq, json)
        };
        if let Ok(Err(error)) = tokio::task::spawn_blocking(work).await {
            // The next opening is slower, and that is all.
            tracing::warn!(review = log_fields::key(&self.review), %error, "a room can't be kept");
        }
    }

    /// The room as text, with its last event; `None` while the store can't be used.
    async fn current(&mut self) -> Option<(Seq, Utf8Bytes)> {
        if self.room.is_none() {
            self.commit(vec![]).await;
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
        if self.participants.len() >= MAX_PEOPLE {
            let _ = answer.send(Err(Full));
            return;
        }
        self.commit(vec![]).await;
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
        self.participants.insert(connection, Participant { link: grant.link, presence });
    }

    /// Start for someone who has that event.
    async fn start(&self, after: Option<Seq>, last: Option<String>) -> Option<Start> {
        let room = self.room.as_ref()?;
        let whole = || Some(Start::Room { room: Box::new(room.clone()) });
        let missed = after.and_then(|after| room.seq.checked_sub(after));
        let (Some(after), Some(missed)) = (after, missed) else { return whole() };
        if missed > MAX_MISSED {
            return whole();
        }
        let (shared, review, newest) =
            (Arc::clone(&self.shared), Arc::clone(&self.review), room.seq);
        // With the one that they have: in a store that was brought back it may be another one.
        let from = after.saturating_sub(1);
        let work = move || ledger::events(&shared.store()?, &review, from, missed as u32 + 1);
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
        self.participants.values().map(|one| &one.presence).chain(self.foreign.people()).cloned()
    }

    fn show(&mut self, connection: u64, showing: Showing) {
        let Some(participant) = self.participants.get_mut(&connection) else { return };
        let presence = &mut participant.presence;
        let shown = match showing {
            Showing::Here(at) => {
                presence.at = at;
                Tell::Present { presence: presence.clone() }
            }
            Showing::Name(name) => {
                presence.person.name = name;
                Tell::Present { presence: presence.clone() }
            }
            Showing::Preview(setting) => Tell::Preview { connection, setting },
            Showing::Bring => Tell::Bring { connection, at: presence.at.clone() },
        };
        self.tell(connection, &shown);
    }

    /// Tells something of someone here to all, also through other servers.
    fn tell(&self, connection: u64, tell: &Tell) {
        let message = text(tell);
        self.notify(NoticeKind::Tell { connection, text: message.as_str().to_owned() });
        let is_gone = matches!(tell, Tell::Gone { .. });
        let cast = if is_gone { Cast::Gone } else { Cast::Tell }(connection, message);
        let _ = self.casts.send(cast);
    }

    fn cut(&mut self, cut: Cut) {
        // Those whom it concerns leave by themselves.
        let _ = self.casts.send(Cast::Cut(cut));
    }

    fn notify(&self, kind: NoticeKind) {
        self.shared.notices.send(&self.review, kind);
    }

    async fn take_notice(&mut self, notice: NoticeKind) {
        match notice {
            NoticeKind::Seq { seq } => {
                if self.published.is_some_and(|published| published < seq) {
                    self.commit(vec![]).await;
                }
            }
            NoticeKind::Cut { link } => self.cut(Cut::Link(link.into())),
            NoticeKind::Deleted => self.cut(Cut::Session),
            NoticeKind::Who => self.announce(),
            NoticeKind::Tell { connection, text } => {
                if let Some(cast) = self.foreign.take(connection, &text) {
                    let _ = self.casts.send(cast);
                }
            }
        }
    }

    /// Tells other servers who is here.
    fn announce(&self) {
        for (connection, participant) in &self.participants {
            let message = text(&Tell::Present { presence: participant.presence.clone() });
            let text = message.as_str().to_owned();
            self.notify(NoticeKind::Tell { connection: *connection, text });
        }
    }

    /// Takes what other servers did, now and then while somebody is there.
    async fn poll(&mut self) {
        self.commit(vec![]).await;
        if self.foreign.is_due() {
            self.announce();
        }
        for connection in self.foreign.silent() {
            let gone = text(&Tell::Gone { connection });
            let _ = self.casts.send(Cast::Gone(connection, gone));
        }
    }
}
