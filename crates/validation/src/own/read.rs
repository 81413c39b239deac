//! Users' own files: the kind of each, recognised by its content, and what it reports.

use std::io::{BufRead, BufReader, Cursor, Read};

use flate2::read::MultiGzDecoder;

use super::log::{self, Log};
use super::profile::ascend::{Columns, Reader};
use super::profile::{Profile, chrome};
use crate::runs::{self, Run};

/// Bytes of a file once it is unpacked, at most.
pub const MAX_BYTES: u64 = 1 << 30;

/// Bytes of a table of runs, at most.
const MAX_RUNS_BYTES: u64 = 16 << 20;

/// Bytes at the start by which a file is known.
const HEAD: u64 = 256 << 10;

/// Bytes of a line that are read, at most; the rest of a longer one is passed over.
const MAX_LINE: usize = 1 << 20;

/// Maximum number of errors reported of a file.
const MAX_ERRORS: usize = 20;

/// Content of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Content(pub(crate) Said);

/// See [`Content`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// Rows of runs.
    Runs(Vec<Run>),
    /// One run's log.
    Log(Box<Log>),
    /// Operator times.
    Profile(Box<Profile>),
}

/// Reads a file: a CSV file of runs, a log, or operator times of a profile (a Chrome trace of the
/// PyTorch profiler, or a table of Ascend's); packed by gzip or not.
///
/// # Errors
/// What is wrong with it, each with its line where it has one.
pub fn read(file: impl Read) -> Result<Content, Vec<String>> {
    read_within(file, MAX_BYTES)
}

/// Reads a file as [`read`] does, of at most `most` bytes once it is unpacked.
///
/// # Errors
/// As [`read`].
pub fn read_within(file: impl Read, most: u64) -> Result<Content, Vec<String>> {
    let mut file = BufReader::new(file);
    let start = file.fill_buf().map_err(unreadable)?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return read_plain(Bounded { file: MultiGzDecoder::new(file), left: most });
    }
    read_plain(Bounded { file, left: most })
}

/// A file that fails where it is longer than it may be.
struct Bounded<R> {
    file: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        let too_long = || std::io::Error::other("it is longer than is read once it is unpacked");
        self.left = self.left.checked_sub(read as u64).ok_or_else(too_long)?;
        Ok(read)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn unreadable(error: std::io::Error) -> Vec<String> {
    vec![format!("it can't be read: {error}")]
}

fn read_plain(mut file: impl Read) -> Result<Content, Vec<String>> {
    let mut head = vec![];
    (&mut file).take(HEAD).read_to_end(&mut head).map_err(unreadable)?;
    let text = String::from_utf8_lossy(&head).into_owned();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_table = |columns: &[&str]| {
        columns.iter().all(|it| first.split(',').any(|own| own.trim().trim_matches('"') == *it))
    };
    let all = Cursor::new(head.as_slice()).chain(file);
    if is_table(&["id", "hardware"]) {
        return table(all);
    }
    // ms-swift writes a line of JSON for each step.
    if is_json(text) && !log::is_log(text) {
        let profile = chrome::read(all).map_err(|why| vec![why])?;
        return Ok(Content(Said::Profile(Box::new(profile))));
    }
    if let Some(columns) = Columns::of(first) {
        return kernels(all, columns);
    }
    let mut log = Log::default();
    each_line(all, |line| log.take(line))?;
    let known = log::is_log(text) || log.says_something();
    if known { Ok(Content(Said::Log(Box::new(log)))) } else { Err(vec![UNKNOWN.to_owned()]) }
}

/// Whether it is an object or a list of objects: lines of logs begin with `[default0]:` or
/// `[INFO]`.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    let listed = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{') || listed.is_some_and(|it| it.is_empty() || it.starts_with(['{', ']']))
}

/// Error for a file of none of the kinds that are read.
const UNKNOWN: &str = "it is neither a CSV file of runs (with the columns id, model, hardware and \
                       n_devices), nor a log of Megatron-LM or MindSpeed-LLM (with lines of \
                       `elapsed time per iteration (ms):`) or of NeMo, MindFormers, MaxText or \
                       torchtitan, nor operator times (a Chrome trace, or a table with the \
                       columns Type and Duration(us))";

/// A table of kernels.
fn kernels(file: impl Read, columns: Columns) -> Result<Content, Vec<String>> {
    let mut reader = Reader::new(columns);
    let mut is_header = true;
    each_line(file, |line| {
        // Blank lines in front of the header are none.
        let was = is_header;
        is_header &= line.trim().trim_start_matches('\u{feff}').is_empty();
        was || reader.take(line)
    })?;
    if reader.profile.classes.is_empty() {
        let (count, first) = reader.unread;
        let lines = if count > 0 { format!("line {first}: ") } else { String::new() };
        return Err(vec![format!("{lines}the table has no kernel with a type and a time")]);
    }
    Ok(Content(Said::Profile(Box::new(reader.profile))))
}

/// A table of runs.
fn table(file: impl Read) -> Result<Content, Vec<String>> {
    let mut bytes = vec![];
    file.take(MAX_RUNS_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_RUNS_BYTES {
        return Err(vec![format!("a table of runs has at most {MAX_RUNS_BYTES} bytes")]);
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        vec![format!("line {line}: it isn't UTF-8 text")]
    })?;
    let runs = runs::read(&text).map_err(|errors| {
        errors.iter().take(MAX_ERRORS).map(ToString::to_string).collect::<Vec<String>>()
    })?;
    Ok(Content(Said::Runs(runs)))
}

/// Hands on each line, without its end, until one isn't wanted; bytes that are no UTF-8 are
/// replaced.
pub(crate) fn each_line(
    file: impl Read,
    mut take: impl FnMut(&str) -> bool,
) -> Result<(), Vec<String>> {
    let mut file = BufReader::new(file);
    let mut line = vec![];
    loop {
        line.clear();
        let read =
            (&mut file).take(MAX_LINE as u64).read_until(b'\n', &mut line).map_err(unreadable)?;
        if read == 0 {
            return Ok(());
        }
        if line.last() != Some(&b'\n') {
            skip_line(&mut file).map_err(unreadable)?;
        }
        if !take(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r'])) {
            return Ok(());
        }
    }
}

/// Passes over the rest of a line.
fn skip_line(file: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = file.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        file.consume(length);
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_length_and_end_are_handed_on() {
        let long = "a".repeat(MAX_LINE + 7);
        let text = format!("one\r\n{long}\n\nlast");
        let mut lines = vec![];
        each_line(text.as_bytes(), |line| {
            lines.push(line.len());
            true
        })
        .unwrap();
        assert_eq!(lines, [3, MAX_LINE, 0, 4]);
    }

    #[test]
    fn what_is_no_run_is_refused_with_what_would_do() {
        for bytes in [&b""[..], b"hello", b"\x1f\x8b\x08 no gzip", b"\xff\xfe\x00", b"{\"a\": 1}"] {
            let errors = read(bytes).unwrap_err();
            assert!(!errors.is_empty() && !errors[0].is_empty(), "{bytes:?}");
        }
        let table = read(&b"id,hardware\nx,y"[..]).unwrap_err();
        assert_eq!(
            table,
            ["line 1: there is no column `model`", "line 1: there is no column `n_devices`"]
        );
    }
}
