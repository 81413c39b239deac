//! Kimi Delta Attention: a gated delta net whose state forgets each channel of its keys by itself.
//!
//! Letters: h hidden, H heads, K = H d_k width of all keys, V = H d_v width of all values; gates go
//! through a width of d_v, but for the output's where it is projected whole.

use super::attention::tensor_exchanges;
use super::mix::Mix;
use super::scan::{
    DELTA_CHUNK, DELTA_FORMULA, SCAN, States, TRANSPOSED, context_exchanges, convolution,
    convolved_bytes, gated_norm, passes,
};
use crate::design::Design;
use crate::device::exchange::Exchanges;
use crate::device::operator::{Again, Operators, Place};
use crate::device::rows::Rows;
use crate::device::saved::{Saved, SavedTensors, Tensor};
use crate::ground::choice::{AttentionFlops, LoraModule, ModelPart};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::params::{Cut, Matrices, Params};

/// Kimi Delta Attention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kda {
    states: States,
    /// Length of the convolution over time.
    taps: u64,
    /// Whether the output's gate is projected whole.
    ///
    /// # Source
    /// Kimi K3, `use_full_rank_gate`; Megatron-Bridge `kimi_k3_layers.py`, `g_proj`.
    has_whole_gate: bool,
}

impl Kda {
    /// The attention of a design's layers.
    pub(super) const fn new(design: &Design) -> Self {
        let transformer = &design.transformer;
        Self {
            states: States {
                heads: transformer.linear_num_value_heads,
                key_dim: transformer.linear_key_head_dim,
                value_dim: transformer.linear_value_head_dim,
                chunk: DELTA_CHUNK,
            },
            taps: transformer.linear_conv_kernel_dim,
            has_whole_gate: transformer.attention_output_gate,
        }
    }

    /// Widths of all keys and of all values.
    const fn widths(&self) -> [u64; 2] {
        let States { heads, key_dim, value_dim, .. } = self.states;
        [heads * key_dim, heads * value_dim]
    }

    /// Outputs of the projections that TP splits: queries, keys, values, a gate of writing for each
    /// head, and the output's gate where it is projected whole.
    const fn inputs(&self) -> u64 {
        let [keys, values] = self.widths();
        let gate = if self.has_whole_gate { values } else { 0 };
        2 * keys + values + self.states.heads + gate
    }

    /// Channels that are convolved.
    const fn channels(&self) -> u64 {
        let [keys, values] = self.widths();
        2 * keys + values
    }

    /// Gates that go through a narrow width, and how wide they are behind it.
    const fn narrow_gates(&self) -> [u64; 2] {
        let [keys, values] = self.widths();
        if self.has_whole_gate { [1, keys] } else { [2, keys + values] }
    }

    /// Parameters of the gates of forgetting and of the output, down and up.
    const fn gate_params(&self, hidden: u64) -> [u64; 2] {
        let ([gates, width], narrow) = (self.narrow_gates(), self.states.value_dim);
        [gates * hidden * narrow, narrow * width]
    }
}

impl Mix for Kda {
    /// h (2 K + V + H) + 2 h d_v + d_v (K + V) + c (2 K + V) + V h, a decay for each head and a
    /// bias for each channel of keys, and a norm of d_v.
    ///
    /// # Source
    /// Kimi Linear (2510.26692), section 4; `modeling_kimi.py` beside its weights.
    fn params(&self, on: &Deployment) -> Params {
        let hidden = on.backbone.hidden;
        let [keys, values] = self.widths().map(u128::from);
        let [down, up] = self.gate_params(hidden).map(u128::from);
        let h = u128::from(hidden);
        let taps = u128::from(self.taps) * u128::from(self.channels());
        let decays = u128::from(self.states.heads) + keys;
        Params {
            replicated: u128::from(self.states.value_dim) + down,
            tensor: h * u128::from(self.inputs()) + up + taps + decays + values * h,
            expert: 0,
        }
    }

    fn params_formula(&self) -> &'static str {
        "queries, keys, values, gates, convolutions, output"
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        let (hidden, [_, values]) = (on.backbone.hidden, self.widths());
        let [down, up] = self.gate_params(hidden);
        (hidden * (self.inputs() + values) + down + up + self.taps * self.channels()) as f64
    }

    /// 8 H d_k d_v, as of a gated delta net.
    ///
    /// # Source
    /// Megatron-Bridge `flop_utils.py`, `kimi_kda_layers`.
    fn score_flops(&self, _: u64, _: AttentionFlops) -> f64 {
        self.states.delta_flops()
    }

    fn score_formula(&self) -> &'static str {
        DELTA_FORMULA
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        let (h, narrow) = (on.backbone.hidden as f64, self.states.value_dim as f64);
        let [keys, values] = self.widths().map(|width| width as f64);
        for width in [keys, keys, values] {
            add(Matrices::dense([width, h], Cut::Rows).linear(LoraModule::InProj));
        }
        let mut narrow_gate = |width| {
            add(Matrices::dense([narrow, h], Cut::Nothing));
            add(Matrices::dense([width, narrow], Cut::Rows));
        };
        narrow_gate(keys);
        if self.has_whole_gate {
            add(Matrices::dense([values, h], Cut::Rows));
        } else {
            narrow_gate(values);
        }
        add(Matrices::dense([h, values], Cut::Columns).linear(LoraModule::OutProj));
    }

    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        let (tokens, h, [keys, values]) = (rows.group, on.backbone.hidden as f64, self.widths());
        let narrow = self.states.value_dim as f64;
        let (keys, values) = (on.split(keys), on.split(values));
        let device = &on.device;
        let [gates, _] = self.narrow_gates();
        let mut inputs = device.linear(tokens, h, on.split(self.inputs()))
            + device.linear(tokens, h, narrow) * gates as f64
            + device.linear(tokens, narrow, keys);
        if !self.has_whole_gate {
            inputs += device.linear(tokens, narrow, values);
        }
        to.push("Query, key, value and gates", Place::Projection, Again::LAYER, inputs);
        let convolved = convolution(on, rows, on.split(self.channels()), self.taps, TRANSPOSED);
        // Norms of queries and keys; softplus, exponential and product of each channel in FP32.
        let norms = passes(on, tokens * 2.0 * keys, [2.0, 3.0], 2.0);
        let gates = passes(on, tokens * keys, [5.0, 8.0], 2.0);
        to.push(
            "Convolution and gates",
            Place::Projection,
            Again::LAYER,
            convolved + norms + gates,
        );
        let scan = self.states.delta_rule(on, rows, self.states.key_dim as f64);
        to.push(SCAN, Place::Core, Again::LAYER, scan);
        let output = gated_norm(on, rows, values) + device.linear(tokens, values, h);
        to.push("Output projection", Place::Output, Again::LAYER, output);
    }

    /// As a gated delta net, with the projections' inputs of the gates.
    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        let ([keys, values], element) = (self.widths(), on.element_bytes());
        let [gates, _] = self.narrow_gates();
        let narrow = (gates * self.states.value_dim) as f64
            * on.kept_input_bytes(ModelPart::SelfAttention, LoraModule::OutProj);
        let convolved = on.split(self.channels() + 2 * keys) * element + narrow;
        let scan = self.states.delta_bytes(on, self.states.key_dim as f64);
        let output = on.split(values)
            * (2.0 * element + on.kept_input_bytes(ModelPart::SelfAttention, LoraModule::OutProj));
        to.extend([
            Saved::new(Tensor::Convolved, rows.group * convolved, &[]),
            Saved::new(Tensor::Scanned, rows.group * scan, &[]),
            Saved::new(Tensor::AttentionOutput, rows.group * output, &[]),
        ]);
    }

    /// A state of each head, and the last inputs of the convolution.
    fn cached_bytes(&self, on: &Deployment, _: f64, _: f64) -> f64 {
        self.states.bytes(on) + convolved_bytes(on, self.channels(), self.taps)
    }

    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        tensor_exchanges(on, rows, true, to);
        let [_, values] = self.widths();
        let gates = self.narrow_gates()[1];
        let widths = [self.inputs() + gates, values].map(|width| on.split(width));
        context_exchanges(on, rows, widths, to);
    }
}
