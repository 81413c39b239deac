//! What fills a stage at its fullest moment, tensor by tensor.

use alloc::vec::Vec;

use super::head_inputs;
use crate::device::saved::{Fate, Tensor};
use crate::ground::sorting::sort_short;
use crate::ground::units::Bytes;
use crate::layer::layout::Stage;
use crate::training::estimate::StageEstimate;
use crate::training::plan::Plan;

/// A part of a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Weights as the forward reads them.
    Weights,
    /// Accumulated gradients.
    Gradients,
    /// The optimizer's main parameters and moments.
    OptimizerStates,
    /// A tensor that layers save, of all layers and micro-batches that are held.
    Saved(Tensor),
    /// The inputs of layers that are computed again as a whole.
    LayerInputs,
    /// Inputs that the heads save.
    HeadInputs,
    /// Block states that attention residuals mix.
    Snapshots,
    /// Recomputed tensors, communication buffers and logits of the task that runs.
    Buffers,
    /// Runtime, communication library and fragmentation.
    Reserve,
}

impl Content {
    /// A short name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Gradients => "gradients",
            Self::OptimizerStates => "optimizer states",
            Self::Saved(tensor) => tensor.label(),
            Self::LayerInputs => "inputs of recomputed layers",
            Self::HeadInputs => "inputs of the heads",
            Self::Snapshots => "block states of attention residuals",
            Self::Buffers => "buffers of the running task",
            Self::Reserve => "reserve",
        }
    }
}

/// A part of a device's memory with its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    /// Kind of content.
    pub content: Content,
    /// Its size on one device.
    pub bytes: Bytes,
}

/// Contents of a stage of a plan's estimate at its peak, the largest first.
///
/// The parts sum to the stage's peak. What is saved for backwards is shared out as one micro-batch
/// keeps it on the stage.
#[must_use]
pub fn contents(plan: &Plan, stage: &StageEstimate) -> Vec<Filling> {
    let memory = &stage.memory;
    let mut parts: Vec<(Content, f64)> = [
        (Content::Weights, memory.weights),
        (Content::Gradients, memory.gradients),
        (Content::OptimizerStates, memory.optimizer),
        (Content::Buffers, memory.buffers),
        (Content::Reserve, memory.reserved),
    ]
    .map(|(content, bytes)| (content, bytes.get()))
    .to_vec();
    let index = stage.stage as usize;
    if let Some(held) = plan.stages.get(index) {
        let kept = plan.saved_on(index, held, Fate::Kept);
        let one: f64 = kept.iter().map(|(_, bytes)| bytes).sum();
        let times = if one > 0.0 { memory.activations.get() / one } else { 0.0 };
        parts.extend(kept.into_iter().map(|(content, bytes)| (content, bytes * times)));
    }
    parts.retain(|(_, bytes)| *bytes > 0.0);
    sort_short(&mut parts, |one, other| other.1.total_cmp(&one.1));
    parts
        .into_iter()
        .map(|(content, bytes)| Filling { content, bytes: Bytes::new(bytes) })
        .collect()
}

impl Plan {
    /// The tensors with this fate of one micro-batch on a stage; those that stay on the device sum
    /// to what the stage keeps, those that are swapped to what waits in host memory.
    pub(crate) fn saved_on(&self, index: usize, stage: &Stage, fate: Fate) -> Vec<(Content, f64)> {
        let split = self.split_layers(index, stage);
        let mut bytes = [0.0; Tensor::ALL.len()];
        let saves = self.layer_saves();
        for kind in split.kinds.iter().take(split.count) {
            for tensor in saves.tensors().nth(kind.kind).into_iter().flat_map(|it| it.iter()) {
                let own = self.recomputation.fate(tensor);
                let layers = if own == fate { kind.normal } else { 0.0 };
                let offloaded = if fate == Fate::Swapped && own != Fate::Recomputed {
                    kind.offloaded
                } else {
                    0.0
                };
                bytes[tensor.tensor as usize] += tensor.bytes * (layers + offloaded);
            }
        }
        let tensors = Tensor::ALL.into_iter().zip(bytes);
        let mut saved: Vec<(Content, f64)> =
            tensors.map(|(tensor, bytes)| (Content::Saved(tensor), bytes)).collect();
        if fate == Fate::Kept {
            saved.push((Content::LayerInputs, self.checkpoints(split.recomputed)));
            saved.push((Content::HeadInputs, head_inputs(saves.own_bytes, stage)));
            saved.push((Content::Snapshots, saves.own_bytes * stage.snapshots));
        }
        saved
    }
}
