//! Chunks of sweeps on their way to those who evaluate them, and back.

use std::ops::Range;
use std::sync::Arc;

use sweep::{Batch, Progress};

use super::rows::Format;

/// A chunk that a coordinator hands out.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// The sweep's name among those of all coordinators.
    pub(crate) sweep: String,
    /// The sweep's spec, JSON.
    pub(crate) spec: Arc<str>,
    /// The form of the rows of feasible designs, where they are wanted.
    pub(crate) rows: Option<Format>,
    /// Its places, with their designs.
    pub(crate) batch: Batch,
}

impl Claim {
    /// Its places.
    pub(super) fn places(&self) -> Range<u64> {
        self.batch.places.clone()
    }
}

/// The end of a claimed chunk.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// Result, with its rows if they were wanted.
    Done(Box<Progress>, Vec<u8>),
    /// The sweep was stopped before.
    Stopped,
    /// Reason why it can't be had.
    Failed(String),
}

/// The owner of chunks that others evaluate. None of this may take long.
pub(crate) trait Chunks: Send + Sync + 'static {
    /// The next chunk; `None` if there is none for now.
    fn claim(&self) -> Option<Claim>;
    /// Whether chunks of this sweep are wanted.
    fn wants(&self, sweep: &str) -> bool;
    /// Takes the outcome of a claimed chunk, once for each.
    fn complete_chunk(self: Arc<Self>, sweep: &str, places: Range<u64>, outcome: Outcome);
    /// Notes that chunks wait and nobody works on any.
    fn note_idle(&self, why: &str);
}
