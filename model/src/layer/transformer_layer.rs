//! Layers and the ends of a model as operators and saved tensors, on one device and for one
//! micro-batch: what kinds of mixers and MLPs have in common.
//!
//! Letters: T tokens of a TP group, T' tokens that a rank keeps with SP, h hidden, V vocabulary.

use alloc::vec::Vec;

use crate::design::Design;
use crate::device::kernel::{Block, Cost};
use crate::device::operator::{Again, Operators, Place};
use crate::device::rows::Rows;
use crate::device::saved::{Saved, SavedTensors, Tensor};
use crate::ground::choice::{CrossEntropyFusion, CudaGraph, RecomputeModule};
use crate::ground::tally::{Tally, Untallied};
use crate::layer::adapters;
use crate::layer::architecture::{Architecture, LayerKind, MAX_KINDS};
use crate::layer::deployment::Deployment;
use crate::layer::elementwise::{attention_residuals, hyper_connections, norm, residual};
use crate::layer::mixer::Mix;
use crate::layer::mlp::{Mlp, Transform};

/// Operators of one layer, at most: room for all of them without a second allocation.
const MAX_OPERATORS: usize = 20;

/// Operators of each kind of layer, and of the ends of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Work<T: Tally = Untallied> {
    pub(crate) kinds: Vec<Operators<T>>,
    /// Projection and norms that an MTP layer adds to a layer of its kind.
    pub(crate) mtp_extra: Block<T>,
    pub(crate) embedding: Block<T>,
    pub(crate) head: Block<T>,
    /// One block of layers more that attention residuals mix.
    pub(crate) source: Block<T>,
}

/// Computation of the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Loss {
    /// Without an FP32 copy of the logits.
    pub(crate) is_fused: bool,
    /// Whether logits are ever in memory: not where the loss is one with the head.
    pub(crate) holds_logits: bool,
    /// Pieces of a micro-batch's tokens, one after the other.
    pub(crate) chunks: f64,
}

impl Loss {
    /// A loss of one kernel over logits in memory.
    pub(crate) const FUSED: Self = Self { is_fused: true, holds_logits: true, chunks: 1.0 };

    pub(crate) const fn new(design: &Design) -> Self {
        let memory = &design.memory;
        let is_linear = matches!(memory.cross_entropy_fusion_impl, CrossEntropyFusion::Linear);
        Self {
            is_fused: memory.cross_entropy_loss_fusion,
            holds_logits: !(memory.cross_entropy_loss_fusion && is_linear),
            chunks: memory.loss_chunks as f64,
        }
    }
}

impl<T: Tally> Work<T> {
    /// The work of a deployment's layers; `loss` is of the head alone.
    pub(crate) fn new(
        on: &Deployment,
        architecture: &Architecture,
        rows: &Rows,
        loss: Loss,
    ) -> Self {
        let mut kinds: Vec<Operators<T>> = Vec::with_capacity(architecture.kinds.len());
        // Of each kind's operators, those that aren't its MLP's come first.
        let mut in_front = [0; MAX_KINDS];
        for (index, kind) in architecture.kinds.iter().enumerate() {
            // A mixer that an earlier kind has costs the same again.
            let mut earlier = architecture.kinds[..index].iter();
            let alike = |known: &LayerKind| {
                known.mixer == kind.mixer && known.mlp.is_nothing() == kind.mlp.is_nothing()
            };
            let mut operators = match earlier.position(alike) {
                Some(known) => kinds[known].first(in_front[known]),
                None => around_and_mixer(on, rows, kind),
            };
            in_front[index] = operators.len();
            kind.mlp.operators(on, rows, &mut operators);
            kind.mlp.routed_operators(on, rows, &mut operators);
            if !on.tuning.is_full() {
                adapters::tune(on, rows, kind, &mut operators);
            }
            kinds.push(operators);
        }
        let kept = |block: Block<T>, is_trained: bool| match is_trained {
            true => block,
            false => Block { weight_grad: Cost::ZERO, ..block },
        };
        Self {
            kinds,
            mtp_extra: kept(mtp_extra(on, rows), on.tuning.trains_norms()),
            embedding: kept(embedding(on, rows), on.trains_embedding()),
            head: kept(head(on, rows, loss), on.trains_head()),
            source: match on.backbone.residual_block {
                Some(_) => attention_residuals(on, rows)[1],
                None => Block::default(),
            },
        }
    }
}

impl Work {
    /// The work under other loads: experts get other rows, all else stays as it was.
    pub(crate) fn under(&self, on: &Deployment, architecture: &Architecture, rows: &Rows) -> Self {
        let kinds = self.kinds.iter().zip(&architecture.kinds);
        let kinds = kinds.map(|(operators, kind)| match &kind.mlp {
            Mlp::Dense(_) | Mlp::Nothing(_) => operators.clone(),
            Mlp::Moe(moe) => {
                let mut known = operators.unrouted();
                moe.routed_operators(on, rows, &mut known);
                if !on.tuning.is_full() {
                    adapters::tune_routed(on, rows, kind, &mut known);
                }
                known
            }
        });
        Self { kinds: kinds.collect(), ..*self }
    }
}

/// Norms in front of mixer and MLP, residual additions behind them, and the mixer; of a sub-layer
/// those of the one that it has. Hyper-connections come before norms and take the place of
/// additions.
fn around_and_mixer<T: Tally>(on: &Deployment, rows: &Rows, kind: &LayerKind) -> Operators<T> {
    let mut operators = Operators::with_capacity(MAX_OPERATORS);
    let norm = norm(on, rows.own, on.backbone.hidden as f64);
    let normed = Again::with(RecomputeModule::Layernorm);
    let hyper = (on.backbone.streams > 1).then(|| hyper_connections(on, rows));
    let (name, residual) = match hyper {
        Some([_, behind]) => (HYPER, behind),
        None => ("Residuals and sandwich norms", residual(on, rows)),
    };
    let enter = |operators: &mut Operators<T>, place| {
        if let Some([front, _]) = hyper {
            operators.push(HYPER, place, Again::LAYER, front);
        }
        if on.backbone.residual_block.is_some() {
            let [own, _] = attention_residuals(on, rows);
            operators.push(RESIDUALS, place, Again::LAYER, own);
        }
        operators.push("Norms", place, normed, norm);
    };
    if !kind.mixer.is_nothing() {
        enter(&mut operators, Place::MixerInput);
        kind.mixer.operators(on, rows, &mut operators);
        operators.push(name, Place::MlpInput, Again::LAYER, residual);
    }
    if !kind.mlp.is_nothing() {
        enter(&mut operators, Place::MlpInput);
        operators.push(name, Place::MlpOutput, Again::LAYER, residual);
    }
    operators
}

/// The name of operators on residual streams.
const HYPER: &str = "Hyper-connections";

/// The name of what mixes states of earlier layers.
pub(crate) const RESIDUALS: &str = "Attention residuals";

/// The projection of the token's and the next token's state, 2 h to h, and its norms.
fn mtp_extra<T: Tally>(on: &Deployment, rows: &Rows) -> Block<T> {
    let h = on.backbone.hidden as f64;
    on.device.linear(rows.group, 2.0 * h, on.split(on.backbone.hidden))
        + norm(on, rows.own, h) * 3.0
}

/// Looking rows up and, backward, adding into them.
fn embedding<T: Tally>(on: &Deployment, rows: &Rows) -> Block<T> {
    let elements = rows.group * on.backbone.hidden as f64;
    let bytes = elements * on.element_bytes();
    Block {
        forward: on.device.gather(2.0 * bytes, 1.0),
        input_grad: Cost::ZERO,
        weight_grad: on.device.gather(3.0 * bytes, 1.0).doing(elements),
    }
}

/// The output head over the rank's share of the vocabulary, and the loss.
///
/// A fused loss passes over the logits three times in 16 bits; otherwise an FP32 copy is made and
/// softmax, loss and gradient pass over it eight times. One with the head passes over none, and
/// computes them again backward. In chunks each but the first adds its gradient of the table to
/// what is there.
///
/// # Source
/// Megatron-Core, `fused_linear_cross_entropy.py`; torchtitan, `ChunkedCELoss`; Hsu et al. 2024
/// (Liger).
fn head<T: Tally>(on: &Deployment, rows: &Rows, loss: Loss) -> Block<T> {
    let (tokens, h) = (rows.group, on.backbone.hidden as f64);
    // Megatron pads the vocabulary to a multiple of 128 on each rank.
    let vocab = libm::ceil(on.split(on.backbone.vocab) / 128.0) * 128.0;
    let chunks = loss.chunks;
    let mut product: Block<T> = on.device.linear(tokens / chunks, h, vocab);
    if chunks > 1.0 {
        product = product * chunks;
        let table = h * vocab * on.element_bytes();
        product.weight_grad += on.device.elementwise((chunks - 1.0) * 3.0 * table, chunks - 1.0);
    }
    let mut block = product + norm(on, rows.own, h);
    let logits = tokens * vocab;
    if loss.holds_logits {
        let (bytes, kernels) =
            if loss.is_fused { (3.0 * on.element_bytes(), 2.0) } else { (8.0 * 4.0, 8.0) };
        // Largest, exponential, sum, logarithm or division, gradient.
        let passes = on.device.elementwise(logits * bytes, kernels * chunks);
        block.forward += passes.doing(5.0 * logits);
    } else {
        block.input_grad += product.forward;
    }
    if on.backbone.streams > 1 {
        // All streams are read and added up.
        let joined = on.device.elementwise(on.own_bytes(rows) + on.stream_bytes(rows), 1.0);
        block.forward += joined;
        block.input_grad += joined;
    }
    block
}

impl LayerKind {
    /// Everything that one layer saves.
    pub(crate) fn saved(&self, on: &Deployment, rows: &Rows) -> SavedTensors {
        let mut saved = SavedTensors::with_capacity(Tensor::ALL.len());
        let (elements, hidden) = (rows.own * on.backbone.hidden as f64, on.own_bytes(rows));
        let (parts, norms) = (self.parts() as f64, self.norms(on) as f64);
        // Behind attention and MLP a dropout mask of one byte an element.
        let masks = if on.backbone.drops_residuals { parts * elements } else { 0.0 };
        // With hyper-connections the streams in front of each part, and what it gave.
        let streams = on.backbone.streams as f64;
        let mut streams = if streams > 1.0 { parts * (streams + 1.0) } else { 0.0 };
        // With attention residuals the running sum, of which a norm's input is a mixture.
        if on.backbone.residual_block.is_some() {
            streams += parts;
        }
        let inputs = (norms + streams + graph_outputs(on)) * hidden + masks;
        let normed = if on.tuning.is_full() {
            parts * hidden / on.element_bytes() * on.linear_input_bytes()
        } else {
            adapters::normed_bytes(on, rows, self)
        };
        saved.push(Saved::new(Tensor::NormInputs, inputs, &[]));
        saved.push(Saved::new(Tensor::Normed, normed, &[RecomputeModule::Layernorm]));
        self.mixer.saved(on, rows, &mut saved);
        self.mlp.saved(on, rows, &mut saved);
        if on.tuning.rank.is_some() {
            let inner = adapters::inner_bytes(on, rows, self);
            saved.push(Saved::new(Tensor::Adapters, inner, &[]));
        }
        saved
    }
}

/// Tensors of T' h that a recorded graph of a layer keeps for a micro-batch: its output, in a
/// buffer of its own, from which the next graph's input is copied. Launched one by one, kernels
/// hand the same tensor on.
///
/// # Source
/// Transformer Engine, `make_graphed_callables`; Megatron-Bridge, `training/cuda-graphs.md`: a
/// few GB, more than 10 GB with a pipeline.
fn graph_outputs(on: &Deployment) -> f64 {
    match on.kernel.cuda_graph_impl {
        CudaGraph::None => 0.0,
        CudaGraph::Local | CudaGraph::TransformerEngine => 1.0,
    }
}
