//! `moescape restore`: from a copy into a data directory.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::database::check;
use super::error::{BackupError, broken, disk};
use super::manifest::{Counts, Entry, Manifest};
use super::part::{self, Part};
use crate::store::dir_lock::{self, HoldError};
use crate::store::{JOURNAL, LOG, MEMORY};
use crate::{ground::files, store, store::traces};

/// Result of a restore.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) counts: Counts,
    /// Time when the copy was made; copies of earlier releases don't say.
    pub(crate) made_at: Option<String>,
}

/// Reads a copy to its end: every file is what its manifest says, and the database is whole.
pub(crate) fn verify(from: &Path) -> Result<(), BackupError> {
    let copy = Copy::find(from)?;
    for (name, entry) in &copy.files {
        let path = from.join(name);
        let read = Entry::new(name.clone(), files::hash(&path).map_err(disk(&path))?);
        if entry.as_ref().is_some_and(|entry| *entry != read) {
            let path = path.display();
            let detail = format!("{path} isn't what its manifest says: other bytes are in it");
            return Err(BackupError::Broken(detail));
        }
    }
    check(&from.join(store::FILE)).map(drop)
}

/// Puts a copy where a server finds it. A directory that holds something is replaced only where
/// that was asked for; traces that were there stay. After an error, and wherever it is cut off,
/// the directory holds what it held before.
pub(crate) fn restore(from: &Path, data: &Path, replace: bool) -> Result<Restored, BackupError> {
    // Nothing is touched before the copy says that it is whole.
    let copy = Copy::find(from)?;
    let is_new = !data.exists();
    files::create_directories(data).map_err(disk(data))?;
    refuse_itself(from, data)?;
    let is_left = |name: &std::ffi::OsStr| name == dir_lock::FILE || name == part::DIRECTORY;
    if !replace && !part::names(data)?.iter().all(|name| is_left(name)) {
        let detail = format!("{} holds something already", data.display());
        return Err(BackupError::Occupied(detail));
    }
    let _alone = dir_lock::alone(data).map_err(|error| match error {
        HoldError::Taken => BackupError::Asked(format!(
            "a server runs on {}, or a copy is made of it: end that first, or the server would go \
             on with what was there",
            data.display()
        )),
        HoldError::Disk(error) => disk(&data.join(dir_lock::FILE))(error),
    })?;
    part::clean(data).map_err(disk(data))?;
    let mut part = Part::begin(data, is_new)?;
    let done = fill(&copy, &part).and_then(|counts| swap(data, &mut part).map(|()| counts));
    let counts = done.map_err(|error| untouched(error, data))?;
    // From here on the new one is there.
    files::sync_directory(data).map_err(disk(data))?;
    let memory = data.join(format!("{}{MEMORY}", store::FILE));
    files::remove(&memory).map_err(disk(&memory))?;
    Ok(Restored { counts, made_at: copy.manifest.map(|manifest| manifest.made_at) })
}

fn untouched(error: BackupError, data: &Path) -> BackupError {
    let add = |detail: String| format!("{detail}; what {} held is as it was", data.display());
    match error {
        BackupError::Asked(detail) => BackupError::Asked(add(detail)),
        BackupError::Occupied(detail) => BackupError::Occupied(add(detail)),
        BackupError::Broken(detail) => BackupError::Broken(add(detail)),
    }
}

fn refuse_itself(from: &Path, data: &Path) -> Result<(), BackupError> {
    let [one, other] = [from, data].map(|path| path.canonicalize().map_err(disk(path)));
    if one? == other? {
        let detail = format!("{} can't be put back into itself", from.display());
        return Err(BackupError::Asked(detail));
    }
    Ok(())
}

/// A copy, as far as it can be seen without reading all of it.
struct Copy {
    directory: PathBuf,
    /// Manifest; `None` for copies of earlier releases.
    manifest: Option<Manifest>,
    /// Files of the copy, with `/` between, and of some what they have to be.
    files: Vec<(String, Option<Entry>)>,
}

impl Copy {
    fn find(from: &Path) -> Result<Self, BackupError> {
        let database = from.join(store::FILE);
        if !database.exists() {
            let cut_off = from.join(part::DIRECTORY).exists();
            let why = if cut_off { ", since making it was cut off" } else { "" };
            return Err(BackupError::Asked(format!(
                "{} holds no copy: {} isn't there{why}",
                from.display(),
                store::FILE
            )));
        }
        if !store::glance(&database)? {
            let detail = format!("{} is empty: no copy that was finished is", database.display());
            return Err(BackupError::Broken(detail));
        }
        // A copy that is whole has neither. With a log it is a server's directory, and the newest
        // changes are in the log; with a journal it is one that was cut off.
        if let Some(name) = store::beside(&database, &[LOG, JOURNAL]) {
            return Err(BackupError::Broken(format!(
                "{} isn't a finished copy: {name} beside it has changes that aren't in it; make a \
                 copy of this directory by `moescape backup` and restore that",
                database.display()
            )));
        }
        let directory = from.to_owned();
        let Some(manifest) = Manifest::read(from)? else {
            return Ok(Self { files: found(from)?, directory, manifest: None });
        };
        let files = manifest.files.iter();
        let files = files.map(|entry| (entry.name.clone(), Some(entry.clone()))).collect();
        let copy = Self { directory, manifest: Some(manifest), files };
        copy.check_lengths()?;
        Ok(copy)
    }

    fn check_lengths(&self) -> Result<(), BackupError> {
        for (name, entry) in &self.files {
            let path = self.directory.join(name);
            let length = fs::metadata(&path).map_err(disk(&path))?.len();
            if let Some(entry) = entry.as_ref().filter(|entry| entry.bytes != length) {
                return Err(BackupError::Broken(format!(
                    "{} has {length} bytes, and its manifest says {}",
                    path.display(),
                    entry.bytes
                )));
            }
        }
        Ok(())
    }
}

/// Files of a copy without a manifest: the store's file and the traces.
fn found(from: &Path) -> Result<Vec<(String, Option<Entry>)>, BackupError> {
    let mut files = vec![(store::FILE.to_owned(), None)];
    let directory = from.join(traces::DIRECTORY);
    if directory.exists() {
        let names = part::names(&directory)?;
        let names = names.iter().filter_map(|name| name.to_str());
        let traces = names.filter(|name| traces::is_stored(name));
        files.extend(traces.map(|name| (format!("{}/{name}", traces::DIRECTORY), None)));
    }
    Ok(files)
}

/// Puts the new files together and looks at all of them.
fn fill(copy: &Copy, part: &Part) -> Result<Counts, BackupError> {
    let traces = part.path(traces::DIRECTORY);
    files::create_directories(&traces).map_err(disk(&traces))?;
    for (name, entry) in &copy.files {
        let (from, to) = (copy.directory.join(name), part.path(name));
        let read = files::copy(&from, &to).map_err(|error| {
            BackupError::Broken(format!(
                "can't copy {} to {}: {error}",
                from.display(),
                to.display()
            ))
        })?;
        let read = Entry::new(name.clone(), read);
        if entry.as_ref().is_some_and(|entry| *entry != read) {
            let from = from.display();
            let detail = format!("{from} isn't what its manifest says: other bytes are in it");
            return Err(BackupError::Broken(detail));
        }
    }
    let database = part.path(store::FILE);
    let (_, mut counts) = check(&database)?;
    counts.traces = copy.files.len() as u64 - 1;
    if copy.manifest.as_ref().is_some_and(|manifest| manifest.counts != counts) {
        let detail = format!("{} doesn't hold what its manifest says", copy.directory.display());
        return Err(BackupError::Broken(detail));
    }
    files::sync(&database).map_err(disk(&database))?;
    Ok(counts)
}

/// Puts the new files in the place of the old ones, the database last and in one step. Traces are
/// named by what is in them: those of the new database harm the old one in nothing.
fn swap(data: &Path, part: &mut Part) -> Result<(), BackupError> {
    let traces = data.join(traces::DIRECTORY);
    let new = part::names(&part.path(traces::DIRECTORY))?;
    if !new.is_empty() {
        files::create_directories(&traces).map_err(disk(&traces))?;
        files::give(&traces, data).map_err(disk(&traces))?;
        for name in new.iter().filter_map(|name| name.to_str()) {
            part.publish(&format!("{}/{name}", traces::DIRECTORY))?;
        }
        files::sync_directory(&traces).map_err(disk(&traces))?;
    }
    let old = data.join(store::FILE);
    if old.is_dir() {
        let detail = format!("{} is a directory: move it away first", old.display());
        return Err(BackupError::Asked(detail));
    }
    empty_log(&old)?;
    part.publish(store::FILE)
}

/// Brings into the old database what its log holds, so that the log can be gone before the new
/// database has its name: SQLite would take it for the new one's, and nobody may be without it.
fn empty_log(old: &Path) -> Result<(), BackupError> {
    if store::beside(old, &[LOG, JOURNAL]).is_none() {
        return Ok(());
    }
    let is_empty = fs::metadata(old).map_or(true, |metadata| metadata.len() == 0);
    let is_lost = is_empty
        || match written_down(old) {
            Ok(()) => false,
            Err(error) => match error.sqlite_error_code() {
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => true,
                _ => return Err(broken(old, &error)),
            },
        };
    match store::beside(old, &[LOG, JOURNAL]) {
        Some(name) if !is_lost => Err(BackupError::Broken(format!(
            "{name} beside {} can't be emptied: another program uses it",
            old.display()
        ))),
        // Of a database that can't be read the log is no use.
        Some(_) | None => {
            for ending in [LOG, JOURNAL] {
                let path = old.with_file_name(format!("{}{ending}", store::FILE));
                files::remove(&path).map_err(disk(&path))?;
            }
            let directory = old.parent().unwrap_or(old);
            files::sync_directory(directory).map_err(disk(directory))
        }
    }
}

/// Has SQLite write down what is in a database's log, or take back what is in its journal.
fn written_down(old: &Path) -> rusqlite::Result<()> {
    let connection =
        rusqlite::Connection::open_with_flags(old, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    // Closing removes the log.
    connection.close().map_err(|(_, error)| error)
}
