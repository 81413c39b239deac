//! Lightning attention: linear attention whose heads forget at a fixed rate.
//!
//! Letters: h hidden, H heads of width d, P = H d, C tokens of a chunk.

use super::attention::tensor_exchanges;
use super::mix::Mix;
use super::scan::{SCAN, States, context_exchanges, gated_norm, passes};
use crate::design::Design;
use crate::device::exchange::Exchanges;
use crate::device::kernel::ScanPass;
use crate::device::operator::{Again, Operators, Place};
use crate::device::rows::Rows;
use crate::device::saved::{Saved, SavedTensors, Tensor};
use crate::ground::choice::{AttentionFlops, LoraModule, ModelPart};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;
use crate::layer::params::{Cut, Matrices, Params};

/// C, tokens of a block.
///
/// # Source
/// MiniMax-01 (2501.08313), section 2.2.1; `BLOCK` of `modeling_minimax_m1.py`.
const CHUNK: f64 = 256.0;

/// Lightning attention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lightning {
    states: States,
}

impl Lightning {
    /// The attention of a design's layers.
    pub(super) const fn new(design: &Design) -> Self {
        let transformer = &design.transformer;
        let states = States {
            heads: transformer.linear_num_value_heads,
            key_dim: transformer.linear_key_head_dim,
            value_dim: transformer.linear_value_head_dim,
            chunk: CHUNK,
        };
        Self { states }
    }

    /// Widths of all keys and of all values.
    const fn widths(&self) -> [u64; 2] {
        let States { heads, key_dim, value_dim, .. } = self.states;
        [heads * key_dim, heads * value_dim]
    }

    /// Outputs of the projections: queries, keys, values and the output's gate.
    const fn inputs(&self) -> u64 {
        let [keys, values] = self.widths();
        2 * keys + 2 * values
    }
}

impl Mix for Lightning {
    /// h (2 K + V) for queries, keys and values, h V for the gate, V h for the output, and a norm
    /// of V; K = V = P.
    ///
    /// # Source
    /// `modeling_minimax_m1.py`, `MiniMaxM1LightningAttention`.
    fn params(&self, on: &Deployment) -> Params {
        let (h, [_, values]) = (u128::from(on.backbone.hidden), self.widths());
        let values = u128::from(values);
        Params {
            replicated: 0,
            tensor: h * u128::from(self.inputs()) + values * h + values,
            expert: 0,
        }
    }

    fn params_formula(&self) -> &'static str {
        "queries, keys, values, gate, output"
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        (on.backbone.hidden * (self.inputs() + self.widths()[1])) as f64
    }

    /// H (C (d_k + d_v) + 4 d_k d_v): scores of half a block, and the state read and written.
    fn score_flops(&self, _: u64, _: AttentionFlops) -> f64 {
        let States { heads, key_dim, value_dim, chunk } = self.states;
        let (key, value) = (key_dim as f64, value_dim as f64);
        heads as f64 * (chunk * (key + value) + 4.0 * key * value)
    }

    fn score_formula(&self) -> &'static str {
        "heads x (chunk x (key + value width) + 4 x key width x value width)"
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        let (h, [keys, values]) = (on.backbone.hidden as f64, self.widths());
        for width in [2 * keys + values, values] {
            add(Matrices::dense([width as f64, h], Cut::Rows).linear(LoraModule::InProj));
        }
        add(Matrices::dense([h, values as f64], Cut::Columns).linear(LoraModule::OutProj));
    }

    /// Each block's scores Q K', their sum of values, and with the state Q S and K' V. Backward
    /// scores and their gradient (2 C d_k, C d_v), the gradients of queries and keys (2 C d_k)
    /// and of
    /// values (C d_v), and with the states those of queries, keys and values and the states' own
    /// (4 d_k d_v), two in order as forward one is.
    ///
    /// # Source
    /// Qin et al. 2024 (2405.17381), algorithms 1 and 2.
    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        let (tokens, h, [keys, values]) = (rows.group, on.backbone.hidden as f64, self.widths());
        let activated = tokens * on.split(2 * keys + values);
        let inputs = on.device.linear(tokens, h, on.split(self.inputs()));
        to.push("Query, key, value and gates", Place::Projection, Again::LAYER, inputs);
        // SiLU of queries, keys and values.
        let activation = passes(on, activated, [2.0, 3.0], 1.0);
        to.push("Convolution and gates", Place::Projection, Again::LAYER, activation);
        let (key, value) = (self.states.key_dim as f64, self.states.value_dim as f64);
        let states = key * value / CHUNK;
        let forward = ScanPass {
            keys: 1.0,
            values: 1.0,
            states: 1.0,
            carried: 1.0,
            bytes: 2.0 * (2.0 * key + 2.0 * value + 2.0 * states),
            kernels: 1.0,
        };
        let backward = ScanPass {
            keys: 4.0,
            values: 2.0,
            states: 2.0,
            carried: 2.0,
            bytes: 2.0 * (4.0 * key + 3.0 * value + 4.0 * states),
            kernels: 2.0,
        };
        let scan = self.states.passes(on, rows, [forward, backward]);
        to.push(SCAN, Place::Core, Again::LAYER, scan);
        let values = on.split(values);
        let output = gated_norm(on, rows, values) + on.device.linear(tokens, values, h);
        to.push("Output projection", Place::Output, Again::LAYER, output);
    }

    /// Queries, keys and values in front of their activation function and behind it; the output,
    /// the gate beside it and what the projection takes.
    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        let ([keys, values], element) = (self.widths(), on.element_bytes());
        let inputs = rows.group * on.split(2 * keys + values) * element;
        let output = on.split(values)
            * (2.0 * element + on.kept_input_bytes(ModelPart::SelfAttention, LoraModule::OutProj));
        to.extend([
            Saved::new(Tensor::Convolved, inputs, &[]),
            Saved::new(Tensor::Scanned, inputs, &[]),
            Saved::new(Tensor::AttentionOutput, rows.group * output, &[]),
        ]);
    }

    /// A state of each head.
    fn cached_bytes(&self, on: &Deployment, _: f64, _: f64) -> f64 {
        self.states.bytes(on)
    }

    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        tensor_exchanges(on, rows, true, to);
        let widths = [self.inputs(), self.widths()[1]].map(|width| on.split(width));
        context_exchanges(on, rows, widths, to);
    }
}
