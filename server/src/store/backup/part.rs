//! A copy in the making, in a directory that nobody takes for one.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::{BackupError, disk};
use crate::{ground::files, store::dir_lock};

/// The directory below the one that is filled.
pub(super) const DIRECTORY: &str = "moescape.part";

/// File that a restore of an earlier release left when it was cut off.
const BEFORE: &str = "moescape.sqlite.part";

/// Directory in which a copy is put together. Dropping it removes the directory; what a kill
/// leaves, the next run removes.
#[derive(Debug)]
pub(super) struct Part {
    directory: PathBuf,
    target: PathBuf,
    /// The directory that is filled was made for this, and goes as well if nothing comes of it.
    is_alone: bool,
}

impl Part {
    /// An empty one below a directory that is there. The caller has a lock, so that what is there
    /// already is nobody's any more.
    pub(super) fn begin(target: &Path, is_alone: bool) -> Result<Self, BackupError> {
        let directory = target.join(DIRECTORY);
        let part = Self { directory, target: target.to_owned(), is_alone };
        files::create_directories(&part.directory).map_err(disk(&part.directory))?;
        for name in names(&part.directory)? {
            if name == dir_lock::FILE {
                continue;
            }
            let path = part.directory.join(name);
            let removed =
                if path.is_dir() { files::remove_directory(&path) } else { files::remove(&path) };
            removed.map_err(disk(&path))?;
        }
        Ok(part)
    }

    /// Path of a file of this name until it has its place.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Gives a file its place, and to whom the directory is. What was there is replaced in the same
    /// step.
    pub(super) fn publish(&mut self, name: &str) -> Result<(), BackupError> {
        let (made, place) = (self.path(name), self.target.join(name));
        files::give(&made, &self.target).map_err(disk(&made))?;
        fs::rename(&made, &place).map_err(disk(&place))?;
        self.is_alone = false;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // What can't be removed now, the next run removes.
        let _ = files::remove_directory(&self.directory);
        if self.is_alone {
            let _ = files::remove(&self.target.join(dir_lock::FILE));
            let _ = fs::remove_dir(&self.target);
        }
    }
}

/// The names in a directory.
pub(super) fn names(directory: &Path) -> Result<Vec<OsString>, BackupError> {
    let entries = fs::read_dir(directory).map_err(disk(directory))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    names.collect::<Result<_, _>>().map_err(disk(directory))
}

/// Removes what a restore that was cut off left in a data directory; true if there was something.
/// The caller holds the directory, so that none is at work.
pub(crate) fn clean(data: &Path) -> std::io::Result<bool> {
    let part = files::remove_directory(&data.join(DIRECTORY))?;
    Ok(files::remove(&data.join(BEFORE))? || part)
}
