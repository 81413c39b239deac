//! The place of the store's file, to see whether it is there still.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

use super::fault::{Cause, StoreError};

/// Place of the store's file, to see whether it still is there.
#[derive(Debug)]
pub(super) struct Place {
    file: PathBuf,
    /// Identity of the file when it was opened, where the system has one.
    mark: Option<(u64, u64)>,
    /// The most bytes that it was seen to have.
    length: AtomicU64,
}

impl Place {
    /// Place of a file which was just opened.
    pub(super) fn new(file: PathBuf) -> Self {
        let metadata = fs::metadata(&file).ok();
        let length = AtomicU64::new(metadata.as_ref().map_or(0, fs::Metadata::len));
        Self { file, mark: metadata.as_ref().and_then(mark), length }
    }

    /// Checks that the file that was opened is where it was, and no shorter than it has to be.
    /// SQLite would go on with a file that was removed or replaced, and what it keeps would be gone
    /// with its end. It isn't opened here: see `glance`.
    pub(super) fn check(&self, pages_bytes: u64) -> Result<(), StoreError> {
        let gone = |why: &str| {
            let file = self.file.display();
            StoreError::new(Cause::Gone, format!("{file} {why} since it was opened"))
        };
        let metadata =
            fs::metadata(&self.file).map_err(|error| StoreError::disk(&self.file, &error))?;
        if mark(&metadata) != self.mark {
            return Err(gone("was replaced by another file"));
        }
        // It may be shorter than its pages, which the log still has, but it never shrinks below
        // them.
        let length = metadata.len();
        if length < self.length.load(Ordering::Relaxed) && length < pages_bytes {
            return Err(gone("was cut off"));
        }
        self.length.store(length, Ordering::Relaxed);
        Ok(())
    }
}

/// Bytes of the pages that a database has, with those that only its log holds.
pub(super) fn pages_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    Ok(u64::from(number("page_count")?) * u64::from(number("page_size")?))
}

#[cfg(unix)]
fn mark(metadata: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn mark(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}
