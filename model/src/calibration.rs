//! The constants that no data sheet gives: what kernels reach inside a training step, and what a
//! framework's host adds.
//!
//! Few, named, one set for each family of accelerators and one for each framework; no row, model or
//! source has its own. None exceeds the best measured rate of the accelerator's row.

/// What kernels of a family of accelerators reach inside a training step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernels {
    /// Share of the 16-bit peak that a large, aligned matmul reaches.
    pub gemm: f64,
    /// Share of the 8-bit peak.
    pub fp8_gemm: f64,
    /// Share of the 4-bit peak.
    pub fp4_gemm: f64,
    /// Share of the 16-bit peak that flash attention reaches, forward.
    pub attention_forward: f64,
    /// The same, backward.
    pub attention_backward: f64,
    /// Share of the memory bandwidth that element-wise kernels reach.
    pub vector_bandwidth: f64,
    /// What the values were fitted on, or their source.
    pub fitted_on: &'static str,
}

/// What a framework's host costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    /// Host time to launch one kernel, in microseconds.
    pub dispatch_micros: f64,
    /// Host time between learning how many rows each expert gets and having its kernels queued, in
    /// microseconds for each MoE layer and pass.
    pub sync_micros: f64,
    /// Time of a step outside forward, backward and optimizer, in milliseconds.
    pub step_millis: f64,
    /// What the values were fitted on, or their source.
    pub fitted_on: &'static str,
}

/// Ascend 910B and 910C.
pub const ASCEND: Kernels = Kernels {
    gemm: 0.7,
    fp8_gemm: 0.7,
    fp4_gemm: 0.7,
    attention_forward: 0.436,
    attention_backward: 0.503,
    vector_bandwidth: 0.6,
    fitted_on: "msmodeling, CloudMatrix384",
};

/// A100 and A800.
pub const AMPERE: Kernels = Kernels {
    gemm: 0.76,
    fp8_gemm: 0.76,
    fp4_gemm: 0.76,
    attention_forward: 0.6,
    attention_backward: 0.5,
    vector_bandwidth: 0.7,
    fitted_on: "SimuMax, FlashAttention-2",
};

/// H100, H800, H200 and H20.
pub const HOPPER: Kernels = Kernels {
    gemm: 0.7,
    fp8_gemm: 0.6,
    fp4_gemm: 0.6,
    attention_forward: 0.55,
    attention_backward: 0.45,
    vector_bandwidth: 0.7,
    fitted_on: "mamf-finder, FlashAttention-3",
};

/// B200, B300, GB200 and GB300.
pub const BLACKWELL: Kernels = Kernels {
    gemm: 0.65,
    fp8_gemm: 0.6,
    fp4_gemm: 0.5,
    attention_forward: 0.6,
    attention_backward: 0.45,
    vector_bandwidth: 0.67,
    fitted_on: "SimuMax",
};

/// Megatron-Core.
pub const MEGATRON: Host =
    Host { dispatch_micros: 10.0, sync_micros: 100.0, step_millis: 0.0, fitted_on: "estimate" };

/// MindSpeed on Megatron-Core.
pub const MINDSPEED: Host =
    Host { dispatch_micros: 10.0, sync_micros: 100.0, step_millis: 0.0, fitted_on: "estimate" };

/// PyTorch FSDP and its relatives.
pub const FSDP: Host =
    Host { dispatch_micros: 6.0, sync_micros: 100.0, step_millis: 0.0, fitted_on: "estimate" };

/// No framework: nothing is lost to the host.
pub const IDEAL: Host =
    Host { dispatch_micros: 0.0, sync_micros: 0.0, step_millis: 0.0, fitted_on: "by definition" };
