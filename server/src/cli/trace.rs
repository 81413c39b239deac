//! A recorded trace of expert loads, as commands take it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use axum::body::Bytes;
use model::routing::Trace;
use model::routing::text::{MAX_BYTES, TextError};

use crate::store::traces;

/// The bytes of a trace, one more than are read where it is longer, so that it is known to be.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, Vec<String>> {
    let failed = |error| vec![format!("can't read {}: {error}", path.display())];
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Reads a trace; a line for each thing that is wrong.
pub(super) fn read_trace(path: &Path) -> Result<Trace, Vec<String>> {
    let shown = path.display();
    let bytes = read_bytes(path)?;
    let line = |error: &TextError| format!("{shown}: {error}");
    traces::read(&Bytes::from(bytes)).map_err(|errors| errors.iter().map(line).collect())
}
