//! `moescape backup`: from a data directory into a new one.

use std::path::Path;

use super::database::{check, open, version};
use super::error::{BackupError, disk};
use super::manifest::{self, Entry, Manifest};
use super::part::{self, Part};
use crate::store::dir_lock::{self, Hold, HoldError};
use crate::{ground::files, store, store::traces};

/// Copies what a data directory holds into a new directory. The server may run meanwhile: the copy
/// is as everything was at one moment, and the traces are those of that moment or more.
pub(crate) fn backup(data: &Path, to: &Path) -> Result<Manifest, BackupError> {
    let file = data.join(store::FILE);
    if !store::glance(&file)? {
        let detail = format!("{} holds nothing that a server keeps", data.display());
        return Err(BackupError::Asked(detail));
    }
    let _hold = hold(data)?;
    let source = open(&file)?;
    version(&source, &file)?;
    let (mut part, _lock) = begin(to)?;
    let copy = part.path(store::FILE);
    let name = copy.to_str().ok_or_else(|| {
        BackupError::Asked(format!("{} isn't text that SQLite reads", copy.display()))
    })?;
    // SQLite fills an empty file, which nobody else can read.
    files::create(&copy).map_err(disk(&copy))?;
    // One transaction reads all; writers go on meanwhile.
    source.execute("VACUUM INTO ?1", [name]).map_err(|error| {
        BackupError::Broken(format!("can't copy {} to {name}: {error}", file.display()))
    })?;
    let (tables, mut counts) = check(&copy)?;
    files::sync(&copy).map_err(disk(&copy))?;
    let read = files::hash(&copy).map_err(disk(&copy))?;
    let mut entries = vec![Entry::new(store::FILE.to_owned(), read)];
    entries.extend(copy_traces(data, &part)?);
    counts.traces = entries.len() as u64 - 1;
    let manifest = Manifest::new(tables, counts, entries);
    let path = part.path(manifest::FILE);
    files::write(&path, &manifest.text()).map_err(disk(&path))?;
    publish(&mut part, to)?;
    Ok(manifest)
}

/// Hold on the data directory, so that nobody replaces what is copied meanwhile.
fn hold(data: &Path) -> Result<Option<Hold>, BackupError> {
    match dir_lock::shared(data) {
        Ok(hold) => Ok(Some(hold)),
        Err(HoldError::Taken) => Err(BackupError::Asked(format!(
            "what {} holds is being replaced by `moescape restore`; copy it after that",
            data.display()
        ))),
        // A disk without locks, or one that can't be written, can still be read.
        Err(HoldError::Disk(_)) => Ok(None),
    }
}

/// A new directory, an empty one, or one where a copy was cut off, and a lock on what is made in
/// it.
fn begin(to: &Path) -> Result<(Part, Hold), BackupError> {
    let is_new = !to.exists();
    files::create_directories(to).map_err(disk(to))?;
    let names = part::names(to)?;
    let was_cut_off = names.iter().any(|name| name == part::DIRECTORY);
    let is_left = |name: &str| {
        [part::DIRECTORY, dir_lock::FILE].contains(&name)
            || was_cut_off && [manifest::FILE, traces::DIRECTORY].contains(&name)
    };
    if !names.iter().all(|name| name.to_str().is_some_and(is_left)) {
        let detail = format!("{} holds something already", to.display());
        return Err(BackupError::Occupied(detail));
    }
    let directory = to.join(part::DIRECTORY);
    files::create_directories(&directory).map_err(disk(&directory))?;
    let lock = dir_lock::alone(&directory).map_err(|error| match error {
        HoldError::Taken => {
            BackupError::Asked(format!("another copy is being made in {}", to.display()))
        }
        HoldError::Disk(error) => disk(&directory)(error),
    })?;
    let part = Part::begin(to, is_new)?;
    let (old, traces) = (to.join(manifest::FILE), to.join(traces::DIRECTORY));
    files::remove(&old).map_err(disk(&old))?;
    files::remove_directory(&traces).map_err(disk(&traces))?;
    Ok((part, lock))
}

fn copy_traces(data: &Path, part: &Part) -> Result<Vec<Entry>, BackupError> {
    let (from, to) = (data.join(traces::DIRECTORY), part.path(traces::DIRECTORY));
    if !from.exists() {
        return Ok(vec![]);
    }
    files::create_directories(&to).map_err(disk(&to))?;
    let mut names = part::names(&from)?;
    names.sort();
    let names = names.iter().filter_map(|name| name.to_str());
    let entries = names.filter(|name| traces::is_stored(name)).map(|name| {
        let (from, to) = (from.join(name), to.join(name));
        let read = files::copy(&from, &to).map_err(disk(&from))?;
        Ok(Entry::new(format!("{}/{name}", traces::DIRECTORY), read))
    });
    let entries = entries.collect::<Result<_, BackupError>>()?;
    files::sync_directory(&to).map_err(disk(&to))?;
    Ok(entries)
}

/// Gives everything its name, the database last: a copy without one is none.
fn publish(part: &mut Part, to: &Path) -> Result<(), BackupError> {
    if part.path(traces::DIRECTORY).exists() {
        part.publish(traces::DIRECTORY)?;
    }
    part.publish(manifest::FILE)?;
    files::sync_directory(to).map_err(disk(to))?;
    part.publish(store::FILE)?;
    files::sync_directory(to).map_err(disk(to))?;
    // A new directory has a name, too.
    match to.canonicalize().ok().as_deref().and_then(Path::parent) {
        Some(above) => files::sync_directory(above).map_err(disk(above)),
        None => Ok(()),
    }
}
