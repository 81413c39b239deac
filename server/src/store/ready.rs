//! Readiness of the store: whether it can keep something now. A machine asks, again and again, and
//! often anyone may ask: so a look is shared by all who ask within a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::database::{Database, Lazy, Store};
use super::fault::{Cause, StoreError};
use super::place::{Place, pages_bytes};

/// Time for which a look is valid.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Longest time until an answer.
const MAX_WAIT: Duration = Duration::from_secs(3);

impl Store {
    /// Writes as everything does that is kept, and reads it back.
    fn probe(&self) -> Result<(), StoreError> {
        self.with(|database| match database {
            Database::Sqlite(connection, place) => probe(connection, place),
            Database::Postgres(session) => session.probe(),
        })
    }
}

/// Checks that a file can be written: writes what is there already, the version of the tables.
/// SQLite writes and syncs its page all the same.
fn probe(connection: &mut Connection, place: &Place) -> Result<(), StoreError> {
    let number = |connection: &Connection, name: &str| {
        connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, u32>(0))
    };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let written = number(&transaction, "user_version")?;
    transaction.pragma_update(None, "user_version", written)?;
    let pages_bytes = pages_bytes(&transaction)?;
    transaction.commit()?;
    let read = number(connection, "user_version")?;
    if read != written {
        let detail = format!("{written} was written and {read} read back");
        return Err(StoreError::new(Cause::Damaged, detail));
    }
    place.check(pages_bytes)
}

/// Whether a server's store can keep something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readiness {
    /// Held while one looks, so that a disk which hangs holds up one thread and not more.
    last: Arc<Mutex<Option<Look>>>,
}

/// Result of a look, and when it was.
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
            if let Some(look) = last.as_ref().filter(|look| look.at.elapsed() < MAX_AGE) {
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
