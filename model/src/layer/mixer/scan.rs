//! What mixers with a state have in common: heads that a chunked scan runs over, the short
//! convolution in front of it, the gated norm behind it, and the exchange of heads for sequence.
//!
//! Letters: H heads of values, d_k and d_v widths of a head's keys and values, C tokens of a chunk.

use crate::device::exchange::{Calls, Exchanges, Hop};
use crate::device::kernel::{Block, Cost, Scan, ScanPass};
use crate::device::operator::Again;
use crate::device::rows::Rows;
use crate::ground::axis::{Axis, Collective};
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;

/// The name of a scan's kernels.
pub(crate) const SCAN: &str = "Chunked scan";

/// C, tokens of a chunk of the delta rule's kernels.
///
/// # Source
/// flash-linear-attention, `ops/gated_delta_rule/chunk.py` and `ops/kda/chunk.py`.
pub(crate) const DELTA_CHUNK: f64 = 64.0;

/// Heads with a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct States {
    /// H, heads.
    pub(super) heads: u64,
    /// Width of a head's queries and keys.
    pub(super) key_dim: u64,
    /// Width of a head's values.
    pub(super) value_dim: u64,
    /// C, tokens of a chunk.
    pub(super) chunk: f64,
}

/// The formula of [`States::delta_flops`].
pub(super) const DELTA_FORMULA: &str = "8 x heads x key width x value width";

impl States {
    /// FLOPs of the delta rule for a token: 8 H d_k d_v, for K K', V K', the state's update and its
    /// product with the query.
    pub(super) fn delta_flops(&self) -> f64 {
        8.0 * (self.heads * self.key_dim * self.value_dim) as f64
    }

    /// The scan of a device's heads. Under CP each rank has its share of the heads and the whole
    /// sequence, which is as many tokens of heads.
    fn scan(&self, on: &Deployment, rows: &Rows) -> Scan {
        let heads = on.split(self.heads);
        Scan {
            chunks: heads * rows.group / self.chunk,
            chains: heads / on.ranks.cp as f64 * rows.sequences as f64,
            chunk: self.chunk,
            widths: [self.key_dim as f64, self.value_dim as f64],
        }
    }

    /// Forward and backward kernels of the scan.
    pub(super) fn passes<T: Tally>(
        &self,
        on: &Deployment,
        rows: &Rows,
        [forward, backward]: [ScanPass; 2],
    ) -> Block<T> {
        if rows.is_decode() {
            return Block { forward: self.step(on, rows), ..Block::default() };
        }
        let scan = self.scan(on, rows);
        Block {
            forward: on.device.scan(&scan, &forward),
            input_grad: on.device.scan(&scan, &backward),
            weight_grad: Cost::ZERO,
        }
    }

    /// Bytes of the states of a rank's heads for one sequence, in FP32.
    ///
    /// # Source
    /// vLLM, `mamba_utils.py`: states of Mamba-2 and gated delta nets in FP32 where accuracy
    /// counts; SGLang keeps them so.
    pub(super) fn bytes(&self, on: &Deployment) -> f64 {
        4.0 * on.split(self.heads) * (self.key_dim * self.value_dim) as f64
    }

    /// A step of decode: the states of all sequences are read and written once, whatever the number
    /// of tokens that come.
    fn step<T: Tally>(&self, on: &Deployment, rows: &Rows) -> Cost<T> {
        let operations = 8.0 * rows.group * self.bytes(on) / 4.0;
        on.device.elementwise(2.0 * self.bytes(on) * rows.sequences as f64, 1.0).doing(operations)
    }

    /// The delta rule of a device's heads.
    pub(super) fn delta_rule<T: Tally>(
        &self,
        on: &Deployment,
        rows: &Rows,
        decay_width: f64,
    ) -> Block<T> {
        let widths = [self.key_dim as f64, self.value_dim as f64];
        self.passes(on, rows, delta_passes(widths, decay_width))
    }

    /// Bytes that the delta rule's kernels keep of a token of all of a device's heads: queries and
    /// keys as wide as there are heads of values, values, the inverse of its chunk, decays in FP32
    /// and the strength of its writing.
    pub(super) fn delta_bytes(&self, on: &Deployment, decay_width: f64) -> f64 {
        let element = on.element_bytes();
        let token = (2 * self.key_dim + self.value_dim) as f64 * element
            + self.chunk * element
            + 4.0 * decay_width
            + element;
        on.split(self.heads) * token
    }
}

/// The delta rule in chunks: S = S (I - b k k') + b v k', o = S q, with a decay.
///
/// For each chunk, forward: K K' and its triangular inverse T (3 C d_k with the scores Q K'),
/// W = T K and U = T V, the scores' sum of values (2 C d_v), and with the state W S, K' V and
/// Q S (3 d_k d_v, two of them in order). Backward W, U and the states are made again; with the
/// gradients of all of these 8 C d_k, 5 C d_v and 8 d_k d_v, five of them in order.
///
/// Each kernel reads and writes what the next one takes: keys 7 and 20 times, values 6 and 15,
/// the C x C matrix of FP32 and 16 bits 6 and 2, states 2 and 4 times a chunk, and a decay of
/// this many widths in FP32 6 and 8 times.
///
/// # Source
/// Yang et al. 2024 (2412.06464), section 3.3; flash-linear-attention, the kernels that
/// `chunk_gated_delta_rule` runs: cumulative decay, K K', inverse, W and U, states, outputs;
/// and
/// backward W and U, states, gradients of values, of states, of queries and keys, of W and U.
pub(crate) fn delta_passes([key, value]: [f64; 2], decay_width: f64) -> [ScanPass; 2] {
    let states = key * value / DELTA_CHUNK;
    let bytes = |keys: f64, values: f64, square: f64, state: f64, decay: f64| {
        2.0 * (keys * key + values * value + square * DELTA_CHUNK + state * states)
            + 4.0 * decay * decay_width
    };
    let forward = ScanPass {
        keys: 3.0,
        values: 2.0,
        states: 1.0,
        carried: 2.0,
        bytes: bytes(7.0, 6.0, 6.0, 2.0, 6.0),
        kernels: 6.0,
    };
    let backward = ScanPass {
        keys: 8.0,
        values: 5.0,
        states: 3.0,
        carried: 5.0,
        bytes: bytes(20.0, 15.0, 2.0, 4.0, 8.0),
        kernels: 7.0,
    };
    [forward, backward]
}

/// Passes of a convolution's own kernel over its channels, forward and backward: input and output;
/// input and both gradients.
const CONVOLVING: [f64; 2] = [2.0, 3.0];

/// A depthwise convolution over time of this many channels of a device, `taps` long, and its SiLU:
/// passes over the channels and kernels, forward and backward, of which one is the convolution.
pub(super) fn convolution<T: Tally>(
    on: &Deployment,
    rows: &Rows,
    channels: f64,
    taps: u64,
    ([forward, backward], kernels): ([f64; 2], [f64; 2]),
) -> Block<T> {
    let elements = rows.group * channels;
    let bytes = elements * on.element_bytes();
    let operations = elements * (2.0 * taps as f64 + 4.0);
    let pass = |passes: f64, own: f64, kernels: f64| {
        on.device.convolution(own * bytes)
            + on.device.elementwise((passes - own) * bytes, kernels - 1.0)
    };
    let [ahead, back] = CONVOLVING;
    Block {
        forward: pass(forward, ahead, kernels[0]).doing(operations),
        input_grad: pass(backward, back, kernels[1]).doing(2.0 * operations),
        weight_grad: Cost::ZERO,
    }
}

/// Passes and kernels of a convolution whose channels are copied so that time is last, and back:
/// the kernel reads and writes, backward it reads input and gradient.
///
/// # Source
/// Megatron-Core `ssm/gated_delta_net`, `causal_conv1d`.
pub(super) const TRANSPOSED: ([f64; 2], [f64; 2]) = ([6.0, 7.0], [3.0, 3.0]);

/// Bytes that a rank keeps of a sequence's last inputs of a convolution.
pub(super) fn convolved_bytes(on: &Deployment, channels: u64, taps: u64) -> f64 {
    on.split(channels) * taps.saturating_sub(1) as f64 * on.element_bytes()
}

/// A norm of each head's output, and its product with a gate: reads and writes the output twice,
/// and reads the gate; backward the gradients of both as well.
pub(super) fn gated_norm<T: Tally>(on: &Deployment, rows: &Rows, width: f64) -> Block<T> {
    let elements = rows.group * width;
    let bytes = elements * on.element_bytes();
    Block {
        forward: on.device.elementwise(5.0 * bytes, 2.0).doing(8.0 * elements),
        input_grad: on.device.elementwise(8.0 * bytes, 2.0).doing(16.0 * elements),
        weight_grad: Cost::ZERO,
    }
}

/// Element-wise work on this many elements: passes over them forward and backward, and kernels
/// each.
pub(super) fn passes<T: Tally>(
    on: &Deployment,
    elements: f64,
    [forward, backward]: [f64; 2],
    kernels: f64,
) -> Block<T> {
    let bytes = elements * on.element_bytes();
    let pass =
        |passes: f64| on.device.elementwise(passes * bytes, kernels).doing(passes * elements);
    Block { forward: pass(forward), input_grad: pass(backward), weight_grad: Cost::ZERO }
}

/// CP: heads are exchanged for sequence in front of the convolution, and back behind the scan. So
/// many elements of a token of a TP rank go there, and so many come back; backward their gradients.
///
/// # Source
/// Megatron-Core `ssm/gated_delta_net`, `tensor_a2a_cp2hp`; `ssm/mamba_context_parallel.py`.
pub(super) fn context_exchanges(
    on: &Deployment,
    rows: &Rows,
    [there, back]: [f64; 2],
    to: &mut Exchanges,
) {
    if on.ranks.cp == 1 {
        return;
    }
    let bytes = rows.group * on.element_bytes();
    let call = on.machine.all_to_all_call(&on.cp_group(), bytes * (there + back));
    let calls = Calls::new((Hop::Context, 1.0), (Hop::Context, 1.0), Again::LAYER);
    to.push(Axis::Cp, Collective::AllToAll, &call, calls);
}
