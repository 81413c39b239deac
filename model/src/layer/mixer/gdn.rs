//! Gated delta net: linear attention whose state forgets by a gate and writes by the delta rule.
//!
//! Letters: h hidden, K = H_k d_k width of all keys, V = H d_v width of all values, H heads of
//! values, H_k heads of keys.

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

/// A gated delta net, of the first or the second kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GatedDeltaNet {
    states: States,
    /// `H_k`, heads of queries and keys.
    key_heads: u64,
    /// Length of the convolution over time.
    taps: u64,
    /// Whether gates are of channels (of the second kind) and not of heads.
    is_second: bool,
}

impl GatedDeltaNet {
    /// The net of a design's layers.
    pub(super) fn new(design: &Design, is_second: bool) -> Self {
        let transformer = &design.transformer;
        Self {
            states: States {
                heads: transformer.linear_num_value_heads,
                key_dim: transformer.linear_key_head_dim,
                value_dim: transformer.linear_value_head_dim,
                chunk: DELTA_CHUNK,
            },
            key_heads: transformer.linear_num_key_heads,
            taps: transformer.linear_conv_kernel_dim,
            is_second,
        }
    }

    /// Widths of all keys and of all values.
    const fn widths(&self) -> [u64; 2] {
        [self.key_heads * self.states.key_dim, self.states.heads * self.states.value_dim]
    }

    /// Outputs of the projection: queries, keys, values, the output's gate, and two gates for each
    /// head. Of the second kind the gates of erasing and forgetting have the keys' channels, the
    /// one of writing the values'.
    const fn inputs(&self) -> u64 {
        let [keys, values] = self.widths();
        if self.is_second {
            4 * keys + 3 * values
        } else {
            2 * keys + 2 * values + 2 * self.states.heads
        }
    }

    /// Channels that are convolved.
    const fn channels(&self) -> u64 {
        let [keys, values] = self.widths();
        2 * keys + values
    }

    /// Decays of a head.
    const fn decay_width(&self) -> f64 {
        if self.is_second { self.states.key_dim as f64 } else { 1.0 }
    }

    /// Cost of the scan's gates beyond the projection's outputs: norms, activations and copies.
    fn gates<T: Tally>(&self, on: &Deployment, rows: &Rows) -> crate::device::kernel::Block<T> {
        let [keys, values] = self.widths();
        let widened = (self.key_heads < self.states.heads)
            .then_some(2 * self.states.heads * self.states.key_dim);
        let normed = rows.group * on.split(2 * keys);
        // The norms of queries and keys read and write; backward two are read and one is written.
        let norms = passes(on, normed, [2.0, 3.0], 2.0);
        let width = if self.is_second { 2 * keys + values } else { 2 * self.states.heads };
        // Sigmoid, softplus, exponential and product, in FP32.
        let gates = passes(on, rows.group * on.split(width), [8.0, 12.0], 4.0);
        let repeated = rows.group * on.split(widened.unwrap_or(0));
        let kernels = if widened.is_some() { 2.0 } else { 0.0 };
        // Queries and keys are written once for each head of values; backward they are added up.
        norms + gates + passes(on, repeated, [1.5, 1.5], kernels)
    }
}

impl Mix for GatedDeltaNet {
    /// h (2 K + 2 V + 2 H) + c (2 K + V) + V h, a decay and a bias for each head, and a norm of
    /// d_v. Of the second kind h (4 K + 3 V), and a bias for each channel.
    ///
    /// # Source
    /// Megatron-Core `ssm/gated_delta_net`; Qwen3-Next.
    fn params(&self, on: &Deployment) -> Params {
        let h = u128::from(on.backbone.hidden);
        let [keys, values] = self.widths().map(u128::from);
        let heads = u128::from(self.states.heads);
        let decays = heads + if self.is_second { keys } else { heads };
        let taps = u128::from(self.taps) * u128::from(self.channels());
        Params {
            replicated: u128::from(self.states.value_dim),
            tensor: h * u128::from(self.inputs()) + taps + decays + values * h,
            expert: 0,
        }
    }

    fn params_formula(&self) -> &'static str {
        "queries, keys, values, gates, convolution, output"
    }

    /// The convolution's taps are met once for each token, too.
    fn matrix_params(&self, on: &Deployment) -> f64 {
        let (h, [_, values]) = (on.backbone.hidden as f64, self.widths());
        h * (self.inputs() + values) as f64 + (self.taps * self.channels()) as f64
    }

    /// 8 H d_k d_v: K K', V K', the state's update and its product with the query.
    ///
    /// # Source
    /// Megatron-LM `training.py`, `gdn_layer_flops`, where keys are as wide as values.
    fn score_flops(&self, _: u64, _: AttentionFlops) -> f64 {
        self.states.delta_flops()
    }

    fn score_formula(&self) -> &'static str {
        DELTA_FORMULA
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        let (h, [_, values]) = (on.backbone.hidden as f64, self.widths());
        add(Matrices::dense([self.inputs() as f64, h], Cut::Rows).linear(LoraModule::InProj));
        add(Matrices::dense([h, values as f64], Cut::Columns).linear(LoraModule::OutProj));
    }

    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        let (tokens, h, [_, values]) = (rows.group, on.backbone.hidden as f64, self.widths());
        let values = on.split(values);
        let inputs = on.device.linear(tokens, h, on.split(self.inputs()));
        to.push("Query, key, value and gates", Place::Projection, Again::LAYER, inputs);
        let convolved = convolution(on, rows, on.split(self.channels()), self.taps, TRANSPOSED);
        let gates = convolved + self.gates(on, rows);
        to.push("Convolution and gates", Place::Projection, Again::LAYER, gates);
        let scan = self.states.delta_rule(on, rows, self.decay_width());
        to.push(SCAN, Place::Core, Again::LAYER, scan);
        let output = gated_norm(on, rows, values) + on.device.linear(tokens, values, h);
        to.push("Output projection", Place::Output, Again::LAYER, output);
    }

    /// The convolution's input and its result's queries and keys in front of their norms; what the
    /// scan keeps; its output, the gate beside it and what the projection takes.
    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        let ([keys, values], element) = (self.widths(), on.element_bytes());
        let convolved = on.split(self.channels() + 2 * keys) * element;
        let scan = self.states.delta_bytes(on, self.decay_width());
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
        let widths = [self.inputs(), self.widths()[1]].map(|width| on.split(width));
        context_exchanges(on, rows, widths, to);
    }
}
