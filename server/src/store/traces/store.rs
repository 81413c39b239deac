//! Store of a server's traces: a file for each, named by its hash.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use model::routing::{Trace, packed};

use crate::ground::files;

/// Hexadecimal digits of a hash.
const HASH_DIGITS: usize = 32;
/// Extension of a stored file's name.
const EXTENSION: &str = "gz";

/// Traces on disk: packed, compressed, each once.
#[derive(Debug)]
pub(crate) struct Store {
    directory: PathBuf,
    /// Bytes that all files may have together.
    most: u64,
    /// Bytes that they have; `None` before the first look. Held while a file is written.
    used: Mutex<Option<u64>>,
}

/// Reason why a trace isn't stored or can't be given.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// No room for that many bytes more.
    Full {
        /// Bytes that all files may have together.
        most: u64,
    },
    /// Another trace has the same hash.
    Taken,
    /// A file can't be read or written.
    Disk(io::Error),
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl Store {
    /// The store in this directory, which need not exist.
    pub(crate) fn new(directory: PathBuf, most: u64) -> Self {
        Self { directory, most, used: Mutex::new(None) }
    }

    /// Keeps a trace; returns its hash. One that is there already is kept once.
    pub(crate) fn put(&self, trace: &Trace) -> Result<String, StoreError> {
        let hash = trace.content_hash();
        let bytes = packed::write(trace);
        if let Some(stored) = self.open(&hash)? {
            // The hash is no secret's: two traces that share it can be made on purpose.
            self.touch(&hash);
            return if unpacks_to(stored, &bytes)? { Ok(hash) } else { Err(StoreError::Taken) };
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&bytes)?;
        let stored = encoder.finish()?;
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        files::create_directories(&self.directory)?;
        let before = match *used {
            Some(used) => used,
            None => files::size_of(&self.directory)?,
        };
        let path = self.path(&hash);
        // Another request may have stored it while this one compressed.
        if path.exists() {
            *used = Some(before);
            return Ok(hash);
        }
        let after = before.saturating_add(stored.len() as u64);
        if after > self.most {
            *used = Some(before);
            return Err(StoreError::Full { most: self.most });
        }
        write(&path, &stored)?;
        *used = Some(after);
        Ok(hash)
    }

    /// The file of a packed trace, compressed, if there is one with this hash.
    pub(crate) fn open(&self, hash: &str) -> io::Result<Option<File>> {
        if !is_hash(hash) {
            return Ok(None);
        }
        match File::open(self.path(hash)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Notes that a trace was opened now, by its file's time.
    pub(crate) fn touch(&self, hash: &str) {
        if let Ok(file) = File::options().append(true).open(self.path(hash)) {
            // What can't be noted makes it look older.
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Removes a trace, where it is there.
    pub(crate) fn remove(&self, hash: &str) -> io::Result<bool> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        // The next one that is kept counts anew.
        *used = None;
        files::remove(&self.path(hash))
    }

    /// Bytes of a trace's file.
    pub(crate) fn bytes(&self, hash: &str) -> u64 {
        fs::metadata(self.path(hash)).map_or(0, |metadata| metadata.len())
    }

    fn path(&self, hash: &str) -> PathBuf {
        path(&self.directory, hash)
    }
}

/// The file of a hash; what is none stays in the directory, and is nobody's.
pub(super) fn path(directory: &Path, hash: &str) -> PathBuf {
    let name = if is_hash(hash) { hash } else { "none" };
    directory.join(name).with_extension(EXTENSION)
}

/// Whether that is the name of a stored file.
pub(crate) fn is_stored(name: &str) -> bool {
    name.strip_suffix(EXTENSION).and_then(|name| name.strip_suffix('.')).is_some_and(is_hash)
}

/// Only digits of a hash become a file's name.
fn is_hash(hash: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    hash.len() == HASH_DIGITS && hash.bytes().all(digit)
}

/// Whether a stored file holds these bytes. It is read in pieces.
fn unpacks_to(stored: File, bytes: &[u8]) -> io::Result<bool> {
    let (mut stored, mut rest) = (GzDecoder::new(stored), bytes);
    let mut piece = vec![0; 64 << 10];
    loop {
        match stored.read(&mut piece)? {
            0 => return Ok(rest.is_empty()),
            count => match rest.strip_prefix(&piece[..count]) {
                Some(behind) => rest = behind,
                None => return Ok(false),
            },
        }
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    let written = files::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // On a full disk what was begun takes what room is left.
        let _ = fs::remove_file(&part);
    }
    written
}
