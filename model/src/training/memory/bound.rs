//! How much more memory a simulated step may need than its closed form says.
//!
//! The closed form takes the micro-batches that a stage has in flight from the schedule's formula,
//! which no simulated order of tasks exceeds, and takes each for the mean chunk of its stage. The
//! tasks hold chunks one by one: at the fullest moment they may all be the stage's heaviest. So
//! the activations of a simulated step are at most those of the closed form times the heaviest
//! chunk over the mean one; all else of a stage is the same bytes. Where chunks are alike, the
//! closed form is no less than the simulation. `model/tests/closed_form.rs` holds it, over every
//! preset and random legal strategies around each.

use alloc::vec::Vec;

use super::LayerMemory;
use crate::ground::choice::Timing;
use crate::ground::units::Bytes;
use crate::training::estimate::{Estimate, StageMemory};
use crate::training::plan::Plan;

/// The most that the fullest stage needs of its device by a simulated step, bytes: its peak where
/// the step was simulated, otherwise the largest over stages of
/// `peak + activations * (heaviest chunk / mean chunk - 1)`.
#[must_use]
pub fn peak_at_most(plan: &Plan, estimate: &Estimate) -> Bytes {
    if estimate.timing == Timing::Simulated {
        return estimate.metrics.memory_peak;
    }
    let stages = estimate.stages.iter().zip(plan.unevenness(&plan.layer_memory()));
    let most = stages.map(|(stage, heaviest)| at_most(&stage.memory, heaviest));
    most.fold(estimate.metrics.memory_peak, Bytes::max)
}

/// The most that a stage with this memory by a closed form needs, whose heaviest chunk keeps this
/// many times as much as its mean one.
pub(crate) fn at_most(memory: &StageMemory, heaviest: f64) -> Bytes {
    memory.peak() + memory.activations * (heaviest - 1.0)
}

/// Does a design fit by a closed form that is nearer to the limit than its own error? Then only a
/// simulated step decides.
#[must_use]
pub fn is_near_limit(plan: &Plan, estimate: &Estimate) -> bool {
    let metrics = &estimate.metrics;
    let may_grow = estimate.timing == Timing::ClosedForm && metrics.fits;
    // No chunk is heavier than all chunks of its stage together: few designs are looked at closer.
    may_grow
        && metrics.memory_peak * plan.schedule.chunks_per_stage() as f64 > metrics.memory_limit
        && peak_at_most(plan, estimate) > metrics.memory_limit
}

impl Plan {
    /// For each stage what its heaviest chunk keeps of a micro-batch, over its mean chunk.
    pub(crate) fn unevenness(&self, layers: &LayerMemory) -> Vec<f64> {
        let mtp = self.architecture.mtp.kind;
        let weights: Vec<f64> = self.chunks.iter().map(|it| layers.weight(mtp, it)).collect();
        let (placement, p) = (self.schedule.form.placement, self.deployment.ranks.pp as usize);
        let count = self.schedule.chunks_per_stage();
        let of_stage = |stage: usize| {
            let of_stage = (0..count)
                .filter_map(|chunk| weights.get(placement.position(p, stage, chunk)))
                .fold((0.0, 0.0_f64), |(sum, most), weight| (sum + weight, most.max(*weight)));
            let (sum, most) = of_stage;
            if sum > 0.0 { most * count as f64 / sum } else { 1.0 }
        };
        (0..p).map(of_stage).collect()
    }
}
