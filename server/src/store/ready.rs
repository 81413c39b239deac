//! Can the store keep something now? What asks is a machine, again and again, and often anyone may
//! ask: so a look is shared by all who ask within a second.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{Cause, Lazy, Store, StoreError};

/// How long what was seen stands.
const FRESH: Duration = Duration::from_secs(1);

/// How long an answer may take.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// Where the store's file is, to see whether it still is.
#[derive(Debug)]
pub(super) struct Place {
    file: PathBuf,
    /// Which file it was when it was opened, where the system says so.
    mark: Option<(u64, u64)>,
    /// The most bytes that it was seen to have.
    length: AtomicU64,
}

impl Place {
    /// That of a file which was just opened.
    pub(super) fn of(file: PathBuf) -> Self {
        let metadata = fs::metadata(&file).ok();
        let length = AtomicU64::new(metadata.as_ref().map_or(0, fs::Metadata::len));
        Self { file, mark: metadata.as_ref().and_then(mark), length }
    }

    /// Is the file that was opened where it was, and no shorter than it has to be? SQLite would go
    /// on with a file that was removed or replaced, and what it keeps would be gone with its end.
    /// It isn't opened here: see `glance`.
    fn check(&self, pages_bytes: u64) -> Result<(), StoreError> {
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

#[cfg(unix)]
fn mark(metadata: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn mark(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

impl Store {
    /// Writes as everything does that is kept, and reads it back. What is written is what is there
    /// already, the version of the tables: SQLite writes and syncs its page all the same.
    fn probe(&self) -> Result<(), StoreError> {
        let number = |name: &'static str| {
            move |transaction: &rusqlite::Transaction<'_>| {
                let read = |row: &rusqlite::Row<'_>| row.get::<_, u32>(0);
                transaction.query_row(&format!("PRAGMA {name}"), [], read)
            }
        };
        let (written, pages_bytes) = self.call(move |transaction| {
            let version = number("user_version")(transaction)?;
            transaction.pragma_update(None, "user_version", version)?;
            let pages = u64::from(number("page_count")(transaction)?);
            Ok((version, pages * u64::from(number("page_size")(transaction)?)))
        })?;
        let read = self.call(number("user_version"))?;
        if read != written {
            let detail = format!("{written} was written and {read} read back");
            return Err(StoreError::new(Cause::Damaged, detail));
        }
        self.place.check(pages_bytes)
    }
}

/// Whether a server's store can keep something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readiness {
    /// Held while one looks, so that a disk which hangs holds up one thread and not more.
    last: Arc<Mutex<Option<Look>>>,
}

/// What was seen, and when.
#[derive(Debug)]
struct Look {
    at: Instant,
    found: Result<(), Cause>,
}

impl Readiness {
    /// Looks, or says what was seen within the last second. A store that isn't there is made.
    pub(crate) async fn ask(&self, store: &Arc<Lazy>) -> Result<(), Cause> {
        let (last, store) = (Arc::clone(&self.last), Arc::clone(store));
        let look = async {
            let mut last = last.lock_owned().await;
            if let Some(look) = last.as_ref().filter(|look| look.at.elapsed() < FRESH) {
                return look.found;
            }
            let looks = tokio::task::spawn_blocking(move || {
                let found = store.open().and_then(|store| store.probe());
                let was_ready = last.as_ref().is_none_or(|look| look.found.is_ok());
                match &found {
                    Ok(()) if !was_ready => tracing::info!("the store can be written again"),
                    Err(error) if was_ready => tracing::error!(%error, "the server isn't ready"),
                    Ok(()) | Err(_) => {}
                }
                let found = found.map_err(|error| error.cause());
                *last = Some(Look { at: Instant::now(), found });
                found
            });
            looks.await.unwrap_or(Err(Cause::Other))
        };
        timeout(MAX_WAIT, look).await.unwrap_or(Err(Cause::Slow))
    }
}
