//! The server's sweeps: takes them on, and knows them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use model::design::file::{Tree, json};
use sweep::{Progress, Rounds, Space, Spec};

use super::job::{Job, Origin, State};
use super::kept::{Keeping, KeptRows, MAX_ROWS_OF_ALL};
use super::ledger::{self, Entry, Saved, Stored};
use super::queue::Queue;
use super::remote::Coordinator;
use super::speed::SpeedSample;
use super::workers::{Shared, Workers};
use crate::ground::random::random_id;
use crate::jobs::nats::{Address, NatsError};
use crate::store::{Store, StoreError};
use crate::{ground::calendar, ground::log_fields};

/// Sweeps that aren't over, of everyone together.
const MAX_SWEEPS: usize = 64;

/// Sweeps that aren't over, of one client.
const MAX_OF_CLIENT: usize = 8;

/// Places of a sweep: about a day on two cores.
pub(crate) const MAX_PLACES: u64 = 10_000_000_000;

/// Reason why a sweep isn't taken.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Too many are there already.
    Full(String),
    /// Too large for a server.
    TooLarge(String),
    /// The store can't be used.
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Reason why there is no engine.
#[derive(Clone, Debug)]
pub(crate) enum EngineError {
    /// The store can't be used.
    Store(StoreError),
    /// NATS can't be used.
    Nats(NatsError),
}

impl std::fmt::Display for EngineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Nats(error) => error.fmt(f),
        }
    }
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<NatsError> for EngineError {
    fn from(error: NatsError) -> Self {
        Self::Nats(error)
    }
}

/// A stored sweep that isn't at hand: it was over before the server started.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) state: State,
    pub(crate) result: Option<String>,
    pub(crate) keeping: Keeping,
}

/// The server's sweeps. Who computes them ends with it.
#[derive(Debug)]
pub(crate) struct Engine {
    shared: Arc<Shared>,
    /// Workers; there until the engine ends.
    workers: Option<Workers>,
    /// Thread that follows the orders of other servers; there until the engine ends.
    listener: Option<JoinHandle<()>>,
}

impl Engine {
    /// Goes on with what a store says wasn't finished: by threads of
    /// its own, or by workers where there is NATS.
    pub(crate) fn open(store: Store, nats: Option<&Address>) -> Result<Self, EngineError> {
        let mut queue = Queue::default();
        for stored in ledger::unfinished(&store)? {
            let id = stored.id.clone();
            match revive(&store, stored) {
                Ok(job) => queue.add(Arc::new(job)),
                Err(why) => {
                    tracing::error!(sweep = log_fields::key(&id), why, "a sweep can't go on");
                    let (state, keeping) = (State::Failed, Keeping::No);
                    let rows = Arc::default();
                    let (progress, result, orders) = (None, None, 0);
                    let saved = Saved { state, orders, progress, result, keeping, rows };
                    ledger::save(&store, &id, saved)?;
                }
            }
        }
        let remains = ledger::remains(&store)?;
        if !remains.is_empty() {
            clean_up(store.clone(), remains);
        }
        let sweeps = queue.jobs.keys().cloned().collect();
        let shared = Arc::new(Shared::new(store, queue));
        // One may have been written down when all of it was done and nobody had closed it.
        let jobs: Vec<Arc<Job>> = shared.queue().jobs.values().cloned().collect();
        jobs.iter().filter(|job| job.begin_closing()).for_each(|job| shared.close(job));
        let workers = match nats {
            None => Workers::threads(&shared).map_err(StoreError::thread)?,
            Some(address) => {
                let chunks = Arc::clone(&shared);
                Workers::Remote(Coordinator::start(address, chunks, sweeps)?)
            }
        };
        let listener = shared.start_listening().map_err(StoreError::thread)?;
        Ok(Self { shared, workers: Some(workers), listener: Some(listener) })
    }

    /// Threads that compute, here or elsewhere.
    pub(crate) fn threads(&self) -> usize {
        self.workers.as_ref().map_or(1, Workers::count)
    }

    /// Sweeps that are evaluated, sweeps that wait, and designs that are done since the start.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let (running, waiting) = self.shared.queue().standing();
        (running, waiting, self.shared.designs.load(Ordering::Relaxed))
    }

    /// Wakes the workers: there is work, or some that isn't wanted any more.
    fn wake(&self) {
        if let Some(workers) = &self.workers {
            workers.wake(&self.shared);
        }
    }

    /// Checks that a sweep is small enough.
    pub(crate) fn check_size(space: &Space) -> Result<(), Refusal> {
        if space.num_points() <= MAX_PLACES {
            return Ok(());
        }
        Err(Refusal::TooLarge(format!(
            "{} designs are more than the {MAX_PLACES} that a server takes: ask for a sample by \
             `sampling`, or run `moescape sweep` in shards",
            space.num_points()
        )))
    }

    /// Takes a sweep on.
    pub(crate) fn submit(
        &self,
        client: &str,
        space: Space,
        sample: &SpeedSample,
        keeping: Keeping,
    ) -> Result<Arc<Job>, Refusal> {
        Self::check_size(&space)?;
        let room = self.reserve(client, keeping.at_most(space.num_points()))?;
        let created_at_secs = calendar::now_secs();
        let id = random_id();
        let stored = Stored {
            id: id.clone(),
            client: client.to_owned(),
            created_at_secs,
            spec: json::print(space.spec().source()),
            model_version: model::MODEL_VERSION.to_owned(),
            chunk: sample.chunk(&space),
            state: State::Running,
            progress: None,
            result: None,
            keeping,
            orders: 0,
        };
        ledger::add(&self.shared.store, stored)?;
        let origin = Origin {
            id,
            client: client.to_owned(),
            created_at_secs,
            chunk: sample.chunk(&space),
            state: State::Running,
            orders: 0,
            progress: Progress::new(&space),
            rounds: Rounds::new(&space),
            space,
            kept: KeptRows::new(keeping),
        };
        let job = Arc::new(Job::new(origin));
        room.take(Arc::clone(&job));
        self.wake();
        Ok(job)
    }

    /// Room for a sweep. Looked for and held in one step: others ask for some at the same time.
    fn reserve<'a>(&'a self, client: &'a str, rows: u64) -> Result<Room<'a>, Refusal> {
        let mut queue = self.shared.queue();
        let (of_client, all) = queue.counts(client);
        if of_client >= MAX_OF_CLIENT {
            return Err(Refusal::Full(format!(
                "you have {of_client} sweeps that aren't over, and at most {MAX_OF_CLIENT}: wait \
                 for one, or remove one"
            )));
        }
        if all >= MAX_SWEEPS {
            return Err(Refusal::Full(format!(
                "the server has {all} sweeps that aren't over, and at most {MAX_SWEEPS}: try \
                 again later"
            )));
        }
        if rows > 0 {
            let kept = ledger::rows_of_ended(&self.shared.store)?.saturating_add(queue.rows());
            if kept.saturating_add(rows) > MAX_ROWS_OF_ALL {
                return Err(Refusal::Full(format!(
                    "the server keeps the rows of up to {kept} designs, and at most \
                     {MAX_ROWS_OF_ALL}: remove a sweep that has some, or run this one without"
                )));
            }
        }
        queue.reserve(client, rows);
        Ok(Room { shared: &self.shared, client, rows, held: true })
    }

    /// The sweeps of a client, newest first, from one that is older than `before` on.
    pub(crate) fn list(
        &self,
        client: &str,
        before: Option<&str>,
        most: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        ledger::list(&self.shared.store, client, before, most)
    }

    /// Stored rows of the next chunk whose first place is at least this, with that place.
    pub(crate) fn next_rows(
        &self,
        id: &str,
        from: u64,
    ) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        ledger::next_rows(&self.shared.store, id, from)
    }

    /// Whether the rows of a sweep are kept still.
    pub(crate) fn keeps_rows(&self, id: &str) -> Result<bool, StoreError> {
        ledger::keeps_rows(&self.shared.store, id)
    }

    /// Writes down all that a sweep has found so far.
    pub(crate) fn save(&self, job: &Job) {
        self.shared.save(job);
    }

    /// A sweep that is at hand.
    pub(crate) fn job(&self, id: &str) -> Option<Arc<Job>> {
        self.shared.queue().jobs.get(id).cloned()
    }

    /// A sweep that only the store knows.
    pub(crate) fn past(&self, id: &str) -> Result<Option<Past>, StoreError> {
        let stored = ledger::find(&self.shared.store, id)?;
        Ok(stored.map(|stored| {
            let Stored { state, result, keeping, .. } = stored;
            Past { state, result, keeping }
        }))
    }

    /// Pauses a sweep or lets it go on, whichever server on this store computes it: the others look
    /// what the store says. Returns its state then, or `None` without a sweep; one that is over
    /// stays over.
    pub(crate) fn set_running(&self, id: &str, running: bool) -> Result<Option<State>, StoreError> {
        let Some(order) = ledger::order(&self.shared.store, id, running)? else { return Ok(None) };
        let Some(job) = self.job(id) else { return Ok(Some(order.state)) };
        if self.shared.follow(&job, Some(order)) {
            self.wake();
            self.shared.save(&job);
        }
        Ok(Some(job.inner().state))
    }

    /// Removes a sweep, running or over; false when there is none.
    pub(crate) fn remove(&self, id: &str) -> Result<bool, StoreError> {
        let job = self.shared.queue().jobs.get(id).cloned();
        if let Some(job) = job {
            job.abandon();
            // Chunks of it that are under way come back to nobody.
            self.shared.queue().remove(id);
            self.wake();
        }
        let removed = ledger::remove(&self.shared.store, id)?;
        if removed {
            clean_up(self.shared.store.clone(), vec![id.to_owned()]);
        }
        Ok(removed)
    }
}

/// Room for a sweep of a client, given back unless it is taken.
struct Room<'a> {
    shared: &'a Shared,
    client: &'a str,
    rows: u64,
    held: bool,
}

impl Room<'_> {
    /// Puts the sweep into the queue.
    fn take(mut self, job: Arc<Job>) {
        let mut queue = self.shared.queue();
        queue.release(self.client, self.rows);
        queue.add(job);
        self.held = false;
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if self.held {
            self.shared.queue().release(self.client, self.rows);
        }
    }
}

/// Removes the rows of sweeps that are gone: there may be many, and nobody waits for that.
fn clean_up(store: Store, sweeps: Vec<String>) {
    let thread = std::thread::Builder::new().name("clean-up".to_owned());
    let work = move || {
        for sweep in &sweeps {
            if let Err(error) = ledger::remove_rows(&store, sweep) {
                let sweep = log_fields::key(sweep);
                tracing::error!(sweep, %error, "rows can't be removed");
            }
        }
    };
    // Where there is no thread, the next start removes them.
    drop(thread.spawn(work));
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.close_all();
        let queue = self.shared.queue();
        // Threads give up the chunks that they are at; nobody asks for these jobs any more.
        queue.jobs.values().for_each(|job| job.stop().store(true, Ordering::Relaxed));
        let jobs: Vec<Arc<Job>> = queue.jobs.values().cloned().collect();
        drop(queue);
        self.wake();
        drop(self.workers.take());
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
        // The next server repeats nothing of what is there.
        let running = |job: &&Arc<Job>| !job.inner().state.is_final();
        jobs.iter().filter(running).for_each(|job| self.shared.save(job));
    }
}

/// A stored sweep as a job. Under another version of the model it starts anew: numbers of two
/// versions don't mix.
fn revive(store: &Store, stored: Stored) -> Result<Job, String> {
    let spec = Spec::from_json(&stored.spec);
    let spec =
        spec.map_err(|errors| errors.first().map(ToString::to_string).unwrap_or_default())?;
    let space = Space::new(spec).map_err(|error| error.to_string())?;
    let kept = stored.progress.filter(|_| stored.model_version == model::MODEL_VERSION);
    let progress = kept.and_then(|text| serde_json::from_str::<Progress>(&text).ok());
    let progress = progress.filter(|progress| progress.suits(&space));
    let going = progress.and_then(|progress| {
        let rounds = Rounds::resume(&space, &progress)?;
        Some((progress, rounds))
    });
    let keeping = match (&going, stored.keeping) {
        (Some(_), keeping) => keeping,
        (None, Keeping::No) => Keeping::No,
        (None, Keeping::Yes(_) | Keeping::TooMany) => {
            ledger::remove_rows(store, &stored.id).map_err(|error| error.to_string())?;
            Keeping::Yes(0)
        }
    };
    let (progress, rounds) = going.unwrap_or_else(|| (Progress::new(&space), Rounds::new(&space)));
    Ok(Job::new(Origin {
        id: stored.id,
        client: stored.client,
        created_at_secs: stored.created_at_secs,
        chunk: stored.chunk,
        state: stored.state,
        orders: stored.orders,
        progress,
        rounds,
        space,
        kept: KeptRows::new(keeping),
    }))
}

/// A tree of what was stored as JSON.
pub(super) fn parsed(text: &str) -> Tree {
    json::parse(text).unwrap_or(Tree::Null)
}
