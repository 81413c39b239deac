//! A sweep whose chunks are computed by workers at NATS.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::file::json;
use sweep::{Progress, Space};

use super::output::Output;
use super::progress::Meter;
use crate::cli::{Failure, output};
use crate::nats::{Address, Chunks, Claim, Coordinator, Outcome};
use crate::sweeps::rows::Format;
use crate::sweeps::{Trial, random_id};

/// Chunks that may be computed ahead of the first one that isn't there.
const AHEAD: u64 = 1_024;

/// How often the sweep looks whether it was told to stop.
const LOOK: Duration = Duration::from_millis(50);

/// What workers found, as it comes.
type Found = (Range<u64>, Result<(Progress, Vec<u8>), String>);

/// Evaluates what is open of these places.
pub(super) fn sweep_places(
    address: &Address,
    space: &Space,
    places: &Range<u64>,
    stop: &Arc<AtomicBool>,
    output: &mut Output,
) -> Result<(), Failure> {
    let Some(open) = output.progress().first_open(places) else { return Ok(()) };
    let (to, found) = mpsc::channel();
    let tickets = Arc::new(Tickets {
        sweep: random_id(),
        spec: json::print(space.spec().source()).into(),
        rows: output.format(),
        size: Trial::of(space).chunk(),
        end: places.end,
        stop: Arc::clone(stop),
        to: Mutex::new(to),
        line: Mutex::new(Line { next: open, first_open: open, again: VecDeque::new() }),
    });
    let chunks: Arc<dyn Chunks> = Arc::<Tickets>::clone(&tickets);
    let coordinator = Coordinator::start(address, chunks, vec![]);
    let coordinator = coordinator.map_err(|error| Failure::Internal(error.to_string()))?;
    coordinator.wake();
    let mut meter = Meter::new(places, open);
    let mut waiting = BTreeMap::new();
    let mut due = open;
    while due < places.end && !stop.load(Ordering::Relaxed) {
        match found.recv_timeout(LOOK) {
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

/// Which chunk is next.
struct Line {
    next: u64,
    first_open: u64,
    again: VecDeque<Range<u64>>,
}

impl Tickets {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, places: Range<u64>, found: Result<(Progress, Vec<u8>), String>) {
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
        let places = match line.again.pop_front() {
            Some(places) => places,
            None if line.next < self.end && line.next - line.first_open < AHEAD * self.size => {
                let places = line.next..(line.next + self.size).min(self.end);
                line.next = places.end;
                places
            }
            None => return None,
        };
        let (sweep, spec) = (self.sweep.clone(), Arc::clone(&self.spec));
        Some(Claim { sweep, spec, rows: self.rows, places })
    }

    fn wants(&self, sweep: &str) -> bool {
        sweep == self.sweep && !self.stop.load(Ordering::Relaxed)
    }

    fn settle(&self, _: &str, places: Range<u64>, outcome: Outcome) {
        match outcome {
            Outcome::Done(part, rows) => self.say(places, Ok((*part, rows))),
            Outcome::Stopped => self.line().again.push_back(places),
            Outcome::Failed(why) => self.say(places, Err(why)),
        }
    }

    fn idle(&self, why: &str) {
        output::message(&format!("waiting: {why}"));
    }
}
