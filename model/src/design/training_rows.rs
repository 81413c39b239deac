//! The rows of the knobs of what is trained, by which loss, and on documents of which lengths.

use crate::ground::choice::{
    Choice as _, CrossEntropyFusion, LengthDistribution, LoraModule, ModelPart,
};
use crate::ground::knob::Kind::*;
use crate::ground::knob::{LayerText, Row};
use crate::ground::source::*;

const fn knob(label: &'static str, kind: crate::ground::knob::Kind, meaning: &'static str) -> Row {
    Row::new(label, kind, meaning)
}

pub(super) const DATA_IMBALANCE: Row = knob(
    "Data imbalance",
    Real(1.0, 8.0),
    "Attention work of the busiest over the mean of the data-parallel ranks that meet in \
             an expert exchange: sequences of other lengths than their pack's",
)
.source(HUAWEI_OPERATORS);
pub(super) const LENGTH_DISTRIBUTION: Row = knob(
    "Document lengths",
    Choice(LengthDistribution::NAMES),
    "How long documents are that stand one after the other in a sequence and are cut at its \
             end; attention stays inside of each; none are as long as their sequence",
)
.source(MEGATRON_BRIDGE)
.no_lever();
pub(super) const LENGTH_MEAN: Row =
    knob("Mean length", Real(1.0, 16_777_216.0), "Tokens of a document, in the mean")
        .unit("tokens")
        .source(ASSUMED);
pub(super) const LENGTH_SIGMA: Row = knob(
    "Spread of lengths",
    Real(0.0, 4.0),
    "Standard deviation of the logarithm of a document's length, log-normal",
)
.source(ASSUMED);
pub(super) const LENGTH_HISTOGRAM: Row = knob(
    "Histogram of lengths",
    LayerPattern(LayerText::Lengths),
    "Lengths in tokens with their shares of the documents, the shortest first; none has no \
             histogram",
)
.source(ASSUMED);
pub(super) const LORA_RANK: Row = knob(
    "LoRA rank",
    OptionalInteger(1, 4_096),
    "Rank of the adapters, which alone are trained; none trains the model's own weights",
)
.source(LORA)
.by_factor();
pub(super) const LORA_TARGET_MODULES: Row = knob(
    "LoRA targets",
    Subset(LoraModule::NAMES),
    "Linear layers that have an adapter each, of those that the model has",
)
.source(LORA);
pub(super) const FREEZE_PARAMETERS: Row = knob(
    "Frozen parts",
    Subset(ModelPart::NAMES),
    "Parts whose matrices are held as they are, without gradients and states; under LoRA \
             the whole model is",
)
.source(LORA);
pub(super) const CROSS_ENTROPY_FUSION_IMPL: Row = knob(
    "Fused cross-entropy by",
    Choice(CrossEntropyFusion::NAMES),
    "Which kernels the fused loss is: native and te read logits that the head has made, linear is \
             one with the head, holds none and computes them again backward",
)
.source(MEGATRON);
pub(super) const LOSS_CHUNKS: Row = knob(
    "Chunks of the loss",
    Integer(1, 4_096),
    "Pieces of a micro-batch's tokens that go through head and loss one after the other, gradients \
             and all, so that the logits of one are held: torchtitan's and Liger's chunked loss",
)
.by_factor()
.source(TORCHTITAN);
