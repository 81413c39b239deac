//! The timeline of a pipeline: what each stage does when, what it holds, and what runs in a pair.
//!
//! [`timeline`] draws a figure of any [`Source`] and knows neither the explorer nor a plan. A
//! picture is a canvas, since it may have a million tasks; what is drawn is bounded by its pixels.
//! Everything in it is also a table, sentences and files.
//!
//! - What is shown: `tasks` and `operators` are lanes, `track` is the memory below them.
//! - Where one is in it: `board`, with its `window`, `gesture` and `keys`; none of it knows a
//!   browser.
//! - How it is drawn: `paint` onto any `Surface`; `look` says in
//!   which colours.
//! - On the page: `server_html` is what the server writes, `widget` what takes it over, with a
//!   `picture` for each canvas; `figure` is where both meet the page.

mod board;
mod drawing;
mod figure;
mod files;
mod gesture;
mod keys;
mod lanes;
mod look;
mod operators;
mod paint;
mod picture;
mod server_html;
mod tasks;
mod track;
mod watch;
mod widget;
mod window;
mod labels;

use std::sync::Arc;

use model::schedule::{Task, Timeline};
use model::training::pair::PairTimeline;
use model::training::timeline::{PlanTimeline, TaskDetail};

pub use drawing::drawing;
pub use figure::{Subject, TimelineFigure, frame, take_over, timeline};
pub use files::chrome_trace;
pub use track::{Held, Track};
pub use watch::PLAN;

/// Data of a timeline. Only the timeline itself is required.
pub trait Source {
    /// Start and end of each task.
    fn timeline(&self) -> &Timeline;

    /// Amount that a stage holds over time: micro-batches in flight by default.
    fn track(&self, stage: usize) -> Option<Track> {
        let steps = self.timeline().in_flight(stage);
        Some(Track { held: Held::MicroBatches, fixed: 0.0, limit: None, steps })
    }

    /// Terms of the time of a task.
    fn explain(&self, stage: usize, task: Task) -> Option<TaskDetail> {
        let _ = (stage, task);
        None
    }

    /// Operators over time in a stage's pair of a forward and a backward chunk.
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
