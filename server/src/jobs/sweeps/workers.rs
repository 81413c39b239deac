//! Workers that compute the chunks of sweeps: threads of this process, or machines at NATS.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use model::design::file::json;
use reports::typed::Said;
use sweep::Progress;

use super::chunk::{Chunks, Claim, Outcome};
use super::job::{Job, Order, State};
use super::ledger;
use super::queue::Queue;
use super::remote::Coordinator;
use super::rows::{Format, Writer};
use crate::ground::log_fields;
use crate::store::Store;

/// Interval of looks at what other servers were asked to do with the sweeps at hand.
const ORDERS_INTERVAL: Duration = Duration::from_secs(1);

/// Number of looks after which sweeps that are over are looked for as well.
const FULL_POLL_EVERY: u64 = 10;

/// State shared by those who compute and those who ask.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Store,
    queue: Mutex<Queue>,
    pub(super) work: Condvar,
    /// Told when the engine closes.
    closing: Condvar,
    /// Designs that are done since the start, of all sweeps.
    pub(super) designs: AtomicU64,
}

impl Shared {
    pub(super) fn new(store: Store, queue: Queue) -> Self {
        let (work, closing, designs) = Default::default();
        Self { store, queue: Mutex::new(queue), work, closing, designs }
    }

    pub(super) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loop of a thread: computes batches until the engine closes.
    fn compute(&self) {
        loop {
            let (job, batch) = {
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
            let places = batch.places.clone();
            let format = job.inner().kept.are_wanted().then_some(Format::Binary);
            let work = || {
                let mut rows = Vec::new();
                let writer = format.map(|format| Writer::new(format, &job.space));
                let summary = sweep::evaluate_with(&job.space, batch, job.stop(), |one| {
                    writer.iter().for_each(|writer| writer.add(one, &mut rows));
                });
                summary
                    .map(|summary| (Progress::with_part(&job.space, places.clone(), summary), rows))
            };
            let outcome = match catch_unwind(AssertUnwindSafe(work)) {
                Ok(Some((part, rows))) => Outcome::Done(Box::new(part), rows),
                Ok(None) => Outcome::Stopped,
                Err(_) => Outcome::Failed(format!("places {places:?} panicked")),
            };
            if self.complete(&job, places, outcome) {
                self.close(&job);
            }
        }
    }

    /// Looks at a sweep of which all is done once more, and ends it. Takes its time.
    pub(super) fn close(&self, job: &Job) {
        if catch_unwind(AssertUnwindSafe(|| job.close())).is_err() {
            job.fail("its best designs can't be simulated");
        }
        self.save(job);
        self.queue().end(job);
    }

    /// Gives a claimed chunk back; true when it was the last one, so that the sweep is to be
    /// closed.
    #[must_use]
    fn complete(&self, job: &Job, places: std::ops::Range<u64>, outcome: Outcome) -> bool {
        if matches!(outcome, Outcome::Done(..)) {
            self.designs.fetch_add(places.end - places.start, Ordering::Relaxed);
        }
        if job.complete_chunk(places, outcome) {
            self.save(job);
        }
        if job.inner().state.is_final() {
            self.queue().end(job);
        }
        if job.space.spec().sampling.is_refined() {
            // A round may have begun that others wait for.
            self.work.notify_all();
        }
        job.begin_closing()
    }

    /// Writes down how far a sweep is.
    pub(super) fn save(&self, job: &Job) {
        let _one = job.saving.lock().unwrap_or_else(PoisonError::into_inner);
        let (state, orders, progress, closing, keeping, rows) = {
            let mut inner = job.inner();
            if inner.state == State::Removed {
                return;
            }
            let rows = inner.kept.take();
            let (closing, orders) = (inner.closing.clone(), inner.orders);
            let (progress, keeping) = (inner.progress.clone(), inner.kept.keeping);
            (inner.state, orders, progress, closing, keeping, Arc::new(rows))
        };
        let result = (state == State::Done)
            .then(|| json::print(&sweep::result(&job.space, &progress, closing.as_deref()).said()));
        let progress = Some(serde_json::to_string(&progress).unwrap_or_default());
        let kept = Arc::clone(&rows);
        let saved = ledger::Saved { state, orders, progress, result, keeping, rows: kept };
        match ledger::save(&self.store, &job.id, saved) {
            Ok(order) => drop(self.follow(job, order)),
            Err(error) => {
                tracing::error!(sweep = log_fields::key(&job.id), %error, "a sweep can't be saved");
                job.inner().kept.restore(&rows);
            }
        }
    }

    /// Follows what the store says of a sweep, which another server may have been asked for; `true`
    /// if that changes anything.
    pub(super) fn follow(&self, job: &Job, order: Option<Order>) -> bool {
        match order {
            Some(order) => job.follow(order),
            // Removed. Chunks of it that are under way come back to nobody.
            None => {
                job.abandon();
                self.queue().remove(&job.id).is_some()
            }
        }
    }

    /// Follows orders for the sweeps at hand until the engine closes, those of other servers on the
    /// same store too. One that is computed hears of them whenever it is saved; a paused one, and
    /// one whose chunks are elsewhere, has to ask.
    fn listen(&self) {
        let mut queue = self.queue();
        for turn in 0_u64.. {
            if queue.closing {
                return;
            }
            queue = self
                .closing
                .wait_timeout(queue, ORDERS_INTERVAL)
                .map_or_else(|error| error.into_inner().0, |(queue, _)| queue);
            let mut open: Vec<Arc<Job>> = queue.unfinished().cloned().collect();
            if turn.is_multiple_of(FULL_POLL_EVERY) {
                // Of those that are over it is to be heard that they were removed.
                open = queue.jobs.values().cloned().collect();
            }
            if queue.closing || open.is_empty() {
                continue;
            }
            drop(queue);
            let ids = open.iter().map(|job| job.id.clone()).collect();
            // A store that can't be read says so elsewhere.
            let orders = ledger::orders(&self.store, ids).unwrap_or_default();
            let mut changed = false;
            for (job, (_, order)) in open.iter().zip(orders) {
                changed |= self.follow(job, order);
            }
            if changed {
                self.work.notify_all();
            }
            queue = self.queue();
        }
    }

    /// Starts the thread that does that.
    pub(super) fn start_listening(self: &Arc<Self>) -> std::io::Result<JoinHandle<()>> {
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("orders".to_owned());
        thread.spawn(move || shared.listen())
    }

    /// Ends everything that waits.
    pub(super) fn close_all(&self) {
        self.queue().closing = true;
        self.closing.notify_all();
        self.work.notify_all();
    }
}

impl Chunks for Shared {
    fn claim(&self) -> Option<Claim> {
        let (job, batch) = self.queue().claim()?;
        let rows = job.inner().kept.are_wanted().then_some(Format::Binary);
        Some(Claim { sweep: job.id.clone(), spec: Arc::clone(&job.spec), rows, batch })
    }

    fn wants(&self, sweep: &str) -> bool {
        let job = self.queue().jobs.get(sweep).cloned();
        job.is_some_and(|job| job.inner().state == State::Running)
    }

    fn complete_chunk(
        self: Arc<Self>,
        sweep: &str,
        places: std::ops::Range<u64>,
        outcome: Outcome,
    ) {
        let job = self.queue().jobs.get(sweep).cloned();
        let Some(job) = job.filter(|job| Self::complete(&self, job, places, outcome)) else {
            return;
        };
        // Those who wait for NATS don't wait for a simulation.
        let (shared, closed) = (Arc::clone(&self), Arc::clone(&job));
        let thread = std::thread::Builder::new().name("closing".to_owned());
        if thread.spawn(move || shared.close(&closed)).is_err() {
            self.close(&job);
        }
    }

    fn note_idle(&self, why: &str) {
        tracing::warn!("sweeps wait: {why}");
    }
}

/// Threads or machines that compute chunks. They end when this is dropped, once the queue is
/// closing.
#[derive(Debug)]
pub(super) enum Workers {
    /// Threads of this process.
    Threads(Vec<std::thread::JoinHandle<()>>),
    /// Workers at NATS.
    Remote(Coordinator),
}

impl Workers {
    /// Starts threads: one fewer than the machine has cores.
    pub(super) fn threads(shared: &Arc<Shared>) -> std::io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = (0..cores.saturating_sub(1).max(1)).map(|number| {
            let shared = Arc::clone(shared);
            let thread = std::thread::Builder::new().name(format!("sweep-{number}"));
            thread.spawn(move || shared.compute())
        });
        Ok(Self::Threads(threads.collect::<std::io::Result<_>>()?))
    }

    /// Number of threads that compute.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Threads(threads) => threads.len(),
            Self::Remote(coordinator) => coordinator.threads(),
        }
    }

    /// Wakes them: there is work, or some that isn't wanted any more.
    pub(super) fn wake(&self, shared: &Shared) {
        match self {
            Self::Threads(_) => shared.work.notify_all(),
            Self::Remote(coordinator) => coordinator.wake(),
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Self::Threads(threads) = self {
            // A point takes far less than a millisecond: there is nothing to wait for.
            for thread in threads.drain(..) {
                let _ = thread.join();
            }
        }
    }
}
