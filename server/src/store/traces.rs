//! Traces of expert loads as files: what formats are read, and where a server keeps them.

mod store;
mod thrift;
mod parquet;
mod patterns;

pub(crate) use store::{Store, StoreError, is_stored};

use std::path::{Path, PathBuf};

use axum::body::Bytes;
use model::routing::pattern::{self, Patterns};
use model::routing::text::{self, TextError};
use model::routing::{Trace, measure};
use reports::typed::Real;

use crate::net::limits::FairQueue;

/// Room for traces, in MiB, unless a flag says otherwise.
pub(crate) const MAX_MIB: u64 = 1_024;
/// The directory of traces below that of data.
pub(crate) const DIRECTORY: &str = "traces";
/// Traces that are read at once: each may take some hundred MiB while it is.
const MAX_READERS: usize = 2;
/// Traces of one address that are read or wait for that.
const MAX_READERS_PER_ADDRESS: u64 = 2;

reports::said! {
    /// Summary of a stored trace.
    #[derive(Clone, Debug, schemars::JsonSchema)]
    #[schemars(rename = "Trace")]
    pub(crate) struct TraceSummary {
        hash: String,
        steps: usize,
        layers: usize,
        experts: usize,
        /// Mean over steps and layers of the fullest expert over the mean one.
        imbalance: Real,
    }
}

impl TraceSummary {
    /// Its imbalance is that of experts, as devices depend on the design.
    pub(crate) fn new(hash: &str, trace: &Trace) -> Self {
        let mut loads = Vec::with_capacity(trace.experts());
        let mut sum = 0.0;
        for (_, row) in trace.rows() {
            loads.clear();
            loads.extend(row.iter().map(|count| f64::from(*count)));
            sum += measure::imbalance(&loads);
        }
        let rows = (trace.steps() * trace.layers()).max(1) as f64;
        Self {
            hash: hash.to_owned(),
            steps: trace.steps(),
            layers: trace.layers(),
            experts: trace.experts(),
            imbalance: Real(sum / rows),
        }
    }
}

/// The traces of a server, and whose turn it is to have one read.
#[derive(Debug)]
pub(crate) struct Traces {
    pub(crate) store: Store,
    pub(crate) readers: FairQueue,
}

impl Traces {
    /// Below this data directory, with so much room in MiB.
    pub(crate) fn new(data: &Path, mib: u64) -> Self {
        Self {
            store: Store::new(data.join(DIRECTORY), mib.saturating_mul(1 << 20)),
            readers: FairQueue::new(MAX_READERS, MAX_READERS_PER_ADDRESS),
        }
    }
}

/// Path of the trace of this hash below a data directory, if it is there. What is no hash is a name
/// that no trace has.
pub(crate) fn file(data: &Path, hash: &str) -> PathBuf {
    store::path(&data.join(DIRECTORY), hash)
}

/// The trace of a file: Parquet, JSON or CSV, told apart by how it begins.
///
/// # Errors
/// Faults of the file, up to [`text::MAX_ERRORS`].
pub(crate) fn read(bytes: &Bytes) -> Result<Trace, Vec<TextError>> {
    if bytes.starts_with(parquet::MAGIC) { parquet::read(bytes) } else { text::read(bytes) }
}

/// The router trace of a file, told apart in the same way; of the logits of a token the best
/// `visited` count.
///
/// # Errors
/// Faults of the file, up to [`text::MAX_ERRORS`].
pub(crate) fn read_patterns(bytes: &Bytes, visited: usize) -> Result<Patterns, Vec<TextError>> {
    if bytes.starts_with(parquet::MAGIC) {
        patterns::read(bytes, visited)
    } else {
        pattern::text::read(bytes, visited)
    }
}
