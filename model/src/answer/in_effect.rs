//! The rates that a plan's estimate takes, in the terms of the knobs that replace them.

use crate::catalogue::rates::LARGE_MATMUL_DEPTH;
use crate::device::kernel::level;
use crate::training::plan::Plan;

/// The rates of kernels and host in a plan's steps, whoever gave them: the family, a dated state,
/// or the design. Each is in the unit of its knob, and a design with these values is estimated as
/// one without.
///
/// Two knobs stand for more than one constant, so that setting them to the value in effect is no
/// neutral change: `gemm_efficiency` is of all number formats, here of the plan's own, and
/// `vector_bandwidth_share` is of element-wise kernels and of copies by an index, here of the
/// former.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatesInEffect {
    /// Rate of kernels inside a step over that of microbenchmarks.
    pub in_run_rate: f64,
    /// Share of the peak that a large, aligned matmul reaches, [`LARGE_MATMUL_DEPTH`] deep.
    pub gemm_efficiency: f64,
    /// Rate of a grouped matmul over that of one matmul.
    pub grouped_gemm_relative_efficiency: f64,
    /// Share of the 16-bit peak that flash attention's products reach, forward.
    pub attention_forward_efficiency: f64,
    /// Share of the 16-bit peak that flash attention's products reach, backward.
    pub attention_backward_efficiency: f64,
    /// Share of the memory bandwidth that element-wise kernels reach.
    pub vector_bandwidth_share: f64,
    /// Time that the device waits when the host reads sizes back, in microseconds.
    pub sync_microseconds: f64,
    /// Number of these read-backs in a MoE layer and micro-batch.
    pub syncs_per_layer: f64,
}

impl Plan {
    /// The rates that its estimate takes.
    #[must_use]
    pub fn rates_in_effect(&self) -> RatesInEffect {
        let (kernels, host) = (&self.deployment.accelerator.kernels, &self.deployment.host);
        let precision = self.deployment.precision;
        let half_depth = kernels.half_depth_bytes / precision.operand_bytes();
        RatesInEffect {
            in_run_rate: kernels.in_run,
            gemm_efficiency: level(kernels, precision) / (1.0 + half_depth / LARGE_MATMUL_DEPTH),
            grouped_gemm_relative_efficiency: kernels.grouped_gemm,
            attention_forward_efficiency: kernels.attention_forward,
            attention_backward_efficiency: kernels.attention_backward,
            vector_bandwidth_share: kernels.vector_bandwidth,
            sync_microseconds: host.sync_micros,
            syncs_per_layer: host.syncs.iter().sum(),
        }
    }
}
