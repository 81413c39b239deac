//! Pipeline schedules as lists of tasks, one list per stage, and their simulation.
//!
//! A [`Schedule`] says in which order each stage runs forwards and backwards of chunks and
//! micro-batches; [`Schedule::simulate`] runs the lists on the stages' own times and gives a
//! [`Timeline`]: when each task starts and ends, how long stages work, what they hold.
//! [`Schedule::closed_form_seconds`] is the published formula for equal stages.

use alloc::vec::Vec;

use crate::choice::Method;

mod fault;
mod form;
mod task;
mod times;

mod dualpipe;
mod gpipe;
mod interleaved;
mod one_f_one_b;
mod v_pattern;
mod zb_v;
mod zero_bubble;

mod closed_form;
mod simulation;
mod timeline;

pub(crate) use closed_form::{Formula, StageTimes};
pub use fault::Fault;
pub(crate) use fault::{Grid, Sizes};
pub(crate) use form::{Form, Placement};
pub(crate) use simulation::Run;
pub use task::{Task, TaskKind, TaskLists};
pub use timeline::Timeline;
pub use times::{ChunkTimes, StageSeconds, Times};

/// The order of forwards and backwards on the stages of a pipeline: a method and its sizes, which
/// break none of its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    method: Method,
    stages: u32,
    chunks: u32,
    micro_batches: u32,
    group: u32,
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

    /// Tasks of all stages, without building them.
    #[must_use]
    pub fn num_tasks(&self) -> u64 {
        let [p, v, m] = [self.stages, self.chunks, self.micro_batches].map(u64::from);
        match self.method {
            Method::Gpipe | Method::OneForwardOneBackward | Method::Interleaved => 2 * p * v * m,
            Method::OneForwardOneBackwardOverlap => interleaved::num_overlapped_tasks(self),
            Method::ZbH1 | Method::Zb2p | Method::ZbV | Method::VHalf | Method::VMin => {
                3 * p * v * m
            }
            Method::DualPipe | Method::DualPipeV => dualpipe::num_tasks(self),
        }
    }

    /// The tasks of each stage in order; empty with more than [`Schedule::MAX_TASKS`].
    #[must_use]
    pub fn tasks(&self) -> TaskLists {
        let mut lists = TaskLists::default();
        self.write(&mut lists);
        lists
    }

    /// Puts the tasks of each stage in place of what the lists held.
    pub(crate) fn write(&self, lists: &mut TaskLists) {
        lists.clear();
        let count = self.num_tasks();
        let Some(room) = usize::try_from(count).ok().filter(|_| count <= Self::MAX_TASKS) else {
            return;
        };
        lists.reserve(room, self.stages());
        match self.method {
            Method::Gpipe => gpipe::write(self, lists),
            Method::OneForwardOneBackward => one_f_one_b::write(self, lists),
            Method::Interleaved => interleaved::write(self, lists),
            Method::OneForwardOneBackwardOverlap => interleaved::write_overlapped(self, lists),
            Method::ZbH1 => zero_bubble::write_h1(self, lists),
            Method::Zb2p => zero_bubble::write_h2(self, lists),
            Method::ZbV => zb_v::write(self, lists),
            Method::VHalf | Method::VMin => v_pattern::write(self, lists),
            Method::DualPipe | Method::DualPipeV => dualpipe::write(self, lists),
        }
    }
}
