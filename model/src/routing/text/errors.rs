//! Errors of a file, each with its place.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::routing::trace::TraceFault;

/// Errors are listed up to this many.
pub const MAX_ERRORS: usize = 20;

/// Something wrong at a place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The line, counted from 1; 0 where it is about the file as a whole.
    pub line: usize,
    /// The column in characters, counted from 1; 0 where it is about the whole line.
    pub column: usize,
    /// Description of the error, in a sentence.
    pub message: String,
}

impl TextError {
    pub(crate) fn at(line: usize, column: usize, message: impl Into<String>) -> Self {
        Self { line, column, message: message.into() }
    }

    /// About the file as a whole.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
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
pub(crate) struct Errors {
    list: Vec<TextError>,
    more: usize,
    /// The file wasn't read to its end.
    stopped: bool,
}

impl Errors {
    pub(crate) fn push(&mut self, error: TextError) {
        if !self.is_full() {
            self.list.push(error);
        } else {
            self.more += 1;
        }
    }

    /// Counts one more error than are listed.
    pub(crate) fn count_unlisted(&mut self) {
        self.more += 1;
    }

    /// Whether there are as many as are listed.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MAX_ERRORS
    }

    /// Whether there are more than are listed: then nothing more need be read.
    pub(crate) fn stop_reading(&mut self) -> bool {
        self.stopped |= self.more > 0;
        self.stopped
    }

    pub(crate) fn are_none(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn into_list(mut self) -> Vec<TextError> {
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
