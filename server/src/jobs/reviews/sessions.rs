//! The review sessions of a server: who may come in, and the way to each session's keeper.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use review::{Change, Event, Person, Refusal, Role, Room, Seq};
use tokio::sync::{Semaphore, mpsc};

use super::commit::{ChangeRequest, Outcome};
use super::keeper::Keeper;
use super::ledger::{self, Link};
use super::message::Message;
use super::participant::{Cut, Grant};
use super::rate::Buckets;
use super::secret::{self, NoRandomness};
use super::shared::Shared;
use crate::ground::calendar::now_millis;
use crate::jobs::nats::Address;
use crate::net::address_counts::{AddressCounts, Place};
use crate::people::audit::Audit;
use crate::people::audit_events::Kind;
use crate::people::storage_usage;
use crate::store::{self, Store, StoreError};

/// Sockets of a server, at most.
const MAX_SOCKETS: usize = 2_000;

/// Sockets of an address, at most, by default: a company's network may be one address to it.
pub(crate) const SOCKETS_PER_ADDRESS: u32 = 256;

/// Readers of whole sessions at once.
const MAX_READERS: usize = 2;

/// Links of a session, at most, with those that were withdrawn.
const MAX_LINKS: u32 = 500;

/// Messages that may wait for a keeper.
const MAX_MAILBOX_MESSAGES: usize = 256;

/// Sessions that a client may begin at once, and then a second.
const BEGINNINGS: (u32, f64) = (200, 0.1);

/// Changes by one link over HTTP at once, and then a second.
const CHANGES: (u32, f64) = (120, 40.0);

/// Characters of what a client calls a change, at most.
const MAX_OP_LEN: usize = 64;

/// Characters of a browser's secret, at most.
const MAX_KEY_LEN: usize = 128;

/// Reason why a session can't be used now. What it says is for the server's log.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// The store can't be used.
    Store(StoreError),
    /// Lack of randomness for secrets.
    Secret(NoRandomness),
    /// A thread or task is gone: the server ends.
    Ending,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Secret(error) => error.fmt(f),
            Self::Ending => f.write_str(
                "what keeps the session gave no answer: a line before says why, or the \
                             server ends",
            ),
        }
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<NoRandomness> for Trouble {
    fn from(error: NoRandomness) -> Self {
        Self::Secret(error)
    }
}

/// A link with its secret, which is shown once.
#[derive(Clone, Debug)]
pub(crate) struct NewLink {
    pub(crate) link: Link,
    pub(crate) token: String,
}

/// The review sessions of a server.
#[derive(Debug)]
pub(crate) struct Reviews {
    shared: Arc<Shared>,
    pub(super) sockets: Arc<Semaphore>,
    /// Permits to go through a whole session's events: that takes its time.
    readers: Arc<Semaphore>,
    address_counts: Arc<AddressCounts>,
    /// The number of the last connection; each server begins with another one.
    connection: AtomicU64,
    beginnings: Buckets,
    changes: Buckets,
}

impl Reviews {
    /// The sessions of a store.
    pub(crate) fn new(store: Arc<store::Lazy>, nats: Option<Address>) -> Arc<Self> {
        let mut seed = [0; 4];
        // Without randomness there are no tokens either: nobody gets as far as a connection.
        let _ = getrandom::fill(&mut seed);
        // Below 2^53, so that every reader of JSON has it exactly.
        let connection = u64::from(u32::from_le_bytes(seed)) << 20;
        Arc::new(Self {
            shared: Arc::new(Shared::new(store, nats)),
            sockets: Arc::new(Semaphore::new(MAX_SOCKETS)),
            readers: Arc::new(Semaphore::new(MAX_READERS)),
            address_counts: AddressCounts::new(u64::from(SOCKETS_PER_ADDRESS)),
            connection: AtomicU64::new(connection),
            beginnings: Buckets::new(BEGINNINGS.0, BEGINNINGS.1),
            changes: Buckets::new(CHANGES.0, CHANGES.1),
        })
    }

    /// Runs work on the store off the threads that answer requests. A server that keeps nothing has
    /// no session, and makes no file to say so.
    async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Trouble> {
        let shared = Arc::clone(&self.shared);
        let done = tokio::task::spawn_blocking(move || work(&shared.store()?)).await;
        done.map_err(|_| Trouble::Ending)?.map_err(Trouble::Store)
    }

    /// Whether a client may begin one more session now.
    pub(crate) fn may_begin(&self, client: &str) -> bool {
        self.beginnings.take(client)
    }

    /// Whether one more change may be requested by that link now.
    pub(crate) fn may_ask(&self, grant: &Grant) -> bool {
        self.changes.take(&format!("{}/{}", grant.review, grant.link))
    }

    /// Begins a session, with a link for each role; the strongest first.
    pub(crate) async fn create(
        self: &Arc<Self>,
        name: String,
        link: String,
        by: Person,
        id: String,
    ) -> Result<Vec<NewLink>, Trouble> {
        let now = now_millis();
        let op = format!("create-{}", secret::random()?);
        let first = Event { seq: 1, at_millis: now, by, op, change: Change::Create { name, link } };
        let made = Role::ALL.into_iter().rev().map(|role| new_link(role, String::new(), now, None));
        let made = made.collect::<Result<Vec<NewLink>, NoRandomness>>()?;
        let links = made.iter().map(|made| (made.link.clone(), secret::hash(&made.token)));
        let links = links.collect();
        self.ask(move |store| ledger::create(store, &id, first, links)).await?;
        Ok(made)
    }

    /// Grant that a token gives its holder in a session: `None` for a session that isn't there, a
    /// token that is wrong, and one that has ended.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        review: &str,
        token: &str,
    ) -> Result<Option<Grant>, Trouble> {
        if !secret::is_plain(review) || !secret::is_plain(token) || !self.shared.store.exists() {
            return Ok(None);
        }
        let (id, hash) = (review.to_owned(), secret::hash(token));
        let link = self.ask(move |store| ledger::enter(store, &id, hash, now_millis())).await?;
        Ok(link.map(|link| Grant {
            review: review.into(),
            link: link.id.into(),
            role: link.role,
            expires_at_millis: link.expires_at_millis,
        }))
    }

    /// The links of a session.
    pub(crate) async fn links(self: &Arc<Self>, review: &str) -> Result<Vec<Link>, Trouble> {
        let review = review.to_owned();
        self.ask(move |store| ledger::links(store, &review)).await
    }

    /// Makes a link; `None` if a session has too many.
    pub(crate) async fn add_link(
        self: &Arc<Self>,
        review: &str,
        role: Role,
        name: String,
        seconds: Option<u64>,
    ) -> Result<Option<NewLink>, Trouble> {
        let now = now_millis();
        let end = seconds.map(|seconds| now.saturating_add(seconds.saturating_mul(1_000)));
        let made = new_link(role, name, now, end)?;
        let (review, link) = (review.to_owned(), made.link.clone());
        let hash = secret::hash(&made.token);
        let added =
            self.ask(move |store| ledger::add_link(store, &review, link, hash, MAX_LINKS)).await?;
        Ok(added.then_some(made))
    }

    /// Withdraws a link; whoever came by it is out at once. False when there is none.
    pub(crate) async fn withdraw(
        self: &Arc<Self>,
        review: &str,
        link: &str,
    ) -> Result<bool, Trouble> {
        let (id, of) = (review.to_owned(), link.to_owned());
        let found = self.ask(move |store| ledger::withdraw(store, &id, &of, now_millis())).await?;
        if found {
            self.send(review, Message::Cut(Cut::Link(link.into()))).await?;
        }
        Ok(found)
    }

    /// Deletes a session; whoever is in it is out at once. False when there is none.
    pub(crate) async fn delete(
        self: &Arc<Self>,
        review: &str,
        data: PathBuf,
    ) -> Result<bool, Trouble> {
        let (shared, id) = (Arc::clone(&self.shared), review.to_owned());
        let work = move || storage_usage::delete(&data, &shared.store, Kind::Session, &id);
        let done = tokio::task::spawn_blocking(work).await.map_err(|_| Trouble::Ending)??;
        if done {
            self.send(review, Message::Cut(Cut::Session)).await?;
        }
        Ok(done)
    }

    /// Tells the audit log of decisions from now on.
    pub(crate) fn tell_decisions(&self, audit: Arc<Audit>) {
        let _ = self.shared.audit.set(audit);
    }

    /// The room after its last event, or after that one; `None` if it hasn't got so far.
    pub(crate) async fn room(
        self: &Arc<Self>,
        review: &str,
        at: Option<Seq>,
    ) -> Result<Option<Room>, Trouble> {
        let review = review.to_owned();
        let turn = Arc::clone(&self.readers).acquire_owned().await;
        let load = move |store: &Store| {
            // Held until the work is done, even when nobody waits for it any more.
            let _turn = turn;
            match at {
                None => ledger::load(store, &review).map(Some),
                Some(at) => ledger::load_at(store, &review, at),
            }
        };
        self.ask(load).await
    }

    /// Events behind one, `most` at most.
    pub(crate) async fn events(
        self: &Arc<Self>,
        review: &str,
        after: Seq,
        most: u32,
    ) -> Result<Vec<Event>, Trouble> {
        let review = review.to_owned();
        let turn = Arc::clone(&self.readers).acquire_owned().await;
        let read = move |store: &Store| {
            let _turn = turn;
            ledger::events(store, &review, after, most)
        };
        self.ask(read).await
    }

    /// Asks for a change and waits for what becomes of it.
    pub(crate) async fn change(
        self: &Arc<Self>,
        grant: &Grant,
        (by, address): (Person, &str),
        op: String,
        change: Change,
    ) -> Result<Outcome, Trouble> {
        let address: Arc<str> = address.into();
        // A keeper that is just leaving answers nothing; the next one does.
        for _ in 0..3 {
            let (answer, mut answered) = mpsc::unbounded_channel();
            let (by, op, change) = (by.clone(), op.clone(), change.clone());
            let (link, role) = (Arc::clone(&grant.link), grant.role);
            let address = Arc::clone(&address);
            let request = ChangeRequest { link, role, by, address, op, change, answer };
            self.send(&grant.review, Message::Do(Box::new(request))).await?;
            if let Some(answer) = answered.recv().await {
                return Ok(answer.outcome);
            }
        }
        Err(Trouble::Ending)
    }

    /// Says something to a session's keeper, who comes if there is none.
    pub(super) async fn send(&self, review: &str, message: Message) -> Result<(), Trouble> {
        let mut message = message;
        for _ in 0..3 {
            match self.mailbox(review).send(message).await {
                Ok(()) => return Ok(()),
                Err(mpsc::error::SendError(back)) => message = back,
            }
        }
        Err(Trouble::Ending)
    }

    fn mailbox(&self, review: &str) -> mpsc::Sender<Message> {
        self.shared.mailbox(review, |review| {
            let (sender, mailbox) = mpsc::channel(MAX_MAILBOX_MESSAGES);
            tokio::spawn(Keeper::new(Arc::clone(&self.shared), review).run(mailbox));
            sender
        })
    }

    /// Sets the number of sockets that one address may have.
    pub(crate) fn allow_sockets(&self, most: u32) {
        self.address_counts.allow(most.into());
    }

    /// Sessions that somebody has open, or had until a moment ago.
    pub(crate) fn open_sessions(&self) -> usize {
        self.shared.open()
    }

    /// Sockets that are open.
    pub(crate) fn open_sockets(&self) -> usize {
        MAX_SOCKETS.saturating_sub(self.sockets.available_permits())
    }

    /// Room for one more socket of an address, for as long as it is held.
    pub(crate) fn place(&self, address: &str) -> Option<Place> {
        AddressCounts::places(&self.address_counts, address, 1)
    }

    /// The texts of these events, by their numbers.
    pub(crate) async fn texts(
        self: &Arc<Self>,
        review: &str,
        of: Vec<Seq>,
    ) -> Result<Vec<Event>, Trouble> {
        let review = review.to_owned();
        self.ask(move |store| ledger::these(store, &review, of)).await
    }

    pub(super) fn next_connection(&self) -> u64 {
        self.connection.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits until nobody is connected, for so long at most: a server that ends says so to all.
    pub(crate) async fn emptied(&self) {
        // All permits are there once every socket has given its own back.
        drop(self.sockets.acquire_many(MAX_SOCKETS as u32).await);
    }
}

fn new_link(
    role: Role,
    name: String,
    now: u64,
    expires_at_millis: Option<u64>,
) -> Result<NewLink, NoRandomness> {
    let token = secret::random()?;
    // Unique within its session, which is all it needs; it isn't what opens it.
    let id = secret::random()?[..10].to_owned();
    let (made_at_millis, withdrawn_at_millis) = (now, None);
    let link = Link { id, role, name, made_at_millis, expires_at_millis, withdrawn_at_millis };
    Ok(NewLink { link, token })
}

/// An id for a session that is about to begin.
pub(crate) fn new_id() -> Result<String, Trouble> {
    Ok(secret::random()?)
}

/// The person of a browser's secret, or the user that a proxy vouches for.
///
/// # Errors
/// A secret or name that can't be one.
pub(crate) fn person(
    review: &str,
    user: Option<&str>,
    key: &str,
    name: Option<&str>,
) -> Result<Person, Refusal> {
    if let Some(user) = user {
        let name = review::clean_name(user)?;
        return Ok(Person { id: secret::user(review, &name), name, is_vouched: true });
    }
    if key.is_empty() || key.len() > MAX_KEY_LEN {
        return Err(invalid(format!("`key` has 1 to {MAX_KEY_LEN} bytes")));
    }
    let name = name.map(review::clean_name).transpose()?.unwrap_or_default();
    Ok(Person { id: secret::person(review, key), name, is_vouched: false })
}

/// Checks what a client calls a change.
///
/// # Errors
/// A name that can't be one.
pub(crate) fn check_op(op: &str) -> Result<(), Refusal> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if (1..=MAX_OP_LEN).contains(&op.len()) && op.bytes().all(is_fine) {
        return Ok(());
    }
    Err(invalid(format!("`op` has 1 to {MAX_OP_LEN} letters, digits, - and _")))
}

/// Checks that whoever changes something says who they are.
///
/// # Errors
/// Someone without a name.
pub(crate) fn check_name(person: &Person) -> Result<(), Refusal> {
    if person.name.is_empty() {
        return Err(invalid("say your name first: others see who changed what".to_owned()));
    }
    Ok(())
}

fn invalid(detail: String) -> Refusal {
    Refusal { cause: review::Cause::Invalid, detail, nearest: vec![] }
}
