//! Sweeps in the store.

use rusqlite::{OptionalExtension, params};

use super::job::State;
use crate::store::{Store, StoreError};

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
    /// What is done, JSON.
    pub(super) progress: Option<String>,
    /// The result of a sweep that is done, JSON.
    pub(super) result: Option<String>,
}

const COLUMNS: &str =
    "id, client, created_at_secs, spec, model_version, chunk, state, progress, result";

fn stored(row: &rusqlite::Row<'_>) -> rusqlite::Result<Stored> {
    let state: String = row.get(6)?;
    Ok(Stored {
        id: row.get(0)?,
        client: row.get(1)?,
        created_at_secs: row.get::<_, i64>(2)? as u64,
        spec: row.get(3)?,
        model_version: row.get(4)?,
        chunk: row.get::<_, i64>(5)? as u64,
        state: State::of(&state).unwrap_or(State::Failed),
        progress: row.get(7)?,
        result: row.get(8)?,
    })
}

/// Adds a sweep.
pub(super) fn add(store: &Store, sweep: Stored) -> Result<(), StoreError> {
    store.call(move |transaction| {
        transaction.execute(
            &format!("INSERT INTO sweep ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"),
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
            ],
        )
    })?;
    Ok(())
}

/// Writes down how far a sweep is; one that was removed meanwhile stays so.
pub(super) fn save(
    store: &Store,
    id: &str,
    state: State,
    progress: String,
    result: Option<String>,
) -> Result<(), StoreError> {
    let id = id.to_owned();
    store.call(move |transaction| {
        transaction.execute(
            "UPDATE sweep SET state = ?2, progress = ?3, result = ?4, model_version = ?5 \
             WHERE id = ?1",
            params![id, state.name(), progress, result, model::MODEL_VERSION],
        )
    })?;
    Ok(())
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
        let mut statement = transaction.prepare(&select)?;
        let rows = statement.query_map([], stored)?;
        rows.collect()
    })
}

/// Removes a sweep; false when there is none.
pub(super) fn remove(store: &Store, id: &str) -> Result<bool, StoreError> {
    let id = id.to_owned();
    let removed = store.call(move |transaction| {
        transaction.execute("DELETE FROM sweep WHERE id = ?1", params![id])
    })?;
    Ok(removed > 0)
}
