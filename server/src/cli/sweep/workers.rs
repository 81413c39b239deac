//! A sweep whose chunks are computed by workers at NATS.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::design::file::json;
use sweep::{Progress, Rounds, Space};

use super::output::Output;
use super::progress::Meter;
use crate::cli::{Failure, output};
use crate::ground::random::random_id;
use crate::jobs::nats::Address;
use crate::jobs::sweeps::rows::Format;
use crate::jobs::sweeps::{Chunks, Claim, Coordinator, Outcome, SpeedSample};

/// Chunks that may be computed ahead of the first one that isn't there.
const AHEAD: u64 = 1_024;

/// Bytes of rows that may wait for the first chunk that isn't there: with more of them no chunk is
/// handed out. Those under way come in any case.
const MAX_BYTES: usize = 64 << 20;

/// Interval at which the sweep checks whether it was told to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A chunk's result from a worker.
type Found = (Range<u64>, Result<(Progress, Vec<u8>), String>);

/// Evaluates what is open of these places.
pub(super) fn sweep_places(
    address: &Address,
    space: &Space,
    places: &Range<u64>,
    stop: &Arc<AtomicBool>,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut rounds = output.rounds(space)?;
    let Some(open) = output.progress().first_open(places) else { return Ok(()) };
    output.next_round(space, &mut rounds)?;
    let (to, found) = mpsc::channel();
    let tickets = Arc::new(Tickets {
        sweep: random_id(),
        spec: json::print(space.spec().source()).into(),
        rows: output.format(),
        size: SpeedSample::measure(space).chunk(space),
        end: places.end,
        stop: Arc::clone(stop),
        to: Mutex::new(to),
        line: Mutex::new(Line {
            rounds: rounds.clone(),
            next: open,
            first_open: open,
            held: 0,
            again: VecDeque::new(),
        }),
    });
    let chunks: Arc<dyn Chunks> = Arc::<Tickets>::clone(&tickets);
    let coordinator = Coordinator::start(address, chunks, vec![]);
    let coordinator = coordinator.map_err(|error| Failure::Internal(error.to_string()))?;
    coordinator.wake();
    let mut meter = Meter::new(places, open);
    let mut waiting = BTreeMap::new();
    let mut due = open;
    while due < places.end && !stop.load(Ordering::Relaxed) {
        match found.recv_timeout(POLL_INTERVAL) {
            Ok((chunk, found)) => {
                let found = found.map_err(|why| Failure::Internal(format!("the sweep: {why}")))?;
                waiting.insert(chunk.start, (chunk, found));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        // Rows go to a file in order, so that chunks are taken in order.
        while let Some((chunk, (part, rows))) = waiting.remove(&due) {
            due = chunk.end;
            meter.show(&chunk, output.progress());
            output.add(space, &chunk, part, &rows)?;
            tickets.line().held -= rows.len();
        }
        if output.next_round(space, &mut rounds)? {
            tickets.line().rounds.clone_from(&rounds);
        }
        tickets.line().first_open = due;
        coordinator.wake();
    }
    meter.end(output.progress());
    Ok(())
}

/// The chunks of one sweep.
struct Tickets {
    sweep: String,
    spec: Arc<str>,
    rows: Option<Format>,
    size: u64,
    end: u64,
    stop: Arc<AtomicBool>,
    to: Mutex<mpsc::Sender<Found>>,
    line: Mutex<Line>,
}

/// The order in which chunks are handed out.
struct Line {
    rounds: Rounds,
    next: u64,
    first_open: u64,
    /// Bytes of rows that are there and not written.
    held: usize,
    again: VecDeque<Range<u64>>,
}

impl Line {
    /// The next chunk that wasn't handed out; `None` if there is none for now.
    fn next(&mut self, size: u64, end: u64) -> Option<Range<u64>> {
        let end = end.min(self.rounds.known()).min(self.next + size);
        let is_near = self.next - self.first_open < AHEAD * size && self.held < MAX_BYTES;
        let places = self.next..end;
        self.next = if is_near { end } else { self.next };
        (is_near && !places.is_empty()).then_some(places)
    }
}

impl Tickets {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, places: Range<u64>, found: Result<(Progress, Vec<u8>), String>) {
        let to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        // The sweep may have ended.
        let _ = to.send((places, found));
    }
}

impl Chunks for Tickets {
    fn claim(&self) -> Option<Claim> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let mut line = self.line();
        let places = line.again.pop_front().or_else(|| line.next(self.size, self.end))?;
        let batch = line.rounds.batch(places)?;
        let (sweep, spec) = (self.sweep.clone(), Arc::clone(&self.spec));
        Some(Claim { sweep, spec, rows: self.rows, batch })
    }

    fn wants(&self, sweep: &str) -> bool {
        sweep == self.sweep && !self.stop.load(Ordering::Relaxed)
    }

    fn complete_chunk(self: Arc<Self>, _: &str, places: Range<u64>, outcome: Outcome) {
        match outcome {
            Outcome::Done(part, rows) => {
                self.line().held += rows.len();
                self.send(places, Ok((*part, rows)));
            }
            Outcome::Stopped => self.line().again.push_back(places),
            Outcome::Failed(why) => self.send(places, Err(why)),
        }
    }

    fn note_idle(&self, why: &str) {
        output::message(&format!("waiting: {why}"));
    }
}
