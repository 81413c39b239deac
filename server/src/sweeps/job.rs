//! A sweep that the server runs.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use sweep::{Progress, Space, Summary};
use tokio::sync::watch;

/// Where a sweep stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is computed, or waits for its turn.
    Running,
    /// Someone paused it.
    Paused,
    /// All of it is there.
    Done,
    /// A mistake of ours ended it.
    Failed,
}

impl State {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        let all = [Self::Running, Self::Paused, Self::Done, Self::Failed];
        all.into_iter().find(|state| state.name() == name)
    }

    /// Will nothing happen any more?
    pub(crate) const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

/// A sweep that isn't finished, or was finished since the server started.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) client: String,
    pub(crate) created_at_secs: u64,
    pub(crate) space: Space,
    chunk: u64,
    /// Raised to pause or remove it.
    stop: AtomicBool,
    inner: Mutex<Inner>,
    changes: watch::Sender<u64>,
}

/// What changes while it runs.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) state: State,
    pub(crate) progress: Progress,
    /// Ranges that nobody works on.
    open: VecDeque<Range<u64>>,
    /// Chunks that someone works on.
    in_flight: u64,
    /// Since when this job's rate is measured, and from how many places on.
    pub(crate) since: Option<(Instant, u64)>,
    saved: Instant,
}

/// What becomes of a chunk.
pub(crate) enum Outcome {
    /// It is there.
    Done(Box<Summary>),
    /// The sweep was stopped before its end.
    Stopped,
    /// A mistake of ours.
    Failed,
}

impl Job {
    pub(crate) fn new(
        (id, client): (String, String),
        created_at_secs: u64,
        space: Space,
        chunk: u64,
        state: State,
        progress: Progress,
    ) -> Self {
        let open = open_ranges(&progress, space.places());
        let inner =
            Inner { state, progress, open, in_flight: 0, since: None, saved: Instant::now() };
        let (changes, _) = watch::channel(1);
        let stop = AtomicBool::new(state != State::Running);
        Self { id, client, created_at_secs, space, chunk, stop, inner: Mutex::new(inner), changes }
    }

    /// What changes. A thread that panics holds no lock while it computes.
    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) const fn stop(&self) -> &AtomicBool {
        &self.stop
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

    /// Takes the next chunk to compute.
    pub(crate) fn claim(&self) -> Option<Range<u64>> {
        let mut inner = self.inner();
        if inner.state != State::Running {
            return None;
        }
        let range = inner.open.pop_front()?;
        let end = range.end.min(range.start + self.chunk);
        if end < range.end {
            inner.open.push_front(end..range.end);
        }
        inner.in_flight += 1;
        if inner.since.is_none() {
            inner.since = Some((Instant::now(), inner.progress.places()));
        }
        Some(range.start..end)
    }

    /// Gives a claimed chunk back. True when it is time to write down how far the sweep is.
    pub(crate) fn settle(&self, places: Range<u64>, outcome: Outcome) -> bool {
        const PAUSE_SECONDS: f64 = 1.0;
        let mut inner = self.inner();
        inner.in_flight -= 1;
        match outcome {
            Outcome::Done(summary) => {
                if inner.progress.add(&self.space, places, *summary).is_err() {
                    inner.state = State::Failed;
                }
            }
            Outcome::Stopped => inner.open.push_front(places),
            Outcome::Failed => inner.state = State::Failed,
        }
        if inner.state != State::Failed && inner.progress.places() == self.space.places() {
            inner.state = State::Done;
        }
        let due = inner.state.is_final() || inner.saved.elapsed().as_secs_f64() >= PAUSE_SECONDS;
        if due {
            inner.saved = Instant::now();
        }
        drop(inner);
        self.changed();
        due
    }

    /// Pauses or goes on. False when the sweep is over.
    pub(crate) fn set_running(&self, running: bool) -> bool {
        let mut inner = self.inner();
        if inner.state.is_final() {
            return false;
        }
        inner.state = if running { State::Running } else { State::Paused };
        inner.since = None;
        self.stop.store(!running, Ordering::Relaxed);
        drop(inner);
        self.changed();
        true
    }

    /// Ends all work on it.
    pub(crate) fn abandon(&self) {
        self.set_running(false);
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
