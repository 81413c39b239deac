//! Sweeps as the command line and the server run them.
//!
//! The server's [`Engine`] has threads of its own, one fewer than the machine has cores, so that
//! requests are answered while sweeps run; or it hands out work over NATS. It cuts every sweep into
//! chunks of a few hundredths of a second, takes them in turn from everyone who has a sweep, and
//! writes down what is done.

mod engine;
mod hands;
mod job;
mod kept;
mod ledger;
mod queue;
pub(crate) mod rows;
mod status;
pub(crate) mod table;
mod trial;

pub(crate) use engine::{Engine, EngineError, MAX_PLACES, Refusal, random_id};
pub(crate) use job::Job;
pub(crate) use kept::{Keeping, MAX_ROWS};
pub(crate) use ledger::Entry;
pub(crate) use status::{Beat, status};
pub(crate) use trial::Trial;

use std::sync::{Arc, Mutex, PoisonError};

use crate::AppState;
use crate::nats::Address;
use crate::store;

/// An engine that starts when it is first asked for: a server that sweeps nothing has no threads
/// and no store.
#[derive(Debug, Default)]
pub(crate) struct Lazy {
    engine: Mutex<Option<Arc<Engine>>>,
    nats: Option<Address>,
}

impl Lazy {
    /// The same with workers at NATS in place of threads.
    pub(crate) const fn over(nats: Address) -> Self {
        Self { engine: Mutex::new(None), nats: Some(nats) }
    }

    fn get(&self, store: &store::Lazy) -> Result<Arc<Engine>, EngineError> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = engine.as_ref() {
            return Ok(Arc::clone(engine));
        }
        let started = Arc::new(Engine::open(store.open()?, self.nats.as_ref())?);
        *engine = Some(Arc::clone(&started));
        Ok(started)
    }
}

impl AppState {
    /// The engine of sweeps. Opens files: not for threads that answer requests.
    pub(crate) fn sweeps(&self) -> Result<Arc<Engine>, EngineError> {
        self.sweeps.get(&self.store)
    }

    /// Goes on with the sweeps that a server before this one left unfinished.
    pub(crate) fn resume_sweeps(&self) {
        if (self.store.exists() || self.sweeps.nats.is_some())
            && let Err(error) = self.sweeps()
        {
            tracing::error!(%error, "sweeps can't go on");
        }
    }
}
