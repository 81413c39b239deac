//! Causes why the store's file can't be used.

use std::io;
use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use super::sql;

/// The file couldn't be used. What it says is for the server's log, not for its users.
#[derive(Clone, Debug)]
pub(crate) struct StoreError {
    cause: Cause,
    detail: String,
}

/// Cause of the trouble, for whoever runs the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Full,
    ReadOnly,
    Damaged,
    Foreign,
    Gone,
    Busy,
    Slow,
    Away,
    Denied,
    Other,
}

impl Cause {
    /// Sentence that names no path: whoever asks may be anyone.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Full => "the disk of the store is full",
            Self::ReadOnly => {
                "the store can't be written: it is mounted or set read-only, or the server's user \
                 may not"
            }
            Self::Damaged => "the store is damaged; `moescape restore` puts a copy back",
            Self::Foreign => {
                "the store's file is another program's or a newer version's; `moescape restore` \
                 puts a copy back"
            }
            Self::Gone => {
                "the store's file is gone, cut off, or another one is in its place; put it back \
                 and start the server again"
            }
            Self::Busy => "another program keeps the store locked",
            Self::Away => "the database can't be reached; it is tried again",
            Self::Denied => "the database refuses the server's user, or there is no such database",
            Self::Slow => "the store doesn't answer in time",
            Self::Other => "the store can't be opened, read or written; the server's log says why",
        }
    }

    /// Cause of an error of the disk.
    fn of_disk(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        let is = |kinds: &[Kind]| kinds.contains(&error.kind());
        if is(&[Kind::StorageFull, Kind::QuotaExceeded]) {
            Self::Full
        } else if is(&[Kind::ReadOnlyFilesystem, Kind::PermissionDenied]) {
            Self::ReadOnly
        } else if is(&[Kind::NotFound, Kind::NotADirectory]) {
            Self::Gone
        } else {
            Self::Other
        }
    }

    /// Cause of an error of SQLite.
    fn of_sqlite(error: &rusqlite::Error) -> Self {
        let Some(error) = error.sqlite_error() else { return Self::Other };
        let is = |codes: &[ErrorCode]| codes.contains(&error.code);
        // The index of the log has no room: SQLite calls that a failure of the disk.
        if is(&[ErrorCode::DiskFull]) || error.extended_code == ffi::SQLITE_IOERR_SHMSIZE {
            Self::Full
        } else if is(&[ErrorCode::ReadOnly, ErrorCode::CannotOpen]) {
            // It opens files of its own beside the one that it reads, and can't make them.
            Self::ReadOnly
        } else if is(&[ErrorCode::DatabaseCorrupt]) {
            Self::Damaged
        } else if is(&[ErrorCode::NotADatabase]) {
            Self::Foreign
        } else if is(&[ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked]) {
            Self::Busy
        } else {
            Self::Other
        }
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)
    }
}

impl StoreError {
    pub(crate) const fn cause(&self) -> Cause {
        self.cause
    }

    /// Others wrote at the same time, again and again.
    pub(crate) fn busy() -> Self {
        Self::new(Cause::Busy, "others wrote first, too many times")
    }

    /// A thread couldn't be started.
    #[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
    pub(crate) fn thread(error: io::Error) -> Self {
        Self::new(Cause::Other, format!("a thread can't be started: {error}"))
    }

    /// The store's own thread is gone.
    pub(super) fn ended() -> Self {
        Self::new(Cause::Other, "the store has ended")
    }

    /// The file isn't one that this program uses.
    pub(super) fn unfit(file: &Path, complaint: &str) -> Self {
        Self::new(Cause::Foreign, format!("{} {complaint}", file.display()))
    }

    /// The database isn't one that this program uses.
    pub(super) fn foreign(address: &dyn std::fmt::Display, complaint: &str) -> Self {
        Self::new(Cause::Foreign, format!("the database {address} {complaint}"))
    }

    /// The disk refuses.
    pub(crate) fn disk(file: &Path, error: &io::Error) -> Self {
        Self::new(Cause::of_disk(error), format!("{}: {error}", file.display()))
    }

    pub(super) fn new(cause: Cause, detail: impl Into<String>) -> Self {
        Self { cause, detail: detail.into() }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(Cause::of_sqlite(&error), error.to_string())
    }
}

impl From<sql::Error> for StoreError {
    fn from(error: sql::Error) -> Self {
        match error {
            sql::Error::Sqlite(error) => error.into(),
            sql::Error::Postgres(error) => (&error).into(),
            error @ (sql::Error::NoRow | sql::Error::Value(_)) => {
                Self::new(Cause::Other, error.to_string())
            }
        }
    }
}
