//! Progress of long work, on stderr: a line that changes in a terminal, now and then a new one
//! elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Interval at which a terminal's line changes.
const TERMINAL: Duration = Duration::from_millis(250);

/// Interval at which a file gets a line.
const FILE: Duration = Duration::from_secs(10);

/// The line of what is under way.
#[derive(Debug)]
pub(super) struct ProgressLine {
    shown: Instant,
    is_terminal: bool,
    is_open: bool,
}

impl ProgressLine {
    /// Line without progress; the first one comes after a pause.
    pub(super) fn new() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { shown: Instant::now(), is_terminal, is_open: false }
    }

    /// Shows how far it is, if it is time to.
    pub(super) fn show(&mut self, line: impl FnOnce() -> String) {
        let pause = if self.is_terminal { TERMINAL } else { FILE };
        if self.shown.elapsed() >= pause {
            self.shown = Instant::now();
            self.write(&line());
        }
    }

    /// Leaves a last line in a terminal.
    pub(super) fn end(&mut self, line: &str) {
        if self.is_terminal {
            self.write(line);
            let _ = writeln!(std::io::stderr().lock());
            self.is_open = false;
        }
    }

    /// Takes the line away from a terminal.
    pub(super) fn clear(&mut self) {
        if self.is_open {
            self.write("");
            self.is_open = false;
        }
    }

    fn write(&mut self, line: &str) {
        let mut stderr = std::io::stderr().lock();
        // With stderr gone there is nowhere left to say so.
        let _ = if self.is_terminal {
            self.is_open = true;
            write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush())
        } else {
            writeln!(stderr, "{line}")
        };
    }
}
