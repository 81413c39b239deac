//! The threads that compute sweeps, and whose turn it is.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use model::file::{Tree, json};
use sweep::{Progress, Space, Spec};

use super::job::{Job, Outcome, State};
use super::ledger::{self, Stored};
use super::trial::Trial;
use crate::store::{Store, StoreError};

/// Sweeps that aren't over, of everyone together.
const MOST_SWEEPS: usize = 64;

/// Sweeps that aren't over, of one client.
const MOST_OF_CLIENT: usize = 8;

/// Sweeps that are over and kept at hand for those who watch them.
const MOST_OVER: usize = 64;

/// Places of a sweep: about a day on two cores.
const MOST_PLACES: u64 = 10_000_000_000;

/// Why a sweep isn't taken.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// There are too many already.
    Full(String),
    /// It is too large for a server.
    TooLarge(String),
    /// The store can't be used.
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// A stored sweep that isn't at hand: it was over before the server started.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) state: State,
    pub(crate) result: Option<String>,
}

/// The server's sweeps. Its threads end with it.
#[derive(Debug)]
pub(crate) struct Engine {
    shared: Arc<Shared>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    queue: Mutex<Queue>,
    work: Condvar,
}

/// Whose turn it is.
#[derive(Debug, Default)]
struct Queue {
    jobs: BTreeMap<String, Arc<Job>>,
    /// Clients in the order of their turns.
    turns: VecDeque<String>,
    /// For each client its sweeps, oldest first.
    of_client: BTreeMap<String, VecDeque<String>>,
    /// Sweeps that are over, oldest first.
    over: VecDeque<String>,
    closing: bool,
}

impl Queue {
    fn add(&mut self, job: Arc<Job>) {
        let of_client = self.of_client.entry(job.client.clone()).or_default();
        if of_client.is_empty() {
            self.turns.push_back(job.client.clone());
        }
        of_client.push_back(job.id.clone());
        self.jobs.insert(job.id.clone(), job);
    }

    /// Takes a sweep out of the turns.
    fn retire(&mut self, job: &Job) {
        if let Some(of_client) = self.of_client.get_mut(&job.client) {
            of_client.retain(|id| *id != job.id);
            if of_client.is_empty() {
                self.of_client.remove(&job.client);
                self.turns.retain(|client| *client != job.client);
            }
        }
    }

    /// The next chunk: each client has a turn, and its sweeps go one after the other.
    fn claim(&mut self) -> Option<(Arc<Job>, std::ops::Range<u64>)> {
        for _ in 0..self.turns.len() {
            let client = self.turns.pop_front()?;
            let ids = self.of_client.get(&client).cloned().unwrap_or_default();
            self.turns.push_back(client);
            let claimed = ids.iter().find_map(|id| {
                let job = self.jobs.get(id)?;
                job.claim().map(|places| (Arc::clone(job), places))
            });
            if claimed.is_some() {
                return claimed;
            }
        }
        None
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each thread does until the engine closes.
    fn compute(&self) {
        loop {
            let (job, places) = {
                let mut queue = self.queue();
                loop {
                    if queue.closing {
                        return;
                    }
                    if let Some(claimed) = queue.claim() {
                        break claimed;
                    }
                    queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
            };
            let work = || sweep::evaluate(&job.space, places.clone(), job.stop());
            let outcome = match catch_unwind(AssertUnwindSafe(work)) {
                Ok(Some(summary)) => Outcome::Done(Box::new(summary)),
                Ok(None) => Outcome::Stopped,
                Err(_) => {
                    tracing::error!(sweep = job.id, ?places, "a chunk panicked");
                    Outcome::Failed
                }
            };
            if job.settle(places, outcome) {
                self.save(&job);
            }
            if job.inner().state.is_final() {
                self.retire(&job);
            }
        }
    }

    fn retire(&self, job: &Job) {
        let mut queue = self.queue();
        queue.retire(job);
        if queue.jobs.contains_key(&job.id) && !queue.over.contains(&job.id) {
            queue.over.push_back(job.id.clone());
        }
        if queue.over.len() > MOST_OVER
            && let Some(oldest) = queue.over.pop_front()
        {
            queue.jobs.remove(&oldest);
        }
    }

    /// Writes down how far a sweep is.
    fn save(&self, job: &Job) {
        let (state, progress) = {
            let inner = job.inner();
            (inner.state, inner.progress.clone())
        };
        let result =
            (state == State::Done).then(|| json::print(&sweep::result(&job.space, &progress)));
        let progress = serde_json::to_string(&progress).unwrap_or_default();
        if let Err(error) = ledger::save(&self.store, &job.id, state, progress, result) {
            tracing::error!(sweep = job.id, %error, "a sweep can't be saved");
        }
    }
}

impl Engine {
    /// Opens the store of a data directory and goes on with what wasn't finished.
    pub(crate) fn open(data: &Path) -> Result<Self, StoreError> {
        let store = Store::open(data)?;
        let mut queue = Queue::default();
        for stored in ledger::unfinished(&store)? {
            let id = stored.id.clone();
            match revive(stored) {
                Ok(job) => queue.add(Arc::new(job)),
                Err(why) => {
                    tracing::error!(sweep = id, why, "a sweep can't go on");
                    ledger::save(&store, &id, State::Failed, String::new(), None)?;
                }
            }
        }
        let shared = Shared { store, queue: Mutex::new(queue), work: Condvar::new() };
        let shared = Arc::new(shared);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = (0..cores.saturating_sub(1).max(1)).map(|number| {
            let shared = Arc::clone(&shared);
            let thread = std::thread::Builder::new().name(format!("sweep-{number}"));
            thread.spawn(move || shared.compute()).map_err(StoreError::thread)
        });
        let threads = threads.collect::<Result<_, _>>()?;
        Ok(Self { shared, threads })
    }

    /// Threads that compute.
    pub(crate) const fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Is a sweep small enough?
    pub(crate) fn check_size(space: &Space) -> Result<(), Refusal> {
        if space.places() <= MOST_PLACES {
            return Ok(());
        }
        Err(Refusal::TooLarge(format!(
            "{} designs are more than the {MOST_PLACES} that a server takes: ask for a sample by \
             `sampling`, or run `moescape sweep` in shards",
            space.places()
        )))
    }

    /// Takes a sweep on.
    pub(crate) fn submit(
        &self,
        client: &str,
        space: Space,
        trial: &Trial,
    ) -> Result<Arc<Job>, Refusal> {
        Self::check_size(&space)?;
        self.check_room(client)?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = random_id();
        let stored = Stored {
            id: id.clone(),
            client: client.to_owned(),
            created_at_secs: since.as_secs(),
            spec: json::print(space.spec().source()),
            model_version: model::MODEL_VERSION.to_owned(),
            chunk: trial.chunk(),
            state: State::Running,
            progress: None,
            result: None,
        };
        ledger::add(&self.shared.store, stored)?;
        let progress = Progress::new(&space);
        let names = (id, client.to_owned());
        let job = Job::new(names, since.as_secs(), space, trial.chunk(), State::Running, progress);
        let job = Arc::new(job);
        self.shared.queue().add(Arc::clone(&job));
        self.shared.work.notify_all();
        Ok(job)
    }

    fn check_room(&self, client: &str) -> Result<(), Refusal> {
        let queue = self.shared.queue();
        let of_client = queue.of_client.get(client).map_or(0, VecDeque::len);
        let all: usize = queue.of_client.values().map(VecDeque::len).sum();
        if of_client >= MOST_OF_CLIENT {
            return Err(Refusal::Full(format!(
                "you have {of_client} sweeps that aren't over, and at most {MOST_OF_CLIENT}: wait \
                 for one, or remove one"
            )));
        }
        if all >= MOST_SWEEPS {
            return Err(Refusal::Full(format!(
                "the server has {all} sweeps that aren't over, and at most {MOST_SWEEPS}: try \
                 again later"
            )));
        }
        Ok(())
    }

    /// A sweep that is at hand.
    pub(crate) fn job(&self, id: &str) -> Option<Arc<Job>> {
        self.shared.queue().jobs.get(id).cloned()
    }

    /// A sweep that only the store knows.
    pub(crate) fn past(&self, id: &str) -> Result<Option<Past>, StoreError> {
        let stored = ledger::find(&self.shared.store, id)?;
        Ok(stored.map(|stored| Past { state: stored.state, result: stored.result }))
    }

    /// Pauses a sweep or lets it go on; false when it is over.
    pub(crate) fn set_running(&self, job: &Job, running: bool) -> bool {
        let changed = job.set_running(running);
        if changed {
            self.shared.save(job);
            self.shared.work.notify_all();
        }
        changed
    }

    /// Removes a sweep, running or over; false when there is none.
    pub(crate) fn remove(&self, id: &str) -> Result<bool, StoreError> {
        let job = self.shared.queue().jobs.remove(id);
        if let Some(job) = job {
            job.abandon();
            let mut queue = self.shared.queue();
            queue.retire(&job);
            queue.over.retain(|over| over != id);
        }
        ledger::remove(&self.shared.store, id)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let mut queue = self.shared.queue();
        queue.closing = true;
        // Threads give up the chunks that they are at; nobody asks for these jobs any more.
        queue.jobs.values().for_each(|job| job.stop().store(true, Ordering::Relaxed));
        drop(queue);
        self.shared.work.notify_all();
        // A point takes far less than a millisecond: there is nothing to wait for.
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// A stored sweep as a job. Under another version of the model it starts anew: numbers of two
/// versions don't mix.
fn revive(stored: Stored) -> Result<Job, String> {
    let spec = Spec::from_json(&stored.spec);
    let spec =
        spec.map_err(|errors| errors.first().map(ToString::to_string).unwrap_or_default())?;
    let space = Space::new(spec).map_err(|error| error.to_string())?;
    let kept = stored.progress.filter(|_| stored.model_version == model::MODEL_VERSION);
    let progress = kept.and_then(|text| serde_json::from_str::<Progress>(&text).ok());
    let progress = progress.filter(|progress| progress.suits(&space));
    let progress = progress.unwrap_or_else(|| Progress::new(&space));
    let names = (stored.id, stored.client);
    Ok(Job::new(names, stored.created_at_secs, space, stored.chunk, stored.state, progress))
}

/// A name that can't be guessed: two hashers that the system seeded.
fn random_id() -> String {
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}

/// A tree of what was stored as JSON.
pub(super) fn parsed(text: &str) -> Tree {
    json::parse(text).unwrap_or(Tree::Null)
}
