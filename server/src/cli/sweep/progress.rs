//! Progress of a sweep, on stderr.

use std::ops::Range;
use std::time::Instant;

use present::format;
use sweep::Progress;

use crate::cli::progress::ProgressLine;

/// Progress meter of a running sweep.
pub(super) struct Meter {
    start: Instant,
    line: ProgressLine,
    places: Range<u64>,
    from: u64,
}

impl Meter {
    /// Starts the clock of a sweep of these places, from the first open one on.
    pub(super) fn new(places: &Range<u64>, from: u64) -> Self {
        let line = ProgressLine::new();
        Self { start: Instant::now(), line, places: places.clone(), from }
    }

    /// Says how far the sweep is, if it is time to.
    pub(super) fn show(&mut self, chunk: &Range<u64>, progress: &Progress) {
        let Self { start, line, places, from } = self;
        line.show(|| text(*start, places, *from, chunk.start, progress));
    }

    /// Ends a terminal's line.
    pub(super) fn end(&mut self, progress: &Progress) {
        let done = progress.first_open(&self.places).unwrap_or(self.places.end);
        self.line.end(&text(self.start, &self.places, self.from, done, progress));
    }
}

fn text(start: Instant, places: &Range<u64>, from: u64, done: u64, progress: &Progress) -> String {
    let total = (places.end - places.start).max(1);
    let share = (done - places.start) as f64 / total as f64;
    let rate = (done - from) as f64 / start.elapsed().as_secs_f64();
    let left = (places.end - done) as f64 / rate;
    let summary = progress.summary();
    let eta = if left.is_finite() { seconds(left) } else { "unknown".to_owned() };
    format!(
        "{:5.1} %  {} of {} designs, {} legal, {} feasible, front {}, {eta} left",
        share * 100.0,
        format::whole(done - places.start),
        format::whole(total),
        format::whole(summary.legal),
        format::whole(summary.feasible),
        format::whole(summary.front().len() as u64),
    )
}

fn seconds(left: f64) -> String {
    let left = left.round().min(1e15) as u64;
    match left {
        0..60 => format!("{left} s"),
        60..3_600 => format!("{} min {:02} s", left / 60, left % 60),
        _ => format!("{} h {:02} min", left / 3_600, left / 60 % 60),
    }
}
