//! Multi-latent attention: queries, keys and values are made of latents that are narrow.
//!
//! Letters: h hidden, a heads, r_q and r_kv ranks of the latents, n and r widths of a head's part
//! without and with rotary embedding, v width of a value.

use super::attention::tensor_exchanges;
use super::core::{Core, Projections};
use super::mix::Mix;
use crate::design::Design;
use crate::device::exchange::{Calls, Exchanges, Hop};
use crate::device::kernel::{Block, Cached};
use crate::device::operator::{Again, Operators, Place};
use crate::device::rows::Rows;
use crate::device::saved::{Saved, SavedTensors, Tensor};
use crate::ground::axis::{Axis, Collective};
use crate::ground::choice::{AttentionFlops, LoraModule, ModelPart, RecomputeModule};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::elementwise::{norm, rotary};
use crate::layer::params::{Cut, Matrices, Params};

/// The sizes of multi-latent attention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mla {
    pub(super) core: Core,
    /// Rank of the query latent; zero when queries are projected directly.
    q_rank: u64,
    /// Rank of the key-value latent.
    pub(super) kv_rank: u64,
    /// Width of a head's part without rotary embedding.
    nope_dim: u64,
    /// Width of a head's part with rotary embedding.
    pub(super) rope_dim: u64,
    /// Whether the latents are normed.
    has_latent_norms: bool,
    /// Whether the heads' output is multiplied by a gate, which is projected of the hidden state.
    ///
    /// # Source
    /// Megatron-Bridge `kimi_k3_layers.py`, `g_proj`.
    has_output_gate: bool,
}

impl Mla {
    /// The attention of a design's layers with this window.
    pub(super) fn new(design: &Design, window: Option<u64>) -> Self {
        let transformer = &design.transformer;
        let (nope_dim, rope_dim) = (transformer.qk_head_dim, transformer.qk_pos_emb_head_dim);
        let widths = [nope_dim + rope_dim, transformer.v_head_dim];
        Self {
            core: Core::new(design, transformer.num_attention_heads, widths, window),
            q_rank: transformer.q_lora_rank.unwrap_or(0),
            kv_rank: transformer.kv_lora_rank,
            nope_dim,
            rope_dim,
            has_latent_norms: transformer.qk_layernorm,
            has_output_gate: transformer.attention_output_gate,
        }
    }

    /// Inputs of the projection to queries: the latent, or the hidden state without one.
    pub(super) const fn query_inputs(&self, on: &Deployment) -> u64 {
        if self.q_rank > 0 { self.q_rank } else { on.backbone.hidden }
    }

    /// Whether queries or the gate are projected of the hidden state.
    pub(super) const fn projects_hidden(&self) -> bool {
        self.q_rank == 0 || self.has_output_gate
    }

    /// Width of the gate; zero without one.
    const fn gate_width(&self) -> u64 {
        if self.has_output_gate { self.core.heads * self.core.v_dim } else { 0 }
    }

    /// Down to the latents, on the rank's own tokens.
    pub(super) fn latents<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        let (own, device, h) = (rows.own, &on.device, on.backbone.hidden as f64);
        let (q_rank, kv_rank) = (self.q_rank as f64, self.kv_rank as f64);
        let mut latents = device.linear(own, h, kv_rank + self.rope_dim as f64);
        if self.has_latent_norms {
            latents += norm(on, own, q_rank + kv_rank);
        }
        if self.q_rank > 0 {
            latents += device.linear(own, h, q_rank);
        }
        let again = Again::with(RecomputeModule::MlaQkv);
        to.push("Latent projections", Place::MixerInput, again, latents);
    }

    /// Up to queries, keys and values, and down from the output, on the group's tokens.
    pub(super) fn projections<T: Tally>(&self, on: &Deployment, rows: &Rows) -> [Block<T>; 3] {
        let (tokens, device) = (rows.group, &on.device);
        let (h, heads) = (on.backbone.hidden as f64, on.split(self.core.heads));
        let query_inputs = self.query_inputs(on) as f64;
        let width = heads * (self.nope_dim + self.core.v_dim) as f64;
        [
            device.linear(tokens, query_inputs, heads * self.core.qk_dim as f64),
            device.linear(tokens, self.kv_rank as f64, width),
            device.linear(tokens, heads * self.core.v_dim as f64, h),
        ]
    }

    /// Bytes of a token's latent in the cache.
    fn latent_bytes(&self, element_bytes: f64) -> f64 {
        let (latent, rotary) = (self.kv_rank as f64, self.rope_dim as f64);
        if element_bytes < 2.0 {
            latent * (element_bytes + 4.0 / 128.0) + 2.0 * rotary
        } else {
            (latent + rotary) * element_bytes
        }
    }

    /// Decode over latents, which all heads share.
    fn absorbed<T: Tally>(
        &self,
        on: &Deployment,
        rows: &Rows,
        [query, key_value, output]: [Block<T>; 3],
        to: &mut Operators<T>,
    ) {
        let window = self.core.window.map(|tokens| tokens as f64);
        let core = self.latent_attention(on, rows, window);
        let query = query + rotary(on, rows, on.split(self.core.heads) * self.rope_dim as f64);
        to.push("Query projection", Place::Projection, Again::LAYER, query);
        to.push("Key and value projection", Place::Projection, Again::LAYER, key_value);
        to.push("Core attention", Place::Core, Again::LAYER, core);
        to.push("Output projection", Place::Output, Again::LAYER, output);
    }

    /// Attention of a rank's heads over so many of the cached latents, at most.
    pub(super) fn latent_attention<T: Tally>(
        &self,
        on: &Deployment,
        rows: &Rows,
        most: Option<f64>,
    ) -> Block<T> {
        let element = rows.past.map_or(2.0, |past| past.element_bytes);
        // Chosen ones are read by each query of a step, all of them once for the sequence.
        let reached = most.map_or(rows.cached(), |most| rows.cached().min(most));
        let readers =
            if most.is_some() && rows.is_decode() { rows.group } else { rows.sequences as f64 };
        on.device.cached_attention(
            rows,
            Cached {
                heads: on.split(self.core.heads),
                keys: rows.keys(most),
                widths: [(self.kv_rank + self.rope_dim) as f64, self.kv_rank as f64],
                read: readers * reached * self.latent_bytes(element),
            },
        )
    }

    /// The latents and their normed copies.
    pub(super) fn saved_latents(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        let width = self.q_rank + self.kv_rank;
        let ups = [LoraModule::LinearQUpProj, LoraModule::LinearKvUpProj];
        let is_read = on.tuning.trains(ModelPart::SelfAttention)
            || ups.into_iter().any(|module| on.tuning.adapts(module));
        let normed = if self.has_latent_norms && is_read { width } else { 0 };
        let latents = (width + self.rope_dim + normed) as f64 * rows.own * on.element_bytes();
        to.push(Saved::new(Tensor::Latents, latents, &[RecomputeModule::MlaQkv]));
    }

    /// TP: latents come together.
    pub(super) fn latent_exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        gather_latents(on, rows, (self.q_rank + self.kv_rank + self.rope_dim) as f64, to);
    }
}

/// TP: latents of this width come together.
pub(super) fn gather_latents(on: &Deployment, rows: &Rows, width: f64, to: &mut Exchanges) {
    if on.ranks.tp > 1 && on.ranks.sp > 1 {
        let latents = rows.group * width * on.element_bytes();
        let call = on.machine.gather_call(&on.tp_group(), latents);
        // Whichever of queries, keys and values is made again needs its latent whole.
        let again = Again::with(RecomputeModule::MlaKv);
        // For the gradients of the weights behind them.
        let read = if on.tuning.trains(ModelPart::SelfAttention) { 1.0 } else { 0.0 };
        let gathers = Calls::new((Hop::MixerIn, 1.0), (Hop::MixerOut, read), again);
        let scatters = Calls::new((Hop::MixerOut, 0.0), (Hop::MixerIn, 1.0), again);
        to.push(Axis::Tp, Collective::AllGather, &call, gathers);
        to.push(Axis::Tp, Collective::ReduceScatter, &call, scatters);
    }
}

impl Mix for Mla {
    /// q h r_q + r_q a (n + r), kv h (r_kv + r) + r_kv a (n + v), o a v h, and a gate of a v h.
    ///
    /// # Source
    /// Megatron-Core `multi_latent_attention.py`; the down-projections are replicated.
    fn params(&self, on: &Deployment) -> Params {
        let (h, a) = (u128::from(on.backbone.hidden), u128::from(self.core.heads));
        let (qk, v) = (u128::from(self.core.qk_dim), u128::from(self.core.v_dim));
        let (q_rank, kv_rank) = (u128::from(self.q_rank), u128::from(self.kv_rank));
        let (nope, rope) = (u128::from(self.nope_dim), u128::from(self.rope_dim));
        let query_up = u128::from(self.query_inputs(on)) * a * qk;
        let norms = if self.has_latent_norms { q_rank + kv_rank } else { 0 };
        let bias = if on.backbone.has_biases { h } else { 0 };
        Params {
            replicated: h * q_rank + h * (kv_rank + rope) + norms + bias,
            tensor: query_up
                + kv_rank * a * (nope + v)
                + (a * v + u128::from(self.gate_width())) * h
                + self.core.sink_params(),
            expert: 0,
        }
    }

    fn params_formula(&self) -> &'static str {
        "MLA: query down and up, key-value down and up, output"
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        let (h, a) = (on.backbone.hidden as f64, self.core.heads as f64);
        let (qk, v) = (self.core.qk_dim as f64, self.core.v_dim as f64);
        let (q_rank, kv_rank) = (self.q_rank as f64, self.kv_rank as f64);
        h * q_rank
            + self.query_inputs(on) as f64 * a * qk
            + h * (kv_rank + self.rope_dim as f64)
            + kv_rank * a * (self.nope_dim as f64 + v)
            + a * v * h
            + self.gate_width() as f64 * h
    }

    fn score_flops(&self, seq: u64, convention: AttentionFlops) -> f64 {
        self.core.score_flops(seq, convention)
    }

    fn score_formula(&self) -> &'static str {
        "2 x keys x heads x (query + value width)"
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        let (h, a) = (on.backbone.hidden as f64, self.core.heads as f64);
        let (qk, v) = (self.core.qk_dim as f64, self.core.v_dim as f64);
        let (q_rank, kv_rank) = (self.q_rank as f64, self.kv_rank as f64);
        let query_inputs = self.query_inputs(on) as f64;
        let [latent, width] = [kv_rank + self.rope_dim as f64, a * (self.nope_dim as f64 + v)];
        add(Matrices::dense([q_rank, h], Cut::Nothing).linear(LoraModule::LinearQDownProj));
        add(Matrices::dense([a * qk, query_inputs], Cut::Rows).linear(LoraModule::LinearQUpProj));
        add(Matrices::dense([latent, h], Cut::Nothing).linear(LoraModule::LinearKvDownProj));
        add(Matrices::dense([width, kv_rank], Cut::Rows).linear(LoraModule::LinearKvUpProj));
        add(Matrices::dense([h, a * v], Cut::Columns).linear(LoraModule::LinearProj));
        if self.has_output_gate {
            add(Matrices::dense([a * v, h], Cut::Rows));
        }
    }

    /// Down to the latents on the rank's own tokens, up to the heads on the group's. Behind a cache
    /// the latents of a prompt's cached tokens are taken up again; in decode the queries are taken
    /// down to them instead, which is as much work as taking up the new tokens.
    ///
    /// # Source
    /// `DeepSeek-V2`, section 2.1.2; vLLM `mla/common.py`, `forward_mha` and `forward_mqa`.
    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        self.latents(on, rows, to);
        let [query, mut key_value, mut output] = self.projections(on, rows);
        if !rows.is_decode() && rows.cached() > 0.0 {
            key_value = key_value * (1.0 + rows.cached() / rows.seq as f64);
        }
        if self.has_output_gate {
            let (h, width) = (on.backbone.hidden as f64, on.split(self.gate_width()));
            output += on.device.linear(rows.group, h, width) + self.core.gate(on, rows);
        }
        if rows.is_decode() {
            return self.absorbed(on, rows, [query, key_value, output], to);
        }
        self.core.operators(on, rows, Projections { query, key_value, output }, to);
    }

    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        self.saved_latents(on, rows, to);
        self.core.saved(on, rows, to);
        if self.has_output_gate {
            self.core.save_gate(on, rows, to);
        }
    }

    /// The latent and the rotary key of each token, whole on every rank; in 8 bits a scale in FP32
    /// for each 128 elements, and the rotary part in 16 bits.
    ///
    /// # Source
    /// FlashMLA, `flash_mla_interface.py`: 656 bytes for 512 and 64 elements.
    fn cached_bytes(&self, _: &Deployment, tokens: f64, element_bytes: f64) -> f64 {
        self.latent_bytes(element_bytes)
            * self.core.window.map_or(tokens, |it| tokens.min(it as f64))
    }

    /// Latents come together instead of the hidden state.
    ///
    /// # Source
    /// Megatron-Core `multi_latent_attention.py`.
    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        tensor_exchanges(on, rows, self.projects_hidden(), to);
        self.latent_exchanges(on, rows, to);
        self.core.context_exchanges(on, rows, to);
    }
}
