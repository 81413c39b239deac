//! A sweep that the server runs.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use model::design::file::{Tree, json};
use reports::typed::Said;
use sweep::{Batch, FinalSimulation, Progress, Rounds, Space};
use tokio::sync::watch;

use super::chunk::Outcome;
use super::kept::KeptRows;

/// Where a sweep stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(rename = "SweepState", rename_all = "snake_case")]
pub(crate) enum State {
    /// It is computed, or waits for its turn.
    Running,
    /// Someone paused it.
    Paused,
    /// All of it is there.
    Done,
    /// A mistake of ours ended it.
    Failed,
    /// Someone removed it. Only those who still watch it hear that: nothing of it is stored.
    Removed,
}

impl State {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Removed => "removed",
        }
    }

    /// The stored state of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Running, Self::Paused, Self::Done, Self::Failed];
        all.into_iter().find(|state| state.name() == name)
    }

    /// Will nothing happen any more?
    pub(crate) const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Removed)
    }
}

impl Said for State {
    fn said(self) -> Tree {
        self.name().into()
    }
}

/// Order for a sweep, from the store: the state that it is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) state: State,
    /// Number of times that it was paused or let go on: the higher number is the later order.
    pub(super) number: u64,
}

/// A sweep that isn't finished, or was finished since the server started.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) client: String,
    pub(crate) created_at_secs: u64,
    pub(crate) space: Space,
    /// The spec as it is sent to workers, JSON.
    pub(crate) spec: Arc<str>,
    chunk: u64,
    /// Raised to pause or remove it.
    stop: AtomicBool,
    inner: Mutex<Inner>,
    changes: watch::Sender<u64>,
    /// Held while it is written down, so that what is written later is later.
    pub(super) saving: Mutex<()>,
}

/// State of a job that changes while it runs.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) state: State,
    /// The last order that it follows.
    pub(super) orders: u64,
    /// Error that ended it.
    pub(crate) failure: Option<String>,
    pub(crate) progress: Progress,
    /// Result of closing it, when all of it was done.
    pub(crate) closing: Option<Arc<FinalSimulation>>,
    /// Whether someone is closing it.
    is_closing: bool,
    /// Rounds: the designs at its places, as far as they are known.
    rounds: Rounds,
    /// Rows of feasible designs that are kept.
    pub(crate) kept: KeptRows,
    /// Ranges of known places that nobody works on.
    open: VecDeque<Range<u64>>,
    /// Chunks that someone works on.
    in_flight: u64,
    /// Since when this job's rate is measured, and from how many places on.
    pub(crate) since: Option<(Instant, u64)>,
    saved: Instant,
}

/// Parts that a job is made of.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) id: String,
    pub(crate) client: String,
    pub(crate) created_at_secs: u64,
    pub(crate) space: Space,
    pub(crate) chunk: u64,
    pub(crate) state: State,
    pub(super) orders: u64,
    pub(crate) progress: Progress,
    /// Rounds of the progress.
    pub(crate) rounds: Rounds,
    pub(crate) kept: KeptRows,
}

impl Job {
    pub(crate) fn new(origin: Origin) -> Self {
        let Origin { id, client, created_at_secs, space, chunk, state, orders, kept, .. } = origin;
        let Origin { mut progress, mut rounds, .. } = origin;
        // It may have been written down between two rounds.
        rounds.advance(&space, &mut progress);
        let open = open_ranges(&progress, rounds.known());
        let inner = Mutex::new(Inner {
            state,
            orders,
            failure: None,
            progress,
            closing: None,
            is_closing: false,
            rounds,
            kept,
            open,
            in_flight: 0,
            since: None,
            saved: Instant::now(),
        });
        let (changes, _) = watch::channel(1);
        let stop = AtomicBool::new(state != State::Running);
        let spec = json::print(space.spec().source()).into();
        let saving = Mutex::new(());
        Self { id, client, created_at_secs, space, spec, chunk, stop, inner, changes, saving }
    }

    /// State that changes. A thread that panics holds no lock while it computes.
    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) const fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Whether someone works on it now; `None` if nobody is to.
    pub(super) fn is_under_way(&self) -> Option<bool> {
        let inner = self.inner();
        (inner.state == State::Running).then_some(inner.in_flight > 0 || inner.is_closing)
    }

    /// Hears of every change; the number is the revision.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn revision(&self) -> u64 {
        *self.changes.borrow()
    }

    fn changed(&self) {
        self.changes.send_modify(|revision| *revision += 1);
    }

    /// Designs whose rows it may keep.
    pub(super) fn rows_at_most(&self) -> u64 {
        self.inner().kept.keeping.at_most(self.space.num_points())
    }

    /// Takes the next chunk to compute.
    pub(crate) fn claim(&self) -> Option<Batch> {
        let mut inner = self.inner();
        if inner.state != State::Running {
            return None;
        }
        let range = inner.open.pop_front()?;
        let end = range.end.min(range.start + self.chunk);
        if end < range.end {
            inner.open.push_front(end..range.end);
        }
        // What is open is known.
        let batch = inner.rounds.batch(range.start..end)?;
        inner.in_flight += 1;
        if inner.since.is_none() {
            inner.since = Some((Instant::now(), inner.progress.num_points()));
        }
        Some(batch)
    }

    /// Gives a claimed chunk back. True when it is time to write down how far the sweep is.
    pub(crate) fn complete_chunk(&self, places: Range<u64>, outcome: Outcome) -> bool {
        const PAUSE_SECONDS: f64 = 1.0;
        let mut inner = self.inner();
        inner.in_flight -= 1;
        if inner.state == State::Removed {
            return false;
        }
        match outcome {
            Outcome::Done(part, rows) => match self.fitting(&places, &part) {
                // A chunk that is there already was evaluated twice.
                Ok(()) if inner.progress.has(&places) => {}
                Ok(()) => {
                    inner.kept.add(places.start, rows, part.summary().feasible);
                    if inner.progress.join(&self.space, *part).is_err() {
                        inner.fail("chunks of it overlap");
                    }
                }
                Err(why) => inner.fail(why),
            },
            Outcome::Stopped => inner.open.push_front(places),
            Outcome::Failed(why) => inner.fail(&why),
        }
        let is_complete = inner.progress.num_points() == self.space.num_points();
        let rounds_end = inner.in_flight == 0 && inner.open.is_empty() && !is_complete;
        let due = inner.state.is_final() || inner.saved.elapsed().as_secs_f64() >= PAUSE_SECONDS;
        if due {
            inner.saved = Instant::now();
        }
        let is_over = inner.state.is_final();
        drop(inner);
        if rounds_end && !is_over {
            self.next_round();
        }
        self.changed();
        due
    }

    /// Whether all of it is done, and nobody closes it yet. Then the caller does.
    pub(crate) fn begin_closing(&self) -> bool {
        let mut inner = self.inner();
        let is_complete = inner.progress.num_points() == self.space.num_points();
        let begins = is_complete && !inner.state.is_final() && !inner.is_closing;
        inner.is_closing |= begins;
        begins
    }

    /// Looks at what all of it has found once more; then it is done.
    pub(crate) fn close(&self) {
        let progress = self.inner().progress.clone();
        let closing = sweep::final_simulation(&self.space, &progress);
        let mut inner = self.inner();
        if inner.state.is_final() {
            return;
        }
        inner.closing = Some(Arc::new(closing));
        inner.state = State::Done;
        drop(inner);
        self.changed();
    }

    /// A mistake of ours ends it.
    pub(crate) fn fail(&self, why: &str) {
        self.inner().fail(why);
        self.changed();
    }

    /// Begins the next round of a sweep that refines. All that is known is done, so that nothing
    /// of it changes meanwhile: others needn't wait for this.
    fn next_round(&self) {
        let (mut progress, mut rounds) = {
            let inner = self.inner();
            (inner.progress.clone(), inner.rounds.clone())
        };
        if rounds.advance(&self.space, &mut progress) {
            let mut inner = self.inner();
            inner.open = open_ranges(&progress, rounds.known());
            (inner.progress, inner.rounds) = (progress, rounds);
        }
    }

    /// Checks that this is the result of that chunk.
    fn fitting(&self, places: &Range<u64>, part: &Progress) -> Result<(), &'static str> {
        let is_it = part.done().eq(std::iter::once(places.clone()));
        if is_it && part.suits(&self.space) { Ok(()) } else { Err("a result is of another sweep") }
    }

    /// Follows an order, unless it followed a later one. False when nothing changes.
    pub(super) fn follow(&self, order: Order) -> bool {
        let mut inner = self.inner();
        let is_newer = order.number > inner.orders;
        if inner.state.is_final() || order.state.is_final() || !is_newer {
            return false;
        }
        inner.orders = order.number;
        if inner.state == order.state {
            return false;
        }
        inner.state = order.state;
        inner.since = None;
        self.stop.store(order.state != State::Running, Ordering::Relaxed);
        drop(inner);
        self.changed();
        true
    }

    /// Ends all work on it, and the streams of those who watch it.
    pub(crate) fn abandon(&self) {
        self.inner().state = State::Removed;
        self.stop.store(true, Ordering::Relaxed);
        self.changed();
    }
}

impl Inner {
    fn fail(&mut self, why: &str) {
        tracing::error!(why, "a sweep failed");
        self.state = State::Failed;
        self.failure = Some(why.to_owned());
    }
}

/// The ranges of places that aren't done.
fn open_ranges(progress: &Progress, places: u64) -> VecDeque<Range<u64>> {
    let mut open = VecDeque::new();
    let mut from = 0;
    for done in progress.done() {
        if from < done.start {
            open.push_back(from..done.start);
        }
        from = done.end;
    }
    if from < places {
        open.push_back(from..places);
    }
    open
}
