//! How few whole layers of each stage have to be computed again.

use alloc::vec::Vec;

use super::whole_layers;
use crate::design::{Design, PerStage};
use crate::training::memory::PeakActivations;
use crate::training::plan::Plan;
use crate::training::step::estimate;

/// The fewest layers of each stage with which all stages fit, for a design that recomputes whole
/// layers; nothing when a stage doesn't fit with all of its own.
///
/// What a stage holds at its fullest moment grows with what a micro-batch keeps there, and other
/// stages don't matter to it: one simulated step tells for all numbers of layers. A stage's time
/// grows with them too, so that no other numbers are faster.
pub(crate) fn fewest(plan: &Plan, design: &Design) -> Option<PerStage> {
    let of = |count: u64| plan.variant(&whole_layers(design, Some(PerStage::Same(count)))).ok();
    let none = of(0)?;
    let full = estimate(&none);
    let kept = none.per_micro_batch(&none.layer_memory());
    let most = none.stages.iter().map(|stage| stage.num_all_layers()).fold(0.0, f64::max);
    let mut fewest: Vec<Option<u64>> = alloc::vec![None; none.stages.len()];
    for count in 0..=libm::ceil(most) as u64 {
        let plan = of(count)?;
        let layers = plan.layer_memory();
        let each = plan.per_micro_batch(&layers);
        let both = none.by_stage(&kept).zip(plan.by_stage(&each));
        let held = full.stages.iter().zip(both).map(|(stage, (all, left))| {
            let all = all.kept.device;
            let share = if all > 0.0 { left.kept.device / all } else { 0.0 };
            PeakActivations {
                bytes: stage.memory.activations.get() * share,
                micro_batches: stage.peak_in_flight,
                task: stage.fullest,
            }
        });
        let held: Vec<PeakActivations> = held.collect();
        for (own, stage) in fewest.iter_mut().zip(plan.occupancies(&each, Some(&held))) {
            let fits = stage.device.peak() <= plan.memory_limit
                && stage.host <= plan.deployment.machine.host_memory;
            *own = own.or_else(|| fits.then_some(count));
        }
        if fewest.iter().all(Option::is_some) {
            break;
        }
    }
    let counts: Vec<u64> = fewest.into_iter().collect::<Option<_>>()?;
    let alike = counts.windows(2).all(|pair| pair[0] == pair[1]);
    match counts.as_slice() {
        [first, ..] if alike => Some(PerStage::Same(*first)),
        _ => Some(PerStage::Each(counts)),
    }
}
