//! How usual a design is: of two that the model can't tell apart, people want the plain one.

use alloc::string::String;

use super::space::Space;
use crate::catalogue::calibration::PAIR_SPREAD;
use crate::design::{Design, KnobId, PerStage};
use crate::ground::choice::{Framework, ShardingStrategy, ZeroMemory};
use crate::training::estimate::Metrics;

/// Knobs that few runs have set: each is one more thing that must work.
const UNUSUAL: [KnobId; 6] = [
    KnobId::swap_modules,
    KnobId::cpu_offloading_num_layers,
    KnobId::moe_zero_memory,
    KnobId::recompute_num_layers,
    KnobId::pipeline_model_parallel_layout,
    KnobId::data_parallel_sharding_strategy,
];

impl Space {
    /// Value of a design to the search, in tokens per second: its speed, less the error of a pair
    /// of alike designs for each doubt. So an unusual knob has to win by more than the model's own
    /// error between two designs (the median of [`PAIR_SPREAD`], 7 %).
    pub(super) fn worth(&self, design: &Design, metrics: &Metrics) -> f64 {
        metrics.tokens_per_second * libm::exp(-PAIR_SPREAD.half[1] * self.doubts(design))
    }

    /// Things about a design that few runs have had: its unusual knobs, each swapped module apart.
    pub(super) fn doubts(&self, design: &Design) -> f64 {
        let own = self.at_hand.memory.swap_modules;
        let count = |knob| {
            if knob == KnobId::swap_modules {
                design.memory.swap_modules.iter().filter(|module| !own.has(*module)).count()
            } else {
                1
            }
        };
        self.unusual(design).map(count).sum::<usize>() as f64
    }

    /// The unusual knobs of a design that the one at hand doesn't have so already.
    pub(super) fn unusual(&self, design: &Design) -> impl Iterator<Item = KnobId> {
        UNUSUAL
            .into_iter()
            .filter(|knob| is_unusual(design, *knob) && design.differs(&self.at_hand, *knob))
    }
}

/// Whether few runs have a knob as a design has it.
#[expect(clippy::wildcard_enum_match_arm, reason = "few knobs are unusual")]
fn is_unusual(design: &Design, knob: KnobId) -> bool {
    let (parallel, memory) = (&design.parallel, &design.memory);
    match knob {
        KnobId::swap_modules => !memory.swap_modules.is_empty(),
        KnobId::cpu_offloading_num_layers => memory.cpu_offloading_num_layers > 0,
        KnobId::moe_zero_memory => memory.moe_zero_memory != ZeroMemory::Disable,
        KnobId::recompute_num_layers => {
            matches!(memory.recompute_num_layers, Some(PerStage::Each(_)))
        }
        // In most published ones only the first chunk differs, and those with heads and MTP.
        KnobId::pipeline_model_parallel_layout => {
            let layers = |chunk: &String| chunk.matches('t').count();
            let is_inner = |chunk: &&String| !chunk.contains(['m', 'n', 'h', 'L']);
            parallel.pipeline_model_parallel_layout.as_ref().is_some_and(|layout| {
                let mut inner = layout.chunks.iter().skip(1).take_while(is_inner).map(layers);
                inner.next().is_some_and(|first| inner.any(|other| other != first))
            })
        }
        // Beside Megatron's own, FSDP is another way to train.
        KnobId::data_parallel_sharding_strategy => {
            design.kernel.framework == Framework::Megatron
                && !matches!(
                    parallel.data_parallel_sharding_strategy,
                    ShardingStrategy::NoShard | ShardingStrategy::Optim
                )
        }
        _ => false,
    }
}
