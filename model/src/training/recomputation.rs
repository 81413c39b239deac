//! What a plan makes again of its layers, and what becomes of the tensors that they save.

use crate::design::{Design, PerStage};
use crate::device::exchange::Calls;
use crate::device::operator::{Again, is_of_mixer};
use crate::device::saved::{Fate, Saved};
use crate::ground::choice::{
    RecomputeGranularity, RecomputeMethod, RecomputeModule, Set, SwapModule, ZeroMemory,
};

/// Recomputation and offloading of what layers save.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recomputation {
    /// Modules of selective recomputation, and those of a zero-memory level.
    pub(crate) modules: Set<RecomputeModule>,
    /// Whether the tensors that zero-memory level 1 drops are recomputed.
    is_level_1: bool,
    /// Whether layers are computed again as a whole instead.
    pub(crate) is_whole: bool,
    method: RecomputeMethod,
    /// Layers of a group (uniform) or of a stage (block) that are computed again as a whole; none
    /// is one or all.
    num_layers: Option<PerStage>,
    /// Tensors and states that are parked in host memory.
    pub(crate) swapped: Set<SwapModule>,
    /// Layers of a stage whose tensors are all parked there.
    pub(crate) offloaded_layers: f64,
}

/// Bytes of a layer's tensors by where they are until their backward.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RetainedBytes {
    /// On the device.
    pub(crate) device: f64,
    /// In host memory.
    pub(crate) host: f64,
    /// Nowhere: computed again, on the device while the layer's backward runs.
    pub(crate) again: f64,
}

impl Recomputation {
    pub(crate) fn new(design: &Design) -> Self {
        let memory = &design.memory;
        let is_selective = memory.recompute_granularity == RecomputeGranularity::Selective;
        let modules = if is_selective { memory.recompute_modules } else { Set::EMPTY };
        let modules = match memory.moe_zero_memory {
            ZeroMemory::Disable => modules,
            ZeroMemory::Level0 | ZeroMemory::Level1 => {
                modules.with(RecomputeModule::MoePermute).with(RecomputeModule::MoeAct)
            }
        };
        Self {
            modules,
            is_level_1: memory.moe_zero_memory == ZeroMemory::Level1,
            is_whole: memory.recompute_granularity == RecomputeGranularity::Full,
            method: memory.recompute_method,
            num_layers: memory.recompute_num_layers.clone(),
            swapped: memory.swap_modules,
            offloaded_layers: memory.cpu_offloading_num_layers as f64,
        }
    }

    /// Whether an operator or an exchange of a layer is made again, its layer not being so.
    pub(crate) fn repeats(&self, again: &Again) -> bool {
        !again.never && (again.is_within(self.modules) || again.at_level_1 && self.is_level_1)
    }

    /// Calls that this many layers make again, of which full recomputation takes `repeated`.
    pub(crate) fn calls(&self, calls: &Calls, layers: f64, repeated: f64) -> f64 {
        let [(_, forward), _] = calls.passes;
        match self.is_whole {
            true if calls.again.never => 0.0,
            true => forward * repeated,
            false if self.repeats(&calls.again) => forward * layers,
            false => 0.0,
        }
    }

    /// Whether this recomputation is needed by the mixer's backward; else the MLP's needs it.
    pub(crate) fn is_for_mixer(again: &Again) -> bool {
        again.module.is_some_and(is_of_mixer)
    }

    /// Layers of a stage of this many that are computed again as a whole.
    pub(crate) fn whole_layers(&self, stage: usize, layers: f64) -> f64 {
        if !self.is_whole {
            return 0.0;
        }
        let listed = match &self.num_layers {
            None => None,
            Some(PerStage::Same(count)) => Some(*count),
            Some(PerStage::Each(counts)) => counts.get(stage).copied(),
        };
        match self.method {
            RecomputeMethod::Uniform => layers,
            RecomputeMethod::Block => listed.map_or(layers, |count| layers.min(count as f64)),
        }
    }

    /// Share of a stage's layers that are computed again as a whole.
    pub(crate) fn whole_share(&self, stage: usize, layers: f64) -> f64 {
        if layers > 0.0 { self.whole_layers(stage, layers) / layers } else { 0.0 }
    }

    /// Whether stages list how many of their layers are computed again as a whole.
    pub(crate) fn is_listed(&self) -> bool {
        let is_block = self.method == RecomputeMethod::Block;
        self.is_whole && is_block && self.num_layers.is_some()
    }

    /// Layers that share one checkpoint under uniform full recomputation, when a stage of this many
    /// chunks recomputes this many: groups do not reach beyond a chunk.
    pub(crate) fn checkpoint_group(&self, layers: f64, chunks: f64) -> f64 {
        match (&self.num_layers, self.method) {
            (Some(PerStage::Same(count)), RecomputeMethod::Uniform) => {
                ((*count).max(1) as f64).min((layers / chunks).max(1.0))
            }
            _ => 1.0,
        }
    }

    /// Whether a layer's tensor is computed again, without whole-layer recomputation.
    pub(crate) fn recomputes(&self, saved: &Saved) -> bool {
        saved.recomputed_by.iter().any(|module| self.modules.has(*module))
            || saved.at_level_1 && self.is_level_1
    }

    /// Fate of a layer's tensor, without whole-layer recomputation and offloading. What is computed
    /// again needs no copy on the host.
    pub(crate) fn fate(&self, saved: &Saved) -> Fate {
        match saved.swapped_by {
            _ if self.recomputes(saved) => Fate::Recomputed,
            Some(module) if self.swapped.has(module) => Fate::Swapped,
            Some(_) | None => Fate::Kept,
        }
    }
}
