//! Traces as text: CSV and JSON.
//!
//! **CSV**: a line with the names of the columns `step,layer,expert,tokens` in any order, then a
//! line for each step, layer and expert, in any order. How often experts were chosen together
//! follows, behind a second line of names, `layer,expert_a,expert_b,tokens`, or is in a file of
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

mod errors;
mod rows;
mod csv;
mod json;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::trace::{Pair, Trace};

pub(crate) use errors::Errors;
pub use errors::{MAX_ERRORS, TextError};
pub use rows::{Row, from_rows};

/// The largest file that is read.
pub const MAX_BYTES: usize = 256 << 20;

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

/// Reads from a CSV file of its own the number of tokens that chose two experts together.
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
