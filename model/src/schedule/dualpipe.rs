//! DualPipe and DualPipeV.

use alloc::vec::Vec;

use super::order::Schedule;
use super::task::{Task, TaskKind, TaskLists};
use crate::ground::choice::Method;

/// DualPipe: micro-batches 0 to m / 2 run down the stages, the others up, each through its own
/// copy of the model (chunk 0 and chunk 1 of a stage). DualPipeV is one half of it: the two chunks
/// of a stage are the arms of a V, and all micro-batches run down chunk 0 and back up chunk 1.
///
/// In the steady state the forward of one direction and the backward of the other run as one. Every
/// stage holds up to p + 1 micro-batches.
///
/// Source: DeepSeek-V3, arXiv 2412.19437, section 3.2.1; the eight steps are those of
/// `dualpipe.py` and `dualpipev.py` in DeepSeek's repository `DualPipe`.
pub(super) fn write(schedule: &Schedule, lists: &mut TaskLists) {
    // Weight gradients that wait, one list for all stages.
    let mut waiting = Vec::new();
    for stage in 0..schedule.stages {
        waiting.clear();
        let steps = Steps::new(schedule, stage);
        let mut writer = Writer {
            lists,
            waiting: &mut waiting,
            taken: 0,
            own: steps.own,
            forward: steps.first,
            backward: steps.first,
        };
        steps.write(&mut writer);
        lists.end_stage();
    }
}

/// Tasks of all stages.
pub(super) fn num_tasks(schedule: &Schedule) -> u64 {
    (0..schedule.stages).map(|stage| Steps::new(schedule, stage).num_tasks()).sum()
}

/// Number of repetitions of each of the eight steps on a stage.
struct Steps {
    /// Stages between this one and the middle (or the turn of the V).
    to_middle: u32,
    /// This stage's distance from its end of the pipeline.
    from_end: u32,
    /// Repetitions of the main step.
    main: u32,
    /// The chunk that runs from this stage's end to the middle; the other is 1 minus it.
    own: u16,
    /// First micro-batch of each chunk.
    first: [u32; 2],
}

impl Steps {
    fn new(schedule: &Schedule, stage: u32) -> Self {
        let (p, m) = (schedule.stages, schedule.micro_batches);
        if schedule.method == Method::DualPipe {
            let from_end = stage.min(p - 1 - stage);
            Self {
                to_middle: p / 2 - 1 - from_end,
                from_end,
                main: m / 2 + from_end + 1 - p,
                own: u16::from(stage >= p / 2),
                first: [0, m / 2],
            }
        } else {
            // A pipeline of one stage takes any number of micro-batches.
            let main = (m + stage + 1).saturating_sub(2 * p);
            Self { to_middle: p - 1 - stage, from_end: stage, main, own: 0, first: [0, 0] }
        }
    }

    fn num_tasks(&self) -> u64 {
        let [outer, inner] = [self.to_middle, self.from_end + 1].map(u64::from);
        let apart = u64::from(self.to_middle == 0 && self.main > 0);
        2 * outer
            + 2 * inner
            + 3 * outer
            + 2 * u64::from(self.main)
            + apart
            + 2 * outer
            + 2 * inner
            + 2 * outer
            + inner
    }

    fn write(&self, writer: &mut Writer<'_>) {
        let (own, other) = (writer.own, 1 - writer.own);
        let inner = self.from_end + 1;
        // 1 and 2: forwards, first of the own direction, then of both.
        (0..2 * self.to_middle).for_each(|_| writer.forward(own));
        for _ in 0..inner {
            writer.forward(own);
            writer.forward(other);
        }
        // 3: the other direction's first backwards.
        for _ in 0..self.to_middle {
            writer.input_grad(other);
            writer.weight_grad();
            writer.forward(other);
        }
        // 4: the main step.
        for index in 0..self.main {
            if index == 0 && self.to_middle == 0 {
                // The middle stages' first pair stays apart: the bubble is smaller so.
                writer.forward(own);
                writer.backward(other);
            } else {
                writer.pair(own, other);
            }
            writer.pair(other, own);
        }
        // 5: the last forwards.
        for _ in 0..self.to_middle {
            writer.backward(other);
            writer.pair(other, own);
        }
        // 6: backwards of both, in the second part without weight gradients.
        for index in 0..inner {
            let (half, odd) = (inner / 2, self.from_end % 2 == 1);
            writer.split_backward(other, index > half || (index == half && odd));
            writer.split_backward(own, index >= half);
        }
        // 7 and 8: the last backwards, and the weight gradients that are left.
        for _ in 0..self.to_middle {
            writer.weight_grad();
            writer.input_grad(own);
        }
        (0..inner).for_each(|_| writer.weight_grad());
    }
}

/// One stage's list as it is written.
struct Writer<'a> {
    lists: &'a mut TaskLists,
    /// Chunk and micro-batch of weight gradients, first in first out.
    waiting: &'a mut Vec<(u16, u32)>,
    /// Number of weight gradients that are done.
    taken: usize,
    own: u16,
    /// The next micro-batch of each chunk's forward.
    forward: [u32; 2],
    /// The next micro-batch of each chunk's backward.
    backward: [u32; 2],
}

impl Writer<'_> {
    fn forward(&mut self, chunk: u16) {
        let micro_batch = next(&mut self.forward, chunk);
        self.lists.tasks.push(Task::new(TaskKind::Forward, chunk, micro_batch));
    }

    fn backward(&mut self, chunk: u16) {
        let micro_batch = next(&mut self.backward, chunk);
        self.lists.tasks.push(Task::new(TaskKind::Backward, chunk, micro_batch));
    }

    fn input_grad(&mut self, chunk: u16) {
        let micro_batch = next(&mut self.backward, chunk);
        self.lists.tasks.push(Task::new(TaskKind::InputGrad, chunk, micro_batch));
        self.waiting.push((chunk, micro_batch));
    }

    fn split_backward(&mut self, chunk: u16, split: bool) {
        if split { self.input_grad(chunk) } else { self.backward(chunk) }
    }

    fn weight_grad(&mut self) {
        if let Some((chunk, micro_batch)) = self.waiting.get(self.taken).copied() {
            self.taken += 1;
            self.lists.tasks.push(Task::new(TaskKind::WeightGrad, chunk, micro_batch));
        }
    }

    fn pair(&mut self, forward: u16, backward: u16) {
        let forward = (forward, next(&mut self.forward, forward));
        let backward = (backward, next(&mut self.backward, backward));
        self.lists.tasks.push(Task::pair(forward, backward));
    }
}

/// Counts a chunk's micro-batches.
fn next(counters: &mut [u32; 2], chunk: u16) -> u32 {
    let counter = &mut counters[usize::from(chunk)];
    *counter += 1;
    *counter - 1
}
