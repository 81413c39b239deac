//! Archives: zip, tar and tar.gz, as far as folders of scripts are packed in them.
//!
//! What an archive grows to is bounded before it grows: files are counted, and bytes are read up to
//! the limits of a [`Bundle`] alone. Links and paths that lead out are refused; what is no text, or
//! longer than a text may be, is passed over.
//!
//! Sources: PKWARE's APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16; POSIX.1-2017, `pax`, "ustar
//! Interchange Format".

use std::io::Read;

use flate2::read::{DeflateDecoder, GzDecoder};

use crate::bundle::{Bundle, MAX_FILES, MAX_TOTAL};
use crate::files::is_inside;
use crate::{MAX_BYTES, MAX_CONFIG_BYTES};

/// Bytes of an archive, at most.
pub const MAX_ARCHIVE: usize = 16 << 20;

/// Whether these bytes are an archive that is read here: zip, gzip or tar.
#[must_use]
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(&[0x1f, 0x8b]) || is_tar(bytes)
}

fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

/// The texts of an archive.
///
/// # Errors
/// What isn't an archive, is broken, has too much in it, or links and paths that lead out.
pub fn unpacked(bytes: &[u8]) -> Result<Bundle, String> {
    if bytes.len() > MAX_ARCHIVE {
        return Err(format!(
            "the archive has {} bytes; at most {MAX_ARCHIVE} are read",
            bytes.len()
        ));
    }
    let mut texts = Texts::default();
    if bytes.starts_with(b"PK\x03\x04") {
        zip(bytes, &mut texts)?;
    } else if is_tar(bytes) {
        tar(bytes, &mut texts)?;
    } else {
        // A tape has blocks of 512 bytes around each file.
        let most = MAX_TOTAL + (MAX_FILES << 10);
        let mut plain = vec![];
        let mut reader = GzDecoder::new(bytes).take(most as u64 + 1);
        reader
            .read_to_end(&mut plain)
            .map_err(|error| format!("the archive is broken: {error}"))?;
        if plain.len() > most {
            return Err(format!("the archive holds more than {most} bytes"));
        }
        tar(&plain, &mut texts)?;
    }
    Bundle::new(texts.files)
}

#[derive(Default)]
struct Texts {
    files: Vec<(String, String)>,
    seen: usize,
    total: usize,
}

impl Texts {
    /// Counts an entry, and says what is wrong with its path.
    fn admit(&mut self, path: &str, is_link: bool) -> Result<(), String> {
        self.seen += 1;
        if self.seen > MAX_FILES {
            return Err(format!("the archive has more than {MAX_FILES} files"));
        }
        if !is_inside(path) {
            return Err(format!("{path}: a path that leads out of the archive isn't read"));
        }
        if is_link {
            return Err(format!("{path} is a link, and links aren't followed"));
        }
        Ok(())
    }

    fn keep(&mut self, path: String, bytes: Vec<u8>) -> Result<(), String> {
        self.total = self.total.saturating_add(bytes.len());
        if self.total > MAX_TOTAL {
            return Err(format!("the archive holds more than {MAX_TOTAL} bytes"));
        }
        let most = if path.ends_with(".json") { MAX_CONFIG_BYTES } else { MAX_BYTES };
        if bytes.len() <= most
            && let Ok(text) = String::from_utf8(bytes)
        {
            self.files.push((path, text));
        }
        Ok(())
    }
}

fn broken() -> String {
    "the archive is broken, or of a kind that isn't read here".to_owned()
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let part = bytes.get(at..at.checked_add(size)?)?;
    Some(part.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte)))
}

fn zip(bytes: &[u8], texts: &mut Texts) -> Result<(), String> {
    let tail = bytes.len().saturating_sub(66_000);
    let end = (tail..bytes.len().saturating_sub(21))
        .rev()
        .find(|at| bytes.get(*at..at + 4) == Some(b"PK\x05\x06"))
        .ok_or_else(broken)?;
    let count = number(bytes, end + 10, 2).ok_or_else(broken)?;
    let mut at = number(bytes, end + 16, 4).ok_or_else(broken)?;
    if count > MAX_FILES {
        return Err(format!("the archive has {count} files; at most {MAX_FILES} are read"));
    }
    for _ in 0..count {
        at = zip_entry(bytes, at, texts).ok_or_else(broken)??;
    }
    Ok(())
}

/// Reads the entry of the directory at a place; the place of the next.
fn zip_entry(bytes: &[u8], at: usize, texts: &mut Texts) -> Option<Result<usize, String>> {
    let head = bytes.get(at..at.checked_add(46)?)?;
    if !head.starts_with(b"PK\x01\x02") {
        return None;
    }
    let (method, packed) = (number(head, 10, 2)?, number(head, 20, 4)?);
    let name = number(head, 28, 2)?;
    let next = at + 46 + name + number(head, 30, 2)? + number(head, 32, 2)?;
    let mode = number(head, 38, 4)? >> 16;
    let local = number(head, 42, 4)?;
    let path = String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name)?).into_owned();
    if path.ends_with('/') {
        return Some(Ok(next));
    }
    if let Err(why) = texts.admit(&path, mode & 0o170_000 == 0o120_000) {
        return Some(Err(why));
    }
    let start = local + 30 + number(bytes, local + 26, 2)? + number(bytes, local + 28, 2)?;
    let data = bytes.get(start..start.checked_add(packed)?)?;
    let left = MAX_TOTAL.saturating_sub(texts.total) as u64;
    let mut made = vec![];
    match method {
        0 => made.extend_from_slice(data),
        8 => {
            let mut reader = DeflateDecoder::new(data).take(left + 1);
            reader.read_to_end(&mut made).ok()?;
        }
        _ => return None,
    }
    Some(texts.keep(path, made).map(|()| next))
}

fn tar(bytes: &[u8], texts: &mut Texts) -> Result<(), String> {
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + 512) {
        if head.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        if !is_tar(head) {
            return Err(broken());
        }
        let size = octal(head.get(124..136).unwrap_or_default()).ok_or_else(broken)?;
        let (name, prefix) = (word(head, 0, 100), word(head, 345, 155));
        let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        let path = path.strip_prefix("./").unwrap_or(&path).to_owned();
        let kind = head.get(156).copied().unwrap_or(0);
        let data = bytes.get(at + 512..).and_then(|rest| rest.get(..size)).ok_or_else(broken)?;
        match kind {
            // Directories, and what pax and GNU say of the next entry.
            b'5' | b'x' | b'g' | b'L' | b'K' => {}
            _ => {
                texts.admit(&path, matches!(kind, b'1' | b'2'))?;
                texts.keep(path, data.to_vec())?;
            }
        }
        at += 512 + size.div_ceil(512) * 512;
    }
    Ok(())
}

fn word(head: &[u8], at: usize, size: usize) -> String {
    let part = head.get(at..at + size).unwrap_or_default();
    let end = part.iter().position(|byte| *byte == 0).unwrap_or(part.len());
    String::from_utf8_lossy(part.get(..end).unwrap_or_default()).into_owned()
}

fn octal(part: &[u8]) -> Option<usize> {
    let digits = part.iter().filter(|byte| byte.is_ascii_digit());
    digits.clone().all(|byte| *byte < b'8').then_some(())?;
    digits.take(11).try_fold(0_usize, |value, byte| {
        value.checked_mul(8)?.checked_add(usize::from(byte - b'0'))
    })
}
