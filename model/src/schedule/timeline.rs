//! A schedule as it runs.

use alloc::vec::Vec;

use super::order::Schedule;
use super::task::{Task, TaskLists};

/// When each task of a schedule runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The schedule.
    pub schedule: Schedule,
    /// The tasks of each stage.
    pub lists: TaskLists,
    /// When each task starts, in seconds; parallel to `lists.tasks`.
    pub start: Vec<f64>,
    /// When each task ends, in seconds; parallel to `lists.tasks`.
    pub end: Vec<f64>,
    /// The time of a step, in seconds: from the first start to the last end, and for ZB-2P the
    /// longest span of a stage, as each stage begins its next step at once.
    pub seconds: f64,
    /// Seconds that each stage works.
    pub busy: Vec<f64>,
}

impl Timeline {
    /// A stage's tasks with their start and end, in seconds.
    pub fn stage(&self, stage: usize) -> impl Iterator<Item = (Task, f64, f64)> {
        let range = self.lists.range(stage);
        let tasks = self.lists.tasks.get(range.clone()).unwrap_or(&[]).iter();
        let start = self.start.get(range.clone()).unwrap_or(&[]).iter();
        let end = self.end.get(range).unwrap_or(&[]).iter();
        tasks.zip(start).zip(end).map(|((task, start), end)| (*task, *start, *end))
    }

    /// Share of the time of all stages with no task resident.
    #[must_use]
    pub fn bubble_ratio(&self) -> f64 {
        if self.seconds <= 0.0 || self.busy.is_empty() {
            return 0.0;
        }
        let mean = self.busy.iter().sum::<f64>() / self.busy.len() as f64;
        (1.0 - mean / self.seconds).max(0.0)
    }

    /// Share of a stage's time with no task resident.
    #[must_use]
    pub fn bubble_ratio_of(&self, stage: usize) -> f64 {
        match self.busy.get(stage) {
            Some(busy) if self.seconds > 0.0 => (1.0 - busy / self.seconds).max(0.0),
            _ => 0.0,
        }
    }

    /// The most micro-batches whose activations a stage holds at once, counted in whole stages: a
    /// chunk of V counts 1 / V.
    ///
    /// Held from the start of a chunk's forward to the end of its last backward task.
    #[must_use]
    pub fn peak_in_flight(&self, stage: usize) -> f64 {
        let (mut held, mut peak) = (0_u32, 0_u32);
        for task in self.lists.stage(stage) {
            held += u32::from(task.forward().is_some());
            peak = peak.max(held);
            held = held.saturating_sub(u32::from(task.weight_grad().is_some()));
        }
        f64::from(peak) / self.schedule.chunks() as f64
    }

    /// The micro-batches whose activations a stage holds, as steps `(from when, how many)`.
    #[must_use]
    pub fn in_flight(&self, stage: usize) -> Vec<(f64, f64)> {
        let chunks = self.schedule.chunks() as f64;
        let mut held = 0_u32;
        let mut steps = Vec::new();
        for (task, start, end) in self.stage(stage) {
            if task.forward().is_some() {
                held += 1;
                steps.push((start, f64::from(held) / chunks));
            }
            if task.weight_grad().is_some() {
                held = held.saturating_sub(1);
                steps.push((end, f64::from(held) / chunks));
            }
        }
        steps
    }
}
