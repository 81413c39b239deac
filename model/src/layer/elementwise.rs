//! Element-wise operators that several kinds of layers run: norms, rotary embedding, residuals, an
//! MLP's activation function.

use crate::device::kernel::{Block, Cost};
use crate::device::rows::Rows;
use crate::ground::tally::Tally;
use crate::layer::deployment::Deployment;

/// One norm over `tokens` rows of `width`: fused it reads and writes once; in five kernels it
/// passes over the row four times as often.
pub(crate) fn norm<T: Tally>(on: &Deployment, tokens: f64, width: f64) -> Block<T> {
    let elements = tokens * width;
    let bytes = elements * on.element_bytes();
    let (passes, kernels) = if on.kernel.fused_rms_norm { (1.0, 1.0) } else { (4.0, 5.0) };
    Block {
        // Square, add, scale, weigh; the gradient's two sums, its three terms and the weight's.
        forward: on.device.elementwise(2.0 * bytes * passes, kernels).doing(4.0 * elements),
        input_grad: on.device.elementwise(4.0 * bytes * passes, kernels).doing(8.0 * elements),
        weight_grad: Cost::ZERO,
    }
}

/// Rotary embedding of heads that are so wide together: read and write each rotated element. Under
/// MLA the rotated part is joined with the rest, which copies whole heads.
pub(crate) fn rotary<T: Tally>(on: &Deployment, rows: &Rows, width: f64) -> Block<T> {
    if !on.backbone.is_rotary {
        return Block::default();
    }
    let elements = rows.group * width;
    // Two multiplications and an addition an element.
    let cost =
        on.device.elementwise(2.0 * elements * on.element_bytes(), 1.0).doing(3.0 * elements);
    Block { forward: cost, input_grad: cost, weight_grad: Cost::ZERO }
}

/// One addition to the residual stream, and the norm in front of it where a layer has sandwich
/// norms.
pub(crate) fn residual<T: Tally>(on: &Deployment, rows: &Rows) -> Block<T> {
    let elements = rows.own * on.backbone.hidden as f64;
    // In serving the next norm's kernel adds.
    let kernels = if rows.past.is_some() { 0.0 } else { 1.0 };
    let addition = on.device.elementwise(3.0 * on.own_bytes(rows), kernels).doing(elements);
    let added = Block { forward: addition, input_grad: addition, weight_grad: Cost::ZERO };
    if on.backbone.has_sandwich_norms {
        added + norm(on, rows.own, on.backbone.hidden as f64)
    } else {
        added
    }
}

/// Hyper-connections around one part of a layer: what makes its input of the streams, and what
/// takes its output to them, in place of an addition.
///
/// In front, the streams are normed and mapped to columns, of which Sinkhorn iterations make a
/// doubly stochastic matrix, and added up: read n T' h, written T' h. Behind, each stream is a sum
/// of all of them and of the output: read (n + 1) T' h, written n T' h. Backward the streams are
/// read once more for the gradients of their weights.
///
/// # Source
/// Megatron-Core `hyper_connection.py`, whose kernels are fused.
pub(crate) fn hyper_connections<T: Tally>(on: &Deployment, rows: &Rows) -> [Block<T>; 2] {
    let (device, n) = (&on.device, on.backbone.streams as f64);
    let (columns, h) = (on.backbone.stream_columns() as f64, on.backbone.hidden as f64);
    let (bytes, elements) = (on.own_bytes(rows), rows.own * h);
    let pass = |passes: f64, operations: f64| {
        device.elementwise(passes * bytes, 1.0).doing(operations * elements)
    };
    // In FP32, two sums and two divisions an iteration.
    let steps = 4.0 * SINKHORN_ITERATIONS * rows.own * columns;
    let weights: Cost<T> = device.elementwise(8.0 * rows.own * columns, 1.0).doing(steps);
    let front = Block {
        forward: pass(n + 1.0, 4.0 * n) + weights,
        input_grad: pass(2.0 * n + 1.0, 6.0 * n) + weights * 2.0,
        weight_grad: Cost::ZERO,
    };
    let behind = Block {
        forward: pass(2.0 * n + 1.0, 2.0 * n * (n + 1.0)),
        input_grad: pass(3.0 * n + 2.0, 4.0 * n * (n + 1.0)),
        weight_grad: Cost::ZERO,
    };
    // Sandwich norms are in front of what is added.
    let behind =
        if on.backbone.has_sandwich_norms { behind + norm(on, rows.own, h) } else { behind };
    [front + device.linear(rows.own, n * h, columns), behind]
}

/// Attention residuals in front of one part of a layer: the mixture of the running sum alone, and
/// what each block of layers in front adds to it.
///
/// Every state is normed, multiplied by a query that doesn't depend on it, and added up with its
/// share of a softmax: read once, T' h, and one T' h written. Backward each is read again, and its
/// gradient, which other parts add to, read and written.
///
/// # Source
/// 2603.15031, its residuals by blocks; Megatron-Bridge `kimi_k3_ops.py:attn_res_aggregate`, taken
/// as one kernel a pass.
pub(crate) fn attention_residuals<T: Tally>(on: &Deployment, rows: &Rows) -> [Block<T>; 2] {
    let (bytes, elements) = (on.own_bytes(rows), rows.own * on.backbone.hidden as f64);
    let pass = |passes: f64, kernels: f64, operations: f64| {
        on.device.elementwise(passes * bytes, kernels).doing(operations * elements)
    };
    // Two for the norm, two for the score, two for the sum; about twice that backward.
    let block = |forward: f64, backward: f64, kernels: f64| Block {
        forward: pass(forward, kernels, 6.0),
        input_grad: pass(backward, kernels, 12.0),
        weight_grad: Cost::ZERO,
    };
    [block(2.0, 4.0, 1.0), block(1.0, 3.0, 0.0)]
}

/// Iterations that make a matrix doubly stochastic.
///
/// # Source
/// `DeepSeek-V4`, `hc_sinkhorn_iters`.
const SINKHORN_ITERATIONS: f64 = 20.0;

/// The activation function between an MLP's matrices: reads both halves, writes one.
pub(crate) fn activation<T: Tally>(on: &Deployment, rows: f64, width: f64) -> Block<T> {
    let inputs = on.backbone.mlp_inputs();
    let elements = rows * width;
    let bytes = elements * on.element_bytes();
    Block {
        // Exponential, addition, division, one product for each input; about twice that backward.
        forward: on
            .device
            .elementwise((inputs + 1.0) * bytes, 1.0)
            .doing((3.0 + inputs) * elements),
        input_grad: on
            .device
            .elementwise((2.0 * inputs + 1.0) * bytes, 1.0)
            .doing((6.0 + 2.0 * inputs) * elements),
        weight_grad: Cost::ZERO,
    }
}
