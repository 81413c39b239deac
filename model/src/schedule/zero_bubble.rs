//! Zero bubble with one chunk per stage: weight gradients wait and fill what would be bubbles.

use super::order::Schedule;
use super::task::{Task, TaskKind, TaskLists};

/// ZB-H1: 1F1B's warm-up of `p - 1 - i` forwards; then a forward, the gradients of inputs, and the
/// gradients of weights of i micro-batches before, so that every stage holds p micro-batches.
///
/// Source: Qi et al. 2024, "Zero Bubble Pipeline Parallelism", arXiv 2401.10241, section 2.1
/// (handcrafted schedule H1).
pub(super) fn write_h1(schedule: &Schedule, lists: &mut TaskLists) {
    let m = schedule.micro_batches;
    for stage in 0..schedule.stages {
        let warm_up = (schedule.stages - 1 - stage).min(m);
        let mut stage_tasks = StageTasks { lists, lag: stage, micro_batches: m };
        stage_tasks.forwards(0, warm_up);
        for index in 0..m {
            stage_tasks.forwards(warm_up + index, 1);
            stage_tasks.backward(index);
        }
        stage_tasks.rest();
    }
}

/// ZB-H2, called ZB-2P: `2 (p - i) - 1` forwards to warm up; then the gradients of inputs, the
/// gradients of weights of 2 i micro-batches before, and a forward. Every stage holds 2 p - 1
/// micro-batches.
///
/// All stages work without a gap, but start one after the other. The optimizer checks norms and
/// overflows after its step and rolls back if it must, so that each stage begins its next step as
/// soon as it is done with this one: a step takes the longest span of a stage, from its first
/// start to its last end, not the time from the first start of all to the last end of all.
///
/// Source: Qi et al. 2024, "Zero Bubble Pipeline Parallelism", arXiv 2401.10241, section 2.2
/// (handcrafted schedule H2) and 4 (post-validation).
pub(super) fn write_h2(schedule: &Schedule, lists: &mut TaskLists) {
    let m = schedule.micro_batches;
    for stage in 0..schedule.stages {
        let warm_up = (2 * (schedule.stages - stage) - 1).min(m);
        let mut stage_tasks = StageTasks { lists, lag: 2 * stage, micro_batches: m };
        stage_tasks.forwards(0, warm_up);
        for index in 0..m {
            stage_tasks.backward(index);
            stage_tasks.forwards(warm_up + index, 1);
        }
        stage_tasks.rest();
    }
}

/// One stage's list as it is written.
struct StageTasks<'a> {
    lists: &'a mut TaskLists,
    /// Gradients of inputs that are ahead of those of weights.
    lag: u32,
    micro_batches: u32,
}

impl StageTasks<'_> {
    /// Forwards of `count` micro-batches, as far as there are any.
    fn forwards(&mut self, first: u32, count: u32) {
        let end = self.micro_batches.min(first + count);
        self.push(TaskKind::Forward, first..end);
    }

    /// Gradients of this micro-batch's inputs, and of an earlier one's weights.
    fn backward(&mut self, index: u32) {
        self.push(TaskKind::InputGrad, index..index + 1);
        if let Some(earlier) = index.checked_sub(self.lag) {
            self.push(TaskKind::WeightGrad, earlier..earlier + 1);
        }
    }

    /// The gradients of weights that are left.
    fn rest(self) {
        let Self { lists, lag, micro_batches } = self;
        let left = micro_batches.saturating_sub(lag)..micro_batches;
        lists.tasks.extend(left.map(|index| Task::new(TaskKind::WeightGrad, 0, index)));
        lists.end_stage();
    }

    fn push(&mut self, kind: TaskKind, micro_batches: core::ops::Range<u32>) {
        self.lists.tasks.extend(micro_batches.map(|index| Task::new(kind, 0, index)));
    }
}
