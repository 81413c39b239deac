//! Sweeps in the store.

use std::sync::Arc;

use super::job::{Order, State};
use super::kept::Keeping;
use crate::people::audit_events::Kind;
use crate::people::storage_usage;
use crate::store::sql::{self, OptionalExtension, Row, params};
use crate::store::{Store, StoreError, Transaction};

/// A sweep as it is stored.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) id: String,
    pub(super) client: String,
    pub(super) created_at_secs: u64,
    pub(super) spec: String,
    pub(super) model_version: String,
    pub(super) chunk: u64,
    pub(super) state: State,
    /// Progress, JSON.
    pub(super) progress: Option<String>,
    /// The result of a sweep that is done, JSON.
    pub(super) result: Option<String>,
    /// State of keeping its rows.
    pub(super) keeping: Keeping,
    /// Number of times that it was paused or let go on.
    pub(super) orders: u64,
}

/// State of a sweep that changes while it runs.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub(super) state: State,
    /// The last order that it follows.
    pub(super) orders: u64,
    pub(super) progress: Option<String>,
    pub(super) result: Option<String>,
    pub(super) keeping: Keeping,
    /// Rows that came since it was saved last, by the first place of their chunk.
    pub(super) rows: Arc<Vec<(u64, Vec<u8>)>>,
}

/// A sweep in a list.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) state: State,
    pub(crate) created_at_secs: u64,
    pub(crate) model_version: String,
}

const COLUMNS: &str = "id, client, created_at_secs, spec, model_version, chunk, state, progress, \
                       result, kept_rows, orders";

fn stored(row: &Row) -> sql::Result<Stored> {
    let state: String = row.get(6)?;
    Ok(Stored {
        id: row.get(0)?,
        client: row.get(1)?,
        created_at_secs: row.get::<i64>(2)? as u64,
        spec: row.get(3)?,
        model_version: row.get(4)?,
        chunk: row.get::<i64>(5)? as u64,
        state: State::from_name(&state).unwrap_or(State::Failed),
        progress: row.get(7)?,
        result: row.get(8)?,
        keeping: Keeping::from_code(row.get(9)?),
        orders: row.get::<i64>(10)? as u64,
    })
}

/// Adds a sweep.
pub(super) fn add(store: &Store, sweep: Stored) -> Result<(), StoreError> {
    store.call(move |transaction| {
        transaction.execute(
            &format!(
                "INSERT INTO sweep ({COLUMNS}) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
            ),
            params![
                sweep.id,
                sweep.client,
                sweep.created_at_secs as i64,
                sweep.spec,
                sweep.model_version,
                sweep.chunk as i64,
                sweep.state.name(),
                sweep.progress,
                sweep.result,
                sweep.keeping.code(),
                sweep.orders as i64,
            ],
        )
    })?;
    Ok(())
}

/// Writes down how far a sweep is, with its rows in one step, and says what is to become of it:
/// another server may have been asked to pause it. `None` if it was removed, which stays so.
pub(super) fn save(store: &Store, id: &str, saved: Saved) -> Result<Option<Order>, StoreError> {
    let id = id.to_owned();
    store.call(move |transaction| {
        let Some(mut order) = order_of(transaction, &id)? else { return Ok(None) };
        if saved.state.is_final() || order.number <= saved.orders {
            order.state = saved.state;
        }
        transaction.execute(
            "UPDATE sweep SET state = ?2, progress = ?3, result = ?4, model_version = ?5, \
             kept_rows = ?6 WHERE id = ?1",
            params![
                id,
                order.state.name(),
                saved.progress,
                saved.result,
                model::MODEL_VERSION,
                saved.keeping.code()
            ],
        )?;
        if saved.keeping == Keeping::TooMany {
            transaction.execute("DELETE FROM sweep_rows WHERE sweep = ?1", params![id])?;
        }
        let insert = transaction.prepare(
            "INSERT INTO sweep_rows (sweep, start, rows) VALUES (?1, ?2, ?3) \
             ON CONFLICT (sweep, start) DO UPDATE SET rows = excluded.rows",
        )?;
        for (start, rows) in saved.rows.iter() {
            insert.execute(params![id, *start as i64, rows])?;
        }
        Ok(Some(order))
    })
}

fn order_of(transaction: &Transaction<'_>, id: &str) -> sql::Result<Option<Order>> {
    let select = "SELECT state, orders FROM sweep WHERE id = ?1";
    let order = |row: &Row| {
        let state: String = row.get(0)?;
        let state = State::from_name(&state).unwrap_or(State::Failed);
        Ok(Order { state, number: row.get::<i64>(1)? as u64 })
    };
    transaction.query_row(select, params![id], order).optional()
}

/// Orders that a sweep be paused or go on, whichever server computes it. Returns the order that
/// holds: that of a sweep that is over isn't changed. `None` if there is none.
pub(super) fn order(store: &Store, id: &str, running: bool) -> Result<Option<Order>, StoreError> {
    let id = id.to_owned();
    store.call(move |transaction| {
        let state = if running { State::Running } else { State::Paused };
        transaction.execute(
            "UPDATE sweep SET state = ?2, orders = orders + 1 \
             WHERE id = ?1 AND state IN ('running', 'paused')",
            params![id, state.name()],
        )?;
        order_of(transaction, &id)
    })
}

/// Orders for these sweeps; `None` for those that were removed.
pub(super) fn orders(
    store: &Store,
    ids: Vec<String>,
) -> Result<Vec<(String, Option<Order>)>, StoreError> {
    store.call(move |transaction| {
        let of = |id: String| order_of(transaction, &id).map(|order| (id, order));
        ids.into_iter().map(of).collect()
    })
}

/// Removes the rows of a sweep, some at a time: others use the store, too.
pub(super) fn remove_rows(store: &Store, id: &str) -> Result<(), StoreError> {
    loop {
        let id = id.to_owned();
        let removed = store.call(move |transaction| {
            transaction.execute(
                "DELETE FROM sweep_rows WHERE sweep = ?1 AND start IN \
                 (SELECT start FROM sweep_rows WHERE sweep = ?1 ORDER BY start LIMIT 16)",
                params![id],
            )
        });
        if removed? == 0 {
            return Ok(());
        }
    }
}

/// Sweeps that were removed, but not all of their rows.
pub(super) fn remains(store: &Store) -> Result<Vec<String>, StoreError> {
    store.call(|transaction| {
        let select = "SELECT DISTINCT sweep FROM sweep_rows WHERE sweep NOT IN \
                      (SELECT id FROM sweep)";
        let statement = transaction.prepare(select)?;
        let rows = statement.query_map(params![], |row| row.get(0))?;
        rows.collect()
    })
}

/// The rows of the next chunk whose first place is at least this, with that place.
pub(super) fn next_rows(
    store: &Store,
    id: &str,
    from: u64,
) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
    let id = id.to_owned();
    store.call(move |transaction| {
        let select = "SELECT start, rows FROM sweep_rows WHERE sweep = ?1 AND start >= ?2 \
                      ORDER BY start LIMIT 1";
        let row = |row: &Row| Ok((row.get::<i64>(0)? as u64, row.get(1)?));
        transaction.query_row(select, params![id, from as i64], row).optional()
    })
}

/// Whether the rows of a sweep are kept. Not those of one that was removed: they go some at a time.
pub(super) fn keeps_rows(store: &Store, id: &str) -> Result<bool, StoreError> {
    let id = id.to_owned();
    let kept = store.call(move |transaction| {
        let select = "SELECT kept_rows FROM sweep WHERE id = ?1";
        transaction.query_row(select, params![id], |row| row.get(0)).optional()
    })?;
    Ok(kept.is_some_and(|code| matches!(Keeping::from_code(code), Keeping::Yes(_))))
}

/// Rows that the sweeps that are over keep together.
pub(super) fn rows_of_ended(store: &Store) -> Result<u64, StoreError> {
    store.call(|transaction| {
        let select = "SELECT CAST(coalesce(sum(kept_rows), 0) AS BIGINT) FROM sweep \
                      WHERE kept_rows > 0 \
                      AND state NOT IN ('running', 'paused')";
        transaction.query_row(select, params![], |row| row.get::<i64>(0).map(|rows| rows as u64))
    })
}

/// Name that a specification gives its sweep.
fn name(spec: &str) -> String {
    let spec: serde_json::Value = serde_json::from_str(spec).unwrap_or_default();
    spec["name"].as_str().unwrap_or_default().to_owned()
}

/// The sweeps of a client, newest first, from one that is older than `before` on.
pub(super) fn list(
    store: &Store,
    client: &str,
    before: Option<&str>,
    most: u32,
) -> Result<Vec<Entry>, StoreError> {
    let (client, before) = (client.to_owned(), before.map(ToOwned::to_owned));
    store.call(move |transaction| {
        let statement = transaction.prepare(
            "SELECT id, spec, state, created_at_secs, \
             model_version FROM sweep WHERE client = ?1 AND (?2 IS NULL OR rowid < \
             (SELECT rowid FROM sweep WHERE id = ?2)) ORDER BY rowid DESC LIMIT ?3",
        )?;
        let entry = |row: &Row| {
            let state: String = row.get(2)?;
            Ok(Entry {
                id: row.get(0)?,
                name: name(row.text(1)?),
                state: State::from_name(&state).unwrap_or(State::Failed),
                created_at_secs: row.get::<i64>(3)? as u64,
                model_version: row.get(4)?,
            })
        };
        let rows = statement.query_map(params![client, before, most], entry)?;
        rows.collect()
    })
}

/// The sweep of an id.
pub(super) fn find(store: &Store, id: &str) -> Result<Option<Stored>, StoreError> {
    let id = id.to_owned();
    store.call(move |transaction| {
        let select = format!("SELECT {COLUMNS} FROM sweep WHERE id = ?1");
        transaction.query_row(&select, params![id], stored).optional()
    })
}

/// The sweeps that aren't over, oldest first.
pub(super) fn unfinished(store: &Store) -> Result<Vec<Stored>, StoreError> {
    store.call(|transaction| {
        let select = format!(
            "SELECT {COLUMNS} FROM sweep WHERE state IN ('running', 'paused') \
             ORDER BY created_at_secs, rowid"
        );
        let statement = transaction.prepare(&select)?;
        let rows = statement.query_map(params![], stored)?;
        rows.collect()
    })
}

/// Removes a sweep, its rows excepted; false when there is none.
pub(super) fn remove(store: &Store, id: &str) -> Result<bool, StoreError> {
    let id = id.to_owned();
    let removed = store.call(move |transaction| {
        storage_usage::forget(transaction, Kind::Sweep, &id)?;
        transaction.execute("DELETE FROM sweep WHERE id = ?1", params![id])
    })?;
    Ok(removed > 0)
}
