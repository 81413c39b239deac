//! A copy of what a server keeps, made while it runs, and the way back.
//!
//! A copy is a directory as a server has it: one SQLite file, and the traces beside it.

use std::path::Path;
use std::{fmt, fs, io};

use rusqlite::{Connection, OpenFlags};

use crate::in_use::{self, HoldError};
use crate::{store, traces};

/// Why there is no copy. A sentence for who asked for it.
#[derive(Debug)]
pub(crate) enum BackupError {
    /// They can mend it.
    Asked(String),
    /// The disk or the file isn't as it should be.
    Broken(String),
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked(detail) | Self::Broken(detail) => f.write_str(detail),
        }
    }
}

/// Copies what a data directory holds into a new directory. The server may run meanwhile: the copy
/// is as everything was at one moment, and the traces are those of that moment or more.
pub(crate) fn backup(data: &Path, to: &Path) -> Result<(), BackupError> {
    let file = data.join(store::FILE);
    if !file.exists() {
        let detail = format!("{} holds nothing that a server keeps", data.display());
        return Err(BackupError::Asked(detail));
    }
    make_empty(to, false)?;
    let source = open(&file)?;
    check_version(&source, &file)?;
    let copy = to.join(store::FILE);
    let name = copy.to_str().ok_or_else(|| not_text(&copy))?;
    // One transaction reads all; writers go on meanwhile.
    source.execute("VACUUM INTO ?1", [name]).map_err(|error| broken(&file, &error))?;
    check(&copy)?;
    sync(&copy)?;
    copy_traces(data, to)
}

/// Puts a copy where a server finds it. A directory that holds something is replaced only where
/// that was asked for.
pub(crate) fn restore(from: &Path, data: &Path, replace: bool) -> Result<(), BackupError> {
    let copy = from.join(store::FILE);
    if !copy.exists() {
        let detail = format!("{} holds no copy: {} isn't there", from.display(), store::FILE);
        return Err(BackupError::Asked(detail));
    }
    // Nothing is touched before the copy is known to be whole.
    check(&copy)?;
    make_empty(data, replace)?;
    let _alone = in_use::alone(data).map_err(|error| match error {
        HoldError::Taken => BackupError::Asked(format!(
            "a server runs on {}: end it first, or it would go on with what was there",
            data.display()
        )),
        HoldError::Disk(error) => disk(&data.join(in_use::FILE), &error),
    })?;
    let file = data.join(store::FILE);
    for old in [store::FILE, "moescape.sqlite-wal", "moescape.sqlite-shm"] {
        match fs::remove_file(data.join(old)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(disk(&data.join(old), &error)),
        }
    }
    let part = data.join("moescape.sqlite.part");
    fs::copy(&copy, &part).map_err(|error| disk(&part, &error))?;
    sync(&part)?;
    fs::rename(&part, &file).map_err(|error| disk(&file, &error))?;
    copy_traces(from, data)
}

/// Makes a directory, which has to be empty unless what it holds may be replaced.
fn make_empty(directory: &Path, replace: bool) -> Result<(), BackupError> {
    fs::create_dir_all(directory).map_err(|error| disk(directory, &error))?;
    let entries = fs::read_dir(directory).map_err(|error| disk(directory, &error))?;
    // Left behind by a server that kept nothing else.
    let mut entries = entries
        .filter(|entry| entry.as_ref().map_or(true, |entry| entry.file_name() != in_use::FILE));
    if replace || entries.next().is_none() {
        return Ok(());
    }
    let detail = format!("{} holds something already", directory.display());
    Err(BackupError::Asked(detail))
}

fn open(file: &Path) -> Result<Connection, BackupError> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let connection = connection.map_err(|error| broken(file, &error))?;
    let patience = std::time::Duration::from_secs(10);
    connection.busy_timeout(patience).map_err(|error| broken(file, &error))?;
    Ok(connection)
}

/// Is a file whole, and of a version that this program knows?
fn check(file: &Path) -> Result<(), BackupError> {
    let connection = open(file)?;
    check_version(&connection, file)?;
    let found: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| broken(file, &error))?;
    if found == "ok" {
        return Ok(());
    }
    Err(BackupError::Broken(format!("{} is damaged: {found}", file.display())))
}

fn check_version(connection: &Connection, file: &Path) -> Result<(), BackupError> {
    let version: u32 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(|error| broken(file, &error))?;
    if version as usize <= store::NEWEST {
        return Ok(());
    }
    Err(BackupError::Asked(format!(
        "{} is of a newer version: its tables have version {version}, this program knows {}",
        file.display(),
        store::NEWEST
    )))
}

fn copy_traces(from: &Path, to: &Path) -> Result<(), BackupError> {
    let (from, to) = (from.join(traces::DIRECTORY), to.join(traces::DIRECTORY));
    if !from.exists() {
        return Ok(());
    }
    fs::create_dir_all(&to).map_err(|error| disk(&to, &error))?;
    for entry in fs::read_dir(&from).map_err(|error| disk(&from, &error))? {
        let path = entry.map_err(|error| disk(&from, &error))?.path();
        let Some(name) = path.file_name().filter(|_| path.is_file()) else { continue };
        let copy = to.join(name);
        fs::copy(&path, &copy).map_err(|error| disk(&path, &error))?;
    }
    Ok(())
}

fn sync(file: &Path) -> Result<(), BackupError> {
    let synced = fs::File::open(file).and_then(|file| file.sync_all());
    synced.map_err(|error| disk(file, &error))
}

fn disk(path: &Path, error: &io::Error) -> BackupError {
    BackupError::Broken(format!("{}: {error}", path.display()))
}

fn broken(path: &Path, error: &rusqlite::Error) -> BackupError {
    BackupError::Broken(format!("{}: {error}", path.display()))
}

fn not_text(path: &Path) -> BackupError {
    BackupError::Asked(format!("{} isn't text that SQLite reads", path.display()))
}
