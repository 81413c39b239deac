//! The rows of stored designs.

use super::stored::{Entry, StoredDesign, StoringOutcome, Words};
use crate::people::owner::Owner;
use crate::store::sql::{self, OptionalExtension, Row, params};
use crate::store::{Store, StoreError, Transaction};

const COLUMNS: &str = "design.id, design.link, design.model_version, design.created_at_secs, \
                       design.result";

const ENTRY_COLUMNS: &str = "design_entry.tag, design_entry.name, design_entry.note, \
                             design_entry.created_at_secs";

fn stored(row: &Row) -> sql::Result<StoredDesign> {
    Ok(StoredDesign {
        id: row.get(0)?,
        link: row.get(1)?,
        model_version: row.get(2)?,
        created_at_secs: row.get::<i64>(3)? as u64,
        result: row.get(4)?,
    })
}

fn entry_from(row: &Row, first: usize) -> sql::Result<Entry> {
    Ok(Entry {
        tag: row.get(first)?,
        name: row.get(first + 1)?,
        note: row.get(first + 2)?,
        created_at_secs: row.get::<i64>(first + 3)? as u64,
    })
}

/// Designs that are kept.
pub(super) fn count(store: &Store) -> Result<u64, StoreError> {
    store.call(|transaction| {
        let count = "SELECT count(*) FROM design";
        transaction.query_row(count, params![], |row| row.get::<i64>(0).map(|count| count as u64))
    })
}

/// Adds a design, unless it is there, and the owner's entry. One that is there already keeps its
/// result, and of its words those that aren't given anew.
pub(super) fn keep(
    store: &Store,
    owner: &Owner,
    new: StoredDesign,
    tag: String,
    words: Words,
) -> Result<StoringOutcome, StoreError> {
    let owner = owner.as_str().to_owned();
    store.call(move |transaction| {
        transaction.execute(
            "INSERT INTO design (id, link, model_version, created_at_secs, result) \
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id) DO NOTHING",
            params![new.id, new.link, new.model_version, new.created_at_secs as i64, new.result],
        )?;
        let is_new = transaction.execute(
            "INSERT INTO design_entry (design, owner, tag, name, note, created_at_secs) \
             VALUES (?1, ?2, ?3, '', '', ?4) \
             ON CONFLICT (design, owner) DO NOTHING",
            params![new.id, owner, tag, new.created_at_secs as i64],
        )? > 0;
        transaction.execute(
            "UPDATE design_entry SET name = coalesce(?3, name), note = coalesce(?4, note) \
             WHERE design = ?1 AND owner = ?2",
            params![new.id, owner, words.name, words.note],
        )?;
        let select = format!(
            "SELECT {COLUMNS}, {ENTRY_COLUMNS} FROM design \
             JOIN design_entry ON design_entry.design = design.id \
             WHERE design.id = ?1 AND design_entry.owner = ?2"
        );
        transaction.query_row(&select, params![new.id, owner], |row| {
            Ok(StoringOutcome { stored: stored(row)?, entry: entry_from(row, 5)?, is_new })
        })
    })
}

/// The design of an id.
pub(crate) fn find(store: &Store, id: &str) -> Result<Option<StoredDesign>, StoreError> {
    let id = id.to_owned();
    store.call(move |transaction| {
        let select = format!("SELECT {COLUMNS} FROM design WHERE id = ?1");
        transaction.query_row(&select, params![id], stored).optional()
    })
}

/// Entry of a design: its owner's, or the one whose tag is in the link.
pub(crate) fn entry(
    store: &Store,
    id: &str,
    owner: Option<&Owner>,
    tag: Option<&str>,
) -> Result<Option<Entry>, StoreError> {
    let [owner, browser] =
        [Owner::as_str, Owner::browser].map(|of| owner.map(of).map(str::to_owned));
    let (id, tag) = (id.to_owned(), tag.map(ToOwned::to_owned));
    store.call(move |transaction| {
        let select = format!(
            "SELECT {ENTRY_COLUMNS} FROM design_entry \
             WHERE design = ?1 AND (owner IN (?2, ?4) OR tag = ?3) \
             ORDER BY tag IS NOT DISTINCT FROM ?3 DESC LIMIT 1"
        );
        let row = |row: &Row| entry_from(row, 0);
        transaction.query_row(&select, params![id, owner, tag, browser], row).optional()
    })
}

/// An owner's designs, newest first, from one that is older than `before` on.
pub(crate) fn list(
    store: &Store,
    owner: &Owner,
    before: Option<&str>,
    most: u32,
) -> Result<Vec<(StoredDesign, Entry)>, StoreError> {
    let [owner, browser] = [owner.as_str(), owner.browser()].map(str::to_owned);
    let before = before.map(ToOwned::to_owned);
    store.call(move |transaction| {
        let select = format!(
            "SELECT {COLUMNS}, {ENTRY_COLUMNS} FROM design_entry \
             JOIN design ON design.id = design_entry.design \
             WHERE design_entry.owner IN (?1, ?4) AND (?2 IS NULL OR design_entry.rowid < \
             (SELECT max(rowid) FROM design_entry WHERE design = ?2 AND owner IN (?1, ?4))) \
             ORDER BY design_entry.rowid DESC LIMIT ?3"
        );
        let statement = transaction.prepare(&select)?;
        let row = |row: &Row| Ok((stored(row)?, entry_from(row, 5)?));
        let rows = statement.query_map(params![owner, before, most, browser], row)?;
        rows.collect()
    })
}

/// Outcome of removing a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    /// The owner has it no more.
    Yes,
    /// Not the owner's, but there.
    NotTheirs,
    /// Not there.
    Unknown,
}

/// Removes an owner's entry, and the design with the last of them.
pub(crate) fn remove(store: &Store, id: &str, owner: &Owner) -> Result<Removed, StoreError> {
    let [owner, browser] = [owner.as_str(), owner.browser()].map(str::to_owned);
    let id = id.to_owned();
    store.call(move |transaction| {
        let delete = "DELETE FROM design_entry WHERE design = ?1 AND owner IN (?2, ?3)";
        if transaction.execute(delete, params![id, owner, browser])? == 0 {
            let is_there = is_there(transaction, &id)?;
            return Ok(if is_there { Removed::NotTheirs } else { Removed::Unknown });
        }
        let gone = transaction.execute(
            "DELETE FROM design WHERE id = ?1 AND NOT EXISTS \
             (SELECT 1 FROM design_entry WHERE design = ?1)",
            params![id],
        )?;
        if gone > 0 {
            let delete = "DELETE FROM opened WHERE kind = 'design' AND id = ?1";
            transaction.execute(delete, params![id])?;
        }
        Ok(Removed::Yes)
    })
}

fn is_there(transaction: &Transaction<'_>, id: &str) -> sql::Result<bool> {
    let select = "SELECT EXISTS (SELECT 1 FROM design WHERE id = ?1)";
    transaction.query_row(select, params![id], |row| row.get(0))
}
