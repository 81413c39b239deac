//! Sweeps as the command line and the server run them.
//!
//! The server's [`Engine`] has threads of its own, one fewer than the machine has cores, so that
//! requests are answered while sweeps run. It cuts every sweep into chunks of a few hundredths of
//! a second, takes them in turn from everyone who has a sweep, and writes down what is done.

mod engine;
mod job;
mod ledger;
pub(crate) mod rows;
mod status;
pub(crate) mod table;
mod trial;

pub(crate) use engine::{Engine, Refusal};
pub(crate) use job::Job;
pub(crate) use status::{Snapshot, event, status};
pub(crate) use trial::Trial;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::AppState;
use crate::store::{self, StoreError};

/// An engine that starts when it is first asked for: a server that sweeps nothing has no threads
/// and no store.
#[derive(Debug, Default)]
pub(crate) struct Lazy(Mutex<Option<Arc<Engine>>>);

impl Lazy {
    fn get(&self, data: &Path) -> Result<Arc<Engine>, StoreError> {
        let mut engine = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = engine.as_ref() {
            return Ok(Arc::clone(engine));
        }
        let started = Arc::new(Engine::open(data)?);
        *engine = Some(Arc::clone(&started));
        Ok(started)
    }
}

impl AppState {
    /// The engine of sweeps. Opens files: not for threads that answer requests.
    pub(crate) fn sweeps(&self) -> Result<Arc<Engine>, StoreError> {
        self.sweeps.get(&self.data)
    }

    /// Goes on with the sweeps that a server before this one left unfinished.
    pub(crate) fn resume_sweeps(&self) {
        if self.data.join(store::FILE).exists()
            && let Err(error) = self.sweeps()
        {
            tracing::error!(%error, "sweeps can't go on");
        }
    }
}
