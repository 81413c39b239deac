//! What a device holds for the task that runs, beyond what is saved for the backward.
//!
//! Letters: T tokens of a TP group, T' tokens that a rank keeps with SP, R rows of local experts,
//! h hidden, t TP, V vocabulary. An element has two bytes unless said.

use crate::choice::{Dispatcher, Framework, Precision, ShardingStrategy};
use crate::layout::Stage;
use crate::params::RankParams;
use crate::plan::Plan;

/// Bytes of one workspace of cuBLAS on Hopper and Blackwell: Transformer Engine and PyTorch hold
/// one each, grouped products one for each of four streams.
///
/// Source: Transformer Engine, `cpp_extensions/gemm.py`; PyTorch, `CUBLAS_WORKSPACE_CONFIG`.
const WORKSPACE: f64 = 33_554_432.0;

/// Placeholders of weight gradients by the layers that need them, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Placeholders {
    attention: f64,
    dense: f64,
    moe: f64,
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
    pub(super) fn new(plan: &Plan) -> Self {
        if plan.design().kernel.framework != Framework::Megatron {
            return Self::default();
        }
        let shape = &plan.shape;
        let (tp, etp) = (plan.sizes.tp as f64, plan.sizes.etp as f64);
        let (h, element) = (shape.hidden as f64, plan.activation_bytes());
        let matrices = shape.mlp_matrices as f64;
        let mlp = |width: f64| matrices * h * width * element;
        let attention = plan.attention_params();
        let expert = shape.expert_ffn as f64 / etp;
        let shared = shape.shared_ffn as f64 / tp;
        // A shared expert as wide as a routed one has the same shapes.
        let shared = if (shared - expert).abs() < 0.5 { 0.0 } else { shared };
        Self {
            attention: (attention.tensor as f64 / tp + attention.replicated as f64) * element,
            dense: mlp(shape.ffn as f64 / tp),
            moe: mlp(expert + shared),
            mtp: 2.0 * h * h / tp * element,
            table: plan.table_params() as f64 / tp * element,
        }
    }

    /// Those of a stage.
    pub(super) fn of(&self, stage: &Stage, has_experts: bool) -> f64 {
        let mtp = stage.mtp > 0.0;
        let when = |is: bool, bytes: f64| if is { bytes } else { 0.0 };
        when(stage.layers() > 0.0, self.attention)
            + when(stage.dense > 0.0 || (mtp && !has_experts), self.dense)
            + when(stage.moe > 0.0 || (mtp && has_experts), self.moe)
            + when(mtp, self.mtp)
            + when(stage.head + stage.mtp_head > 0.0, self.table)
    }
}

impl Plan {
    /// Workspaces of matrix products.
    pub(super) fn workspaces(&self, stage: &Stage) -> f64 {
        match self.design().kernel.framework {
            Framework::Ideal | Framework::Mindspeed => 0.0,
            Framework::Megatron | Framework::Fsdp | Framework::Deepspeed => {
                let experts = self.shape.moe_layers > 0 && stage.moe + stage.mtp > 0.0;
                WORKSPACE * if experts { 6.0 } else { 2.0 }
            }
        }
    }

    /// Fullest moment of a dense layer: the gradient of its activation function's input, when the
    /// one of its output takes the place of the saved output, beside the residual's gradient, which
    /// in a pipeline is the boundary tensor that arrived.
    pub(super) fn dense_layer_works(&self) -> f64 {
        let inputs = (self.shape.mlp_matrices - 1) as f64;
        let width = self.shape.ffn as f64 / self.sizes.tp as f64;
        let residual = if self.sizes.pp > 1 { 0.0 } else { self.layer_input() };
        self.tokens() * inputs * width * self.activation_bytes() + residual
    }

    /// Fullest moment of a MoE layer: the return of the experts' outputs, which is the forward's.
    ///
    /// Megatron-Core's layer still names the rows that it sent and received and the outputs in the
    /// experts' and in the senders' order: four times R h, and the shared experts' output. A
    /// dispatcher that sends a token once to a rank, or gathers all tokens, has those two
    /// beside the experts' outputs. MindSpeed gives each copy back once it is read.
    /// Source: Megatron-Core, `moe_layer.py` and `token_dispatcher.py`; MindSpeed,
    /// `moe_layer_overlap_all2all.py`.
    pub(super) fn moe_layer_works(&self) -> f64 {
        let row = self.shape.hidden as f64 * self.activation_bytes();
        let rows = self.most_rows();
        let ranks = self.sizes.ep as f64;
        let own = self.tokens_per_rank();
        let copies = match self.design().schedule.moe_token_dispatcher_type {
            _ if self.design().kernel.framework == Framework::Mindspeed => 2.0 * rows,
            // A group of one rank returns what it is given.
            Dispatcher::Alltoall => rows * if ranks > 1.0 { 4.0 } else { 3.0 },
            Dispatcher::Flex => {
                // Ranks that a token's experts lie on, for even routing.
                let missed = libm::pow(1.0 - 1.0 / ranks, self.shape.topk as f64);
                rows + 2.0 * own * ranks * (1.0 - missed)
            }
            Dispatcher::Allgather => rows + 2.0 * own * ranks,
        };
        let shared = if self.shape.shared_ffn > 0 { self.layer_input() } else { 0.0 };
        copies * row + shared
    }

    /// Fullest moment of the head: logits, and with them their FP32 copy and exponentials where
    /// the loss isn't fused; a fused loss turns them into their gradients in place, and the matmul
    /// behind it has the gradient of its input, and with TP that input gathered once more.
    pub(super) fn head_works(&self, stage: &Stage) -> f64 {
        if stage.head + stage.mtp_head <= 0.0 {
            return 0.0;
        }
        let element = self.activation_bytes();
        let logits = self.tokens() * self.shape.vocab as f64 / self.sizes.tp as f64;
        let whole = self.tokens() * self.shape.hidden as f64 * element;
        let gathered = if self.sizes.tp > 1 { 2.0 * whole } else { 0.0 };
        let backward = logits * element + gathered + self.layer_input();
        if self.design().memory.cross_entropy_loss_fusion {
            backward
        } else {
            // 16 bits, FP32, and FP32 after the maximum is taken off.
            backward.max(logits * (element + 8.0))
        }
    }

    /// Boundary tensors on their way: one with 1F1B, one each way with virtual stages.
    pub(super) fn boundary_tensors(&self) -> f64 {
        let tensors = match (self.sizes.pp, self.sizes.vpp) {
            (1, _) => 0.0,
            (_, 1) => 1.0,
            _ => 2.0,
        };
        tensors * self.layer_input()
    }

    /// Whole weights under ZeRO-3: of the layer that computes and of the one that is fetched.
    pub(super) fn gathered_weights(&self, stage: &Stage, params: &RankParams) -> f64 {
        if !self.shards(ShardingStrategy::OptimGradsParams) {
            return 0.0;
        }
        2.0 * self.layer_params(stage, params) * self.activation_bytes()
    }

    /// Whole gradients of the layer that runs backward, where gradients are shared out: as its
    /// matmuls write them, and as they are reduced.
    ///
    /// Source: PyTorch, `fully_shard`, `MixedPrecisionPolicy.reduce_dtype`.
    pub(super) fn whole_gradients(&self, stage: &Stage, params: &RankParams) -> f64 {
        if !self.shards(ShardingStrategy::OptimGrads) {
            return 0.0;
        }
        let bytes = self.activation_bytes() + self.design().memory.gradient_dtype.bytes();
        self.layer_params(stage, params) * bytes
    }

    /// Parameters of a mean layer of a stage, its tables spread over the layers. `params` are those
    /// of all directions.
    fn layer_params(&self, stage: &Stage, params: &RankParams) -> f64 {
        (params.dense + params.expert) / (stage.layers().max(1.0) * self.directions())
    }

    /// Are the shards of the weights the optimizer's own copies, cast when they are gathered?
    ///
    /// Source: PyTorch, `fully_shard`, `MixedPrecisionPolicy.param_dtype`.
    pub(super) fn shards_main_weights(&self) -> bool {
        let design = self.design();
        design.kernel.framework == Framework::Fsdp
            && design.training.precision != Precision::Fp32
            && self.shards(ShardingStrategy::OptimGradsParams)
    }
}
