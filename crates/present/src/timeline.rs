//! The timeline of a pipeline: what each stage does when, what it holds, and what runs in a pair.
//!
//! It is of any [`Source`], and knows neither a plan nor a page. A picture is drawn on a surface,
//! since it may have a million tasks; what is drawn is bounded by its pixels. Everything in it is
//! also a table, sentences and files.
//!
//! - What is shown: `tasks` and `operators` are lanes, `track` is the memory below them.
//! - Where one is in it: `board`, with its `window`, `gesture` and `keys`.
//! - How it is drawn: `paint` onto any `Surface`; `look` says in which colours.
//! - In words: `server_html` is the figure without its pictures, `drawing` one that nothing moves
//!   in, `labels` the parts that change, `files` what can be saved.

pub mod board;
mod drawing;
pub mod files;
pub mod gesture;
pub mod keys;
pub mod lanes;
pub mod look;
pub mod of_plan;
pub mod operators;
mod paint;
pub mod server_html;
pub mod tasks;
mod track;
mod window;
pub mod labels;

use std::sync::Arc;

use model::pair::PairTimeline;
use model::schedule::{Task, Timeline};
use model::timeline::{PlanTimeline, TaskDetail};

pub use drawing::drawing;
pub use files::chrome_trace;
pub use track::{Held, Track};

/// What a timeline shows. Only the timeline itself is needed.
pub trait Source {
    /// When each task runs.
    fn timeline(&self) -> &Timeline;

    /// What a stage holds over time; the micro-batches in flight unless there is more to tell.
    fn track(&self, stage: usize) -> Option<Track> {
        let steps = self.timeline().in_flight(stage);
        Some(Track { held: Held::MicroBatches, fixed: 0.0, limit: None, steps })
    }

    /// What the time of a task is made of.
    fn explain(&self, stage: usize, task: Task) -> Option<TaskDetail> {
        let _ = (stage, task);
        None
    }

    /// What runs when in a stage's pair of a forward and a backward chunk.
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
        Some(Track { held: Held::Memory, fixed, limit, steps })
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
