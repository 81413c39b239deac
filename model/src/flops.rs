//! Model FLOPs: what a token costs by definition, whatever the strategy.

use crate::choice::AttentionFlops;
use crate::plan::Plan;
use crate::units::Flops;

impl Plan {
    /// Attention's scores and values of one token in one layer, forward: 2 k a (d_qk + d_v).
    pub(crate) fn score_flops_per_token(&self, convention: AttentionFlops) -> f64 {
        let dims = (self.shape.qk_dim + self.shape.v_dim) as f64;
        2.0 * self.keys_per_query(convention) * self.shape.heads as f64 * dims
    }

    /// Matrix parameters of attention, biases and norms not counted.
    fn attention_matrix_params(&self) -> f64 {
        let shape = &self.shape;
        let (h, a) = (shape.hidden as f64, shape.heads as f64);
        let (qk, v) = (shape.qk_dim as f64, shape.v_dim as f64);
        let Some(mla) = shape.mla else {
            return h * a * qk + h * shape.groups as f64 * (qk + v) + a * v * h;
        };
        let (q_rank, kv_rank) = (mla.q_rank as f64, mla.kv_rank as f64);
        let query = if mla.q_rank > 0 { h * q_rank + q_rank * a * qk } else { h * a * qk };
        query
            + h * (kv_rank + mla.rope_dim as f64)
            + kv_rank * a * (mla.nope_dim as f64 + v)
            + a * v * h
    }

    fn mlp_matrices(&self, width: u64) -> f64 {
        self.mlp_matrix_params(width) as f64
    }

    /// Forward FLOPs of one token in one dense layer.
    pub(crate) fn dense_layer_flops(&self, convention: AttentionFlops) -> f64 {
        2.0 * (self.attention_matrix_params() + self.mlp_matrices(self.shape.ffn))
            + self.score_flops_per_token(convention)
    }

    /// Forward FLOPs of one token in one MoE layer: router, top-k experts, shared experts.
    pub(crate) fn moe_layer_flops(&self, convention: AttentionFlops) -> f64 {
        let shape = &self.shape;
        let matrices = self.attention_matrix_params()
            + (shape.hidden * shape.experts) as f64
            + shape.topk as f64 * self.mlp_matrices(shape.expert_ffn)
            + self.mlp_matrices(shape.shared_ffn);
        2.0 * matrices + self.score_flops_per_token(convention)
    }

    /// Forward FLOPs of one token in the output head: 2 h V.
    pub(crate) fn head_flops(&self) -> f64 {
        2.0 * self.table_params() as f64
    }

    /// Forward FLOPs of one token in one MTP layer with its head.
    pub(crate) fn mtp_flops(&self, convention: AttentionFlops) -> f64 {
        let h = self.shape.hidden as f64;
        let layer = if self.shape.moe_layers > 0 {
            self.moe_layer_flops(convention)
        } else {
            self.dense_layer_flops(convention)
        };
        layer + 2.0 * 2.0 * h * h + self.head_flops()
    }

    /// Model FLOPs of one token, forward and backward, under the design's convention.
    ///
    /// 3 (sum of layers + head + MTP): the backward takes twice the forward, one matrix product
    /// each for the gradient of its input and of its weight.
    ///
    /// # Source
    /// Megatron-LM `training.py:num_floating_point_operations`; for Pangu Ultra MoE at 8K with full
    /// attention and MTP 371.5 GFLOP, which fits its published MFU and throughput to 0.2 %.
    #[must_use]
    pub fn flops_per_token(&self) -> Flops {
        let training = &self.design().training;
        self.flops_per_token_under(training.attention_flops, training.count_mtp_flops)
    }

    /// The same under a given convention.
    pub(crate) fn flops_per_token_under(
        &self,
        convention: AttentionFlops,
        count_mtp: bool,
    ) -> Flops {
        let shape = &self.shape;
        let mtp = if count_mtp && shape.mtp_layers > 0 {
            shape.mtp_layers as f64 * self.mtp_flops(convention)
        } else {
            0.0
        };
        let moe = if shape.moe_layers > 0 {
            shape.moe_layers as f64 * self.moe_layer_flops(convention)
        } else {
            0.0
        };
        let dense = shape.dense_layers as f64 * self.dense_layer_flops(convention);
        Flops::new(3.0 * (dense + moe + self.head_flops() + mtp))
    }
}
