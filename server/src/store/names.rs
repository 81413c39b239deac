//! The names of the store's files, and how long they are waited for.

use std::time::Duration;

/// The file in the data directory.
pub(crate) const FILE: &str = "moescape.sqlite";

/// Suffixes of that name: SQLite's log of changes that aren't in the file yet, the index of that
/// log, and what puts the file back after a crash.
pub(crate) const LOG: &str = "-wal";
pub(crate) const MEMORY: &str = "-shm";
pub(crate) const JOURNAL: &str = "-journal";

/// Suffix of that name: a file that is there while the first one is made.
pub(crate) const MAKING: &str = "-making";

/// Time to wait for another program that has the file locked.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
