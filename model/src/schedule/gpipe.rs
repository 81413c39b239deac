//! GPipe.

use super::order::Schedule;
use super::task::{Task, TaskKind, TaskLists};

/// All forwards, then all backwards, both in the order of the micro-batches.
///
/// A stage holds all m micro-batches at once.
///
/// Source: Huang et al. 2019, "GPipe: Efficient Training of Giant Neural Networks using Pipeline
/// Parallelism", arXiv 1811.06965, section 2.3.
pub(super) fn write(schedule: &Schedule, lists: &mut TaskLists) {
    for _ in 0..schedule.stages {
        for kind in [TaskKind::Forward, TaskKind::Backward] {
            lists.tasks.extend((0..schedule.micro_batches).map(|index| Task::new(kind, 0, index)));
        }
        lists.end_stage();
    }
}
