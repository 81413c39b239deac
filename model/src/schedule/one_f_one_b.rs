//! One forward, one backward.

use super::order::Schedule;
use super::task::{Task, TaskKind, TaskLists};

/// `min(p - 1 - i, m)` forwards to warm up, then a forward and a backward in turn, then the
/// backwards that are left.
///
/// Stage i holds `min(p - i, m)` micro-batches.
///
/// Source: Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters
/// Using Megatron-LM", arXiv 2104.04473, section 2.2.1 (PipeDream-Flush); Megatron-Core
/// `schedules.py:forward_backward_pipelining_without_interleaving`.
pub(super) fn write(schedule: &Schedule, lists: &mut TaskLists) {
    let m = schedule.micro_batches;
    for stage in 0..schedule.stages {
        let warm_up = (schedule.stages - 1 - stage).min(m);
        let forward = |index| Task::new(TaskKind::Forward, 0, index);
        let backward = |index| Task::new(TaskKind::Backward, 0, index);
        lists.tasks.extend((0..warm_up).map(forward));
        for index in warm_up..m {
            lists.tasks.push(forward(index));
            lists.tasks.push(backward(index - warm_up));
        }
        lists.tasks.extend((m - warm_up..m).map(backward));
        lists.end_stage();
    }
}
