//! Traces as text: CSV and JSON.
//!
//! **CSV**: a line with the names of the columns `step,layer,expert,tokens` in any order, then a
//! line for each step, layer and expert, in any order. How often experts were chosen together
//! follows, behind a second line of names, `layer,expert_a,expert_b,tokens`, or stands in a file of
//! its own.
//!
//! **JSON**: `{"steps": 2, "layers": 1, "experts": 2, "tokens": [[[3, 5]], [[4, 4]]]}`, where the
//! sizes may be left out, with `"co_activation": [{"layer": 0, "expert_a": 0, "expert_b": 1,
//! "tokens": 2}]` beside it; or a list of records
//! `[{"step": 0, "layer": 0, "expert": 0, "tokens": 3}]`.
//!
//! Steps and layers keep their order, but neither must start at 0 nor be without gaps, as a
//! logbook of every tenth step and of MoE layers is not; experts are counted from 0. A file is
//! bounded in bytes and a trace in counts before anything is kept, and nothing in a file makes the
//! reader panic.

mod csv;
mod json;
mod rows;

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::trace::{Pair, Trace, TraceFault};

pub use rows::{Row, from_rows};

/// The largest file that is read.
pub const MAX_BYTES: usize = 256 << 20;

/// Errors are listed up to this many.
pub const MAX_ERRORS: usize = 20;

/// Something wrong at a place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The line, counted from 1; 0 where it is about the file as a whole.
    pub line: usize,
    /// The column in characters, counted from 1; 0 where it is about the whole line.
    pub column: usize,
    /// What is wrong, in a sentence.
    pub message: String,
}

impl TextError {
    fn at(line: usize, column: usize, message: impl Into<String>) -> Self {
        Self { line, column, message: message.into() }
    }

    /// About the file as a whole.
    fn whole(message: impl Into<String>) -> Self {
        Self::at(0, 0, message)
    }
}

impl From<TraceFault> for TextError {
    fn from(fault: TraceFault) -> Self {
        Self::whole(fault.to_string())
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => f.write_str(&self.message),
            (line, 0) => write!(f, "line {line}: {}", self.message),
            (line, column) => write!(f, "line {line}, column {column}: {}", self.message),
        }
    }
}

/// Errors while a file is read: at most [`MAX_ERRORS`]. One more ends reading.
#[derive(Default)]
struct Errors {
    list: Vec<TextError>,
    more: usize,
    /// The file wasn't read to its end.
    stopped: bool,
}

impl Errors {
    fn push(&mut self, error: TextError) {
        if !self.is_full() {
            self.list.push(error);
        } else {
            self.more += 1;
        }
    }

    /// Are there as many as are listed?
    fn is_full(&self) -> bool {
        self.list.len() >= MAX_ERRORS
    }

    /// Is it known that there are more than are listed? Then nothing more need be read.
    fn stop_reading(&mut self) -> bool {
        self.stopped |= self.more > 0;
        self.stopped
    }

    fn are_none(&self) -> bool {
        self.list.is_empty()
    }

    fn into_list(mut self) -> Vec<TextError> {
        if self.more > 0
            && let Some(last) = self.list.last_mut()
        {
            *last = TextError::whole(if self.stopped {
                String::from("and more errors; the rest isn't read")
            } else {
                alloc::format!("and {} more errors", self.more + 1)
            });
        }
        self.list
    }
}

/// The trace of a CSV or JSON file: a file that begins with `{` or `[` is JSON.
///
/// # Errors
/// Everything that is wrong with a CSV file, up to [`MAX_ERRORS`]; the first thing that is wrong
/// with a JSON file; or a size above the bounds.
pub fn read(bytes: &[u8]) -> Result<Trace, Vec<TextError>> {
    let bytes = checked(bytes)?;
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{' | b'[') => json::read(bytes),
        Some(_) | None => csv::read(bytes),
    }
}

/// How often experts were chosen together, from a CSV file of its own.
///
/// # Errors
/// Everything that is wrong with the file, up to [`MAX_ERRORS`].
pub fn read_pairs(bytes: &[u8]) -> Result<Vec<Pair>, Vec<TextError>> {
    csv::read_pairs(checked(bytes)?)
}

/// The CSV file of a trace.
#[must_use]
pub fn write(trace: &Trace) -> String {
    csv::write(trace)
}

/// A file of a bearable size, without its byte order mark.
fn checked(bytes: &[u8]) -> Result<&[u8], Vec<TextError>> {
    if bytes.len() > MAX_BYTES {
        let (found, most) = (bytes.len(), MAX_BYTES >> 20);
        let message = alloc::format!("the file has {found} bytes, a trace has at most {most} MiB");
        return Err(vec![TextError::whole(message)]);
    }
    Ok(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}
