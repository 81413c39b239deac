//! How long tasks take.

use alloc::vec;
use alloc::vec::Vec;

use super::order::Schedule;

/// Seconds of one chunk for one micro-batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChunkTimes {
    /// Forward (F).
    pub forward: f64,
    /// Gradients of the inputs (dX).
    pub input_grad: f64,
    /// Gradients of the weights (dW).
    pub weight_grad: f64,
}

/// Seconds of a whole stage, all its chunks, for one micro-batch.
pub type StageSeconds = ChunkTimes;

impl ChunkTimes {
    /// The whole backward, dX + dW.
    #[must_use]
    pub const fn backward(&self) -> f64 {
        self.input_grad + self.weight_grad
    }

    /// The times multiplied by a factor.
    #[must_use]
    pub const fn times(&self, factor: f64) -> Self {
        Self {
            forward: self.forward * factor,
            input_grad: self.input_grad * factor,
            weight_grad: self.weight_grad * factor,
        }
    }
}

/// Times of a schedule's tasks, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// At `stage * c + chunk`, c being the schedule's chunks per stage. What isn't there takes no
    /// time.
    pub chunks: Vec<ChunkTimes>,
    /// Forwards and backwards that run as one, at `(stage * c + forward chunk) * c + backward
    /// chunk`; one number holds for all; empty: the forward and then the backward.
    pub pairs: Vec<f64>,
    /// From the end of a task to the start of the one on another stage that needs it; neither
    /// stage is busy.
    pub p2p: f64,
}

impl Times {
    /// Equal stages: `stage` is the time of a whole stage for one micro-batch, of which each of V
    /// chunks takes 1 / V; so is `pair`, of a forward and a backward that run as one (none: the
    /// forward and then the backward).
    #[must_use]
    pub fn equal(schedule: &Schedule, stage: StageSeconds, pair: Option<f64>, p2p: f64) -> Self {
        let share = 1.0 / schedule.chunks() as f64;
        let chunks = vec![stage.times(share); schedule.stages() * schedule.chunks_per_stage()];
        Self { chunks, pairs: pair.map(|seconds| seconds * share).into_iter().collect(), p2p }
    }
}
