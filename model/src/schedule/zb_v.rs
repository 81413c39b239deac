//! Zero bubble with two chunks in a V.

use super::order::Schedule;
use super::task::{Task, TaskKind, TaskLists};

/// ZB-V: chunk 0 goes down the stages, chunk 1 back up, so that the first stage has the loss and
/// all stages hold p micro-batches, as 1F1B's first does.
///
/// Stage i warms up with `2 (p - i) - 1` forwards of chunk 0, i times a forward of both, and p - i
/// times forward, input and weight gradients of chunk 1; then runs chunk 0 and chunk 1 in turn; and
/// cools down with i times the input gradients of both, p - i times the backward of chunk 0, and
/// the weight gradients that are left. The pattern needs 2 p - 1 micro-batches: with fewer, the
/// tasks of those that aren't there fall out.
///
/// Source: Qi et al. 2024, "Pipeline Parallelism with Controllable Memory", arXiv 2405.15362,
/// section 3 (V-ZB); "Zero Bubble Pipeline Parallelism", arXiv 2401.10241, section 6.
pub(super) fn write(schedule: &Schedule, lists: &mut TaskLists) {
    let p = schedule.stages;
    let planned = schedule.micro_batches.max(2 * p - 1);
    for stage in 0..p {
        let mut passes = Passes { lists, micro_batches: schedule.micro_batches, next: [[0; 2]; 3] };
        for _ in 0..2 * (p - stage) - 1 {
            passes.run(FORWARD, 0);
        }
        for _ in 0..stage {
            passes.run(FORWARD, 1);
            passes.run(FORWARD, 0);
        }
        for _ in 0..p - stage {
            passes.run(FORWARD, 1);
            passes.backward(1);
        }
        while passes.next[FORWARD][1] < passes.next[FORWARD][0] || passes.next[FORWARD][0] < planned
        {
            if passes.next[FORWARD][0] < planned {
                passes.run(FORWARD, 0);
            }
            passes.backward(0);
            passes.run(FORWARD, 1);
            passes.backward(1);
        }
        for _ in 0..stage {
            passes.run(INPUT_GRAD, 0);
            passes.run(INPUT_GRAD, 1);
        }
        for _ in 0..p - stage {
            passes.backward(0);
        }
        for chunk in [1, 0] {
            while passes.next[WEIGHT_GRAD][chunk] < passes.next[INPUT_GRAD][chunk] {
                passes.run(WEIGHT_GRAD, chunk);
            }
        }
        lists.end_stage();
    }
}

const FORWARD: usize = 0;
const INPUT_GRAD: usize = 1;
const WEIGHT_GRAD: usize = 2;
const KINDS: [TaskKind; 3] = [TaskKind::Forward, TaskKind::InputGrad, TaskKind::WeightGrad];

/// One stage's list as it is written.
struct Passes<'a> {
    lists: &'a mut TaskLists,
    micro_batches: u32,
    /// The next micro-batch of each pass and chunk.
    next: [[u32; 2]; 3],
}

impl Passes<'_> {
    /// The next micro-batch's pass, unless that micro-batch isn't there.
    fn run(&mut self, pass: usize, chunk: usize) {
        let micro_batch = self.next[pass][chunk];
        self.next[pass][chunk] += 1;
        if micro_batch < self.micro_batches {
            self.lists.tasks.push(Task::new(KINDS[pass], chunk as u16, micro_batch));
        }
    }

    /// Gradients of inputs, then of weights.
    fn backward(&mut self, chunk: usize) {
        self.run(INPUT_GRAD, chunk);
        self.run(WEIGHT_GRAD, chunk);
    }
}
