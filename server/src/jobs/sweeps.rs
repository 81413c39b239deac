//! Sweeps as the command line and the server run them.
//!
//! The server's [`Engine`] has threads of its own, one fewer than the machine has cores, so that
//! requests are answered while sweeps run; or it hands out work over NATS. It cuts every sweep into
//! chunks of a few hundredths of a second, takes them in turn from everyone who has a sweep, and
//! writes down once a second what is done. After a crash only what wasn't written down is repeated.
//! Over NATS it keeps a few chunks under way for each thread that asks for some, and hands them out
//! again when NATS has neither them nor a result; a result that comes twice is dropped. When all is
//! done, `sweep::final_simulation` looks at the sweep once more.

mod kept;
pub(crate) mod rows;
mod chunk;
mod job;
mod ledger;
mod queue;
mod remote;
mod speed;
pub(crate) mod table;
mod workers;
mod engine;
mod status;

pub(crate) use chunk::{Chunks, Claim, Outcome};
pub(crate) use engine::{Engine, EngineError, MAX_PLACES, Refusal};
pub(crate) use job::Job;
pub(crate) use kept::{Keeping, MAX_ROWS};
pub(crate) use remote::{Coordinator, work_for};
pub(crate) use speed::{Cost, SpeedSample};
pub(crate) use status::{
    ProgressUpdate, Standing, Started, StateAlone, SweepAnswer, SweepEntry, Sweeps, status,
};

use std::sync::{Arc, Mutex, PoisonError};

use crate::jobs::nats::Address;
use crate::store;

/// An engine that starts when it is first asked for: a server that sweeps nothing has no threads
/// and no store.
#[derive(Debug, Default)]
pub(crate) struct Lazy {
    engine: Mutex<Option<Arc<Engine>>>,
    nats: Option<Address>,
}

impl Lazy {
    /// Sweeps of workers at NATS in place of threads.
    pub(crate) const fn over(nats: Address) -> Self {
        Self { engine: Mutex::new(None), nats: Some(nats) }
    }

    /// Whether workers at NATS compute.
    pub(crate) const fn has_workers(&self) -> bool {
        self.nats.is_some()
    }

    /// Sweeps that are evaluated, sweeps that wait, and designs that are done. There are none
    /// before the engine is started.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        engine.as_ref().map_or((0, 0, 0), |engine| engine.counts())
    }

    /// The engine, started where it isn't yet. Opens files: not for threads that answer requests.
    pub(crate) fn engine(&self, store: &store::Lazy) -> Result<Arc<Engine>, EngineError> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = engine.as_ref() {
            return Ok(Arc::clone(engine));
        }
        let started = Arc::new(Engine::open(store.open()?, self.nats.as_ref())?);
        *engine = Some(Arc::clone(&started));
        Ok(started)
    }
}
