//! Files of a data directory and of its copies: they are their owner's alone, and what is said to
//! be on the disk is there.
//!
//! Sessions, notes and hashes of keys are in them, and other users of a machine may read what has
//! the usual permissions. Systems without permissions of this kind have none to set.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const PIECE_BYTES: usize = 1 << 16;

/// Permissions that nobody but a file's owner needs: read, write and execute of group and others.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Options that open a new file, readable by its owner alone.
pub(crate) fn private() -> OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a directory and those above it where they aren't there; new ones are their owner's alone.
pub(crate) fn create_directories(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Bytes of the files in a directory.
pub(crate) fn size_of(directory: &Path) -> io::Result<u64> {
    let mut size = 0_u64;
    for entry in fs::read_dir(directory)? {
        size = size.saturating_add(entry?.metadata()?.len());
    }
    Ok(size)
}

/// Makes a file, or empties the one that is there.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    private().create(true).truncate(true).open(path)
}

/// Writes a new file and waits until it is on the disk.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Copies a file, waits until the copy is on the disk, and says how many bytes it has and what
/// their hash is.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<(u64, blake3::Hash)> {
    let mut file = create(to)?;
    let read = through(from, |piece| file.write_all(piece))?;
    file.sync_all()?;
    Ok(read)
}

/// Number of bytes of a file, and their hash.
pub(crate) fn hash(path: &Path) -> io::Result<(u64, blake3::Hash)> {
    through(path, |_| Ok(()))
}

fn through(
    path: &Path,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(u64, blake3::Hash)> {
    let mut file = File::open(path)?;
    let (mut hasher, mut bytes) = (blake3::Hasher::new(), 0);
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let length = match file.read(&mut piece) {
            Ok(0) => return Ok((bytes, hasher.finalize())),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = piece.get(..length).unwrap_or_default();
        hasher.update(piece);
        take(piece)?;
        bytes += length as u64;
    }
}

/// Waits until a file is on the disk.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Waits until the names in a directory are on the disk.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    // Elsewhere a directory isn't opened as a file is, and the system sees to it.
    if cfg!(unix) { sync(directory) } else { Ok(()) }
}

/// Removes a file that may be there.
pub(crate) fn remove(path: &Path) -> io::Result<bool> {
    is_there(fs::remove_file(path))
}

/// Removes a directory that may be there, with what is in it.
pub(crate) fn remove_directory(path: &Path) -> io::Result<bool> {
    is_there(fs::remove_dir_all(path))
}

fn is_there(removed: io::Result<()>) -> io::Result<bool> {
    match removed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives what is at a path to the owner of another one, where the system lets us: what its own user
/// puts into a server's directory is the server's to use.
pub(crate) fn give(path: &Path, to_owner_of: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, chown};
        let (is, shall) = (fs::symlink_metadata(path)?, fs::metadata(to_owner_of)?);
        if is.uid() != shall.uid() {
            return match chown(path, Some(shall.uid()), Some(shall.gid())) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
                done => done,
            };
        }
    }
    #[cfg(not(unix))]
    let _ = (path, to_owner_of);
    Ok(())
}

/// Takes from all but the owner what they may do with these files, where they are there, and says
/// which ones others could use before. A link is left alone: what it leads to is somebody's choice.
pub(crate) fn tighten(paths: impl IntoIterator<Item = PathBuf>) -> io::Result<Vec<PathBuf>> {
    let mut wide = vec![];
    #[cfg(unix)]
    for path in paths {
        use std::os::unix::fs::PermissionsExt;
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let mode = metadata.permissions().mode();
        if metadata.is_symlink() || mode & OTHERS == 0 {
            continue;
        }
        match fs::set_permissions(&path, fs::Permissions::from_mode(mode & !OTHERS)) {
            Ok(()) => wide.push(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(wide)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn new_files_and_directories_are_their_owners_alone() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("a/b");
        create_directories(&directory).unwrap();
        assert_eq!((mode(&home.path().join("a")), mode(&directory)), (0o700, 0o700));
        let (one, other) = (directory.join("one"), directory.join("other"));
        write(&one, b"notes").unwrap();
        assert_eq!(copy(&one, &other).unwrap(), (5, blake3::hash(b"notes")));
        assert_eq!((mode(&one), mode(&other)), (0o600, 0o600));
        assert_eq!(hash(&other).unwrap(), (5, blake3::hash(b"notes")));
    }

    #[test]
    fn files_that_others_can_read_are_found_and_shut() {
        let home = tempfile::tempdir().unwrap();
        let [wide, shut, absent] = ["wide", "shut", "absent"].map(|name| home.path().join(name));
        write(&wide, b"").unwrap();
        write(&shut, b"").unwrap();
        fs::set_permissions(&wide, fs::Permissions::from_mode(0o644)).unwrap();
        let found = tighten([wide.clone(), shut.clone(), absent.clone()]).unwrap();
        assert_eq!(found, std::slice::from_ref(&wide));
        assert_eq!((mode(&wide), mode(&shut)), (0o600, 0o600));
        assert_eq!(tighten([wide, shut, absent]).unwrap(), Vec::<PathBuf>::new());
    }
}
