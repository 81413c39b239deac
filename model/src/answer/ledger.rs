//! What a layer saves for its backward, tensor by tensor, and what freeing each would cost.

use alloc::string::String;
use alloc::vec::Vec;

use crate::device::operator::Operators;
use crate::device::saved::Saved;
use crate::ground::choice::{Choice as _, RecomputeModule, SwapModule};
use crate::ground::units::{Bytes, BytesPerSecond, Seconds};
use crate::training::plan::Plan;
use crate::training::recomputation::Recomputation;

pub use crate::device::saved::{Fate, Tensor};

/// One tensor of a layer, for one micro-batch and on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavedTensor {
    /// Which.
    pub tensor: Tensor,
    /// Its size.
    pub bytes: Bytes,
    /// Fate of the tensor until its backward.
    pub fate: Fate,
    /// The modules whose recomputation frees it.
    pub recomputed_by: &'static [RecomputeModule],
    /// The module whose swap takes it to the host.
    pub swapped_by: Option<SwapModule>,
}

/// Gain and cost of freeing one module's tensors, for one layer and one micro-batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecomputePrice {
    /// The module that is computed again.
    pub module: RecomputeModule,
    /// Bytes that its recomputation frees, if nothing else does.
    pub frees: Bytes,
    /// Kernel time of the recomputation; exchanges of a pair may hide some of it.
    pub kernels: Seconds,
}

/// Gain and cost of swapping one module's tensors to the host, for one layer and micro-batch.
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
    /// The kind's name: by its MLP, and by its mixer where kinds differ in that.
    pub name: String,
    /// Whether it has routed experts.
    pub has_experts: bool,
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
    let (work, recomputation) = (plan.work(), &plan.recomputation);
    let (architecture, rows) = (&plan.architecture, plan.rows());
    let kinds = architecture.kinds.iter().zip(&work.kinds).zip(architecture.all_layers());
    kinds
        .filter(|(_, num_layers)| *num_layers > 0)
        .map(|((kind, operators), num_layers)| {
            let saved = kind.saved(&plan.deployment, &rows);
            LayerLedger {
                name: kind.name(),
                has_experts: kind.mlp.moe().is_some(),
                num_layers,
                tensors: tensors(recomputation, &saved),
                recompute: recompute(recomputation, operators, &saved),
                swap: swap(plan.deployment.machine.host, &saved),
            }
        })
        .collect()
}

fn tensors(recomputation: &Recomputation, saved: &[Saved]) -> Vec<SavedTensor> {
    let saved = saved.iter().filter(|tensor| tensor.bytes > 0.0);
    saved
        .map(|tensor| SavedTensor {
            tensor: tensor.tensor,
            bytes: Bytes::new(tensor.bytes),
            fate: recomputation.fate(tensor),
            recomputed_by: tensor.recomputed_by,
            swapped_by: tensor.swapped_by,
        })
        .collect()
}

/// Bytes of the tensors that this says are freed, where there are any.
fn freed(saved: &[Saved], is_freed: impl Fn(&Saved) -> bool) -> Option<Bytes> {
    let bytes: f64 = saved.iter().filter(|tensor| is_freed(tensor)).map(|it| it.bytes).sum();
    (bytes > 0.0).then(|| Bytes::new(bytes))
}

/// Full recomputation keeps layer inputs whatever the modules.
fn recompute(
    recomputation: &Recomputation,
    operators: &Operators,
    saved: &[Saved],
) -> Vec<RecomputePrice> {
    if recomputation.is_whole {
        return Vec::new();
    }
    let price = |module: &RecomputeModule| {
        let frees = freed(saved, |tensor| tensor.recomputed_by.contains(module))?;
        let again = operators.made_again(|again| !again.never && again.belongs_to(*module));
        Some(RecomputePrice { module: *module, frees, kernels: Seconds::new(again.seconds()) })
    };
    RecomputeModule::ALL.iter().filter_map(price).collect()
}

fn swap(link: BytesPerSecond, saved: &[Saved]) -> Vec<SwapPrice> {
    let price = |module: &SwapModule| {
        let frees = freed(saved, |tensor| tensor.swapped_by == Some(*module))?;
        let link = Seconds::new(frees.get() / link.get());
        Some(SwapPrice { module: *module, frees, link })
    };
    SwapModule::ALL.iter().filter_map(price).collect()
}
