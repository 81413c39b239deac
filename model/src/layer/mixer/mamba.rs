//! Mamba-2: a state of each head that forgets by a gate, in chunks of a sequence.
//!
//! Letters: h hidden, H heads of width d, D = H d, g groups, n width of the state, C tokens of a
//! chunk.

use super::attention::tensor_exchanges;
use super::mix::Mix;
use super::scan::{SCAN, States, context_exchanges, convolution, convolved_bytes, passes};
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

/// C, tokens of a chunk, and taps of the convolution.
///
/// # Source
/// Megatron-Core `ssm/mamba_mixer.py`, `chunk_size` and `d_conv`.
pub(crate) const CHUNK: f64 = 128.0;
const TAPS: u64 = 4;

/// Mamba-2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mamba {
    states: States,
    /// Groups of heads that share what they write and read.
    groups: u64,
}

impl Mamba {
    /// The mixer of a design's layers: as many heads as are as wide as twice the hidden size,
    /// unless said.
    pub(super) fn new(design: &Design) -> Self {
        let transformer = &design.transformer;
        let width = transformer.mamba_head_dim;
        let usual = (2 * transformer.hidden_size / width).max(1);
        let states = States {
            heads: transformer.mamba_num_heads.unwrap_or(usual),
            key_dim: transformer.mamba_state_dim,
            value_dim: width,
            chunk: CHUNK,
        };
        Self { states, groups: transformer.mamba_num_groups }
    }

    /// D, width of all heads, and width of what all groups write or read.
    const fn widths(&self) -> [u64; 2] {
        let States { heads, key_dim, value_dim, .. } = self.states;
        [heads * value_dim, self.groups * key_dim]
    }

    /// Outputs of the projection: gate and input of the heads, what they write and read, and a step
    /// for each head.
    const fn inputs(&self) -> u64 {
        let [inner, group] = self.widths();
        2 * inner + 2 * group + self.states.heads
    }

    /// Channels that are convolved.
    const fn channels(&self) -> u64 {
        let [inner, group] = self.widths();
        inner + 2 * group
    }
}

/// Forward and backward kernels for each chunk of a head, which has so large a share of what is of
/// its group.
///
/// Forward the scores C B' of each group, their sum of inputs, and with the state its update and
/// its product. Backward these are made again, but for the sum; with the gradients of states,
/// inputs, C, B and scores 3 C n of each group, 2 C d and 5 n d of each head. States are in
/// FP32 and pass from chunk to chunk in a kernel of their own.
pub(crate) fn mamba_passes([state, width]: [f64; 2], shared: f64) -> [ScanPass; 2] {
    let (states, scores) = (state * width / CHUNK, CHUNK * shared);
    let forward = ScanPass {
        keys: shared,
        values: 1.0,
        states: 2.0,
        carried: 0.0,
        bytes: 2.0 * 3.0 * width
            + 2.0 * 4.0 * state * shared
            + 4.0 * 2.0 * scores
            + 12.0 * states
            + 4.0 * 6.0,
        kernels: 5.0,
    };
    let backward = ScanPass {
        keys: 3.0 * shared,
        values: 2.0,
        states: 5.0,
        carried: 0.0,
        bytes: 2.0 * 9.0 * width
            + 2.0 * 12.0 * state * shared
            + 4.0 * 5.0 * scores
            + 24.0 * states
            + 4.0 * 15.0,
        kernels: 11.0,
    };
    [forward, backward]
}

impl Mix for Mamba {
    /// h (2 D + 2 g n + H) + 5 (D + 2 g n) + 3 H + D + D h: the projections, four taps and a bias
    /// for each channel, decay, step and pass-through of each head, a norm.
    ///
    /// # Source
    /// Megatron-Core `ssm/mamba_mixer.py`; Dao and Gu 2024.
    fn params(&self, on: &Deployment) -> Params {
        let h = u128::from(on.backbone.hidden);
        let inner = u128::from(self.widths()[0]);
        let taps = u128::from(TAPS + 1) * u128::from(self.channels());
        let heads = 3 * u128::from(self.states.heads);
        let tensor = h * u128::from(self.inputs()) + taps + heads + inner + inner * h;
        Params { replicated: 0, tensor, expert: 0 }
    }

    fn params_formula(&self) -> &'static str {
        "Mamba-2: gate, input, state and step, convolution, output"
    }

    fn matrix_params(&self, on: &Deployment) -> f64 {
        (on.backbone.hidden * (self.inputs() + self.widths()[0])) as f64
    }

    /// 7 D n.
    ///
    /// # Source
    /// Megatron-LM `training.py`, `mamba_layer_flops`, which takes D = 2 h whatever the heads are.
    fn score_flops(&self, _: u64, _: AttentionFlops) -> f64 {
        7.0 * (self.widths()[0] * self.states.key_dim) as f64
    }

    fn score_formula(&self) -> &'static str {
        "7 x heads x head width x state width"
    }

    fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        let h = on.backbone.hidden as f64;
        add(Matrices::dense([self.inputs() as f64, h], Cut::Rows).linear(LoraModule::InProj));
        let inner = self.widths()[0] as f64;
        add(Matrices::dense([h, inner], Cut::Columns).linear(LoraModule::OutProj));
    }

    /// Projection, convolution, scan, gated norm, output. The convolution is made again in the
    /// backward, which then reads input and gradient; so is the norm's input.
    ///
    /// # Source
    /// `mamba_split_conv1d_scan_combined` of mamba-ssm, which Megatron-Core calls.
    fn operators<T: Tally>(&self, on: &Deployment, rows: &Rows, to: &mut Operators<T>) {
        let (tokens, h) = (rows.group, on.backbone.hidden as f64);
        let inner = on.split(self.widths()[0]);
        let inputs = on.device.linear(tokens, h, on.split(self.inputs()));
        to.push("Gate, input, state and step", Place::Projection, Again::LAYER, inputs);
        let channels = on.split(self.channels());
        let convolved = convolution(on, rows, channels, TAPS, ([2.0, 5.0], [1.0, 2.0]));
        to.push("Convolution and gates", Place::Projection, Again::LAYER, convolved);
        let States { heads, key_dim, value_dim, .. } = self.states;
        let shared = self.groups as f64 / heads as f64;
        let scanned = mamba_passes([key_dim as f64, value_dim as f64], shared);
        to.push(SCAN, Place::Core, Again::LAYER, self.states.passes(on, rows, scanned));
        let norm = passes(on, tokens * inner, [3.0, 6.0], 1.0);
        let output = norm + on.device.linear(tokens, inner, h);
        to.push("Output projection", Place::Output, Again::LAYER, output);
    }

    /// The projection's output, the scan's, and what the last projection takes.
    fn saved(&self, on: &Deployment, rows: &Rows, to: &mut SavedTensors) {
        let (inner, element) = (on.split(self.widths()[0]), on.element_bytes());
        let inputs = rows.group * on.split(self.inputs()) * element;
        let output = rows.group
            * inner
            * (element + on.kept_input_bytes(ModelPart::SelfAttention, LoraModule::OutProj));
        to.extend([
            Saved::new(Tensor::Convolved, inputs, &[]),
            Saved::new(Tensor::AttentionOutput, output, &[]),
        ]);
    }

    /// A state of each head, and the last inputs of the convolution.
    fn cached_bytes(&self, on: &Deployment, _: f64, _: f64) -> f64 {
        self.states.bytes(on) + convolved_bytes(on, self.channels(), TAPS)
    }

    fn exchanges(&self, on: &Deployment, rows: &Rows, to: &mut Exchanges) {
        tensor_exchanges(on, rows, true, to);
        let widths = [self.inputs(), self.widths()[0]].map(|width| on.split(width));
        context_exchanges(on, rows, widths, to);
    }
}
