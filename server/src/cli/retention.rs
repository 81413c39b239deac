//! Retention: what nobody uses any more goes after a while, where whoever runs the server says so.
//! It is written to an archive first, then deleted, some at a time, by a thread of its own.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use crate::people::audit_events::Kind;
use crate::people::storage_usage::{self, SECONDS_PER_DAY};
use crate::state::AppState;
use crate::store::StoreError;
use crate::{ground::calendar, ground::files, ground::log_fields, store::traces};

/// Time until a server looks for the first time, and the interval of the looks after that.
const FIRST: Duration = Duration::from_secs(5);
const INTERVAL: Duration = Duration::from_hours(1);

/// Things that go together, and the pause behind them in which others use the store.
const BATCH: usize = 50;
const PAUSE: Duration = Duration::from_millis(200);

/// Archive to which what goes is written before: a directory, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Archive(pub(crate) Option<PathBuf>);

impl FromStr for Archive {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("it is a directory, or none".to_owned()),
            "none" => Ok(Self(None)),
            path => Ok(Self(Some(path.into()))),
        }
    }
}

/// Retention times by kind.
#[derive(Clone, Debug)]
pub(crate) struct Retention {
    /// Days without use, of sweeps, sessions and traces.
    pub(crate) days: Option<u32>,
    /// Days without being opened, of designs: their short links are in documents of others.
    pub(crate) design_days: Option<u32>,
    pub(crate) archive: Archive,
}

impl Retention {
    fn of(&self, kind: Kind) -> Option<u64> {
        let days = if kind == Kind::Design { self.design_days } else { self.days };
        days.map(u64::from)
    }
}

/// Starts the thread that does so. It ends with the process.
pub(crate) fn start(state: AppState, retention: Retention) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("retention".to_owned());
    let work = move || {
        std::thread::sleep(FIRST);
        loop {
            round(&state, &retention, calendar::now_secs());
            std::thread::sleep(INTERVAL);
        }
    };
    thread.spawn(work).map(drop)
}

/// Lets go what is due.
fn round(state: &AppState, retention: &Retention, now_secs: u64) {
    for kind in Kind::ALL {
        let Some(days) = retention.of(kind) else { continue };
        let before = now_secs.saturating_sub(days * SECONDS_PER_DAY);
        loop {
            match batch(state, &retention.archive, kind, before) {
                Ok(0) => break,
                Ok(count) => {
                    state.telemetry.expired(kind.plural(), count);
                    tracing::info!(kind = kind.name(), count, days, "let go what nobody used");
                    std::thread::sleep(PAUSE);
                }
                Err(error) => {
                    state.telemetry.expiry_failed();
                    tracing::error!(kind = kind.name(), %error, "what is due can't be let go");
                    break;
                }
            }
        }
    }
}

fn batch(
    state: &AppState,
    archive: &Archive,
    kind: Kind,
    before_secs: u64,
) -> Result<u64, StoreError> {
    let (data, store) = (&*state.data, &*state.store);
    let due = if kind == Kind::Trace {
        storage_usage::due_traces(data, before_secs, BATCH)
    } else if store.exists() {
        storage_usage::due(&store.open()?, kind, before_secs, BATCH)?
    } else {
        vec![]
    };
    let mut count = 0;
    for id in &due {
        if let Archive(Some(directory)) = archive {
            keep(state, directory, kind, id)?;
        }
        if kind == Kind::Trace {
            state
                .traces
                .store
                .remove(id)
                .map_err(|error| StoreError::disk(&traces::file(data, id), &error))?;
        }
        storage_usage::delete(data, store, kind, id)?;
        count += 1;
    }
    Ok(count)
}

/// Writes a thing to the archive: a file of the day for each kind, with a line for each thing and
/// each event. Traces are copied beside. It is on the disk before anything is deleted.
fn keep(state: &AppState, directory: &Path, kind: Kind, id: &str) -> Result<(), StoreError> {
    let lines = storage_usage::export(&state.data, &state.store, kind, id)?;
    let written = || -> io::Result<()> {
        files::create_directories(directory)?;
        if kind == Kind::Trace {
            let to = directory.join(traces::DIRECTORY);
            files::create_directories(&to)?;
            let from = traces::file(&state.data, id);
            if let Some(name) = from.file_name() {
                files::copy(&from, &to.join(name))?;
            }
        }
        let name = format!("{}-{}.jsonl", kind.plural(), calendar::today());
        let mut options = files::private();
        let mut file = options.create(true).append(true).open(directory.join(name))?;
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    written().map_err(|error| {
        tracing::error!(kind = kind.name(), of = log_fields::key(id), "it stays: no archive");
        StoreError::disk(directory, &error)
    })
}

/// Whether an archive can be written, for whoever starts a server.
pub(crate) fn check(archive: &Archive) -> io::Result<()> {
    let Archive(Some(directory)) = archive else { return Ok(()) };
    files::create_directories(directory)?;
    let probe = directory.join(".moescape");
    files::write(&probe, b"")?;
    fs::remove_file(&probe)
}
