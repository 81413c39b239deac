//! Sparse attention of `DeepSeek-V3.2`: an indexer scores all tokens in front, and latent attention
//! looks at the best of them.
//!
//! Letters: h hidden, a heads, r_q and r_kv ranks of the latents, r width of the rotary part, H_i
//! and
//! d_i heads of the indexer and their width, k tokens that a query looks at, c keys in the mean.

use super::attention::tensor_exchanges;
use super::mix::Mix;
use super::mla::Mla;
use crate::design::Design;
use crate::device::exchange::{Calls, Exchanges, Hop};
use crate::device::kernel::{self, Block, Cost};
use crate::device::operator::{Again, Operators, Place};
use crate::device::rows::Rows;
use crate::device::saved::{Saved, SavedTensors, Tensor};
use crate::ground::axis::{Axis, Collective};
use crate::ground::choice::{AttentionFlops, RecomputeModule as Module};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::elementwise::rotary;
use crate::layer::params::{Cut, Matrices, Params};

/// Latent attention over chosen tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dsa {
    mla: Mla,
    /// Heads of the indexer and their width; `None` if an earlier layer's choice is taken over.
    indexer: Option<[u64; 2]>,
    /// k, tokens that a query looks at.
    topk: u64,
}

impl Dsa {
    /// The attention of a design's layers, with an indexer of its own or without.
    pub(super) fn new(design: &Design, has_indexer: bool) -> Self {
        let transformer = &design.transformer;
        let sizes = [transformer.dsa_indexer_n_heads, transformer.dsa_indexer_head_dim];
        Self {
            mla: Mla::new(design, None),
            indexer: has_indexer.then_some(sizes),
            topk: transformer.dsa_indexer_topk,
        }
    }

    /// Name of the mixer.
    pub(super) const fn name(&self) -> &'static str {
        if self.indexer.is_some() { "sparse attention" } else { "sparse attention, keys as before" }
    }

    /// Mean keys that a query looks at.
    fn keys(&self, seq: u64, convention: AttentionFlops) -> f64 {
        chosen_keys(seq as f64, self.topk as f64, convention)
    }

    /// Widths of queries and keys, and of values, as latents: `r_kv` + r, and `r_kv`.
    const fn widths(&self) -> [u64; 2] {
        [self.mla.kv_rank + self.mla.rope_dim, self.mla.kv_rank]
    }

    /// Parameters of the indexer: queries of the query latent, keys and weights of the hidden
    /// state.
    fn indexer_params(&self, on: &Deployment) -> u64 {
        let h = on.backbone.hidden;
        self.indexer.map_or(0, |[heads, width]| {
            self.mla.query_inputs(on) * heads * width + h * width + h * heads
        })
    }

    /// Selection of keys, where the layer has an indexer.
    fn choice(&self, on: &Deployment, rows: &Rows) -> Option<Choice> {
        self.indexer.map(|indexer| Choice {
            indexer: indexer.map(|size| size as f64),
            all: rows.context(),
            chosen: self.keys(rows.seq, CAUSAL),
            taught: [self.widths()[0] as f64, on.split(self.mla.core.heads)],
            kept: 1.0,
        })
    }
}

/// Mean number of keys that a query attends to, out of `all`: k - k^2 / (2 n) under a causal mask,
/// at most all.
pub(super) fn chosen_keys(all: f64, chosen: f64, convention: AttentionFlops) -> f64 {
    let chosen = chosen.min(all);
    match convention {
        AttentionFlops::Full => chosen,
        AttentionFlops::Causal => chosen - chosen * chosen / (2.0 * all),
    }
}

/// A choice of keys by an indexer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// Heads of the indexer and their width.
    pub(super) indexer: [f64; 2],
    /// Keys that it scores for a query, and those that are chosen, in the mean.
    pub(super) all: f64,
    pub(super) chosen: f64,
    /// Width of the keys and heads of the attention whose probabilities it shall follow.
    pub(super) taught: [f64; 2],
    /// Scores that are kept for a query and a key: their sum over the heads is one.
    pub(super) kept: f64,
}

impl Choice {
    /// Scores of all pairs and the choice of the best; their products are of 16 bits, and only what
    /// is kept of them is written, in FP32. The choice passes over it three times. Backward the
    /// chosen pairs alone: their scores' gradient goes to queries and keys (2 `H_i` `d_i` c), and
    /// the probabilities that they shall follow are made again (a (`r_kv` + r) c).
    ///
    /// # Source
    /// `DeepSeek-V3.2-Exp`, section 2; Megatron-Core `experimental_attention_variant/dsa.py`.
    pub(super) fn block<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        let (tokens, [heads, width], kept) = (rows.group, self.indexer, self.kept);
        if rows.past.is_some() {
            let forward = on.device.cached_choice(rows, self.indexer, self.all, kept);
            return Block { forward, ..Block::default() };
        }
        let all = self.all;
        let scores = on.device.scores([tokens, width, all], heads, kept);
        let pass = on.device.elementwise(3.0 * 4.0 * tokens * all * kept, 3.0);
        let pass = pass.doing(3.0 * tokens * all * kept);
        let gradients: Cost<T> = on.device.scores([tokens, width, self.chosen], heads, kept);
        let [latent, heads] = self.taught;
        let taught = on.device.scores([tokens, latent, self.chosen], heads, kept);
        Block {
            forward: scores + pass,
            input_grad: gradients * 2.0 + taught,
            weight_grad: Cost::ZERO,
        }
    }
}

/// Bytes of an indexer's cached key: 8 bits an element and a scale in FP32.
///
/// # Source
/// vLLM `sparse_attn_indexer.py`: 132 bytes for 128 elements.
pub(super) const fn indexed_bytes(width: f64) -> f64 {
    if width > 0.0 { width + 4.0 } else { 0.0 }
}

/// Attention of a rank's heads over this many keys, in the mean, that all of them share.
pub(super) fn shared_key_attention<T: Tally>(
    on: &Deployment,
    rows: &Rows,
    heads: f64,
    keys: f64,
    [qk, v]: [f64; 2],
) -> Block<T> {
    let mut block: Block<T> = on.device.flash_attention(kernel::Attention {
        heads,
        rows: rows.group,
        keys,
        widths: [qk, v],
        kernels: 1.0,
    });
    let moved = rows.group * (heads * (qk + v) + qk) * on.element_bytes();
    block.forward = block.forward.moving(moved);
    block.input_grad = block.input_grad.moving(2.0 * moved);
    block
}

/// CP: keys of all ranks, so wide for each token, are gathered, and their gradients scattered.
pub(super) fn context_exchanges(on: &Deployment, rows: &Rows, width: f64, to: &mut Exchanges) {
    if on.ranks.cp == 1 {
        return;
    }
    let tokens = rows.group * on.ranks.cp as f64 * rows.split_share;
    let bytes = tokens * width * on.element_bytes();
    let call = on.machine.gather_call(&on.cp_group(), bytes);
    let calls = |forward: f64| {
        let again = Again::with(Module::CoreAttn);
        Calls::new((Hop::Context, forward), (Hop::Context, 1.0), again)
    };
    to.push(Axis::Cp, Collective::AllGather, &call, calls(1.0));
    to.push(Axis::Cp, Collective::ReduceScatter, &call, calls(0.0));
}

pub(super) const CAUSAL: AttentionFlops = AttentionFlops::Causal;

impl Mix for Dsa {
    /// Parameters of MLA, and r_q H_i d_i + h d_i + h H_i with a norm of d_i (scale and shift) of
    /// the indexer, which every TP rank has whole.
    fn params(&self, on: &Deployment) -> Params {
        let norm = self.indexer.map_or(0, |[_, width]| 2 * u128::from(width));
        let indexer = u128::from(self.indexer_params(on)) + norm;
        self.mla.params(on).plus(Params { replicated: indexer, ..Params::default() })
    }

    fn params_formula(&self) -> &'static str {
        "MLA, and the indexer's queries, keys and weights"
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        self.mla.matrix_params(on) + self.indexer_params(on) as f64
    }

    /// 2 a (2 r_kv + r) c, and 2 (s + 1) / 2 H_i (d_i + 1) of the indexer, whose scores have one
    /// product in the backward where others have two: two thirds of it.
    ///
    /// # Source
    /// Megatron-Bridge `flop_utils.py`, `dsa`.
    fn score_flops(&self, seq: u64, convention: AttentionFlops) -> f64 {
        let [qk, v] = self.widths();
        let heads = self.mla.core.heads as f64;
        let core = 2.0 * heads * (qk + v) as f64 * self.keys(seq, convention);
        let pairs = (seq as f64 + 1.0) / 2.0;
        let scored = self.indexer.map_or(0.0, |[heads, width]| (heads * (width + 1)) as f64);
        core + 2.0 * pairs * scored * 2.0 / 3.0
    }

    fn score_formula(&self) -> &'static str {
        "2 x chosen keys x heads x (2 latent + rotary width) + 4/3 x keys x indexer"
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        self.mla.matrices(on, add);
        if let Some([heads, width]) = self.indexer.map(|sizes| sizes.map(|size| size as f64)) {
            let (h, inputs) = (on.backbone.hidden as f64, self.mla.query_inputs(on) as f64);
            add(Matrices::dense([heads * width, inputs], Cut::Nothing));
            add(Matrices::dense([width, h], Cut::Nothing));
            add(Matrices::dense([heads, h], Cut::Nothing));
        }
    }

    /// MLA's projections, with keys' and values' at the queries' and the output's side, the
    /// indexer, and attention over latents.
    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        self.mla.latents(on, rows, to);
        let tokens = rows.group;
        let [query, key_value, output] = self.mla.projections(on, rows);
        let heads = on.split(self.mla.core.heads);
        let query = query + rotary(on, rows, heads * self.mla.core.qk_dim as f64);
        to.push("Query projection", Place::Projection, Again::with(Module::MlaUpProj), query);
        let again = Again::with(Module::MlaKv);
        to.push("Key and value projection", Place::Projection, again, key_value);
        if let Some([heads, width]) = self.indexer.map(|sizes| sizes.map(|size| size as f64)) {
            let (h, inputs) = (on.backbone.hidden as f64, self.mla.query_inputs(on) as f64);
            let scored = on.device.linear(tokens, inputs, heads * width)
                + on.device.linear(tokens, h, width + heads);
            to.push("Indexer", Place::Projection, Again::LAYER, scored);
        }
        let again = Again::with(Module::CoreAttn);
        let choice = self.choice(on, rows).map(|choice| choice.block(on, rows));
        to.push("Choice of keys", Place::Projection, again, choice.unwrap_or_default());
        let core = if rows.past.is_some() {
            self.mla.latent_attention(on, rows, Some(self.topk as f64))
        } else {
            let widths = self.widths().map(|width| width as f64);
            shared_key_attention(on, rows, heads, self.keys(rows.seq, CAUSAL), widths)
        };
        to.push("Core attention", Place::Core, again, core);
        to.push("Output projection", Place::Output, Again::LAYER, output);
    }

    /// MLA's latents; queries and outputs as wide as latents, statistics, the indexer's queries and
    /// keys, and the choice.
    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        self.mla.saved_latents(on, rows, to);
        let (tokens, element) = (rows.group, on.element_bytes());
        let ([qk, v], heads) = (self.widths(), on.split(self.mla.core.heads));
        let indexed = self.indexer.map_or(0, |[heads, width]| heads * width + width + heads);
        let chosen = tokens * (self.topk.min(rows.seq) * 4) as f64;
        let query = tokens * heads * qk as f64 * element;
        let output = tokens * heads * (v + self.mla.core.v_dim) as f64 * element;
        to.extend([
            Saved::new(Tensor::Query, query, &[Module::MlaQkv, Module::MlaUpProj]),
            Saved::new(Tensor::KeyValue, tokens * indexed as f64 * element, &[]),
            Saved::new(Tensor::Scores, tokens * heads * 4.0 + chosen, &[Module::CoreAttn]),
            Saved::new(Tensor::AttentionOutput, output, &[]),
        ]);
    }

    /// Cached bytes of MLA, and of the indexer's key in 8 bits with a scale in FP32.
    fn cached_bytes(&self, on: &Deployment, tokens: f64, element_bytes: f64) -> f64 {
        let key = self.indexer.map_or(0.0, |[_, width]| indexed_bytes(width as f64));
        self.mla.cached_bytes(on, tokens, element_bytes) + tokens * key
    }

    /// TP as of MLA, with the hidden state where an indexer reads it. CP: the latents of all keys,
    /// and the indexer's keys, are gathered, and their gradients scattered.
    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        let reads_hidden = self.mla.projects_hidden() || self.indexer.is_some();
        tensor_exchanges(on, rows, reads_hidden, to);
        self.mla.latent_exchanges(on, rows, to);
        let keys = self.indexer.map_or(0, |[_, width]| width);
        context_exchanges(on, rows, (self.widths()[0] + keys) as f64, to);
    }
}
