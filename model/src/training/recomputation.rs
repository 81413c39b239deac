//! What a plan makes again of its layers, and what becomes of the tensors that they save.

use crate::device::exchange::Calls;
use crate::device::operator::{Again, is_of_mixer};
use crate::device::saved::{Fate, Saved};
use crate::ground::choice::{RecomputeGranularity, RecomputeModule, Set, ZeroMemory};
use crate::training::plan::Plan;

/// Tensors that a plan recomputes in layers that aren't recomputed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recomputation {
    /// Modules of selective recomputation, and those of a zero-memory level.
    pub(crate) modules: Set<RecomputeModule>,
    /// Whether the tensors that zero-memory level 1 drops are recomputed.
    is_level_1: bool,
    /// Whether layers are computed again as a whole instead.
    pub(crate) is_whole: bool,
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
    pub(crate) fn new(plan: &Plan) -> Self {
        let memory = &plan.design().memory;
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
}

impl Plan {
    /// Fate of a layer's tensor, without whole-layer recomputation and offloading. What is computed
    /// again needs no copy on the host.
    pub(crate) fn fate(&self, recomputation: &Recomputation, saved: &Saved) -> Fate {
        let is_chosen = saved.recomputed_by.iter().any(|module| recomputation.modules.has(*module));
        if is_chosen || saved.at_level_1 && recomputation.is_level_1 {
            return Fate::Recomputed;
        }
        match saved.swapped_by {
            Some(module) if self.design().memory.swap_modules.has(module) => Fate::Swapped,
            Some(_) | None => Fate::Kept,
        }
    }

    /// Bytes of one layer's tensors by what becomes of them.
    pub(crate) fn retained(&self, recomputation: &Recomputation, saved: &[Saved]) -> RetainedBytes {
        let mut retained = RetainedBytes::default();
        for tensor in saved {
            match self.fate(recomputation, tensor) {
                Fate::Kept => retained.device += tensor.bytes,
                Fate::Swapped => retained.host += tensor.bytes,
                Fate::Recomputed => retained.again += tensor.bytes,
            }
        }
        retained
    }

    /// Whether this module is computed again in layers that aren't computed again as a whole.
    pub(crate) fn recomputes(&self, module: RecomputeModule) -> bool {
        Recomputation::new(self).modules.has(module)
    }
}
