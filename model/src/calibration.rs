//! The constants that no data sheet gives: what kernels reach inside a training step, and what a
//! framework's host adds.
//!
//! Few, named, one set for each family of accelerators and one for each framework; no row, model or
//! source has its own. None exceeds the best measured rate of the accelerator's row.

use crate::software::ASCEND_2026;

/// What kernels of a family of accelerators reach inside a training step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernels {
    /// The family's name.
    pub family: &'static str,
    /// Share of the 16-bit peak that a large, aligned matmul reaches.
    pub gemm: f64,
    /// Share of the 8-bit peak.
    pub fp8_gemm: f64,
    /// Share of the 8-bit peak where each block of elements has its own scale.
    pub block_fp8_gemm: f64,
    /// Share of the 4-bit peak.
    pub fp4_gemm: f64,
    /// Rate of a grouped matmul, one kernel for all local experts, over that of one matmul.
    pub grouped_gemm: f64,
    /// Share of the 16-bit peak that flash attention reaches, forward.
    pub attention_forward: f64,
    /// The same, backward.
    pub attention_backward: f64,
    /// Exponentials a score that flash attention's backward waits for beside its products; the
    /// forward waits for one.
    ///
    /// Source: by how much rates differ between head dimensions 64 and 128: 3 for FlashAttention-2
    /// on A100, 1.9 for cuDNN on H100 (Shah et al. 2024, figure 6).
    pub softmaxes_backward: f64,
    /// Share of these two that FlashAttention-2 reaches, which is written for Ampere.
    pub flash_attention_2: f64,
    /// Share of the memory bandwidth that element-wise kernels reach.
    pub vector_bandwidth: f64,
    /// Share of the memory bandwidth that copies of whole rows by an index reach: permutation of
    /// tokens, embedding.
    pub gather_bandwidth: f64,
    /// What the values were fitted on, or their source.
    pub fitted_on: &'static str,
}

/// What a framework's host costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    /// Host time to launch one kernel, in microseconds.
    pub dispatch_micros: f64,
    /// How long the device waits when the host reads back how many rows each expert gets: its queue
    /// runs empty until the next kernels are launched, in microseconds.
    pub sync_micros: f64,
    /// How often it does so in a MoE layer and micro-batch: in the forward, in a recomputation that
    /// dispatches again, and in the backward.
    ///
    /// Source: Megatron-Core, `token_dispatcher.py`, which keeps the counts for the backward. For
    /// MindSpeed derived from what faster read-backs brought Pangu Ultra MoE.
    pub syncs: [f64; 3],
    /// Host time of each further expert of a grouped product, in launches: the product is a loop
    /// over experts on several streams, short of Python.
    pub launches_per_expert: f64,
    /// Does it run attention by FlashAttention-2 instead of kernels written for the family?
    pub flash_attention_2: bool,
    /// Does recomputation end where all is there that the backward needs? The last product of a
    /// dense MLP is then left out.
    ///
    /// Source: `torch.utils.checkpoint`, `set_checkpoint_early_stop`, on by default in the
    /// non-reentrant form; JAX drops unused results as well.
    pub stops_early: bool,
    /// Memory traffic of its element-wise kernels over that of fused ones.
    pub element_passes: f64,
    /// Standard deviation of a rank's step time, relative.
    pub straggler_sigma: f64,
    /// What the values were fitted on, or their source.
    pub fitted_on: &'static str,
}

/// Clocks that parts sustain in long matmuls under their power limits, against the first part of
/// their family and relative to their nominal peaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clocks {
    /// H100 with 96 GB, 500 W, against H100 with 700 W.
    pub h100_96gb: f64,
    /// GB200 against B200.
    pub gb200: f64,
    /// GB300 against B200.
    pub gb300: f64,
    /// Beyond the clock, 16-bit products of GB200 and GB300 against B200's, whose rate is of one
    /// node that reaches 0.63 to 0.65 of the peak in short products and 0.45 to 0.51 in long ones.
    ///
    /// Source: SimuMax, `configs/system/b200_bf16_ceperm.json`, for that node.
    pub grace_wide: f64,
}

/// How far measured values are from predicted ones on published runs of sources that no constant
/// was fitted on: each was left out in turn, and counts once, however many runs it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The family of accelerators; empty for all together.
    pub family: &'static str,
    /// Models with experts, or dense ones.
    pub experts: bool,
    /// Is it of the step time, not of the peak memory?
    pub is_of_time: bool,
    /// ln(measured / predicted) between which half of the next source's runs are to be expected.
    pub half: [f64; 2],
    /// The same of nine of ten.
    pub most: [f64; 2],
    /// Shares of runs that were inside the two, when the ranges were made without their source.
    pub coverage: [f64; 2],
    /// Runs compared.
    pub rows: u32,
    /// Sources that they come from.
    pub sources: u32,
}

/// A quantile of how far measured peaks of memory were from predicted ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryQuantile {
    /// Share of the peaks that are off by at most this; each source counts once, however many
    /// peaks it has, as whoever asks is a new source.
    pub share: f64,
    /// ln(measured / predicted): positive where more was needed than predicted.
    pub log_ratio: f64,
}

/// No framework: nothing is lost to the host.
pub const IDEAL: Host = Host {
    dispatch_micros: 0.0,
    sync_micros: 0.0,
    syncs: [0.0; 3],
    launches_per_expert: 0.0,
    flash_attention_2: false,
    stops_early: false,
    element_passes: 1.0,
    straggler_sigma: 0.0,
    fitted_on: "by definition",
};

/// Ascend 910B and 910C: of 2026, see [`software`](crate::software). What has no published rate
/// there is as in the other families.
pub const ASCEND: Kernels = Kernels {
    family: "Ascend 910",
    gemm: ASCEND_2026.gemm_efficiency.value,
    fp8_gemm: 0.600,
    block_fp8_gemm: 0.600,
    fp4_gemm: 0.450,
    grouped_gemm: ASCEND_2026.grouped_gemm_relative_efficiency.value,
    attention_forward: ASCEND_2026.attention_forward_efficiency.value,
    attention_backward: ASCEND_2026.attention_backward_efficiency.value,
    softmaxes_backward: 3.0,
    // CANN has one library.
    flash_attention_2: 1.0,
    vector_bandwidth: ASCEND_2026.vector_bandwidth_share.value,
    gather_bandwidth: ASCEND_2026.vector_bandwidth_share.value,
    fitted_on: "no run: the state of the software of 2026",
};

impl Host {
    /// The same host reading back this often in a layer, passes in the same proportion.
    pub(crate) fn sync_times(&mut self, count: f64) {
        let usual: f64 = self.syncs.iter().sum();
        for times in &mut self.syncs {
            *times = if usual > 0.0 { *times / usual * count } else { count / 3.0 };
        }
    }
}

// ---- What follows is written by `cargo xtask calibrate`. ----

/// A100 and A800.
#[rustfmt::skip]
pub const AMPERE: Kernels = Kernels {
    family: "NVIDIA Ampere",
    gemm: 0.693,
    fp8_gemm: 0.600,
    block_fp8_gemm: 0.600,
    fp4_gemm: 0.450,
    grouped_gemm: 1.000,
    attention_forward: 0.710,
    attention_backward: 0.660,
    softmaxes_backward: 3.0,
    flash_attention_2: 0.569,
    vector_bandwidth: 0.850,
    gather_bandwidth: 0.850,
    fitted_on: "bigscience (48), korthikanti (9), llm_foundry (68), megatron21 (11), \
        torchtitan (7), vtrain_single (11), zero_bubble (48)",
};

/// H100, H800, H200 and H20.
#[rustfmt::skip]
pub const HOPPER: Kernels = Kernels {
    family: "NVIDIA Hopper",
    gemm: 0.705,
    fp8_gemm: 0.625,
    block_fp8_gemm: 0.600,
    fp4_gemm: 0.450,
    grouped_gemm: 1.000,
    attention_forward: 0.739,
    attention_backward: 0.645,
    softmaxes_backward: 1.9,
    flash_attention_2: 0.300,
    vector_bandwidth: 0.338,
    gather_bandwidth: 0.509,
    fitted_on: "automodel (5), bridge_perf (22), bridge_skills (5), dgxc_bench (105), \
        llm_foundry (52), mcore_examples (2), megatron24 (9), mlperf (18), moe_folding (65), \
        moe_modelzoo (13), nemo_2407 (33), torchtitan (11)",
};

/// B200, B300, GB200 and GB300.
#[rustfmt::skip]
pub const BLACKWELL: Kernels = Kernels {
    family: "NVIDIA Blackwell",
    gemm: 0.450,
    fp8_gemm: 0.566,
    block_fp8_gemm: 0.576,
    fp4_gemm: 0.440,
    grouped_gemm: 1.000,
    attention_forward: 0.700,
    attention_backward: 0.600,
    softmaxes_backward: 3.0,
    flash_attention_2: 0.200,
    vector_bandwidth: 0.485,
    gather_bandwidth: 0.510,
    fitted_on: "bridge_perf (80), dgxc_bench (15), dsv3_gb200_ladder (1), mlperf (7), \
        moe_modelzoo (3), simumax_b200 (43), torchtitan (4)",
};

/// Megatron-Core.
#[rustfmt::skip]
pub const MEGATRON: Host = Host {
    dispatch_micros: 42.9,
    sync_micros: 160.2,
    syncs: [1.0, 1.0, 0.0],
    launches_per_expert: 1.000,
    flash_attention_2: false,
    stops_early: false,
    element_passes: 1.000,
    straggler_sigma: 0.0010,
    fitted_on: "automodel (5), bigscience (48), bridge_perf (102), bridge_skills (5), \
        dgxc_bench (108), dsv3_gb200_ladder (1), korthikanti (9), mcore_examples (2), \
        megatron21 (11), megatron24 (9), mlperf (25), moe_folding (65), moe_modelzoo (16), \
        nemo_2407 (33), simumax_b200 (43), vtrain_single (11), zero_bubble (48)",
};

/// MindSpeed and MindFormers.
#[rustfmt::skip]
pub const MINDSPEED: Host = Host {
    dispatch_micros: 30.0,
    sync_micros: 600.0,
    syncs: [1.0, 1.0, 1.0],
    launches_per_expert: 0.500,
    flash_attention_2: false,
    stops_early: false,
    element_passes: 1.000,
    straggler_sigma: 0.0010,
    fitted_on: "ascend_runs/mindformers (6), ascend_runs/mindspeed-llm (5), mindspeed_head (2), \
        mindspeed_rc3 (10)",
};

/// PyTorch FSDP and its relatives.
#[rustfmt::skip]
pub const FSDP: Host = Host {
    dispatch_micros: 20.0,
    sync_micros: 300.0,
    syncs: [1.0, 1.0, 0.0],
    launches_per_expert: 0.500,
    flash_attention_2: true,
    stops_early: true,
    element_passes: 1.041,
    straggler_sigma: 0.0090,
    fitted_on: "dgxc_bench (12), llm_foundry (120), torchtitan (22)",
};

/// Sustained clocks.
#[rustfmt::skip]
pub const CLOCKS: Clocks = Clocks {
    h100_96gb: 0.955, gb200: 0.907, gb300: 1.200, grace_wide: 1.338,
};

/// Errors of the step time by family and kind of model, all families together last.
#[rustfmt::skip]
pub const SPREADS: &[Spread] = &[
    Spread { family: "Ascend 910", experts: false,
        is_of_time: true, half: [-0.175, -0.042], most: [-0.540, 0.281],
        coverage: [0.575, 0.750], rows: 20, sources: 4 },
    Spread { family: "Ascend 910", experts: true,
        is_of_time: true, half: [-0.049, 0.257], most: [-0.115, 0.654],
        coverage: [0.000, 0.000], rows: 3, sources: 1 },
    Spread { family: "NVIDIA Ampere", experts: false,
        is_of_time: true, half: [-0.082, 0.025], most: [-0.245, 0.217],
        coverage: [0.497, 0.896], rows: 202, sources: 7 },
    Spread { family: "NVIDIA Hopper", experts: false,
        is_of_time: true, half: [-0.070, 0.107], most: [-0.188, 0.238],
        coverage: [0.468, 0.891], rows: 223, sources: 9 },
    Spread { family: "NVIDIA Hopper", experts: true,
        is_of_time: true, half: [-0.045, 0.084], most: [-0.297, 0.277],
        coverage: [0.509, 0.904], rows: 117, sources: 6 },
    Spread { family: "NVIDIA Blackwell", experts: false,
        is_of_time: true, half: [-0.215, 0.177], most: [-0.691, 1.041],
        coverage: [0.403, 0.673], rows: 81, sources: 4 },
    Spread { family: "NVIDIA Blackwell", experts: true,
        is_of_time: true, half: [-0.117, 0.289], most: [-0.497, 1.364],
        coverage: [0.474, 0.799], rows: 72, sources: 5 },
    Spread { family: "", experts: false,
        is_of_time: true, half: [-0.107, 0.041], most: [-0.333, 0.189],
        coverage: [0.487, 0.897], rows: 526, sources: 19 },
    Spread { family: "", experts: true,
        is_of_time: true, half: [-0.087, 0.092], most: [-0.355, 0.632],
        coverage: [0.467, 0.803], rows: 192, sources: 9 },
];

/// Errors of the ratio of two step times of one source, model and accelerator.
#[rustfmt::skip]
pub const PAIR_SPREAD: Spread = Spread { family: "", experts: true,
        is_of_time: true, half: [-0.051, 0.051], most: [-0.528, 0.528],
        coverage: [0.525, 0.873], rows: 1780, sources: 16 };

/// Errors of the peak memory, of the peaks behind [`MEMORY_QUANTILES`].
#[rustfmt::skip]
pub const MEMORY_SPREAD: Spread = Spread { family: "", experts: true,
        is_of_time: false, half: [-0.067, 0.122], most: [-0.313, 0.497],
        coverage: [0.467, 0.733], rows: 69, sources: 6 };

/// What PyTorch's allocator holds beyond what tensors need at their peak, over the latter.
///
/// Blocks that are too small, or cut, for what is asked next stay with it; a device that is nearly
/// full makes it give them back and ask again, and where that isn't enough the run is out of
/// memory. Source: SimuMax's runs on B200, `max reserved` over `max allocated` - 1: the median of
/// 19 designs, 0.028 to 0.093.
pub const FRAGMENTATION: f64 = 0.053;

/// Signed errors of the peak memory, of 56 peaks from 5 sources that print recomputation and
/// micro-batch, and of 18 runs that ran though predicted not to fit.
#[rustfmt::skip]
pub const MEMORY_QUANTILES: [MemoryQuantile; 7] = [
    MemoryQuantile { share: 0.05, log_ratio: -0.240 },
    MemoryQuantile { share: 0.10, log_ratio: -0.097 },
    MemoryQuantile { share: 0.25, log_ratio: -0.067 },
    MemoryQuantile { share: 0.50, log_ratio: -0.030 },
    MemoryQuantile { share: 0.75, log_ratio: 0.088 },
    MemoryQuantile { share: 0.90, log_ratio: 0.136 },
    MemoryQuantile { share: 0.95, log_ratio: 0.165 },
];
