//! What a timeline is of: when its tasks run, and what more can be told of them.

use std::sync::Arc;

use model::schedule::{Task, Timeline};
use model::training::pair::PairTimeline;
use model::training::timeline::{PlanTimeline, TaskDetail};

use super::track::{Track, TrackUnit};

/// Content of a timeline. Only the timeline itself is needed.
pub trait Source {
    /// When each task runs.
    fn timeline(&self) -> &Timeline;

    /// Holdings of a stage over time; the micro-batches in flight unless there is more to tell.
    fn track(&self, stage: usize) -> Option<Track> {
        let steps = self.timeline().in_flight(stage);
        Some(Track { held: TrackUnit::MicroBatches, fixed: 0.0, limit: None, steps })
    }

    /// Parts of a task's time.
    fn explain(&self, stage: usize, task: Task) -> Option<TaskDetail> {
        let _ = (stage, task);
        None
    }

    /// Operators by time in a stage's pair of a forward and a backward chunk.
    fn pair(
        &self,
        stage: usize,
        forward_chunk: usize,
        backward_chunk: usize,
    ) -> Option<PairTimeline> {
        let _ = (stage, forward_chunk, backward_chunk);
        None
    }
}

/// A source that many can read.
pub type Scene = Arc<dyn Source + Send + Sync>;

impl Source for Timeline {
    fn timeline(&self) -> &Timeline {
        self
    }
}

impl Source for PlanTimeline {
    fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    fn track(&self, stage: usize) -> Option<Track> {
        let memory = self.memory.get(stage)?;
        let steps = memory.steps.iter().map(|(from, bytes)| (*from, bytes.get())).collect();
        let (fixed, limit) = (memory.fixed.get(), Some(memory.limit.get()));
        Some(Track { held: TrackUnit::Memory, fixed, limit, steps })
    }

    fn explain(&self, stage: usize, task: Task) -> Option<TaskDetail> {
        Some(Self::explain(self, stage, task))
    }

    fn pair(
        &self,
        stage: usize,
        forward_chunk: usize,
        backward_chunk: usize,
    ) -> Option<PairTimeline> {
        Self::pair(self, stage, forward_chunk, backward_chunk)
    }
}
