//! Compressed attention of `DeepSeek-V4`: a query looks back over a window, and at keys that each
//! stand for several tokens, all of them or those that an indexer chooses.
//!
//! Letters: h hidden, a heads of width d, whose one key is its value, too, r_q rank of the query
//! latent, g groups of heads and r_o the rank of a group's output, w window, m tokens that a key
//! stands for, H_i and d_i heads of the indexer and their width, k keys that it chooses.

use alloc::format;
use alloc::string::String;

use super::attention::tensor_exchanges;
use super::dsa::{
    CAUSAL, Choice, chosen_keys, context_exchanges, indexed_bytes, shared_key_attention,
};
use super::mix::Mix;
use super::mla::gather_latents;
use crate::design::Design;
use crate::device::exchange::Exchanges;
use crate::device::kernel::{Block, Cached, Cost};
use crate::device::operator::{Again, Operators, Place};
use crate::device::rows::{Past, Rows};
use crate::device::saved::{Saved, SavedTensors, Tensor};
use crate::ground::choice::{AttentionFlops, LoraModule, RecomputeModule as Module, SoftmaxType};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::elementwise::{norm, rotary};
use crate::layer::params::{Cut, Matrices, Params};

/// Attention over a window and over compressed keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Csa {
    heads: u64,
    width: u64,
    /// Width of a head's part with rotary embedding.
    rope_dim: u64,
    q_rank: u64,
    out_groups: u64,
    out_rank: u64,
    window: u64,
    /// m, tokens that a key stands for; `None` if there is a window alone.
    pub(super) ratio: Option<u64>,
    /// Heads of the indexer, their width and the keys that it chooses.
    indexer: Option<[u64; 3]>,
    /// Whether each head learns a score of its own that no value has.
    has_sinks: bool,
}

impl Csa {
    /// The ratio at which keys are made of two groups of tokens each and chosen, and the one at
    /// which all are looked at.
    pub(super) const CHOSEN: u64 = 4;
    pub(super) const ALL: u64 = 128;

    /// The attention of a design's layers with this ratio.
    pub(super) fn new(design: &Design, ratio: u64) -> Self {
        let t = &design.transformer;
        let sizes = [t.dsa_indexer_n_heads, t.dsa_indexer_head_dim, t.dsa_indexer_topk];
        Self {
            heads: t.num_attention_heads,
            width: t.v_head_dim,
            rope_dim: t.qk_pos_emb_head_dim,
            q_rank: t.q_lora_rank.unwrap_or(t.hidden_size),
            out_groups: t.o_groups,
            out_rank: t.o_lora_rank,
            window: t.window_size.unwrap_or(t.dsa_indexer_topk),
            ratio: Some(ratio).filter(|ratio| *ratio > 0),
            indexer: (1..=Self::CHOSEN).contains(&ratio).then_some(sizes),
            has_sinks: t.softmax_type == SoftmaxType::Learnable,
        }
    }

    /// Name of the mixer.
    pub(super) fn name(&self) -> String {
        match self.ratio {
            None => format!("window {}", self.window),
            Some(ratio) => format!("keys / {ratio}"),
        }
    }

    /// Key and score of each token in front of the compression, of this width: both twice where
    /// groups overlap.
    const fn compressor_width(&self, width: u64) -> u64 {
        match (self.ratio, self.indexer) {
            (None, _) => 0,
            (Some(_), Some(_)) => 4 * width,
            (Some(_), None) => 2 * width,
        }
    }

    /// Columns that are projected of the hidden state: query latent, key, compressor, and the
    /// indexer's weights and compressor.
    const fn hidden_columns(&self) -> u64 {
        let indexer = match self.indexer {
            Some([heads, width, _]) => heads + self.compressor_width(width),
            None => 0,
        };
        self.q_rank + self.width + self.compressor_width(self.width) + indexer
    }

    /// Columns that are projected of the query latent: queries, and those of the indexer.
    const fn query_columns(&self) -> [u64; 2] {
        let indexer = match self.indexer {
            Some([heads, width, _]) => heads * width,
            None => 0,
        };
        [self.heads * self.width, indexer]
    }

    /// Parameters of the matrices that every TP rank has whole, and of those that are split.
    fn matrix_counts(&self, on: &Deployment) -> [u128; 2] {
        let [hidden, q_rank] = [on.backbone.hidden, self.q_rank].map(u128::from);
        let [queries, indexed] = self.query_columns().map(u128::from);
        let [groups, rank] = [self.out_groups, self.out_rank].map(u128::from);
        let whole = hidden * u128::from(self.hidden_columns()) + q_rank * indexed;
        [whole, q_rank * queries + queries * rank + groups * rank * hidden]
    }

    /// Keys that are chosen from, under a causal mask the mean in front of a query: s / m, half of
    /// them.
    fn compressed(&self, seq: u64) -> Option<f64> {
        self.ratio.map(|ratio| seq as f64 / ratio as f64)
    }

    /// Mean keys that a query looks at: those of the window, and of the n = s / m compressed ones
    /// all or k.
    fn keys(&self, seq: u64, convention: AttentionFlops) -> f64 {
        let own = chosen_keys(seq as f64, self.window as f64, convention);
        let all = self.compressed(seq).unwrap_or(0.0);
        let chosen = self.indexer.map_or(all, |[_, _, topk]| topk as f64);
        own + if all > 0.0 { chosen_keys(all, chosen, convention) } else { 0.0 }
    }

    /// Selection of keys by the indexer.
    fn choice(&self, on: &Deployment, rows: &Rows) -> Option<Choice> {
        let [heads, width, topk] = self.indexer?;
        let all = self.compressed(rows.seq)?;
        let ratio = self.ratio? as f64;
        Some(Choice {
            indexer: [heads, width].map(|size| size as f64),
            all: if rows.past.is_some() { rows.context() / ratio } else { (all + 1.0) / 2.0 },
            chosen: chosen_keys(all, topk as f64, CAUSAL),
            taught: [self.width as f64, on.split(self.heads)],
            kept: 1.0,
        })
    }

    /// Keys of `m` tokens each: a softmax of their scores, and the sum that it weighs.
    fn compression<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        let indexed = self.indexer.map_or(0, |[_, width, _]| self.compressor_width(width));
        let elements = rows.own * (self.compressor_width(self.width) + indexed) as f64;
        if elements <= 0.0 {
            return Block::default();
        }
        let bytes = elements * on.element_bytes();
        let pass = |passes: f64, operations: f64| {
            on.device.elementwise(passes * bytes, 2.0).doing(operations * elements)
        };
        Block { forward: pass(1.25, 4.0), input_grad: pass(2.25, 8.0), weight_grad: Cost::ZERO }
    }

    /// Attention over the window's keys and those of groups of tokens, all or those chosen.
    fn cached_core<T: Tally>(&self, on: &Deployment, rows: &Rows, past: Past) -> Block<T> {
        let groups = |tokens: f64| {
            let all = self.ratio.map_or(0.0, |ratio| tokens / ratio as f64);
            self.indexer.map_or(all, |[_, _, topk]| all.min(topk as f64))
        };
        let window = self.window as f64;
        let width = self.width as f64;
        let reached = past.tokens.min(window) + groups(past.tokens);
        on.device.cached_attention(
            rows,
            Cached {
                heads: on.split(self.heads),
                keys: rows.keys(Some(window)) + groups(rows.context()),
                widths: [width, width],
                read: rows.sequences as f64 * reached * width * past.element_bytes,
            },
        )
    }

    /// Each group's output through its latent to the hidden state, behind a rotation backwards.
    fn output<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        let (tokens, groups) = (rows.group, on.split(self.out_groups));
        let inputs = (self.heads * self.width) as f64 / self.out_groups as f64;
        let rank = self.out_rank as f64;
        on.device.grouped_linear(tokens, inputs, rank, groups)
            + on.device.linear(tokens, groups * rank, on.backbone.hidden as f64)
            + rotary(on, rows, on.split(self.heads * self.rope_dim))
    }
}

impl Mix for Csa {
    /// h (r_q + d) and the compressor's 2 h d (twice that where groups overlap), r_q a d, a d r_o
    /// and g r_o h; of an indexer r_q H_i d_i + h H_i and a compressor of its own. Beside them
    /// norms, sinks, and for each place in a group a score of each column.
    fn params(&self, on: &Deployment) -> Params {
        let [whole, split] = self.matrix_counts(on);
        let indexed = self.indexer.map_or(0, |[_, width, _]| width);
        let compressors = self.ratio.map_or(0, |ratio| {
            let columns = self.compressor_width(self.width) + self.compressor_width(indexed);
            ratio * columns / 2 + self.width + indexed
        });
        Params {
            replicated: whole + u128::from(self.q_rank + self.width + compressors),
            tensor: split + if self.has_sinks { u128::from(self.heads) } else { 0 },
            expert: 0,
        }
    }

    fn params_formula(&self) -> &'static str {
        "query latent, queries, key, compressor and indexer, output of groups through latents"
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        self.matrix_counts(on).iter().sum::<u128>() as f64
    }

    /// 4 a d c over c keys, and of an indexer 2 (n + 1) / 2 `H_i` (`d_i` + 1), whose scores have
    /// one product in the backward where others have two: two thirds of it.
    ///
    /// # Source
    /// Megatron-Bridge `flop_utils.py`, `dsv4_hybrid`.
    fn score_flops(&self, seq: u64, convention: AttentionFlops) -> f64 {
        let core = 4.0 * (self.heads * self.width) as f64 * self.keys(seq, convention);
        let scored = self.indexer.map_or(0.0, |[heads, width, _]| (heads * (width + 1)) as f64);
        core + (self.compressed(seq).unwrap_or(0.0) + 1.0) * scored * 2.0 / 3.0
    }

    fn score_formula(&self) -> &'static str {
        "4 x keys x heads x width + 4/3 x compressed keys x indexer"
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        let h = on.backbone.hidden as f64;
        let [queries, indexed] = self.query_columns().map(|columns| columns as f64);
        let (groups, rank) = (self.out_groups as f64, self.out_rank as f64);
        let columns = (self.hidden_columns() - self.q_rank) as f64;
        let q_rank = self.q_rank as f64;
        add(Matrices::dense([q_rank, h], Cut::Nothing).linear(LoraModule::LinearQDownProj));
        add(Matrices::dense([columns, h], Cut::Nothing));
        add(Matrices::dense([queries, q_rank], Cut::Rows).linear(LoraModule::LinearQUpProj));
        if indexed > 0.0 {
            add(Matrices::dense([indexed, q_rank], Cut::Nothing));
        }
        let count = groups / on.ranks.tp as f64;
        let of_group = Matrices::dense([rank, queries / groups], Cut::Nothing);
        add(Matrices { count, ..of_group });
        add(Matrices::dense([h, groups * rank], Cut::Columns).linear(LoraModule::LinearProj));
    }

    /// Projections of the hidden state on a rank's own tokens, those of heads on the group's.
    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        let (own, tokens, h) = (rows.own, rows.group, on.backbone.hidden as f64);
        let (q_rank, width) = (self.q_rank as f64, self.width as f64);
        let columns = self.hidden_columns() as f64 - q_rank;
        let latents = on.device.linear(own, h, q_rank)
            + on.device.linear(own, h, columns)
            + norm(on, own, q_rank + width)
            + self.compression(on, rows);
        to.push("Latent projections", Place::MixerInput, Again::with(Module::MlaQkv), latents);
        let [queries, indexed] = self.query_columns().map(|columns| columns as f64);
        let queries = queries / on.ranks.tp as f64;
        let query = on.device.linear(tokens, q_rank, queries)
            + norm(on, tokens, queries)
            + rotary(on, rows, on.split(self.heads * self.rope_dim));
        to.push("Query projection", Place::Projection, Again::with(Module::MlaUpProj), query);
        let again = Again::with(Module::CoreAttn);
        if let Some(choice) = self.choice(on, rows) {
            let scored = on.device.linear(tokens, q_rank, indexed);
            to.push("Indexer", Place::Projection, Again::LAYER, scored);
            to.push("Choice of keys", Place::Projection, again, choice.block(on, rows));
        }
        let heads = on.split(self.heads);
        let core = match rows.past {
            Some(past) => self.cached_core(on, rows, past),
            None => {
                let keys = self.keys(rows.seq, CAUSAL);
                shared_key_attention(on, rows, heads, keys, [width, width])
            }
        };
        to.push("Core attention", Place::Core, again, core);
        to.push("Output projection", Place::Output, Again::LAYER, self.output(on, rows));
    }

    /// Latents, keys and scores in front of the compression; queries in front of their norm and
    /// behind it, keys, statistics and the choice, outputs and their latents.
    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        let (tokens, element) = (rows.group, on.element_bytes());
        let latents = (self.hidden_columns() + self.q_rank + self.width) as f64 * rows.own;
        let [queries, indexed] = self.query_columns();
        let (queries, heads) = (on.split(queries), on.split(self.heads));
        let compressed = self.compressed(rows.seq).unwrap_or(0.0) / rows.seq as f64;
        let keys = self.width as f64 * (1.0 + compressed) + indexed as f64;
        let chosen = self.indexer.map_or(0, |[_, _, topk]| topk.min(rows.seq)) as f64;
        let out = on.split(self.out_groups * self.out_rank);
        to.extend([
            Saved::new(Tensor::Latents, latents * element, &[Module::MlaQkv]),
            Saved::new(
                Tensor::Query,
                2.0 * tokens * queries * element,
                &[Module::MlaQkv, Module::MlaUpProj],
            ),
            Saved::new(Tensor::KeyValue, tokens * keys * element, &[]),
            Saved::new(Tensor::Scores, tokens * (heads + chosen) * 4.0, &[Module::CoreAttn]),
            Saved::new(Tensor::AttentionOutput, tokens * (queries + out) * element, &[]),
        ]);
    }

    /// Keys of the window's tokens and those that stand for groups, whole on every rank, and the
    /// indexer's of groups in 8 bits with a scale in FP32.
    fn cached_bytes(&self, _: &Deployment, tokens: f64, element_bytes: f64) -> f64 {
        let groups = self.ratio.map_or(0.0, |ratio| tokens / ratio as f64);
        let key = self.indexer.map_or(0.0, |[_, width, _]| indexed_bytes(width as f64));
        let own = tokens.min(self.window as f64) + groups;
        own * self.width as f64 * element_bytes + groups * key
    }

    /// TP: latents and keys come together. CP: keys are gathered, those of the window and the
    /// compressed ones, and their gradients scattered.
    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        tensor_exchanges(on, rows, false, to);
        let indexed = self.indexer.map_or(0, |[_, width, _]| width);
        let of_hidden = self.indexer.map_or(0, |[heads, _, _]| heads);
        let per_token = self.ratio.map_or(0.0, |ratio| 1.0 / ratio as f64);
        let compressed = (self.width + indexed) as f64 * per_token;
        let latents = (self.q_rank + self.width + of_hidden) as f64 + compressed;
        gather_latents(on, rows, latents, to);
        context_exchanges(on, rows, compressed + self.window_share(rows) * self.width as f64, to);
    }
}

impl Csa {
    /// Share of a CP rank's tokens that a window of its neighbour reaches.
    fn window_share(&self, rows: &Rows) -> f64 {
        let tokens = rows.group / rows.sequences.max(1) as f64;
        (self.window as f64 / tokens).min(1.0)
    }
}
