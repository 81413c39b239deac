//! Stdout and stderr.

use std::io::{self, Write};

use super::Failure;

/// Prints a result to stdout.
pub(super) fn result(text: &str) -> Result<(), Failure> {
    bytes(text.as_bytes())
}

/// Prints a result that is no text to stdout.
pub(super) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::writing(&error))
}

/// Prints a message to stderr.
pub(super) fn message(line: &str) {
    // With stderr gone there is nowhere left to say so.
    let _ = writeln!(io::stderr().lock(), "{line}");
}
