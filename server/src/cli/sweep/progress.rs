//! How far a sweep is, on stderr: a line that changes in a terminal, now and then a new one
//! elsewhere.

use std::io::{IsTerminal, Write};
use std::ops::Range;
use std::time::{Duration, Instant};

use app::format;
use sweep::Progress;

/// How often a terminal's line changes.
const TERMINAL: Duration = Duration::from_millis(250);

/// How often a file gets a line.
const FILE: Duration = Duration::from_secs(10);

/// What is said of a running sweep.
pub(super) struct Meter {
    start: Instant,
    said: Instant,
    places: Range<u64>,
    from: u64,
    is_terminal: bool,
}

impl Meter {
    /// Starts the clock of a sweep of these places, from the first open one on.
    pub(super) fn new(places: &Range<u64>, from: u64) -> Self {
        let now = Instant::now();
        let is_terminal = std::io::stderr().is_terminal();
        Self { start: now, said: now, places: places.clone(), from, is_terminal }
    }

    /// Says how far the sweep is, if it is time to.
    pub(super) fn show(&mut self, chunk: &Range<u64>, progress: &Progress) {
        let pause = if self.is_terminal { TERMINAL } else { FILE };
        if self.said.elapsed() >= pause {
            self.said = Instant::now();
            self.say(&self.line(chunk.start, progress));
        }
    }

    /// Ends a terminal's line.
    pub(super) fn end(&self, progress: &Progress) {
        if self.is_terminal {
            let done = progress.first_open(&self.places).unwrap_or(self.places.end);
            self.say(&self.line(done, progress));
            let _ = writeln!(std::io::stderr().lock());
        }
    }

    fn say(&self, line: &str) {
        let mut stderr = std::io::stderr().lock();
        // With stderr gone there is nowhere left to say so.
        let _ = if self.is_terminal {
            write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush())
        } else {
            writeln!(stderr, "{line}")
        };
    }

    fn line(&self, done: u64, progress: &Progress) -> String {
        let total = (self.places.end - self.places.start).max(1);
        let share = (done - self.places.start) as f64 / total as f64;
        let rate = (done - self.from) as f64 / self.start.elapsed().as_secs_f64();
        let left = (self.places.end - done) as f64 / rate;
        let summary = progress.summary();
        let eta = if left.is_finite() { seconds(left) } else { "unknown".to_owned() };
        format!(
            "{:5.1} %  {} of {} designs, {} legal, {} feasible, front {}, {eta} left",
            share * 100.0,
            format::whole(done - self.places.start),
            format::whole(total),
            format::whole(summary.legal),
            format::whole(summary.feasible),
            format::whole(summary.front().len() as u64),
        )
    }
}

fn seconds(left: f64) -> String {
    let left = left.round().min(1e15) as u64;
    match left {
        0..60 => format!("{left} s"),
        60..3_600 => format!("{} min {:02} s", left / 60, left % 60),
        _ => format!("{} h {:02} min", left / 3_600, left / 60 % 60),
    }
}
