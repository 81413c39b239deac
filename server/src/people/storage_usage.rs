//! Everything that a server keeps, item by item, whoever's it is: for those who run it, and for
//! their rules on how much and how long.
//!
//! Designs, sessions and sweeps are in the store, traces are files beside it. The modules of each
//! make and change them; here they are listed, counted, exported and deleted.

mod stored_item;
mod ledger;

pub(crate) use ledger::{
    OpenedNotes, RemainingOwners, Sum, due, forget, makers, note, own, used_by,
};
pub(crate) use stored_item::{SECONDS_PER_DAY, StoredItem};

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use crate::people::audit_events::Kind;
use crate::people::owner::Owner;
use crate::store::{Lazy, StoreError};
use crate::{ground::calendar, store::traces};

/// All items of a kind below a data directory.
pub(crate) fn items(data: &Path, store: &Lazy, kind: Kind) -> Result<Vec<StoredItem>, StoreError> {
    if kind != Kind::Trace {
        return if store.exists() { ledger::items(&store.open()?, kind) } else { Ok(vec![]) };
    }
    let owners = if store.exists() { ledger::owners(&store.open()?, kind)? } else { vec![] };
    let mut found = vec![];
    for (id, bytes, at) in files(data) {
        let of = |owner: Option<String>| StoredItem {
            kind,
            id: id.clone(),
            owner,
            bytes,
            created_at_secs: at,
            used_at_secs: at,
        };
        let own = owners.iter().filter(|(owned, _)| *owned == id);
        let before = found.len();
        found.extend(own.map(|(_, owner)| of(Some(owner.clone()))));
        if found.len() == before {
            found.push(of(None));
        }
    }
    Ok(found)
}

/// Names, bytes and times of the traces of a data directory. Opening one changes its time.
fn files(data: &Path) -> Vec<(String, u64, u64)> {
    let entries = fs::read_dir(data.join(traces::DIRECTORY)).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok().filter(|name| traces::is_stored(name))?;
        let metadata = entry.metadata().ok()?;
        let at = metadata.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Some((name.split('.').next()?.to_owned(), metadata.len(), at.as_secs()))
    });
    files.collect()
}

/// Traces that nobody has opened since, at most `most`.
pub(crate) fn due_traces(data: &Path, before_secs: u64, most: usize) -> Vec<String> {
    let due = files(data).into_iter().filter(|(_, _, at)| *at < before_secs);
    due.map(|(id, ..)| id).take(most).collect()
}

/// Lines that export an item: the first says what it is; for a session its events follow, for a
/// sweep nothing does. A trace's file is named, not in it.
pub(crate) fn export(
    data: &Path,
    store: &Lazy,
    kind: Kind,
    id: &str,
) -> Result<Vec<Value>, StoreError> {
    if kind != Kind::Trace {
        return if store.exists() { ledger::export(&store.open()?, kind, id) } else { Ok(vec![]) };
    }
    let found = files(data).into_iter().find(|(name, ..)| name == id);
    let line = found.map(|(id, bytes, at)| {
        let file = traces::file(data, &id);
        json!({
            "kind": kind.name(), "id": id, "bytes": bytes, "used_at": calendar::moment(at),
            "file": file.display().to_string(),
        })
    });
    Ok(line.into_iter().collect())
}

/// Deletes an item, for all who have it; false where there is none. What is large goes in pieces.
pub(crate) fn delete(data: &Path, store: &Lazy, kind: Kind, id: &str) -> Result<bool, StoreError> {
    let known = store.exists() && ledger::delete(&store.open()?, kind, id)?;
    if kind != Kind::Trace {
        return Ok(known);
    }
    let file = traces::file(data, id);
    crate::ground::files::remove(&file).map_err(|error| StoreError::disk(&file, &error))
}

/// Takes an item from one owner, or from all where none is named. Designs and traces may be others'
/// too, and stay for them; a session or a sweep has one maker and goes.
pub(crate) fn take(
    data: &Path,
    store: &Lazy,
    kind: Kind,
    id: &str,
    owner: Option<&str>,
) -> Result<(), StoreError> {
    if let (Some(owner), Kind::Design | Kind::Trace) = (owner, kind)
        && store.exists()
        && ledger::take(&store.open()?, kind, id, owner)? != Some(RemainingOwners::Nobody)
    {
        return Ok(());
    }
    delete(data, store, kind, id).map(drop)
}

/// Takes a trace from one of its owners; `None` if it isn't theirs.
pub(crate) fn take_trace(
    store: &Lazy,
    hash: &str,
    owner: &Owner,
) -> Result<Option<RemainingOwners>, StoreError> {
    let take = |store| {
        let left = ledger::take(store, Kind::Trace, hash, owner.as_str())?;
        left.map_or_else(
            || ledger::take(store, Kind::Trace, hash, owner.browser()),
            |left| Ok(Some(left)),
        )
    };
    if store.exists() { take(&store.open()?) } else { Ok(None) }
}
