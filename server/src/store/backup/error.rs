//! Reasons for no copy, each a sentence for whoever asked for it.

use std::path::Path;
use std::{fmt, io};

use rusqlite::ErrorCode;

use crate::store::Unfit;

/// Reason why there is no copy, as a sentence for who requested it.
#[derive(Debug)]
pub(crate) enum BackupError {
    /// Fault that the user can mend.
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

pub(super) fn disk(path: &Path) -> impl FnOnce(io::Error) -> BackupError {
    move |error| BackupError::Broken(format!("{}: {error}", path.display()))
}

pub(super) fn broken(path: &Path, error: &rusqlite::Error) -> BackupError {
    let is_damaged = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    );
    let is = if is_damaged { " is damaged" } else { "" };
    BackupError::Broken(format!("{}{is}: {error}", path.display()))
}
