//! Traces of expert loads as files: what formats are read, and where a server keeps them.

mod parquet;
mod store;
mod thrift;

pub(crate) use store::{Store, StoreError, is_stored, unpacked};

use std::path::Path;
use std::sync::Arc;

use axum::body::Bytes;
use model::routing::Trace;
use model::routing::text::{self, TextError};
use tokio::sync::Semaphore;

/// Room for traces, in MiB, unless a flag says otherwise.
pub(crate) const MOST_MIB: u64 = 1_024;
/// The directory of traces below that of data.
pub(crate) const DIRECTORY: &str = "traces";
/// Uploads that are received at once.
const UPLOADS: usize = 8;
/// Traces that are read at once: each may take some hundred MiB while it is.
const READERS: usize = 2;

/// The traces of a server, and who may read how many at once.
#[derive(Debug)]
pub(crate) struct Traces {
    pub(crate) store: Store,
    pub(crate) uploads: Arc<Semaphore>,
    pub(crate) readers: Arc<Semaphore>,
}

impl Traces {
    /// Below this data directory, with so much room in MiB.
    pub(crate) fn new(data: &Path, mib: u64) -> Self {
        Self {
            store: Store::new(data.join(DIRECTORY), mib.saturating_mul(1 << 20)),
            uploads: Arc::new(Semaphore::new(UPLOADS)),
            readers: Arc::new(Semaphore::new(READERS)),
        }
    }
}

/// The trace of a file: Parquet, JSON or CSV, told apart by how it begins.
///
/// # Errors
/// What is wrong with the file, up to [`text::MOST_ERRORS`].
pub(crate) fn read(bytes: &Bytes) -> Result<Trace, Vec<TextError>> {
    if bytes.starts_with(parquet::MAGIC) { parquet::read(bytes) } else { text::read(bytes) }
}
