//! Users of a data directory: servers share it, and whoever replaces what it holds has it alone.
//!
//! The file says nothing; a lock on it does. The system takes a lock back from a program that was
//! killed.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use crate::ground::files;

/// The file in the data directory.
pub(crate) const FILE: &str = "moescape.lock";

/// A hold on a data directory, until it is dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    _lock: File,
}

/// Reason why there is none.
#[derive(Debug)]
pub(crate) enum HoldError {
    /// Someone has it who doesn't share it, or someone has it at all.
    Taken,
    /// The disk doesn't let a lock be made.
    Disk(io::Error),
}

/// Holds a directory beside other servers.
pub(crate) fn shared(directory: &Path) -> Result<Hold, HoldError> {
    hold(directory, File::try_lock_shared)
}

/// Holds a directory alone.
pub(crate) fn alone(directory: &Path) -> Result<Hold, HoldError> {
    hold(directory, File::try_lock)
}

fn hold(
    directory: &Path,
    lock: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<Hold, HoldError> {
    let mut options = files::private();
    let file = options.create(true).truncate(false).read(true);
    let path = directory.join(FILE);
    let file = file.open(&path).map_err(HoldError::Disk)?;
    files::give(&path, directory).map_err(HoldError::Disk)?;
    match lock(&file) {
        Ok(()) => Ok(Hold { _lock: file }),
        Err(TryLockError::WouldBlock) => Err(HoldError::Taken),
        Err(TryLockError::Error(error)) => Err(HoldError::Disk(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_share_a_directory_and_nobody_replaces_it_meanwhile() {
        let directory = tempfile::tempdir().unwrap();
        let (one, other) = (shared(directory.path()).unwrap(), shared(directory.path()).unwrap());
        drop(one);
        assert!(matches!(alone(directory.path()), Err(HoldError::Taken)));
        drop(other);
        let replacing = alone(directory.path()).unwrap();
        assert!(matches!(shared(directory.path()), Err(HoldError::Taken)));
        drop(replacing);
        assert!(shared(directory.path()).is_ok());
    }
}
