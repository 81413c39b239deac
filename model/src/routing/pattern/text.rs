//! Router traces of tasks as text: CSV and JSON.
//!
//! **CSV**: a line with the names of the columns `task,layer,expert,tcess` in any order (`logit` is
//! read as `tcess`), then a line for each. **JSON**: a list of records
//! `[{"task": "math", "layer": 3, "expert": 0, "tcess": 0.25}]`, with the same other name.
//!
//! With a column `token` scores are the logits of that token, of all experts or of its best: what
//! is kept of them are the means of [`Collector`](super::Collector).
//!
//! Experts are counted from 0; those that aren't there were never chosen and have 0, but each task
//! has each layer. A file is bounded in bytes and a trace in scores before anything is kept: it is
//! read twice, for its sizes and for its scores.

mod rows;
mod csv;
mod json;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::scores::Patterns;
use crate::routing::text::{MAX_BYTES, TextError};

pub use rows::{Row, from_rows};

/// The patterns of a CSV or JSON file: a file that begins with `{` or `[` is JSON. Of the logits of
/// a token the best `visited` count.
///
/// # Errors
/// What is wrong, each with its line, up to [`MAX_ERRORS`](crate::routing::text::MAX_ERRORS); or a
/// size above the bounds.
pub fn read(bytes: &[u8], visited: usize) -> Result<Patterns, Vec<TextError>> {
    if bytes.len() > MAX_BYTES {
        let (found, most) = (bytes.len(), MAX_BYTES >> 20);
        let message = alloc::format!("the file has {found} bytes, a trace has at most {most} MiB");
        return Err(Vec::from([TextError::whole(message)]));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{' | b'[') => json::read(bytes, visited),
        Some(_) | None => csv::read(bytes, visited),
    }
}

/// The CSV file of patterns, without what is 0 but the first expert of a layer without scores.
#[must_use]
pub fn write(patterns: &Patterns) -> String {
    let mut text = String::from("task,layer,expert,tcess\n");
    for (task, name) in patterns.tasks().iter().enumerate() {
        for (place, layer) in patterns.layers().iter().enumerate() {
            let scores = patterns.scores(task, place);
            for (expert, score) in scores.iter().enumerate() {
                // The last expert tells how many there are.
                if *score != 0.0 || expert + 1 == scores.len() {
                    // Writing to a string doesn't fail.
                    let _ = writeln!(text, "\"{name}\",{layer},{expert},{score:?}");
                }
            }
        }
    }
    text
}
