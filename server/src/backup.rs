//! A copy of what a server keeps, made while it runs, and the way back.
//!
//! A copy is a directory as a server has it, the SQLite file and the traces, with a manifest that
//! says what belongs to it. Both ways put everything together in a directory of its own
//! ([`part::DIRECTORY`]) below the one that they fill, look at it there, and give the files their
//! names then; the database gets its own last, in one step. Wherever they are cut off, what has
//! these names is what was there before, or all of the new.

mod copy;
mod manifest;
mod part;
mod restore;

pub(crate) use copy::backup;
use manifest::Counts;
pub(crate) use part::clean;
pub(crate) use restore::restore;

use std::path::Path;
use std::{fmt, io};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::store::{self, Tables, Unfit};

/// Why there is no copy. A sentence for who asked for it.
#[derive(Debug)]
pub(crate) enum BackupError {
    /// They can mend it.
    Asked(String),
    /// The directory that is to be filled holds something, and nobody said that it may be replaced.
    Occupied(String),
    /// The disk or the file isn't as it should be.
    Broken(String),
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked(detail) | Self::Occupied(detail) | Self::Broken(detail) => {
                f.write_str(detail)
            }
        }
    }
}

impl From<Unfit> for BackupError {
    fn from(unfit: Unfit) -> Self {
        Self::Broken(unfit.to_string())
    }
}

fn open(file: &Path) -> Result<Connection, BackupError> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let connection = connection.map_err(|error| broken(file, &error))?;
    let patience = std::time::Duration::from_secs(10);
    connection.busy_timeout(patience).map_err(|error| broken(file, &error))?;
    Ok(connection)
}

/// The version of a file's tables, if they are ours and this program knows them.
fn version(connection: &Connection, file: &Path) -> Result<usize, BackupError> {
    let tables = store::tables_of(connection).map_err(|error| broken(file, &error))?;
    let shown = file.display();
    match (tables.complaint(), tables) {
        (Some(complaint), Tables::Newer(_)) => {
            Err(BackupError::Asked(format!("{shown} {complaint}")))
        }
        (Some(complaint), _) => Err(BackupError::Broken(format!("{shown} {complaint}"))),
        (None, Tables::Ours(version)) => Ok(version),
        (None, _) => Err(BackupError::Broken(format!("{shown} is empty: it has no tables"))),
    }
}

/// What a file holds, if it is whole to the last page and ours.
fn check(file: &Path) -> Result<(usize, Counts), BackupError> {
    let connection = open(file)?;
    let version = version(&connection, file)?;
    let found: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| broken(file, &error))?;
    if found != "ok" {
        let found = store::one_line(&found);
        return Err(BackupError::Broken(format!("{} is damaged: {found}", file.display())));
    }
    let counts = Counts::of(&connection).map_err(|error| broken(file, &error))?;
    Ok((version, counts))
}

fn disk(path: &Path) -> impl FnOnce(io::Error) -> BackupError {
    move |error| BackupError::Broken(format!("{}: {error}", path.display()))
}

fn broken(path: &Path, error: &rusqlite::Error) -> BackupError {
    let is_damaged = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    );
    let is = if is_damaged { " is damaged" } else { "" };
    BackupError::Broken(format!("{}{is}: {error}", path.display()))
}
