//! Parameter counts: exact, for the whole model and for one rank.
//!
//! Letters: h hidden, a heads, g query groups, f FFN width, E experts, V vocabulary, t TP, e EP.

use crate::choice::PositionEmbedding;
use crate::layout::Stage;
use crate::plan::Plan;

/// Parameters of one part, split by how ranks hold them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Params {
    /// Held by every TP rank whole: norms, router, MLA's down-projections, biases behind a sum.
    pub(crate) replicated: u128,
    /// Split over the TP ranks.
    pub(crate) tensor: u128,
    /// Of routed experts: split over EP and ETP ranks.
    pub(crate) expert: u128,
}

impl Params {
    /// All of them.
    pub(crate) const fn total(self) -> u128 {
        self.replicated + self.tensor + self.expert
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            replicated: self.replicated + other.replicated,
            tensor: self.tensor + other.tensor,
            expert: self.expert + other.expert,
        }
    }
}

/// Parameters that one device holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RankParams {
    /// Of everything but routed experts.
    pub(crate) dense: f64,
    /// Of routed experts.
    pub(crate) expert: f64,
}

/// What one device holds of one layer of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LayerParams {
    dense: RankParams,
    moe: RankParams,
    mtp: RankParams,
}

impl Plan {
    /// What one device holds of one layer of each kind: experts are split over EP x ETP, split
    /// matrices over TP, the rest is replicated.
    pub(crate) fn layer_params_of_rank(&self) -> LayerParams {
        let redundant = self.design().routing.redundant_experts;
        let copies = 1.0 + redundant as f64 / self.shape.experts.max(1) as f64;
        let of = |params: Params| RankParams {
            dense: params.replicated as f64 + params.tensor as f64 / self.sizes.tp as f64,
            expert: params.expert as f64 / (self.sizes.ep * self.sizes.etp) as f64 * copies,
        };
        let mtp = self.shape.mtp_layers > 0;
        LayerParams {
            dense: of(self.dense_layer_params()),
            moe: of(self.moe_layer_params()),
            mtp: if mtp { of(self.mtp_layer_params()) } else { RankParams::default() },
        }
    }

    /// Attention of one layer, its norms not counted.
    ///
    /// GQA: q h a d, k and v h g d each, o a d h. MLA: q h r_q + r_q a (n + r),
    /// kv h (r_kv + r) + r_kv a (n + v), o a v h.
    /// Source: Megatron-Core `multi_latent_attention.py`; the down-projections are replicated.
    pub(crate) fn attention_params(&self) -> Params {
        let transformer = &self.design().transformer;
        let shape = &self.shape;
        let (h, a) = (u128::from(shape.hidden), u128::from(shape.heads));
        let (qk, v) = (u128::from(shape.qk_dim), u128::from(shape.v_dim));
        let output = a * v * h;
        let output_bias = if transformer.add_bias_linear { h } else { 0 };
        if let Some(mla) = shape.mla {
            let (q_rank, kv_rank) = (u128::from(mla.q_rank), u128::from(mla.kv_rank));
            let (nope, rope) = (u128::from(mla.nope_dim), u128::from(mla.rope_dim));
            let query_up = if q_rank > 0 { q_rank * a * qk } else { h * a * qk };
            let norms = if transformer.qk_layernorm { q_rank + kv_rank } else { 0 };
            return Params {
                replicated: h * q_rank + h * (kv_rank + rope) + norms + output_bias,
                tensor: query_up + kv_rank * a * (nope + v) + output,
                expert: 0,
            };
        }
        let g = u128::from(shape.groups);
        let biased = transformer.add_qkv_bias || transformer.add_bias_linear;
        let qkv_bias = if biased { a * qk + g * (qk + v) } else { 0 };
        let norms = if transformer.qk_layernorm { 2 * qk } else { 0 };
        Params {
            replicated: norms + output_bias,
            tensor: h * a * qk + h * g * (qk + v) + qkv_bias + output,
            expert: 0,
        }
    }

    /// Matrices of an MLP of this inner width: 3 h f with a gate, 2 h f without.
    pub(crate) fn mlp_matrix_params(&self, width: u64) -> u128 {
        u128::from(self.shape.mlp_matrices) * u128::from(self.shape.hidden) * u128::from(width)
    }

    /// Biases of an MLP: those of the first matrices are split, that of the last is not.
    pub(crate) fn mlp_biases(&self, width: u64) -> Params {
        if !self.design().transformer.add_bias_linear {
            return Params::default();
        }
        let first = u128::from(self.shape.mlp_matrices - 1) * u128::from(width);
        Params { replicated: u128::from(self.shape.hidden), tensor: first, expert: 0 }
    }

    /// Norms of one layer: two, or four with sandwich norms.
    pub(crate) fn norm_params(&self) -> u128 {
        let norms = if self.design().transformer.sandwich_norm { 4 } else { 2 };
        norms * self.one_norm()
    }

    /// One norm: a scale, and a shift too where linear layers have biases (LayerNorm).
    pub(crate) fn one_norm(&self) -> u128 {
        let shift = u128::from(self.design().transformer.add_bias_linear);
        u128::from(self.shape.hidden) * (1 + shift)
    }

    /// One dense layer.
    pub(crate) fn dense_layer_params(&self) -> Params {
        let mlp = Params { tensor: self.mlp_matrix_params(self.shape.ffn), ..Params::default() };
        let norms = Params { replicated: self.norm_params(), ..Params::default() };
        self.attention_params().plus(mlp).plus(self.mlp_biases(self.shape.ffn)).plus(norms)
    }

    /// One MoE layer: router h E, routed experts, shared experts.
    pub(crate) fn moe_layer_params(&self) -> Params {
        let shape = &self.shape;
        let experts = u128::from(shape.experts);
        let biases = self.mlp_biases(shape.expert_ffn);
        let moe = Params {
            replicated: u128::from(shape.hidden) * experts + self.norm_params(),
            tensor: self.mlp_matrix_params(shape.shared_ffn),
            expert: experts * (self.mlp_matrix_params(shape.expert_ffn) + biases.total()),
        };
        self.attention_params().plus(moe)
    }

    /// One MTP layer without embedding and head: a MoE layer where the model has any, the
    /// projection of 2 h to h, two norms before it and one behind the layer.
    ///
    /// Source: Megatron-Core `multi_token_prediction.py`.
    pub(crate) fn mtp_layer_params(&self) -> Params {
        let h = u128::from(self.shape.hidden);
        let layer = if self.shape.moe_layers > 0 {
            self.moe_layer_params()
        } else {
            self.dense_layer_params()
        };
        layer.plus(Params { replicated: 3 * self.one_norm(), tensor: 2 * h * h, expert: 0 })
    }

    /// One embedding table, V h, and learned positions where the model has them.
    pub(crate) fn embedding_params(&self) -> u128 {
        let h = u128::from(self.shape.hidden);
        let learned =
            self.design().transformer.position_embedding_type == PositionEmbedding::LearnedAbsolute;
        let positions = if learned { u128::from(self.shape.seq) * h } else { 0 };
        self.table_params() + positions
    }

    /// V h.
    pub(crate) fn table_params(&self) -> u128 {
        u128::from(self.shape.vocab) * u128::from(self.shape.hidden)
    }

    /// The output head: V h when it isn't the input embedding.
    pub(crate) fn head_params(&self) -> u128 {
        if self.design().transformer.untie_embeddings_and_output_weights {
            self.table_params()
        } else {
            0
        }
    }

    /// All parameters with both embeddings, without MTP layers.
    #[must_use]
    pub fn params_total(&self) -> u128 {
        let shape = &self.shape;
        self.embedding_params()
            + u128::from(shape.dense_layers) * self.dense_layer_params().total()
            + u128::from(shape.moe_layers) * self.moe_layer_params().total()
            + self.one_norm()
            + self.head_params()
    }

    /// Parameters that one token meets: of every MoE layer only top-k of the experts.
    #[must_use]
    pub fn params_active(&self) -> u128 {
        let shape = &self.shape;
        let resting = u128::from(shape.experts - shape.topk.min(shape.experts));
        let expert = self.moe_layer_params().expert.checked_div(u128::from(shape.experts));
        self.params_total() - u128::from(shape.moe_layers) * resting * expert.unwrap_or(0)
    }

    /// Parameters of the MTP layers, their shared embedding and head not counted.
    #[must_use]
    pub fn params_mtp(&self) -> u128 {
        u128::from(self.shape.mtp_layers) * self.mtp_layer_params().total()
    }

    /// What one device of a stage holds.
    ///
    /// Experts and copies of busy ones are split over EP x ETP, split matrices over TP, the rest is
    /// replicated. DualPipe holds both directions. Tied embeddings stand on the first and on the
    /// last stage.
    pub(crate) fn stage_params(&self, stage: &Stage) -> RankParams {
        let LayerParams { dense, moe, mtp } = self.layer_params;
        let tables = self.table_params() as f64 * (stage.embedding + self.head_tables(stage));
        // Megatron keeps learned positions whole on every rank.
        let positions = (self.embedding_params() - self.table_params()) as f64 * stage.embedding;
        // An MTP layer embeds the next token: away from the first stage it has its own table.
        let mtp_table = if stage.mtp > 0.0 && stage.embedding <= 0.0 {
            self.table_params() as f64
        } else {
            0.0
        };
        let tables = tables + mtp_table;
        let norm = self.one_norm() as f64 * stage.head;
        let all = RankParams {
            dense: dense.dense * stage.dense
                + moe.dense * stage.moe
                + mtp.dense * stage.mtp
                + tables / self.sizes.tp as f64
                + positions
                + norm,
            expert: moe.expert * stage.moe + mtp.expert * stage.mtp,
        };
        RankParams { dense: all.dense * self.directions(), expert: all.expert * self.directions() }
    }

    /// Output tables on a stage: the model's head, and a copy for an MTP head that is elsewhere.
    fn head_tables(&self, stage: &Stage) -> f64 {
        let own = if stage.head > 0.0 || stage.mtp_head > 0.0 { 1.0 } else { 0.0 };
        let untied = self.design().transformer.untie_embeddings_and_output_weights;
        // A tied head beside its own embedding needs no second table.
        if !untied && stage.embedding > 0.0 {
            0.0
        } else {
            own * stage.head.max(stage.mtp_head).min(1.0)
        }
    }
}
