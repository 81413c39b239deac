//! The database of a copy: opened, and checked to the last page.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::error::{BackupError, broken};
use super::manifest::Counts;
use crate::store::{self, Tables};

pub(super) fn open(file: &Path) -> Result<Connection, BackupError> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let connection = connection.map_err(|error| broken(file, &error))?;
    let patience = std::time::Duration::from_secs(10);
    connection.busy_timeout(patience).map_err(|error| broken(file, &error))?;
    Ok(connection)
}

/// The version of a file's tables, if they are ours and this program knows them.
pub(super) fn version(connection: &Connection, file: &Path) -> Result<usize, BackupError> {
    let tables = store::read_tables(connection).map_err(|error| broken(file, &error))?;
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

/// Version of the tables and counts of a copy's file, checked to be whole to the last page and
/// ours.
pub(super) fn check(file: &Path) -> Result<(usize, Counts), BackupError> {
    let connection = open(file)?;
    let version = version(&connection, file)?;
    let found: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| broken(file, &error))?;
    if found != "ok" {
        let found = store::one_line(&found);
        return Err(BackupError::Broken(format!("{} is damaged: {found}", file.display())));
    }
    let counts = Counts::read(&connection).map_err(|error| broken(file, &error))?;
    Ok((version, counts))
}
