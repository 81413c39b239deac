//! Grouped-query attention, with multi-head attention as its case of a group for each head.
//!
//! Letters: h hidden, a query heads, g groups, d width of a head, t TP, T and T' tokens of a TP
//! group and of a rank.

use super::core::{Core, Projections};
use super::mix::Mix;
use crate::design::Design;
use crate::device::exchange::{Calls, Exchanges, Hop};
use crate::device::kernel::{Block, Cost};
use crate::device::operator::{Again, Operators};
use crate::device::rows::Rows;
use crate::device::saved::SavedTensors;
use crate::ground::axis::{Axis, Collective};
use crate::ground::choice::{AttentionFlops, Framework, LoraModule, ModelPart};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::params::{Cut, Matrices, Params};

/// Attention whose queries share keys and values in groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Attention {
    pub(super) core: Core,
    /// Whether queries and keys are normed head by head.
    has_head_norms: bool,
    /// Whether each head's output is multiplied by a gate that is projected beside the query.
    ///
    /// # Source
    /// Megatron-Core `attention.py`, `attention_output_gate`; Qwen3-Next.
    has_output_gate: bool,
    /// Whether the projections to queries, keys and values have biases.
    has_input_biases: bool,
}

impl Attention {
    /// The attention of a design's layers with this window.
    pub(super) fn new(design: &Design, window: Option<u64>) -> Self {
        let transformer = &design.transformer;
        let heads = transformer.num_attention_heads;
        let width = transformer.kv_channels.unwrap_or(transformer.hidden_size / heads);
        let groups = transformer.num_query_groups.unwrap_or(heads);
        Self {
            core: Core::new(design, groups, [width, width], window),
            has_head_norms: transformer.qk_layernorm,
            has_output_gate: transformer.attention_output_gate,
            has_input_biases: transformer.add_qkv_bias || transformer.add_bias_linear,
        }
    }

    /// The attention with values of this width.
    pub(super) fn with_values(self, design: &Design, width: u64) -> Self {
        let Core { groups, qk_dim, window, .. } = self.core;
        Self { core: Core::new(design, groups, [qk_dim, width], window), ..self }
    }

    /// Heads that the projection beside keys and values makes: queries, and as many gates.
    const fn query_heads(&self) -> u64 {
        if self.has_output_gate { 2 * self.core.heads } else { self.core.heads }
    }

    /// Copies around the joint projection to queries, keys and values: under GQA queries are copied
    /// out of their groups, values into a tensor of their own, and backward all three gradients
    /// into one.
    ///
    /// # Source
    /// Megatron-Core, `SelfAttention.get_query_key_value_tensors`, and Transformer Engine, which
    /// takes queries, keys and values as they are only where one tensor holds them.
    fn split_heads<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        if on.kernel.framework != Framework::Megatron {
            return Block::default();
        }
        let Core { heads, groups, qk_dim, v_dim, .. } = self.core;
        let is_grouped = groups < heads;
        let query = on.split(heads) * qk_dim as f64;
        let given = on.split(self.core.given_groups(on));
        let [key, value] = [qk_dim, v_dim].map(|width| given * width as f64);
        let copy = |width: f64, kernels: f64| {
            on.device.elementwise(2.0 * rows.group * width * on.element_bytes(), kernels)
        };
        let [copied, kernels] = if is_grouped { [query + value, 2.0] } else { [0.0 + value, 1.0] };
        Block {
            forward: copy(copied, kernels),
            input_grad: copy(query + key + value, 1.0),
            weight_grad: Cost::ZERO,
        }
    }
}

impl Attention {
    /// Bytes of the joint projection of all TP ranks, where several of them share a key and value
    /// head: its columns are cut evenly, through the heads, so that each rank gathers all of them
    /// and takes what is its own. Nothing where each rank has whole heads.
    ///
    /// # Source
    /// Megatron-Core, `SelfAttention.get_query_key_value_tensors`, where `num_query_groups` is less
    /// than the ranks; `transformer_config.py`: one of both is a multiple of the other.
    fn gathered_bytes(&self, on: &Deployment, rows: &Rows) -> Option<f64> {
        let Core { groups, qk_dim, v_dim, .. } = self.core;
        if groups >= on.ranks.tp || rows.past.is_some() {
            return None;
        }
        let width = self.query_heads() * qk_dim + groups * (qk_dim + v_dim);
        Some(rows.group * width as f64 * on.element_bytes())
    }

    /// Copies of gathered tensors: what arrives is laid out by tokens, and sent gradients by ranks.
    /// Backward the other ranks' columns are filled with zeros first.
    fn gather<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Block<T> {
        let Some(bytes) = self.gathered_bytes(on, rows) else {
            return Block::default();
        };
        Block {
            forward: on.device.elementwise(2.0 * bytes, 1.0),
            input_grad: on.device.elementwise(3.0 * bytes, 2.0),
            weight_grad: Cost::ZERO,
        }
    }

    fn shared_exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        let Some(bytes) = self.gathered_bytes(on, rows) else {
            return;
        };
        let call = on.machine.gather_call(&on.tp_group(), bytes);
        let at = |forward: f64, backward: f64| {
            Calls::new((Hop::MixerIn, forward), (Hop::MixerIn, backward), Again::LAYER)
        };
        to.push(Axis::Tp, Collective::AllGather, &call, at(1.0, 0.0));
        to.push(Axis::Tp, Collective::ReduceScatter, &call, at(0.0, 1.0));
    }
}

impl Mix for Attention {
    /// q h a d, k and v h g d each, o a d h, their biases, and a sink for each head.
    fn params(&self, on: &Deployment) -> Params {
        let Core { heads, groups, qk_dim, v_dim, .. } = self.core;
        let (h, a, g) = (u128::from(on.backbone.hidden), u128::from(heads), u128::from(groups));
        let (qk, v) = (u128::from(qk_dim), u128::from(v_dim));
        let queries = u128::from(self.query_heads()) * qk;
        let biases = if self.has_input_biases { queries + g * (qk + v) } else { 0 };
        let norms = if self.has_head_norms { 2 * qk } else { 0 };
        Params {
            replicated: norms + if on.backbone.has_biases { h } else { 0 },
            tensor: h * queries + h * g * (qk + v) + biases + a * v * h + self.core.sink_params(),
            expert: 0,
        }
    }

    fn params_formula(&self) -> &'static str {
        "query, key and value of the groups, output"
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        let Core { heads, groups, qk_dim, v_dim, .. } = self.core;
        let (h, a, g) = (on.backbone.hidden as f64, heads as f64, groups as f64);
        let (qk, v) = (qk_dim as f64, v_dim as f64);
        h * self.query_heads() as f64 * qk + h * g * (qk + v) + a * v * h
    }

    fn score_flops(&self, seq: u64, convention: AttentionFlops) -> f64 {
        self.core.score_flops(seq, convention)
    }

    fn score_formula(&self) -> &'static str {
        "2 x keys x heads x (query + value width)"
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        let Core { heads, groups, qk_dim, v_dim, .. } = self.core;
        let (h, a, g) = (on.backbone.hidden as f64, heads as f64, groups as f64);
        let (qk, v) = (qk_dim as f64, v_dim as f64);
        for width in [self.query_heads() as f64 * qk, g * qk, g * v] {
            add(Matrices::dense([width, h], Cut::Rows).linear(LoraModule::LinearQkv));
        }
        add(Matrices::dense([h, a * v], Cut::Columns).linear(LoraModule::LinearProj));
    }

    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        let Core { heads, groups, qk_dim, v_dim, .. } = self.core;
        let (tokens, h) = (rows.group, on.backbone.hidden as f64);
        let (heads, groups) = (on.split(heads), on.split(groups));
        let (qk, v) = (qk_dim as f64, v_dim as f64);
        let mut key_value = on.device.linear(tokens, h, groups * (qk + v));
        if self.has_head_norms {
            key_value += self.core.head_norms(on, rows);
        }
        let queries = on.split(self.query_heads()) * qk;
        let query = on.device.linear(tokens, h, queries)
            + self.split_heads(on, rows)
            + self.gather(on, rows);
        let mut output = on.device.linear(tokens, heads * v, h);
        if self.has_output_gate {
            output += self.core.gate(on, rows);
        }
        self.core.operators(on, rows, Projections { query, key_value, output }, to);
    }

    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        self.core.saved(on, rows, to);
        if self.has_output_gate {
            self.core.save_gate(on, rows, to);
        }
    }

    /// 2 g d of each token, of the window's at most; a group stays whole on every rank that has
    /// some of its heads.
    fn cached_bytes(&self, on: &Deployment, tokens: f64, element_bytes: f64) -> f64 {
        self.core.cached_bytes(on, tokens, element_bytes)
    }

    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        tensor_exchanges(on, rows, true, to);
        self.shared_exchanges(on, rows, to);
        self.core.context_exchanges(on, rows, to);
    }
}

/// TP, Megatron's sequence parallelism: the hidden state is gathered in front of a split matrix,
/// where the mixer projects it whole, and the sum is scattered behind one; backward the mirror
/// image, and the input is gathered again for the weight's gradient. Without SP the sums are
/// all-reduced.
///
/// # Source
/// Korthikanti et al. 2022, section 4.2.2; Megatron-Core `layers.py`.
pub(super) fn tensor_exchanges(
    on: &Deployment,
    rows: &Rows,
    gathers_hidden: bool,
    to: &mut Exchanges,
) {
    if on.ranks.tp == 1 {
        return;
    }
    let (machine, group) = (&on.machine, on.tp_group());
    let hidden = rows.group * on.backbone.hidden as f64 * on.element_bytes();
    if on.ranks.sp == 1 {
        let call = machine.all_reduce_call(&group, hidden);
        let calls = Calls::new((Hop::MixerOut, 1.0), (Hop::MixerIn, 1.0), Again::LAYER);
        to.push(Axis::Tp, Collective::AllReduce, &call, calls);
        return;
    }
    let whole = if gathers_hidden { 1.0 } else { 0.0 };
    let call = machine.gather_call(&group, hidden);
    // Frozen weights have no gradient that reads the input again.
    let read = if on.tuning.trains(ModelPart::SelfAttention) { whole } else { 0.0 };
    let gathers = Calls::new((Hop::MixerIn, whole), (Hop::MixerOut, 1.0 + read), Again::LAYER);
    let scatters = Calls::new((Hop::MixerOut, 1.0), (Hop::MixerIn, whole), Again::LAYER);
    to.push(Axis::Tp, Collective::AllGather, &call, gathers);
    to.push(Axis::Tp, Collective::ReduceScatter, &call, scatters);
}
