//! What a layer saves for its backward, tensor by tensor, and what freeing each would cost.

use alloc::vec::Vec;

use crate::activation::Saved;
use crate::choice::{Choice as _, RecomputeGranularity, RecomputeModule, SwapModule};
use crate::plan::Plan;
use crate::stage::Parts;
use crate::units::{Bytes, Seconds};

pub use crate::activation::{Fate, Tensor};

/// One tensor of a layer, for one micro-batch and on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavedTensor {
    /// Which.
    pub tensor: Tensor,
    /// Its size.
    pub bytes: Bytes,
    /// What becomes of it.
    pub fate: Fate,
}

/// What freeing one module's tensors brings and costs, for one layer and one micro-batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecomputePrice {
    /// The module that is computed again.
    pub module: RecomputeModule,
    /// Bytes that its recomputation frees, if nothing else does.
    pub frees: Bytes,
    /// Kernel time of the recomputation; exchanges of a pair may hide some of it.
    pub kernels: Seconds,
}

/// What taking one module's tensors to the host brings and costs, for one layer and micro-batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwapPrice {
    /// The module that is swapped.
    pub module: SwapModule,
    /// Bytes that leave the device, and come back.
    pub frees: Bytes,
    /// Time on the link to the host, one way.
    pub link: Seconds,
}

/// The tensors of one kind of layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerLedger {
    /// A MoE layer, or a dense one.
    pub is_moe: bool,
    /// Layers of this kind in the model, MTP layers counted.
    pub num_layers: u64,
    /// The tensors that it has, in the order of a forward.
    pub tensors: Vec<SavedTensor>,
    /// Modules that can be computed again.
    pub recompute: Vec<RecomputePrice>,
    /// Modules that can be swapped.
    pub swap: Vec<SwapPrice>,
}

impl LayerLedger {
    /// Bytes of all tensors with this fate.
    #[must_use]
    pub fn bytes(&self, fate: Fate) -> Bytes {
        self.tensors.iter().filter(|saved| saved.fate == fate).map(|saved| saved.bytes).sum()
    }
}

/// The ledger of each kind of layer that a plan's model has.
///
/// Layers under whole-layer recomputation keep their input alone, offloaded ones nothing: the fates
/// here are those of the others.
#[must_use]
pub fn ledger(plan: &Plan) -> Vec<LayerLedger> {
    let parts = Parts::new(plan);
    let mtp_moe = plan.shape.moe_layers > 0;
    let mtp = |is_moe: bool| if mtp_moe == is_moe { plan.shape.mtp_layers } else { 0 };
    [false, true]
        .into_iter()
        .map(|is_moe| {
            let layers = if is_moe { plan.shape.moe_layers } else { plan.shape.dense_layers };
            (is_moe, layers + mtp(is_moe))
        })
        .filter(|(_, layers)| *layers > 0)
        .map(|(is_moe, num_layers)| {
            let saved = if is_moe { plan.moe_layer_saves() } else { plan.dense_layer_saves() };
            LayerLedger {
                is_moe,
                num_layers,
                tensors: tensors(plan, &saved, is_moe),
                recompute: recompute(plan, &parts, &saved, is_moe),
                swap: swap(plan, &saved, is_moe),
            }
        })
        .collect()
}

fn tensors(plan: &Plan, saved: &Saved, is_moe: bool) -> Vec<SavedTensor> {
    saved
        .tensors()
        .into_iter()
        .filter(|(_, bytes)| *bytes > 0.0)
        .map(|(tensor, bytes)| SavedTensor {
            tensor,
            bytes: Bytes::new(bytes),
            fate: plan.fate(tensor, is_moe),
        })
        .collect()
}

/// Full recomputation keeps layer inputs whatever the modules.
fn recompute(plan: &Plan, parts: &Parts, saved: &Saved, is_moe: bool) -> Vec<RecomputePrice> {
    if plan.design().memory.recompute_granularity == RecomputeGranularity::Full {
        return Vec::new();
    }
    let layer = if is_moe { &parts.work.moe } else { &parts.work.dense };
    RecomputeModule::ALL
        .iter()
        .filter_map(|module| {
            let frees: f64 = saved
                .tensors()
                .iter()
                .filter(|(tensor, _)| tensor.recomputed_by(is_moe).contains(module))
                .map(|(_, bytes)| bytes)
                .sum();
            let kernels = layer.forward_of(*module, is_moe).seconds();
            (frees > 0.0).then(|| RecomputePrice {
                module: *module,
                frees: Bytes::new(frees),
                kernels: Seconds::new(kernels),
            })
        })
        .collect()
}

fn swap(plan: &Plan, saved: &Saved, is_moe: bool) -> Vec<SwapPrice> {
    SwapModule::ALL
        .iter()
        .filter_map(|module| {
            let frees: f64 = saved
                .tensors()
                .iter()
                .filter(|(tensor, _)| tensor.swapped_by(is_moe) == Some(*module))
                .map(|(_, bytes)| bytes)
                .sum();
            (frees > 0.0).then(|| SwapPrice {
                module: *module,
                frees: Bytes::new(frees),
                link: Seconds::new(frees / plan.machine.host.get()),
            })
        })
        .collect()
}
