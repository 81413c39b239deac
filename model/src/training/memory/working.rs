//! What a device holds for the task that runs, beyond what is saved for the backward.
//!
//! Letters: T tokens of a TP group, T' tokens that a rank keeps with SP, R rows of local experts,
//! h hidden, t TP, V vocabulary. An element has two bytes unless said.

use crate::ground::choice::{Framework, ModelPart, Precision, ShardingStrategy};
use crate::layer::architecture::{Architecture, LayerKind, PerKind};
use crate::layer::deployment::Deployment;
use crate::layer::layout::Stage;
use crate::layer::mixer::Mix;
use crate::layer::mlp::Transform;
use crate::layer::params::RankParams;
use crate::training::plan::Plan;

/// Bytes of one workspace of cuBLAS on Hopper and Blackwell: Transformer Engine and PyTorch hold
/// one each, grouped products one for each of four streams.
///
/// Source: Transformer Engine, `cpp_extensions/gemm.py`; PyTorch, `CUBLAS_WORKSPACE_CONFIG`.
const WORKSPACE: f64 = 33_554_432.0;

/// Columns of the vocabulary whose logits a loss that is one with the head computes again at a
/// time.
///
/// Source: Megatron-Core, `linear_cross_entropy/blackwell/entry.py`, `vocab_per_split`.
const VOCABULARY_SLICE: f64 = 3_072.0;

/// Placeholders of weight gradients by the parts that need them, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Placeholders {
    /// Whether there are any.
    any: bool,
    /// Mixer and MLP of each kind of layer, each counted with the first kind that has it.
    mixers: PerKind<f64>,
    mlps: PerKind<f64>,
    mtp: f64,
    table: f64,
}

impl Placeholders {
    /// One tensor in the format of the weights for each different shape of a weight.
    ///
    /// A matmul that adds the gradient of its weight into the accumulated ones still has to return
    /// a tensor of the weight's shape to autograd; one is kept for each shape, for good.
    /// Source: Transformer Engine, `module/base.py`, `get_dummy_wgrad`; Megatron-Core,
    /// `tensor_parallel/layers.py`. Other frameworks have none.
    pub(super) fn new(on: &Deployment, kinds: &[LayerKind]) -> Self {
        let mut all = Self::default();
        if on.kernel.framework != Framework::Megatron {
            return all;
        }
        all.any = true;
        let (tp, element) = (on.ranks.tp as f64, on.element_bytes());
        let h = on.backbone.hidden as f64;
        for (index, kind) in kinds.iter().enumerate() {
            if on.tuning.trains(ModelPart::SelfAttention) {
                let mixer = kind.mixer.params(on);
                all.mixers[index] = (mixer.tensor as f64 / tp + mixer.replicated as f64) * element;
            }
            let part = if kind.mlp.moe().is_some() { ModelPart::Experts } else { ModelPart::Mlp };
            if on.tuning.trains(part) {
                all.mlps[index] = kind.mlp.shapes_params(on) * element;
            }
        }
        if on.tuning.trains_norms() {
            all.mtp = 2.0 * h * h / tp * element;
        }
        if on.trains_head() {
            all.table = on.backbone.table_params() as f64 / tp * element;
        }
        all
    }

    /// Bytes of the placeholders on a stage.
    pub(super) fn bytes(&self, architecture: &Architecture, stage: &Stage) -> f64 {
        if !self.any {
            return 0.0;
        }
        let when = |is: bool, bytes: f64| if is { bytes } else { 0.0 };
        let kinds = &architecture.kinds;
        let counts = stage.with_mtp(architecture.mtp.kind);
        let mut sum = 0.0;
        for (index, kind) in kinds.iter().enumerate() {
            // Kinds in front that the stage has, too.
            let before = |same: fn(&LayerKind, &LayerKind) -> bool, counts: &PerKind<f64>| {
                (0..index).any(|other| counts[other] > 0.0 && same(&kinds[other], kind))
            };
            let has_mixer = before(|one, other| one.mixer == other.mixer, &stage.layers);
            let has_mlp = before(|one, other| one.mlp == other.mlp, &counts);
            sum += when(stage.layers[index] > 0.0 && !has_mixer, self.mixers[index])
                + when(counts[index] > 0.0 && !has_mlp, self.mlps[index]);
        }
        sum + when(stage.mtp > 0.0, self.mtp) + when(stage.heads() > 0.0, self.table)
    }
}

impl Plan {
    /// Workspaces of matrix products.
    pub(super) fn workspaces(&self, stage: &Stage) -> f64 {
        match self.deployment.kernel.framework {
            Framework::Ideal | Framework::Mindspeed => 0.0,
            Framework::Megatron | Framework::Fsdp | Framework::Deepspeed => {
                let counts = stage.with_mtp(self.architecture.mtp.kind);
                let mut kinds = self.architecture.kinds.iter().zip(counts);
                let experts = kinds.any(|(kind, count)| count > 0.0 && kind.mlp.moe().is_some());
                WORKSPACE * if experts { 6.0 } else { 2.0 }
            }
        }
    }

    /// Fullest moment of the head: logits, and with them their FP32 copy and exponentials where
    /// the loss isn't fused; a fused loss turns them into their gradients in place, and the matmul
    /// behind it has the gradient of its input, and with TP that input gathered once more. A loss
    /// that is one with the head has a slice of them, one in chunks those of a chunk, beside the
    /// gradient of the whole table that they add up.
    pub(super) fn head_works(&self, stage: &Stage) -> f64 {
        if stage.heads() <= 0.0 {
            return 0.0;
        }
        let element = self.deployment.element_bytes();
        let (on, rows, loss) = (&self.deployment, self.rows(), self.loss);
        let tokens = rows.group;
        let vocab = on.backbone.vocab as f64 / on.ranks.tp as f64;
        // Of one with the head a slice of the vocabulary, of chunks one.
        let vocab = if loss.holds_logits { vocab } else { vocab.min(VOCABULARY_SLICE) };
        let logits = tokens * vocab / loss.chunks;
        let whole = tokens * on.backbone.hidden as f64 * element;
        let gathered = if on.ranks.tp > 1 { 2.0 * whole } else { 0.0 };
        let table =
            if loss.chunks > 1.0 { on.backbone.hidden as f64 * vocab * element } else { 0.0 };
        let backward = logits * element + gathered + on.own_bytes(&rows) + table;
        if loss.is_fused {
            backward
        } else {
            // 16 bits, FP32, and FP32 after the maximum is taken off.
            backward.max(logits * (element + 8.0))
        }
    }

    /// Boundary tensors on their way: one with 1F1B, one each way with virtual stages.
    pub(super) fn boundary_tensors(&self) -> f64 {
        let tensors = match (self.deployment.ranks.pp, self.deployment.ranks.vpp) {
            (1, _) => 0.0,
            (_, 1) => 1.0,
            _ => 2.0,
        };
        tensors * self.sent_bytes()
    }

    /// Whole weights under ZeRO-3: of the layer that computes and of the one that is fetched.
    pub(super) fn gathered_weights(&self, stage: &Stage, params: &RankParams) -> f64 {
        if !self.sharding.shards(ShardingStrategy::OptimGradsParams) {
            return 0.0;
        }
        2.0 * self.layer_params(stage, params) * self.deployment.element_bytes()
    }

    /// Whole gradients of the layer that runs backward, where gradients are shared out: as its
    /// matmuls write them, and as they are reduced.
    ///
    /// Source: PyTorch, `fully_shard`, `MixedPrecisionPolicy.reduce_dtype`.
    pub(super) fn whole_gradients(&self, stage: &Stage, params: &RankParams) -> f64 {
        if !self.sharding.shards(ShardingStrategy::OptimGrads) {
            return 0.0;
        }
        let bytes = self.deployment.element_bytes() + self.optimizer.gradient;
        self.layer_params(stage, params) * bytes
    }

    /// Parameters of a mean layer of a stage, its tables spread over the layers. `params` are those
    /// of all directions.
    fn layer_params(&self, stage: &Stage, params: &RankParams) -> f64 {
        (params.dense + params.expert) / (stage.num_layers().max(1.0) * self.schedule.directions())
    }

    /// Are the shards of the weights the optimizer's own copies, cast when they are gathered?
    ///
    /// Source: PyTorch, `fully_shard`, `MixedPrecisionPolicy.param_dtype`.
    pub(super) fn shards_main_weights(&self) -> bool {
        let on = &self.deployment;
        on.kernel.framework == Framework::Fsdp
            && on.precision != Precision::Fp32
            && self.sharding.shards(ShardingStrategy::OptimGradsParams)
    }
}
