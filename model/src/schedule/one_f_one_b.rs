//! One forward, one backward.

use super::{Schedule, Task, TaskKind, TaskLists};

impl Schedule {
    /// Tasks of all stages, without building them.
    #[must_use]
    pub fn num_tasks(&self) -> u64 {
        2 * u64::from(self.stages) * self.chunks_per_stage() as u64 * u64::from(self.micro_batches)
    }

    /// The tasks of each stage in order.
    #[must_use]
    pub fn tasks(&self) -> TaskLists {
        let (p, m) = (self.stages, self.micro_batches);
        let tasks = usize::try_from(self.num_tasks().min(Self::MAX_TASKS)).unwrap_or(0);
        let mut lists = TaskLists::with_capacity(tasks, self.stages());
        for stage in 0..p {
            let warm_up = (p - 1 - stage).min(m);
            let forward = |index| Task::new(TaskKind::Forward, 0, index);
            lists.tasks.extend((0..warm_up).map(forward));
            for index in 0..m {
                if warm_up + index < m {
                    lists.tasks.push(forward(warm_up + index));
                }
                lists.tasks.push(Task::new(TaskKind::Backward, 0, index));
            }
            lists.end_stage();
        }
        lists
    }
}
