//! Audit log, which records who did what to what, line by line in a file for those who answer for a
//! server.
//!
//! The file is opened for each line, so that it can be moved away at any time, as logrotate does:
//! the next line makes a new one. Lines are only ever added, each by one write, by one thread in
//! the order in which they happened; each is synced to the disk before the next one. Answers don't
//! wait for that: after a crash of the machine the last lines may be missing, never half of one in
//! the middle. The key in place of an id opens nothing (`logged::key`).

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use serde::Serialize;

use crate::{ground::calendar, ground::files};

/// Lines that may wait for the disk; beyond that the log complains and they are lost.
const MAX_WAITING: usize = 4_096;

/// One thing that was done, or refused.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Line {
    pub(crate) at: String,
    /// Action, such as `session.create`.
    pub(crate) act: String,
    /// Log key that stands for the id of the thing it was done to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<String>,
    /// The user that a proxy vouches for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    /// The first digits of the owner's hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
    /// The status of the answer; `None` for what came over a socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    pub(crate) refused: bool,
}

/// The way to the file.
#[derive(Clone, Debug)]
pub(crate) struct Audit(mpsc::SyncSender<Line>);

impl Audit {
    /// Begins to write to a file, which is tried at once.
    pub(crate) fn begin(path: PathBuf) -> io::Result<Self> {
        open(&path)?;
        let (lines, waiting) = mpsc::sync_channel::<Line>(MAX_WAITING);
        let thread = std::thread::Builder::new().name("audit".to_owned());
        thread.spawn(move || {
            for line in waiting {
                if let Err(error) = add(&path, &line) {
                    tracing::error!(%error, act = line.act, "a line of the audit log is lost");
                }
            }
        })?;
        Ok(Self(lines))
    }

    /// Adds a line, of now.
    pub(crate) fn record(&self, line: Line) {
        let line = Line { at: calendar::moment(calendar::now_secs()), ..line };
        if let Err(error) = self.0.try_send(line) {
            tracing::error!(%error, "a line of the audit log is lost");
        }
    }
}

fn open(path: &Path) -> io::Result<std::fs::File> {
    files::private().create(true).append(true).open(path)
}

fn add(path: &Path, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line).unwrap_or_default();
    text.push(b'\n');
    let mut file = open(path)?;
    file.write_all(&text)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_moved_away_is_made_anew_and_no_line_is_lost() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        let audit = Audit::begin(path.clone()).unwrap();
        let lines = |path: &Path| fs::read_to_string(path).unwrap_or_default().lines().count();
        let wait = |path: &Path, count: usize| {
            for _ in 0..500 {
                if lines(path) == count {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            panic!("{} lines of {count}", lines(path));
        };
        let say = |act: &str| audit.record(Line { act: act.to_owned(), ..Line::default() });
        (0..20).for_each(|_| say("session.create"));
        wait(&path, 20);
        let old = directory.path().join("audit.jsonl.1");
        fs::rename(&path, &old).unwrap();
        say("session.delete");
        wait(&path, 1);
        assert_eq!(lines(&old), 20);
        let line: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((&line["act"], &line["refused"]), (&"session.delete".into(), &false.into()));
    }
}
