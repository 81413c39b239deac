//! What a stage does, one thing after the other.

use alloc::vec::Vec;

/// Kind of computation of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// The forward pass (F).
    Forward,
    /// The whole backward pass (B), gradients of inputs and of weights.
    Backward,
    /// The backward pass for the gradients of the inputs only (dX).
    InputGrad,
    /// The backward pass for the gradients of the weights only (dW).
    WeightGrad,
    /// The forward of one micro-batch and the backward of another that run as one (FB).
    Pair,
}

impl TaskKind {
    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::InputGrad => "input_grad",
            Self::WeightGrad => "weight_grad",
            Self::Pair => "pair",
        }
    }
}

/// One task of a stage: a pass of a micro-batch through a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Kind of computation.
    pub kind: TaskKind,
    /// The stage's chunk; of a pair: its forward's.
    pub chunk: u16,
    /// The micro-batch; of a pair: its forward's.
    pub micro_batch: u32,
    /// Chunk of a pair's backward; elsewhere equal to `chunk`.
    pub backward_chunk: u16,
    /// Micro-batch of a pair's backward; elsewhere equal to `micro_batch`.
    pub backward_micro_batch: u32,
}

impl Task {
    /// A task that isn't a pair.
    #[must_use]
    pub const fn new(kind: TaskKind, chunk: u16, micro_batch: u32) -> Self {
        Self { kind, chunk, micro_batch, backward_chunk: chunk, backward_micro_batch: micro_batch }
    }

    /// The forward `(chunk, micro_batch)` together with the backward of another.
    #[must_use]
    pub const fn pair(forward: (u16, u32), backward: (u16, u32)) -> Self {
        Self {
            kind: TaskKind::Pair,
            chunk: forward.0,
            micro_batch: forward.1,
            backward_chunk: backward.0,
            backward_micro_batch: backward.1,
        }
    }

    /// Chunk and micro-batch of the forward pass in it.
    #[must_use]
    pub const fn forward(&self) -> Option<(u16, u32)> {
        match self.kind {
            TaskKind::Forward | TaskKind::Pair => Some((self.chunk, self.micro_batch)),
            TaskKind::Backward | TaskKind::InputGrad | TaskKind::WeightGrad => None,
        }
    }

    /// Chunk and micro-batch whose gradients of inputs it computes.
    #[must_use]
    pub const fn input_grad(&self) -> Option<(u16, u32)> {
        match self.kind {
            TaskKind::Backward | TaskKind::InputGrad | TaskKind::Pair => {
                Some((self.backward_chunk, self.backward_micro_batch))
            }
            TaskKind::Forward | TaskKind::WeightGrad => None,
        }
    }

    /// Chunk and micro-batch whose gradients of weights it computes.
    #[must_use]
    pub const fn weight_grad(&self) -> Option<(u16, u32)> {
        match self.kind {
            TaskKind::Backward | TaskKind::WeightGrad | TaskKind::Pair => {
                Some((self.backward_chunk, self.backward_micro_batch))
            }
            TaskKind::Forward | TaskKind::InputGrad => None,
        }
    }
}

/// The tasks of all stages, in the order in which each stage runs them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskLists {
    /// All tasks, stage by stage.
    pub tasks: Vec<Task>,
    /// Where each stage's tasks end.
    ends: Vec<usize>,
}

impl TaskLists {
    /// Forgets all tasks and stages, and keeps their room.
    pub(super) fn clear(&mut self) {
        self.tasks.clear();
        self.ends.clear();
    }

    /// Makes room for this many tasks and stages.
    pub(super) fn reserve(&mut self, tasks: usize, stages: usize) {
        self.tasks.reserve_exact(tasks);
        self.ends.reserve_exact(stages);
    }

    /// The tasks since the last call are those of the next stage.
    pub(super) fn end_stage(&mut self) {
        self.ends.push(self.tasks.len());
    }

    /// Number of stages.
    #[must_use]
    pub fn stages(&self) -> usize {
        self.ends.len()
    }

    /// Range of a stage's tasks in `tasks`; empty for a stage that isn't there.
    #[must_use]
    pub fn range(&self, stage: usize) -> core::ops::Range<usize> {
        let start = stage.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(stage).copied().unwrap_or(0);
        start.unwrap_or(0).min(end)..end
    }

    /// A stage's tasks in order.
    #[must_use]
    pub fn stage(&self, stage: usize) -> &[Task] {
        self.tasks.get(self.range(stage)).unwrap_or(&[])
    }
}
