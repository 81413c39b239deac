//! Rows of the store on everything that is kept.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::stored_item::{SECONDS_PER_DAY, StoredItem};
use crate::ground::calendar;
use crate::people::audit_events::Kind;
use crate::people::owner::Owner;
use crate::store::sql::{OptionalExtension, Result as SqlResult, Row, params};
use crate::store::{Store, StoreError, Transaction};

/// Events of a session, or pieces of a sweep's rows, that are deleted in one turn of the store.
const BATCH_EVENTS: i64 = 1_000;
const BATCH_ROW_PIECES: i64 = 16;

/// Bytes of a session's events, of a sweep, and of a design.
const SESSION_BYTES: &str = "(SELECT CAST(coalesce(sum(length(json)), 0) AS BIGINT) \
                             FROM review_event WHERE review_event.review = review.id)";
const SWEEP_BYTES: &str = "length(sweep.spec) + coalesce(length(sweep.progress), 0) + \
                           coalesce(length(sweep.result), 0) + \
                           (SELECT CAST(coalesce(sum(length(rows)), 0) AS BIGINT) FROM sweep_rows \
                           WHERE sweep_rows.sweep = sweep.id)";
const DESIGN_BYTES: &str = "length(design.link) + coalesce(length(design.result), 0) + \
                            length(design_entry.name) + length(design_entry.note)";

/// Things that were noted today as opened.
#[derive(Debug, Default)]
pub(crate) struct OpenedNotes(Mutex<(u64, HashSet<(Kind, String)>)>);

impl OpenedNotes {
    /// Notes that an item was opened; `true` if it is the first time on this day.
    pub(crate) fn is_first(&self, kind: Kind, id: &str, now_secs: u64) -> bool {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let day = now_secs / SECONDS_PER_DAY;
        if notes.0 != day {
            *notes = (day, HashSet::new());
        }
        notes.1.insert((kind, id.to_owned()))
    }
}

/// Notes the day on which something was opened.
pub(crate) fn note(store: &Store, kind: Kind, id: &str, now_secs: u64) -> Result<(), StoreError> {
    let (id, day) = (id.to_owned(), (now_secs / SECONDS_PER_DAY) as i64);
    store.call(move |transaction| {
        transaction.execute(
            "INSERT INTO opened (kind, id, day) VALUES (?1, ?2, ?3) \
             ON CONFLICT (kind, id) DO UPDATE SET day = excluded.day",
            params![kind.name(), id, day],
        )?;
        Ok(())
    })
}

/// Notes who made something.
pub(crate) fn own(
    store: &Store,
    kind: Kind,
    id: &str,
    owner: &Owner,
    bytes: u64,
) -> Result<(), StoreError> {
    let (id, owner) = (id.to_owned(), owner.as_str().to_owned());
    let now = calendar::now_secs() as i64;
    store.call(move |transaction| {
        transaction.execute(
            "INSERT INTO owned (kind, id, owner, bytes, created_at_secs) \
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (kind, id, owner) DO NOTHING",
            params![kind.name(), id, owner, bytes as i64, now],
        )?;
        Ok(())
    })
}

/// Kind in the table for an item that a user made and that counts as a browser's: so it was before
/// users were owners.
fn signed(kind: Kind) -> String {
    format!("user of {}", kind.name())
}

/// Makers of an item: browsers, and users for whom a proxy vouched.
pub(crate) fn makers(store: &Store, kind: Kind, id: &str) -> Result<Vec<String>, StoreError> {
    let id = id.to_owned();
    store.call(move |transaction| {
        let select = "SELECT owner FROM owned WHERE id = ?1 AND (kind = ?2 OR kind = ?3)";
        let values = params![id, kind.name(), signed(kind)];
        transaction.prepare(select)?.query_map(values, |row| row.get(0))?.collect()
    })
}

/// Forgets whose something is, and when it was opened: it goes.
pub(crate) fn forget(transaction: &Transaction<'_>, kind: Kind, id: &str) -> SqlResult<()> {
    let delete = "DELETE FROM owned WHERE id = ?1 AND (kind = ?2 OR kind = ?3)";
    transaction.execute(delete, params![id, kind.name(), signed(kind)])?;
    let delete = "DELETE FROM opened WHERE id = ?1 AND kind = ?2";
    transaction.execute(delete, params![id, kind.name()])?;
    Ok(())
}

/// Owners that an item still has once it was taken from one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemainingOwners {
    Others,
    Nobody,
}

/// Takes something from an owner; `None` if it isn't theirs.
pub(super) fn take(
    store: &Store,
    kind: Kind,
    id: &str,
    owner: &str,
) -> Result<Option<RemainingOwners>, StoreError> {
    let (id, owner) = (id.to_owned(), owner.to_owned());
    let of = match kind {
        Kind::Design => "design_entry WHERE design = ?1".to_owned(),
        Kind::Session | Kind::Sweep | Kind::Trace => {
            format!("owned WHERE id = ?1 AND kind = '{}'", kind.name())
        }
    };
    store.call(move |transaction| {
        let delete = format!("DELETE FROM {of} AND owner = ?2");
        if transaction.execute(&delete, params![id, owner])? == 0 {
            return Ok(None);
        }
        let count = format!("SELECT count(*) FROM {of}");
        let left: i64 = transaction.query_row(&count, params![id], |row| row.get(0))?;
        Ok(Some(if left == 0 { RemainingOwners::Nobody } else { RemainingOwners::Others }))
    })
}

/// Number of items of a kind, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

/// Usage of an owner, by kind.
pub(crate) fn used_by(store: &Store, owner: &Owner) -> Result<Vec<(Kind, Sum)>, StoreError> {
    let owner = owner.as_str().to_owned();
    let owned = |kind: Kind, of: &str, bytes: &str| {
        format!(
            "SELECT count(*), CAST(coalesce(sum({bytes}), 0) AS BIGINT) FROM owned \
             JOIN {of} ON {of}.id = owned.id WHERE owned.owner = ?1 AND owned.kind = '{}'",
            kind.name()
        )
    };
    let selects = [
        (
            Kind::Design,
            format!(
                "SELECT count(*), CAST(coalesce(sum({DESIGN_BYTES}), 0) AS BIGINT) \
                 FROM design_entry JOIN design ON design.id = design_entry.design \
                 WHERE design_entry.owner = ?1"
            ),
        ),
        (Kind::Session, owned(Kind::Session, "review", SESSION_BYTES)),
        (Kind::Sweep, owned(Kind::Sweep, "sweep", SWEEP_BYTES)),
        (
            Kind::Trace,
            "SELECT count(*), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM owned \
             WHERE owner = ?1 AND kind = 'trace'"
                .to_owned(),
        ),
    ];
    store.call(move |transaction| {
        let sum = |row: &Row| {
            let [count, bytes] = [row.get::<i64>(0)?, row.get::<i64>(1)?];
            Ok(Sum { count: count as u64, bytes: bytes as u64 })
        };
        let each = selects.into_iter().map(|(kind, select)| {
            transaction.query_row(&select, params![owner], sum).map(|sum| (kind, sum))
        });
        each.collect()
    })
}

/// Owners of the items of a kind, as pairs of id and owner.
pub(super) fn owners(store: &Store, kind: Kind) -> Result<Vec<(String, String)>, StoreError> {
    store.call(move |transaction| {
        let select = transaction
            .prepare("SELECT id, owner FROM owned WHERE kind = ?1 ORDER BY id, owner")?;
        let rows = select.query_map(params![kind.name()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    })
}

/// All items of a kind, oldest first.
pub(super) fn items(store: &Store, kind: Kind) -> Result<Vec<StoredItem>, StoreError> {
    let joins = |of: &str| {
        format!(
            "LEFT JOIN owned ON owned.kind = ?1 AND owned.id = {of}.id \
             LEFT JOIN opened ON opened.kind = ?1 AND opened.id = {of}.id"
        )
    };
    // Id, owner, bytes, when it was made, when something happened to it last, seconds; the day on
    // which it was opened.
    let select = match kind {
        Kind::Design => format!(
            "SELECT design.id, design_entry.owner, {DESIGN_BYTES}, design_entry.created_at_secs, \
             0, coalesce(opened.day, 0) FROM design_entry \
             JOIN design ON design.id = design_entry.design \
             LEFT JOIN opened ON opened.kind = ?1 AND opened.id = design.id \
             ORDER BY design_entry.created_at_secs, design.id"
        ),
        Kind::Session => format!(
            "SELECT review.id, owned.owner, {SESSION_BYTES}, review.created_at_millis / 1000, \
             (SELECT coalesce(max(at_millis), 0) / 1000 FROM review_event \
             WHERE review_event.review = review.id), coalesce(opened.day, 0) FROM review {} \
             ORDER BY review.created_at_millis, review.id",
            joins("review")
        ),
        Kind::Sweep => format!(
            "SELECT sweep.id, owned.owner, {SWEEP_BYTES}, sweep.created_at_secs, 0, \
             coalesce(opened.day, 0) FROM sweep {} ORDER BY sweep.created_at_secs, sweep.id",
            joins("sweep")
        ),
        Kind::Trace => return Ok(vec![]),
    };
    store.call(move |transaction| {
        let number = |row: &Row, place| row.get::<i64>(place).map(|number| number as u64);
        let item = |row: &Row| {
            let (created, changed) = (number(row, 3)?, number(row, 4)?);
            let opened = number(row, 5)? * SECONDS_PER_DAY;
            Ok(StoredItem {
                kind,
                id: row.get(0)?,
                owner: row.get(1)?,
                bytes: number(row, 2)?,
                created_at_secs: created,
                used_at_secs: created.max(changed).max(opened),
            })
        };
        transaction.prepare(&select)?.query_map(params![kind.name()], item)?.collect()
    })
}

/// Things of a kind that nobody has used since, at most `most`: sweeps that don't run, sessions
/// without an event, designs that nobody stored again; and none that was opened.
pub(crate) fn due(
    store: &Store,
    kind: Kind,
    before_secs: u64,
    most: usize,
) -> Result<Vec<String>, StoreError> {
    let not_opened = |of: &str| {
        format!(
            "NOT EXISTS (SELECT 1 FROM opened WHERE opened.kind = ?2 AND opened.id = {of}.id \
             AND opened.day * {SECONDS_PER_DAY} >= ?1)"
        )
    };
    let select = match kind {
        Kind::Sweep => format!(
            "SELECT id FROM sweep WHERE created_at_secs < ?1 AND state <> 'running' AND {} \
             LIMIT ?3",
            not_opened("sweep")
        ),
        Kind::Session => format!(
            "SELECT id FROM review WHERE created_at_millis < ?1 * 1000 AND {} AND NOT EXISTS \
             (SELECT 1 FROM review_event WHERE review_event.review = review.id \
             AND at_millis >= ?1 * 1000) LIMIT ?3",
            not_opened("review")
        ),
        Kind::Design => format!(
            "SELECT id FROM design WHERE created_at_secs < ?1 AND {} AND NOT EXISTS \
             (SELECT 1 FROM design_entry WHERE design_entry.design = design.id \
             AND design_entry.created_at_secs >= ?1) LIMIT ?3",
            not_opened("design")
        ),
        Kind::Trace => return Ok(vec![]),
    };
    store.call(move |transaction| {
        let values = params![before_secs as i64, kind.name(), most as i64];
        transaction.prepare(&select)?.query_map(values, |row| row.get(0))?.collect()
    })
}

/// Lines of the store on an item; nothing of tokens, and no address.
pub(super) fn export(store: &Store, kind: Kind, id: &str) -> Result<Vec<Value>, StoreError> {
    let id = id.to_owned();
    store.call(move |transaction| match kind {
        Kind::Design => designs(transaction, &id),
        Kind::Session => session(transaction, &id),
        Kind::Sweep => sweep(transaction, &id),
        Kind::Trace => Ok(vec![]),
    })
}

/// JSON that was kept as text.
fn parsed(text: Option<String>) -> Value {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null)
}

fn designs(transaction: &Transaction<'_>, id: &str) -> SqlResult<Vec<Value>> {
    let select = "SELECT design.link, design.model_version, design.result, design_entry.owner, \
                  design_entry.name, design_entry.note, design_entry.created_at_secs FROM design \
                  JOIN design_entry ON design_entry.design = design.id WHERE design.id = ?1";
    let line = |row: &Row| {
        Ok(json!({
            "kind": "design", "id": id, "link": row.get::<String>(0)?,
            "model_version": row.get::<String>(1)?, "metrics": parsed(row.get(2)?),
            "owner": row.get::<String>(3)?, "name": row.get::<String>(4)?,
            "note": row.get::<String>(5)?,
            "created_at": calendar::moment(row.get::<i64>(6)? as u64),
        }))
    };
    transaction.prepare(select)?.query_map(params![id], line)?.collect()
}

fn session(transaction: &Transaction<'_>, id: &str) -> SqlResult<Vec<Value>> {
    let select = "SELECT created_at_millis FROM review WHERE id = ?1";
    let made: Option<i64> =
        transaction.query_row(select, params![id], |row| row.get(0)).optional()?;
    let Some(made) = made else { return Ok(vec![]) };
    let owner = owner(transaction, Kind::Session, id)?;
    let made = calendar::moment(made as u64 / 1_000);
    let mut lines = vec![json!({
        "kind": "session", "id": id, "owner": owner, "created_at": made,
    })];
    let select = "SELECT json FROM review_event WHERE review = ?1 ORDER BY seq";
    let line =
        |row: &Row| Ok(json!({"kind": "event", "session": id, "event": parsed(row.get(0)?)}));
    for event in transaction.prepare(select)?.query_map(params![id], line)? {
        lines.push(event?);
    }
    Ok(lines)
}

fn sweep(transaction: &Transaction<'_>, id: &str) -> SqlResult<Vec<Value>> {
    let select = "SELECT spec, state, result, model_version, created_at_secs FROM sweep \
                  WHERE id = ?1";
    let owner = owner(transaction, Kind::Sweep, id)?;
    let line = |row: &Row| {
        Ok(json!({
            "kind": "sweep", "id": id, "owner": owner, "spec": parsed(row.get(0)?),
            "state": row.get::<String>(1)?, "result": parsed(row.get(2)?),
            "model_version": row.get::<String>(3)?,
            "created_at": calendar::moment(row.get::<i64>(4)? as u64),
        }))
    };
    let found = transaction.query_row(select, params![id], line).optional()?;
    Ok(found.into_iter().collect())
}

fn owner(transaction: &Transaction<'_>, kind: Kind, id: &str) -> SqlResult<Option<String>> {
    let select = "SELECT owner FROM owned WHERE kind = ?1 AND id = ?2 ORDER BY owner LIMIT 1";
    transaction.query_row(select, params![kind.name(), id], |row| row.get(0)).optional()
}

/// Deletes what the store has of an item; false where that is nothing. A session's links go first,
/// so that nobody comes in while its events go, some at a time.
pub(super) fn delete(store: &Store, kind: Kind, id: &str) -> Result<bool, StoreError> {
    let run = |statement: &'static str, piece: i64| {
        let id = id.to_owned();
        store.call(move |transaction| transaction.execute(statement, params![id, piece]))
    };
    let all = |statement: &'static str| {
        let id = id.to_owned();
        store.call(move |transaction| transaction.execute(statement, params![id]))
    };
    let found = match kind {
        Kind::Design => {
            all("DELETE FROM design_entry WHERE design = ?1")?;
            all("DELETE FROM design WHERE id = ?1")?
        }
        Kind::Session => {
            all("DELETE FROM review_link WHERE review = ?1")?;
            all("DELETE FROM review_snapshot WHERE review = ?1")?;
            while run(
                "DELETE FROM review_event WHERE review = ?1 AND seq IN \
                 (SELECT seq FROM review_event WHERE review = ?1 ORDER BY seq DESC LIMIT ?2)",
                BATCH_EVENTS,
            )? > 0
            {}
            all("DELETE FROM review WHERE id = ?1")?
        }
        Kind::Sweep => {
            let found = all("DELETE FROM sweep WHERE id = ?1")?;
            while run(
                "DELETE FROM sweep_rows WHERE sweep = ?1 AND start IN \
                 (SELECT start FROM sweep_rows WHERE sweep = ?1 LIMIT ?2)",
                BATCH_ROW_PIECES,
            )? > 0
            {}
            found
        }
        Kind::Trace => 0,
    };
    let id = id.to_owned();
    store.call(move |transaction| forget(transaction, kind, &id))?;
    Ok(found > 0)
}
