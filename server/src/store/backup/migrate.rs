//! `moescape migrate`: from a data directory's file into an empty database of PostgreSQL.

use std::path::Path;

use super::database::{check, open, version};
use super::error::{BackupError, broken, disk};
use super::manifest::Counts;
use crate::store::dir_lock::{self, HoldError};
use crate::store::{self, Address, Filled, StoreError};

/// Result of a migration.
#[derive(Debug)]
pub(crate) struct Migrated {
    pub(crate) counts: Counts,
    /// Tables with how many rows each has, and the digest of these.
    pub(crate) tables: Vec<Filled>,
}

/// Brings what a directory's file holds into a database that holds nothing, in one transaction,
/// which ends only once the database gives back the same. The file stays as it is.
pub(crate) fn migrate(data: &Path, to: &Address) -> Result<Migrated, BackupError> {
    let file = data.join(store::FILE);
    if !store::glance(&file)? {
        let detail = format!("{} holds nothing that a server keeps", data.display());
        return Err(BackupError::Asked(detail));
    }
    let _alone = dir_lock::alone(data).map_err(|error| match error {
        HoldError::Taken => BackupError::Asked(format!(
            "a server runs on {}: end it first, or what it takes meanwhile would be missing",
            data.display()
        )),
        HoldError::Disk(error) => disk(&data.join(dir_lock::FILE))(error),
    })?;
    let (made, counts) = check(&file)?;
    if made != store::NEWEST {
        return Err(BackupError::Asked(format!(
            "{} has tables of version {made}, this program's are {}: start `moescape serve` on it \
             once, which brings them up to date",
            file.display(),
            store::NEWEST
        )));
    }
    let source = open(&file)?;
    version(&source, &file)?;
    let source = source.unchecked_transaction().map_err(|error| broken(&file, &error))?;
    let tables = store::fill(&source, to).map_err(|error| explain(&error))?;
    Ok(Migrated { counts, tables })
}

fn explain(error: &StoreError) -> BackupError {
    if error.cause() == store::Cause::Foreign {
        return BackupError::Occupied(error.to_string());
    }
    BackupError::Broken(error.to_string())
}
