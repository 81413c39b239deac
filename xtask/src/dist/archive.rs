//! An archive whose bytes follow from its files alone: in order of their names, of nobody and of
//! no time.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// A file of an archive.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its path below the archive's directory, with slashes.
    path: String,
    bytes: Vec<u8>,
    mode: u32,
}

impl Entry {
    /// One to be read.
    pub(super) fn file(path: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { path: path.into(), bytes, mode: 0o644 }
    }

    /// One to be run.
    pub(super) fn program(path: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { path: path.into(), bytes, mode: 0o755 }
    }
}

/// All files below a directory.
pub(super) fn below(directory: &Path) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    collect(directory, "", &mut entries)?;
    Ok(entries)
}

fn collect(directory: &Path, before: &str, entries: &mut Vec<Entry>) -> Result<()> {
    for found in fs::read_dir(directory)? {
        let found = found?;
        let name = found.file_name().into_string().ok().context("a name that isn't UTF-8")?;
        let path = format!("{before}{name}");
        if found.file_type()?.is_dir() {
            collect(&found.path(), &format!("{path}/"), entries)?;
        } else {
            entries.push(Entry::file(path, fs::read(found.path())?));
        }
    }
    Ok(())
}

/// Packs files below one directory of this name, as `.tar.gz`.
pub(super) fn pack(name: &str, mut entries: Vec<Entry>) -> Result<Vec<u8>> {
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    // Neither a time nor a name stands in its header, and no system.
    let gzip = GzBuilder::new().operating_system(255).write(Vec::new(), Compression::best());
    let mut tar = Builder::new(gzip);
    for entry in entries {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(entry.mode);
        header.set_size(entry.bytes.len() as u64);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        tar.append_data(&mut header, format!("{name}/{}", entry.path), entry.bytes.as_slice())?;
    }
    Ok(tar.into_inner()?.finish()?)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use tar::Archive;

    use super::*;

    fn entries() -> Vec<Entry> {
        vec![
            Entry::program("moescape", vec![7; 100_000]),
            Entry::file("man/man1/moescape.1", b".TH".to_vec()),
            Entry::file("LICENSE", b"Apache".to_vec()),
        ]
    }

    #[test]
    fn the_same_files_are_the_same_bytes_in_whatever_order_they_come() {
        let mut turned = entries();
        turned.reverse();
        let packed = pack("moescape-1-t", entries()).unwrap();
        assert_eq!(packed, pack("moescape-1-t", turned).unwrap());
        assert_eq!(packed[4..8], [0; 4], "no time in the head of gzip (RFC 1952, 2.3)");
        let mut other = entries();
        other[2].bytes.push(b'!');
        assert_ne!(packed, pack("moescape-1-t", other).unwrap());
    }

    #[test]
    fn an_archive_has_its_files_sorted_of_nobody_and_of_no_time() {
        let packed = pack("moescape-1-t", entries()).unwrap();
        let mut archive = Archive::new(GzDecoder::new(packed.as_slice()));
        let mut found = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let header = entry.header();
            let (uid, gid) = (header.uid().unwrap(), header.gid().unwrap());
            assert_eq!((uid, gid, header.mtime().unwrap()), (0, 0, 0));
            let mode = header.mode().unwrap();
            let path = entry.path().unwrap().display().to_string();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            found.push((path, mode, bytes.len()));
        }
        let expected = [
            ("moescape-1-t/LICENSE".to_owned(), 0o644, 6),
            ("moescape-1-t/man/man1/moescape.1".to_owned(), 0o644, 3),
            ("moescape-1-t/moescape".to_owned(), 0o755, 100_000),
        ];
        assert_eq!(found, expected);
    }
}
