//! The terminal as the caller of operations: its files, its clock, its line of progress.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::body::Bytes;
use clap::ArgMatches;
use model::routing::Trace;
use model::routing::pattern::Patterns;
use operations::{Caller, Entry, Kind, Refusal, Wrong, files};

use super::folder::{self, unreadable};
use super::progress::ProgressLine;
use super::{Failure, output, trace};
use crate::ground::calendar;
use crate::store::traces;

/// A person at a terminal, or a script.
pub(super) struct Terminal {
    began: Instant,
    progress: Mutex<ProgressLine>,
}

impl Terminal {
    /// A terminal whose call begins now.
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), progress: Mutex::new(ProgressLine::new()) }
    }

    fn clear(&self) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Caller for Terminal {
    fn hear(&self, share: f64, words: &dyn Fn() -> String) {
        let mut line = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        line.show(|| format!("{:5.1} %  {}", share * 100.0, words()));
    }

    fn remark(&self, line: &str) {
        output::message(line);
    }

    fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn today(&self) -> String {
        calendar::today()
    }

    fn has_default_design(&self) -> bool {
        true
    }

    fn bytes(&self, path: &Path, max_bytes: u64) -> Result<Vec<u8>, Refusal> {
        let failed = |error: io::Error| unreadable(path, &error);
        let mut bytes = Vec::new();
        if path == Path::new("-") {
            io::stdin().lock().take(max_bytes + 1).read_to_end(&mut bytes).map_err(failed)?;
        } else {
            let file = File::open(path).map_err(failed)?;
            file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(failed)?;
        }
        if bytes.len() as u64 > max_bytes {
            return Err(files::too_long(path, max_bytes));
        }
        Ok(bytes)
    }

    fn has_file(&self, path: &Path) -> bool {
        path.exists() && !path.is_dir()
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read>, Refusal> {
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        Ok(Box::new(file))
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<(String, String)>>, Refusal> {
        if !path.is_dir() {
            return Ok(None);
        }
        let mut texts = vec![];
        folder::read(path, path, 0, self, &mut texts)?;
        Ok(Some(texts))
    }

    fn trace(&self, path: &Path) -> Result<Trace, Refusal> {
        let refused = |line: String| Wrong::new("unreadable_trace", "trace", line);
        trace::read_trace(path).map_err(|lines| Refusal::of(lines.into_iter().map(refused)))
    }

    fn patterns(&self, path: Option<&Path>, visited: usize) -> Result<Option<Patterns>, Refusal> {
        let Some(path) = path else { return Ok(None) };
        let refused = |line: String| Wrong::new("unreadable_trace", "trace", line);
        let bytes =
            trace::read_bytes(path).map_err(|lines| Refusal::of(lines.into_iter().map(refused)))?;
        let read = traces::read_patterns(&Bytes::from(bytes), visited);
        let shown = path.display();
        read.map(Some).map_err(|errors| {
            Refusal::of(errors.iter().map(|error| refused(format!("{shown}: {error}"))))
        })
    }
}

/// Runs an operation's command and prints its answer. A design that breaks rules has its JSON, too,
/// and is an error beside it.
pub(super) fn run(entry: &Entry, matches: &ArgMatches) -> Result<(), Failure> {
    let terminal = Terminal::new();
    let printed = (entry.print)(matches, &terminal);
    terminal.clear();
    let printed = printed.map_err(|refusal| failure(&refusal))?;
    output::bytes(&printed.bytes)?;
    printed.refusal.map_or(Ok(()), |refusal| Err(failure(&refusal)))
}

/// A refusal as a failure of the command.
pub(super) fn failure(refusal: &Refusal) -> Failure {
    let lines = refusal.errors.iter().map(Wrong::line).collect::<Vec<_>>();
    match refusal.kind {
        Kind::Unreadable | Kind::Unanswerable => Failure::User(lines),
        Kind::Missed => Failure::Missed(lines),
        Kind::Ended | Kind::Internal => Failure::Internal(lines.join("; ")),
    }
}
