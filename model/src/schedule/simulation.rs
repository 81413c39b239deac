//! Runs task lists on the stages' times.

use alloc::vec;
use alloc::vec::Vec;

use super::{Schedule, TaskLists, Timeline, Times};

impl Schedule {
    /// When each task runs: a stage works on its list in order, a task starts as soon as the stage
    /// is free and what it needs is there.
    #[must_use]
    pub fn simulate(&self, times: &Times) -> Timeline {
        let lists: TaskLists = self.tasks();
        let count = lists.tasks.len();
        let (start, mut end) = (vec![0.0; count], vec![0.0; count]);
        let mut busy = Vec::with_capacity(lists.stages());
        for stage in 0..lists.stages() {
            let mut total = 0.0;
            for place in lists.range(stage) {
                let seconds = times.seconds(self, stage, lists.tasks[place]);
                end[place] = seconds;
                total += seconds;
            }
            busy.push(total);
        }
        Timeline { schedule: *self, lists, start, end, seconds: 0.0, busy }
    }
}
