//! Sparse attention of `MiniMax-M3`: each group of query heads has a head of an indexer, which
//! scores all tokens in front, and looks at the best blocks of them.
//!
//! Letters: h hidden, a query heads, d their width, `H_i` and `d_i` heads of the indexer and their
//! width, k tokens that a query looks at, B tokens of a block, n tokens in front.

use super::attention::{Attention, tensor_exchanges};
use super::dsa::{CAUSAL, Choice, chosen_keys, context_exchanges, indexed_bytes};
use super::mix::Mix;
use crate::design::Design;
use crate::device::exchange::Exchanges;
use crate::device::operator::{Again, Operators, Place};
use crate::device::rows::Rows;
use crate::device::saved::{Saved, SavedTensors, Tensor};
use crate::ground::choice::{AttentionFlops, RecomputeModule as Module};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::elementwise::norm;
use crate::layer::params::{Cut, Matrices, Params};

/// Grouped-query attention over chosen blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Msa {
    /// Attention over as many keys as are chosen, whole blocks.
    attention: Attention,
    /// `H_i` and `d_i`.
    indexer: [u64; 2],
    /// B, tokens that are chosen together.
    block: u64,
    /// k, tokens that a query looks at.
    topk: u64,
}

impl Msa {
    /// The attention of a design's layers.
    pub(super) fn new(design: &Design) -> Self {
        let transformer = &design.transformer;
        Self {
            attention: Attention::new(design, Some(transformer.dsa_indexer_topk)),
            indexer: [transformer.dsa_indexer_n_heads, transformer.dsa_indexer_head_dim],
            block: transformer.sparse_block_size,
            topk: transformer.dsa_indexer_topk,
        }
    }

    /// Mean keys that a query looks at: as of single tokens, but of its own block half, which is
    /// always among the chosen.
    ///
    /// # Source
    /// 2606.13392; NeMo Automodel's FLOPs of `MiniMax-M3`, which count blocks alike.
    fn keys(&self, seq: u64, convention: AttentionFlops) -> f64 {
        let (all, chosen) = (seq as f64, self.topk.min(seq) as f64);
        let own_block = match convention {
            AttentionFlops::Full => 0.0,
            AttentionFlops::Causal => (self.block - 1) as f64 / 2.0 * (1.0 - chosen / all),
        };
        chosen_keys(all, chosen, convention) - own_block
    }

    /// Widths of the indexer's queries and of its key, which its heads share.
    const fn indexed(&self) -> [u64; 2] {
        let [heads, width] = self.indexer;
        [heads * width, width]
    }

    /// Selection of blocks by the indexer.
    fn choice(&self, on: &Deployment, rows: &Rows) -> Choice {
        let [heads, width] = self.indexer;
        let core = &self.attention.core;
        Choice {
            indexer: [on.split(heads), width as f64],
            all: rows.context(),
            chosen: self.keys(rows.seq, CAUSAL),
            taught: [core.qk_dim as f64, on.split(core.heads)],
            // The largest score of each head and block is kept.
            kept: on.split(heads) / self.block as f64,
        }
    }
}

impl Mix for Msa {
    /// Attention's, and h (`H_i` + 1) `d_i` of the indexer with norms of its queries and keys.
    ///
    /// # Source
    /// 2606.13392; Megatron-Bridge `minimax_m3_bridge.py`, `index_q_proj`, `index_k_proj`.
    fn params(&self, on: &Deployment) -> Params {
        let (h, [queries, key]) = (u128::from(on.backbone.hidden), self.indexed().map(u128::from));
        let own = Params { replicated: h * key + 2 * key, tensor: h * queries, expert: 0 };
        self.attention.params(on).plus(own)
    }

    fn params_formula(&self) -> &'static str {
        "query, key and value of the groups, output, and the indexer's queries and key"
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        let [queries, key] = self.indexed();
        self.attention.matrix_params(on) + (on.backbone.hidden * (queries + key)) as f64
    }

    /// 4 a d c, and 2 (s + 1) / 2 `H_i` `d_i` of the indexer, two thirds of it as of DSA's.
    fn score_flops(&self, seq: u64, convention: AttentionFlops) -> f64 {
        let core = &self.attention.core;
        let dims = (core.qk_dim + core.v_dim) as f64;
        let pairs = (seq as f64 + 1.0) / 2.0;
        2.0 * self.keys(seq, convention) * core.heads as f64 * dims
            + 2.0 * pairs * self.indexed()[0] as f64 * 2.0 / 3.0
    }

    fn score_formula(&self) -> &'static str {
        "2 x chosen keys x heads x (query + value width) + 4/3 x keys x indexer"
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        self.attention.matrices(on, add);
        let (h, [queries, key]) = (on.backbone.hidden as f64, self.indexed());
        add(Matrices::dense([queries as f64, h], Cut::Rows));
        add(Matrices::dense([key as f64, h], Cut::Nothing));
    }

    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        let (tokens, h, [queries, key]) = (rows.group, on.backbone.hidden as f64, self.indexed());
        let width = on.split(queries) + key as f64;
        let scored = on.device.linear(tokens, h, width) + norm(on, tokens, width);
        to.push("Indexer", Place::Projection, Again::LAYER, scored);
        let chosen = self.choice(on, rows).block(on, rows);
        to.push("Choice of keys", Place::Projection, Again::with(Module::CoreAttn), chosen);
        self.attention.operators(on, rows, to);
    }

    /// Attention's, the indexer's queries and keys in front of their norms and behind, and the
    /// places of chosen blocks, 32 bits each.
    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        self.attention.saved(on, rows, to);
        let ([queries, key], [heads, _]) = (self.indexed(), self.indexer);
        let indexed = 2.0 * (on.split(queries) + key as f64) * on.element_bytes();
        let blocks = self.topk.min(rows.seq).div_ceil(self.block) as f64;
        to.push(Saved::new(Tensor::Latents, rows.group * indexed, &[]));
        let chosen = rows.group * on.split(heads) * blocks * 4.0;
        to.push(Saved::new(Tensor::Scores, chosen, &[Module::CoreAttn]));
    }

    /// Attention's of all tokens, and the indexer's key in 8 bits with a scale in FP32.
    fn cached_bytes(&self, on: &Deployment, tokens: f64, element_bytes: f64) -> f64 {
        let key = indexed_bytes(self.indexed()[1] as f64);
        self.attention.core.whole_cache_bytes(on, tokens, element_bytes) + tokens * key
    }

    /// TP as of attention. CP: keys and values, and the indexer's keys, are gathered, and their
    /// gradients scattered.
    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        tensor_exchanges(on, rows, true, to);
        let core = &self.attention.core;
        let key_value = on.split(core.groups) * (core.qk_dim + core.v_dim) as f64;
        context_exchanges(on, rows, key_value + self.indexed()[1] as f64, to);
    }
}
