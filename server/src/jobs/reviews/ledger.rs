//! Sessions in the store.
//!
//! Events are added behind the last one or not at all: whoever adds says which one they take for
//! the last. This is what keeps one order when several servers use one store.

use std::collections::{BTreeMap, BTreeSet};

use model::MODEL_VERSION;
use review::{Event, Role, Room, Seq};
use serde::Serialize;

use super::secret::Hash;
use crate::store::sql::{self, OptionalExtension, Row, params};
use crate::store::{Store, StoreError, Transaction};

/// A link into a session, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Link {
    /// Its name for programs.
    pub(crate) id: String,
    pub(crate) role: Role,
    /// Name that its maker gave it.
    pub(crate) name: String,
    pub(crate) made_at_millis: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub(crate) expires_at_millis: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub(crate) withdrawn_at_millis: Option<u64>,
}

impl Link {
    /// Whether it opens the session at this time.
    pub(crate) fn is_open(&self, now: u64) -> bool {
        self.withdrawn_at_millis.is_none() && self.expires_at_millis.is_none_or(|end| now < end)
    }

    /// Whether it has come to its end by this time, and nobody has noted that yet.
    fn has_expired(&self, now: u64) -> bool {
        self.withdrawn_at_millis.is_none() && !self.is_open(now)
    }
}

const LINK: &str = "id, role, name, made_at_millis, expires_at_millis, withdrawn_at_millis";

fn link(row: &Row) -> sql::Result<Link> {
    let role: String = row.get(1)?;
    let millis = |place| row.get::<Option<i64>>(place).map(|at| at.map(|at| at as u64));
    Ok(Link {
        id: row.get(0)?,
        // What isn't known may do least.
        role: Role::find(&role).unwrap_or(Role::View),
        name: row.get(2)?,
        made_at_millis: row.get::<i64>(3)? as u64,
        expires_at_millis: millis(4)?,
        withdrawn_at_millis: millis(5)?,
    })
}

fn event(row: &Row) -> sql::Result<Event> {
    parsed(row.text(0)?)
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> sql::Result<T> {
    serde_json::from_str(text).map_err(sql::Error::value)
}

fn written<T: Serialize>(value: &T) -> sql::Result<String> {
    serde_json::to_string(value).map_err(sql::Error::value)
}

/// Begins a session with its first event and links.
pub(super) fn create(
    store: &Store,
    review: &str,
    first: Event,
    links: Vec<(Link, Hash)>,
) -> Result<(), StoreError> {
    let review = review.to_owned();
    store.call(move |transaction| {
        transaction.execute(
            "INSERT INTO review (id, created_at_millis) VALUES (?1, ?2)",
            params![review, first.at_millis as i64],
        )?;
        insert(transaction, &review, &[first])?;
        links.iter().try_for_each(|(link, hash)| insert_link(transaction, &review, link, hash))
    })
}

fn insert(transaction: &Transaction<'_>, review: &str, events: &[Event]) -> sql::Result<()> {
    let insert = transaction.prepare(
        "INSERT INTO review_event (review, seq, op, at_millis, json) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for event in events {
        let (seq, at) = (event.seq as i64, event.at_millis as i64);
        insert.execute(params![review, seq, event.op, at, written(event)?])?;
    }
    Ok(())
}

fn insert_link(
    transaction: &Transaction<'_>,
    review: &str,
    link: &Link,
    hash: &Hash,
) -> sql::Result<()> {
    transaction.execute(
        "INSERT INTO review_link (review, id, hash, role, name, made_at_millis, \
         expires_at_millis) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            review,
            link.id,
            hash,
            link.role.name(),
            link.name,
            link.made_at_millis as i64,
            link.expires_at_millis.map(|at| at as i64),
        ],
    )?;
    Ok(())
}

/// The open link of a token. A session that isn't there and a token that is wrong are looked for
/// in the same way. One that is seen to have expired stays so, even if the clock goes back.
pub(super) fn enter(
    store: &Store,
    review: &str,
    hash: Hash,
    now: u64,
) -> Result<Option<Link>, StoreError> {
    let review = review.to_owned();
    let found = store.call(move |transaction| {
        let select = format!("SELECT {LINK} FROM review_link WHERE hash = ?1 AND review = ?2");
        let found = transaction.prepare(&select)?.query_row(params![hash, review], link);
        let found = found.optional()?;
        if found.as_ref().is_some_and(|link| link.has_expired(now)) {
            transaction.execute(
                "UPDATE review_link SET withdrawn_at_millis = expires_at_millis \
                 WHERE hash = ?1 AND review = ?2",
                params![hash, review],
            )?;
        }
        Ok(found)
    })?;
    Ok(found.filter(|link| link.is_open(now)))
}

/// The links of a session, oldest first.
pub(super) fn links(store: &Store, review: &str) -> Result<Vec<Link>, StoreError> {
    let review = review.to_owned();
    store.call(move |transaction| {
        let select = format!("SELECT {LINK} FROM review_link WHERE review = ?1 ORDER BY rowid");
        transaction.prepare(&select)?.query_map(params![review], link)?.collect()
    })
}

/// Adds a link, unless there are `most` already; `false` then.
pub(super) fn add_link(
    store: &Store,
    review: &str,
    link: Link,
    hash: Hash,
    most: u32,
) -> Result<bool, StoreError> {
    let review = review.to_owned();
    store.call(move |transaction| {
        let select = "SELECT count(*) FROM review_link WHERE review = ?1";
        let count: u32 = transaction.query_row(select, params![review], |row| row.get(0))?;
        if count >= most {
            return Ok(false);
        }
        insert_link(transaction, &review, &link, &hash)?;
        Ok(true)
    })
}

/// Withdraws a link; `false` if the session has none of that id.
pub(super) fn withdraw(
    store: &Store,
    review: &str,
    id: &str,
    now: u64,
) -> Result<bool, StoreError> {
    let (review, id) = (review.to_owned(), id.to_owned());
    store.call(move |transaction| {
        let changed = transaction.execute(
            "UPDATE review_link SET withdrawn_at_millis = coalesce(withdrawn_at_millis, ?3) \
             WHERE review = ?1 AND id = ?2",
            params![review, id, now as i64],
        )?;
        Ok(changed > 0)
    })
}

/// The room of a session as the store has it: the last snapshot and what came after.
pub(super) fn load(store: &Store, review: &str) -> Result<Room, StoreError> {
    replayed(store, review, i64::MAX)
}

/// The room of a session after this event; `None` if it hasn't got so far.
pub(super) fn load_at(store: &Store, review: &str, at: Seq) -> Result<Option<Room>, StoreError> {
    let at = i64::try_from(at).unwrap_or(i64::MAX);
    let room = replayed(store, review, at)?;
    Ok(Some(room).filter(|room| room.seq as i64 == at))
}

/// Events that are read in one turn: others have theirs in between, as all share one thread.
const PAGE_EVENTS: u32 = 1_000;

/// The room after the events up to one.
fn replayed(store: &Store, review: &str, to: i64) -> Result<Room, StoreError> {
    let mut room = snapshot(store, review, to)?.unwrap_or_default();
    each_event(store, review, room.seq, to, |event| room.apply(&event))?;
    Ok(room)
}

/// Room as it was saved at that event or before. Another version of the model may read events
/// otherwise, so that all are taken anew.
fn snapshot(store: &Store, review: &str, at: i64) -> Result<Option<Room>, StoreError> {
    let review = review.to_owned();
    let text: Option<String> = store.call(move |transaction| {
        let select = "SELECT json FROM review_snapshot WHERE review = ?1 AND seq <= ?2 AND \
                      model_version = ?3";
        let values = params![review, at, MODEL_VERSION];
        transaction.query_row(select, values, |row| row.get(0)).optional()
    })?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Goes through the events after one, up to another, in order. The store's thread only fetches
/// their texts, a page at a time; events are only ever added behind the last one.
fn each_event(
    store: &Store,
    review: &str,
    after: Seq,
    to: i64,
    mut take: impl FnMut(Event),
) -> Result<(), StoreError> {
    let mut after = i64::try_from(after).unwrap_or(i64::MAX);
    loop {
        let review = review.to_owned();
        let texts: Vec<(i64, String)> = store.call(move |transaction| {
            let select = "SELECT seq, json FROM review_event WHERE review = ?1 AND seq > ?2 AND \
                          seq <= ?3 ORDER BY seq LIMIT ?4";
            let of = |row: &Row| Ok((row.get(0)?, row.get(1)?));
            transaction
                .prepare(select)?
                .query_map(params![review, after, to, PAGE_EVENTS], of)?
                .collect()
        })?;
        let Some((last, _)) = texts.last() else { return Ok(()) };
        after = *last;
        for (_, text) in &texts {
            take(parsed(text)?);
        }
    }
}

/// Keeps a room, so that opening the session is quick.
pub(super) fn save(store: &Store, review: &str, seq: Seq, json: String) -> Result<(), StoreError> {
    let review = review.to_owned();
    store.call(move |transaction| {
        transaction.execute(
            "INSERT INTO review_snapshot (review, seq, model_version, json) \
             VALUES (?1, ?2, ?3, ?4) ON CONFLICT (review) DO UPDATE SET seq = excluded.seq, \
             model_version = excluded.model_version, json = excluded.json",
            params![review, seq as i64, MODEL_VERSION, json],
        )?;
        Ok(())
    })
}

/// Result of a look into the store.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Events after the one that was named, made through another server.
    pub(super) missed: Vec<Event>,
    /// Events of the requested names.
    pub(super) known: BTreeMap<String, Event>,
    /// Links, of the requested ones, that open nothing any more.
    pub(super) ended: Ended,
}

/// Links that open nothing any more.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) links: BTreeSet<String>,
    /// Whether the session is gone with all of its links.
    pub(super) is_deleted: bool,
}

/// Looks for what came after an event, which changes have happened already, and which links have
/// ended.
pub(super) fn look(
    store: &Store,
    review: &str,
    after: Seq,
    ops: Vec<String>,
    links: BTreeSet<String>,
    now: u64,
) -> Result<Look, StoreError> {
    let review = review.to_owned();
    store.call(move |transaction| {
        let missed = after_event(transaction, &review, after, u32::MAX)?;
        let mut known = BTreeMap::new();
        let select = "SELECT json FROM review_event WHERE review = ?1 AND op = ?2";
        let statement = transaction.prepare(select)?;
        for op in ops {
            if let Some(event) = statement.query_row(params![review, op], event).optional()? {
                known.insert(op, event);
            }
        }
        let ended = ended(transaction, &review, links, now)?;
        Ok(Look { missed, known, ended })
    })
}

fn ended(
    transaction: &Transaction<'_>,
    review: &str,
    links: BTreeSet<String>,
    now: u64,
) -> sql::Result<Ended> {
    if links.is_empty() {
        return Ok(Ended::default());
    }
    let mut ended = Ended { links, is_deleted: true };
    let select = format!("SELECT {LINK} FROM review_link WHERE review = ?1");
    let statement = transaction.prepare(&select)?;
    for found in statement.query_map(params![review], link)? {
        let found = found?;
        ended.is_deleted = false;
        if found.is_open(now) {
            ended.links.remove(&found.id);
        }
    }
    Ok(ended)
}

/// Adds events behind the one that is taken for the last. False when it isn't, or when a link that
/// they came by has ended: then nothing is added.
pub(super) fn append(
    store: &Store,
    review: &str,
    after: Seq,
    events: Vec<Event>,
    links: BTreeSet<String>,
    now: u64,
) -> Result<bool, StoreError> {
    let review = review.to_owned();
    store.call(move |transaction| {
        let select = "SELECT coalesce(max(seq), 0) FROM review_event WHERE review = ?1";
        let last: i64 =
            transaction.prepare(select)?.query_row(params![review], |row| row.get(0))?;
        if last as u64 != after || !ended(transaction, &review, links, now)?.links.is_empty() {
            return Ok(false);
        }
        insert(transaction, &review, &events)?;
        Ok(true)
    })
}

/// Events after one, in order, `most` at most.
pub(super) fn events(
    store: &Store,
    review: &str,
    after: Seq,
    most: u32,
) -> Result<Vec<Event>, StoreError> {
    let to = i64::try_from(after.saturating_add(u64::from(most))).unwrap_or(i64::MAX);
    let mut events = Vec::new();
    each_event(store, review, after, to, |event| events.push(event))?;
    Ok(events)
}

/// The events of these numbers.
pub(super) fn these(store: &Store, review: &str, of: Vec<Seq>) -> Result<Vec<Event>, StoreError> {
    let review = review.to_owned();
    store.call(move |transaction| {
        let select = "SELECT json FROM review_event WHERE review = ?1 AND seq = ?2";
        let select = transaction.prepare(select)?;
        let mut found = Vec::with_capacity(of.len());
        for seq in of {
            let seq = i64::try_from(seq).unwrap_or(i64::MAX);
            for event in select.query_map(params![review, seq], event)? {
                found.push(event?);
            }
        }
        Ok(found)
    })
}

fn after_event(
    transaction: &Transaction<'_>,
    review: &str,
    after: Seq,
    most: u32,
) -> sql::Result<Vec<Event>> {
    let select =
        "SELECT json FROM review_event WHERE review = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    transaction.prepare(select)?.query_map(params![review, after, most], event)?.collect()
}
