//! The manifest of a copy: which files belong to it, and what they hold.

use std::path::Path;
use std::{fs, io};

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::error::{BackupError, disk};
use crate::{ground::calendar, store, store::traces};

/// The file beside the copied ones.
pub(super) const FILE: &str = "manifest.json";

/// The version of its form.
const FORMAT: u32 = 1;

/// Name of the program that makes copies.
const PROGRAM: &str = "moescape";

/// Manifest of a copy: its format, its origin, its counts and its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    program: String,
    model_version: String,
    /// Time when it was made, as RFC 3339 writes it, in UTC.
    pub(crate) made_at: String,
    /// The version of the database's tables.
    tables: usize,
    pub(crate) counts: Counts,
    pub(super) files: Vec<Entry>,
}

/// A file of a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Below the copy's directory, with `/` between.
    pub(super) name: String,
    pub(super) bytes: u64,
    /// The BLAKE3 hash of these bytes, in hexadecimal.
    pub(super) blake3: String,
}

impl Entry {
    pub(super) fn new(name: String, (bytes, hash): (u64, blake3::Hash)) -> Self {
        Self { name, bytes, blake3: hash.to_hex().to_string() }
    }
}

/// Number of things of each kind in a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    sessions: u64,
    events: u64,
    designs: u64,
    sweeps: u64,
    #[serde(default)]
    pub(super) traces: u64,
}

impl Counts {
    /// Counts the rows of a database; 0 for a table that its version doesn't have.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let count = |table: &str| {
            let there = "SELECT count(*) FROM sqlite_schema WHERE name = ?1";
            let there: i64 = connection.query_row(there, [table], |row| row.get(0))?;
            if there == 0 {
                return Ok(0);
            }
            let rows = format!("SELECT count(*) FROM {table}");
            connection.query_row(&rows, [], |row| row.get::<_, i64>(0)).map(|rows| rows as u64)
        };
        Ok(Self {
            sessions: count("review")?,
            events: count("review_event")?,
            designs: count("design")?,
            sweeps: count("sweep")?,
            traces: 0,
        })
    }

    /// Text of the counts, as a sentence has them.
    pub(crate) fn words(&self) -> String {
        use present::format::counted;
        present::format::list(&[
            format!(
                "{} with {}",
                counted(self.sessions, "review session", "review sessions"),
                counted(self.events, "event", "events")
            ),
            counted(self.designs, "design", "designs"),
            counted(self.sweeps, "sweep", "sweeps"),
            counted(self.traces, "trace", "traces"),
        ])
    }
}

impl Manifest {
    /// Manifest of a copy that is made now.
    pub(super) fn new(tables: usize, counts: Counts, files: Vec<Entry>) -> Self {
        Self {
            format: FORMAT,
            program: PROGRAM.to_owned(),
            model_version: model::MODEL_VERSION.to_owned(),
            made_at: calendar::moment(calendar::now_secs()),
            tables,
            counts,
            files,
        }
    }

    pub(super) fn text(&self) -> Vec<u8> {
        // No map in it has keys that aren't text.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Manifest of the copy in a directory; `None` beside copies of earlier releases.
    pub(super) fn read(directory: &Path) -> Result<Option<Self>, BackupError> {
        let file = directory.join(FILE);
        let text = match fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(disk(&file)(error)),
        };
        let wrong = |why: &dyn std::fmt::Display| {
            BackupError::Broken(format!("{} can't be read: {why}", file.display()))
        };
        /// Keys that every format of the manifest has.
        #[derive(Deserialize)]
        struct Head {
            format: u32,
            program: String,
        }
        let head: Head = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
        if head.program != PROGRAM {
            return Err(wrong(&"it isn't Moescape's"));
        }
        if head.format != FORMAT {
            return Err(BackupError::Asked(format!(
                "{} is of a newer version: its format is {}, this program knows {FORMAT}",
                file.display(),
                head.format
            )));
        }
        let manifest: Self = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
        manifest.check().map_err(|why| wrong(&why))?;
        Ok(Some(manifest))
    }

    /// Only names that a copy has become paths, and the database is one of them.
    fn check(&self) -> Result<(), String> {
        let is_ours = |name: &str| {
            let trace =
                name.strip_prefix(traces::DIRECTORY).and_then(|name| name.strip_prefix('/'));
            name == store::FILE || trace.is_some_and(traces::is_stored)
        };
        if let Some(entry) = self.files.iter().find(|entry| !is_ours(&entry.name)) {
            return Err(format!("{:?} is no file of a copy", entry.name));
        }
        if !self.files.iter().any(|entry| entry.name == store::FILE) {
            return Err(format!("it doesn't name {}", store::FILE));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Manifest>, String> {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(FILE), text).unwrap();
        Manifest::read(directory.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written_and_names_only_files_of_a_copy() {
        let hash = (3, blake3::hash(b"abc"));
        let trace = format!("traces/{}.gz", "0".repeat(32));
        let entries = [store::FILE, &trace].map(|name| Entry::new(name.to_owned(), hash));
        let manifest = Manifest::new(4, Counts::default(), entries.to_vec());
        let text = String::from_utf8(manifest.text()).unwrap();
        assert_eq!(read(&text).unwrap(), Some(manifest));
        for name in ["../x", "/etc/passwd", "traces/../x.gz", "traces/", "moescape.lock"] {
            let error = read(&text.replace(&trace, name)).unwrap_err();
            assert!(error.contains("no file of a copy"), "{name}: {error}");
        }
        let error = read(&text.replace(store::FILE, &trace)).unwrap_err();
        assert!(error.contains("doesn't name"), "{error}");
        let error = read(&text.replace("\"format\": 1", "\"format\": 2")).unwrap_err();
        assert!(error.contains("newer"), "{error}");
        let error = read(&text.replace("\"moescape\"", "\"other\"")).unwrap_err();
        assert!(error.contains("isn't Moescape's"), "{error}");
        for cut in [0, 1, text.len() / 2, text.len() - 3] {
            assert!(read(&text[..cut]).is_err(), "{cut}");
        }
    }
}
