//! A schedule: an order of tasks, and the sizes that it is for.

use alloc::vec::Vec;

use super::fault::{Fault, Grid, Sizes};
use super::form::Form;
use crate::ground::choice::Method;

/// The order of forwards and backwards on the stages of a pipeline: a method and its sizes, which
/// break none of its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub(super) method: Method,
    pub(super) stages: u32,
    pub(super) chunks: u32,
    pub(super) micro_batches: u32,
    pub(super) group: u32,
}

impl Schedule {
    /// Tasks of all stages, at most, that are built: a schedule with more has empty lists, so that
    /// a design with millions of micro-batches takes no gigabytes. Ask [`Schedule::num_tasks`].
    pub const MAX_TASKS: u64 = 1 << 22;

    /// A schedule of `stages` (PP), `chunks` on each of them (VPP; 1 for DualPipe),
    /// `micro_batches` of a step and, for interleaved ones, the micro-batches that a chunk runs in
    /// a row (`microbatch_group_size_per_vp_stage`; none is PP).
    ///
    /// # Errors
    ///
    /// Every rule that the sizes break.
    pub fn new(
        method: Method,
        stages: u64,
        chunks: u64,
        micro_batches: u64,
        group: Option<u64>,
    ) -> Result<Self, Vec<Fault>> {
        let grid = Grid { method, stages, chunks };
        let faults = Sizes { grid, micro_batches, group }.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        // The bounds of the knobs are far below 2^32.
        let size = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let group = size(group.unwrap_or(stages));
        let [stages, chunks, micro_batches] = [stages, chunks, micro_batches].map(size);
        Ok(Self { method, stages, chunks, micro_batches, group })
    }

    /// The order's name.
    #[must_use]
    pub const fn method(&self) -> Method {
        self.method
    }

    /// Stages of the pipeline (PP).
    #[must_use]
    pub const fn stages(&self) -> usize {
        self.stages as usize
    }

    /// Chunks of layers that a stage has of one copy of the model (VPP).
    #[must_use]
    pub const fn chunks(&self) -> usize {
        self.chunks as usize
    }

    /// Micro-batches of a step.
    #[must_use]
    pub const fn micro_batches(&self) -> usize {
        self.micro_batches as usize
    }

    /// Chunks of layers that one stage runs: VPP; 2 for DualPipe, one of each direction.
    #[must_use]
    pub const fn chunks_per_stage(&self) -> usize {
        self.chunks() * Form::of(self.method).placement.directions()
    }

    /// Place of a stage's chunk along the model, 0 for the first layers.
    ///
    /// Chunks go around the stages (`chunk * p + stage`), or down and back up in a V (chunk 1 is at
    /// `2 p - 1 - stage`). DualPipe has two copies of the model: chunk 0 is a place of the one that
    /// runs down from stage 0, chunk 1 of the one that runs up from stage p - 1.
    #[must_use]
    pub const fn position(&self, stage: usize, chunk: usize) -> usize {
        Form::of(self.method).placement.position(self.stages(), stage, chunk)
    }
}
