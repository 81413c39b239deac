//! The constants that no data sheet gives: what kernels reach, in microbenchmarks and inside a
//! training step, and what a framework's host adds.
//!
//! Few, named, one set for each family of accelerators, with the levels of its parts, and one for
//! each framework; no row, model or source has its own. Levels are of measured kernels
//! (`crates/validation/kernels`), the rest is of runs. Inside a step none exceeds the best measured
//! rate of the accelerator's row.

#![allow(clippy::approx_constant, reason = "a fitted number may come near a known one")]

use crate::catalogue::rates::{ASCEND_2026, gemm_level};
use crate::ground::fitted::{Evidence, Fitted};

/// Overlap of flash attention's softmax with its products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Nothing: a tile's products and its softmax follow each other. FlashAttention-2 on Ampere.
    Sequential,
    /// A part: two groups of warps take turns, one's softmax beside the other's products; together
    /// they take the root of the sum of squares. FlashAttention-3 and cuDNN on Hopper, whose heads
    /// of 64, 128, 192 and 256 follow it.
    PingPong,
    /// Nearly all: two tiles in flight, results in a memory of the tensor cores' own; the fourth
    /// root of the sum of fourth powers. Blackwell, where heads of 64 take as long as heads of 128.
    Pipelined,
}

/// Rates that kernels reach on a family of accelerators.
///
/// Levels are those of microbenchmarks: a kernel alone, repeated for a fraction of a second. Inside
/// a training step all kernels are slower by one factor for each family, [`Kernels::in_run`]: long
/// steps run at the clock that power and heat allow, and caches, memory and cores are shared. A
/// level of matmuls is that of an endlessly deep and large one, which no shape reaches; the shape
/// takes its share of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernels {
    /// The family's name.
    pub family: &'static str,
    /// Share of the 16-bit peak, in a microbenchmark.
    pub gemm: f64,
    /// Share of the 8-bit peak, one scale a tensor.
    pub fp8_gemm: f64,
    /// Share of the 8-bit peak where each block of elements has its own scale.
    pub block_fp8_gemm: f64,
    /// Share of the 4-bit peak.
    pub fp4_gemm: f64,
    /// Rate of a grouped matmul, one kernel for all local experts, over that of one matmul.
    pub grouped_gemm: f64,
    /// Share of the memory bandwidth that matmuls draw.
    pub matmul_bandwidth: f64,
    /// Bytes of an operand's depth that a tile's loading and draining take the time of.
    pub half_depth_bytes: f64,
    /// Share of the 16-bit peak that the products of flash attention reach, forward.
    pub attention_forward: f64,
    /// Share of the 16-bit peak that the products of flash attention reach, backward.
    pub attention_backward: f64,
    /// Rate of attention whose keys are wider than its values (MLA), over that of equal widths.
    pub mla_attention: f64,
    /// Share of the exponentials' peak that attention's softmax reaches: it has a maximum, a
    /// difference, a sum and a conversion beside each exponential.
    pub softmax: f64,
    /// Overlap of the softmax with the products.
    pub softmax_overlap: Overlap,
    /// Exponentials a score that flash attention's backward waits for beside its products; the
    /// forward waits for one.
    ///
    /// Source: by how much rates differ between head dimensions 64 and 128: FlashAttention-2 on
    /// A100; cuDNN on H100 (Shah et al. 2024, figure 6).
    pub softmaxes_backward: f64,
    /// Keys that each block of queries costs more than it meets: the half of the diagonal's tile
    /// that is masked, the first load and the last store.
    pub attention_ramp_keys: f64,
    /// Queries of a block: blocks run in waves over the cores; 0 where the rates hold that loss.
    pub attention_block: f64,
    /// Time of a flash attention kernel beyond its work, in microseconds.
    pub attention_micros: f64,
    /// Share of attention's rates that FlashAttention-2 reaches, as published FSDP runs of 2023 and
    /// 2024 had it: it is written for Ampere, and those runs give attention biases by distance.
    pub flash_attention_2: f64,
    /// Share of the memory bandwidth that element-wise kernels reach.
    pub vector_bandwidth: f64,
    /// Share of the memory bandwidth that copies of whole rows by an index reach: permutation of
    /// tokens, embedding.
    pub gather_bandwidth: f64,
    /// Rate of causal convolutions over time over that of element-wise kernels: they are bound by
    /// instructions.
    pub convolution: f64,
    /// Rate of chunked scans over that of their products and of what they move.
    pub scan: f64,
    /// Rate of kernels inside a step over that of microbenchmarks.
    pub in_run: f64,
    /// Measurements that the levels were fitted on, or their source.
    pub fitted_on: Evidence,
    /// Runs that the rate inside a step was fitted on.
    pub in_run_fitted_on: Evidence,
}

/// Rates that one part of a family reaches in microbenchmarks, where they differ from those of the
/// family's first part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Share of the 16-bit peak.
    pub gemm: f64,
    /// Share of the 8-bit peak, one scale a tensor.
    pub fp8_gemm: f64,
    /// Share of the 8-bit peak, one scale a block.
    pub block_fp8_gemm: f64,
    /// Share of the 4-bit peak.
    pub fp4_gemm: f64,
    /// Share of the 16-bit peak that the products of flash attention reach, forward.
    pub attention_forward: f64,
    /// Share of the exponentials' peak that its softmax reaches.
    pub softmax: f64,
}

impl Kernels {
    /// The family's kernels on one of its parts; attention's backward moves as its forward does.
    #[must_use]
    pub const fn on(self, part: Levels) -> Self {
        Self {
            gemm: part.gemm,
            fp8_gemm: part.fp8_gemm,
            block_fp8_gemm: part.block_fp8_gemm,
            fp4_gemm: part.fp4_gemm,
            attention_forward: part.attention_forward,
            attention_backward: self.attention_backward * part.attention_forward
                / self.attention_forward,
            softmax: part.softmax,
            ..self
        }
    }

    /// Levels of this part.
    #[must_use]
    pub const fn levels(&self) -> Levels {
        Levels {
            gemm: self.gemm,
            fp8_gemm: self.fp8_gemm,
            block_fp8_gemm: self.block_fp8_gemm,
            fp4_gemm: self.fp4_gemm,
            attention_forward: self.attention_forward,
            softmax: self.softmax,
        }
    }
}

/// Rates of a family's kernels inside training runs, beyond their levels in microbenchmarks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InRun {
    /// Rate of kernels inside a step over that of microbenchmarks.
    pub rate: f64,
    /// Share of attention's rates that FlashAttention-2 reaches.
    pub flash_attention_2: f64,
    /// The runs.
    pub fitted_on: Evidence,
}

/// Overheads of a framework's host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    /// Host time to launch one kernel, in microseconds.
    pub dispatch_micros: f64,
    /// Time that the device waits when the host reads back the number of rows of each expert: its
    /// queue runs empty until the next kernels are launched, in microseconds.
    pub sync_micros: f64,
    /// Number of these read-backs in a MoE layer and micro-batch: in the forward, in a
    /// recomputation that dispatches again, and in the backward.
    ///
    /// Source: Megatron-Core, `token_dispatcher.py`, which keeps the counts for the backward. For
    /// MindSpeed derived from what faster read-backs brought Pangu Ultra MoE.
    pub syncs: [f64; 3],
    /// Host time of each further expert of a grouped product, in launches: the product is a loop
    /// over experts on several streams, short of Python.
    pub launches_per_expert: f64,
    /// Does recomputation end where all is there that the backward needs? The last product of a
    /// dense MLP is then left out.
    ///
    /// Source: `torch.utils.checkpoint`, `set_checkpoint_early_stop`, on by default in the
    /// non-reentrant form; JAX drops unused results as well.
    pub stops_early: bool,
    /// Memory traffic of its element-wise kernels over that of fused ones; one where runs show no
    /// more.
    pub element_passes: f64,
    /// Standard deviation of a rank's step time, relative.
    pub straggler_sigma: f64,
    /// Measurements that the values were fitted on, or their source.
    pub fitted_on: Evidence,
}

/// Models by what is known of how far their predictions are off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelKind {
    /// Layers of attention and an MLP, all alike.
    Dense,
    /// Layers of attention and an MLP, with experts.
    Experts,
    /// Layers that differ by what mixes their tokens, or have something in place of attention: no
    /// constant is fitted on their runs.
    Mixed,
}

impl ModelKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Dense, Self::Experts, Self::Mixed];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Experts => "experts",
            Self::Mixed => "mixed",
        }
    }
}

/// Spread of measured over predicted values on published runs of sources that no constant was
/// fitted on: each source was left out in turn, and counts once, however many runs it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The family of accelerators; empty for all together.
    pub family: &'static str,
    /// The kind of models.
    pub kind: ModelKind,
    /// Whether it is of the step time, not of the peak memory.
    pub is_of_time: bool,
    /// ln(measured / predicted) between which half of the next source's runs are to be expected.
    pub half: [f64; 2],
    /// ln(measured / predicted) between which nine of ten of the next source's runs are to be
    /// expected.
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
    stops_early: false,
    element_passes: 1.0,
    straggler_sigma: 0.0,
    fitted_on: Evidence::Unfitted("by definition"),
};

/// 252 deep in 16 bits: about 2,000 cycles of a tile of 128 x 256.
const ASCEND_HALF_DEPTH_BYTES: f64 = 504.0;

/// Ascend 910B and 910C: of 2026, see [`rates`](crate::catalogue::rates). What has no published
/// rate there is as in the other families.
///
/// Its rates are those of steps and of long single kernels: nothing is taken off them, attention
/// has neither ramp nor waves, since the published times of one head (PTO-ISA, 4K to 32K) mix both
/// with the operator's fixed cost.
pub const ASCEND: Kernels = Kernels {
    family: "Ascend 910",
    gemm: gemm_level(ASCEND_2026.gemm_efficiency.value, 0.5 * ASCEND_HALF_DEPTH_BYTES),
    fp8_gemm: 0.600,
    block_fp8_gemm: 0.600,
    fp4_gemm: 0.450,
    grouped_gemm: ASCEND_2026.grouped_gemm_relative_efficiency.value,
    // ascend-dmi measures 94 % of the nominal bandwidth for long streams.
    matmul_bandwidth: 0.94,
    half_depth_bytes: ASCEND_HALF_DEPTH_BYTES,
    attention_forward: ASCEND_2026.attention_forward_efficiency.value,
    attention_backward: ASCEND_2026.attention_backward_efficiency.value,
    mla_attention: 1.0,
    softmax: 1.0,
    softmax_overlap: Overlap::Sequential,
    softmaxes_backward: 3.0,
    attention_ramp_keys: 0.0,
    attention_block: 0.0,
    // msmodeling's static cost of a vector kernel, as for every kernel.
    attention_micros: 2.0,
    // CANN has one library.
    flash_attention_2: 1.0,
    vector_bandwidth: ASCEND_2026.vector_bandwidth_share.value,
    gather_bandwidth: ASCEND_2026.vector_bandwidth_share.value,
    // No kernel of theirs is published.
    convolution: 1.0,
    scan: 1.0,
    in_run: 1.0,
    fitted_on: Evidence::Unfitted("no run: the state of the software of 2026"),
    in_run_fitted_on: Evidence::Unfitted("no run: the rates are those of steps"),
};

impl Host {
    /// Sets the number of read-backs in a layer, the passes in their present proportion.
    pub(crate) fn sync_times(&mut self, count: f64) {
        let usual: f64 = self.syncs.iter().sum();
        for times in &mut self.syncs {
            *times = if usual > 0.0 { *times / usual * count } else { count / 3.0 };
        }
    }
}

/// Share that PyTorch's allocator holds beyond what tensors need at their peak, of the latter.
///
/// Blocks that are too small, or cut, for what is asked next stay with it; a device that is nearly
/// full makes it give them back and ask again, and where that isn't enough the run is out of
/// memory. Source: SimuMax's runs on B200, `max reserved` over `max allocated` - 1: the median of
/// 19 designs, 0.028 to 0.093.
#[rustfmt::skip]
pub const FRAGMENTATION: Fitted = Fitted::provisional(0.053,
    Evidence::Runs(&[("simumax_b200", 19)]), "one source prints what is held and what is used");

// ---- Levels of kernels: written by `cargo xtask calibrate --kernels`. ----

/// A100 and A800.
#[rustfmt::skip]
pub const AMPERE: Kernels = Kernels {
    family: "NVIDIA Ampere",
    gemm: 0.903,
    fp8_gemm: 0.700,
    block_fp8_gemm: 0.700,
    fp4_gemm: 0.500,
    grouped_gemm: 1.000,
    matmul_bandwidth: 0.743,
    half_depth_bytes: 446.6,
    attention_forward: 0.800,
    attention_backward: 0.670,
    mla_attention: 0.718,
    softmax: 1.000,
    softmax_overlap: Overlap::Sequential,
    softmaxes_backward: 3.01,
    attention_ramp_keys: 135.1,
    attention_block: 128.0,
    attention_micros: 22.3,
    flash_attention_2: AMPERE_IN_RUN.flash_attention_2,
    vector_bandwidth: 0.850,
    gather_bandwidth: 0.500,
    convolution: 1.000,
    scan: 1.000,
    in_run: AMPERE_IN_RUN.rate,
    fitted_on: Evidence::Kernels("aiconfigurator 095f58a", &[
        ("gemm", 197), ("attention", 343), ("mla", 143),
    ]),
    in_run_fitted_on: AMPERE_IN_RUN.fitted_on,
};

/// H100, H800, H200 and H20.
#[rustfmt::skip]
pub const HOPPER: Kernels = Kernels {
    family: "NVIDIA Hopper",
    gemm: 0.853,
    fp8_gemm: 0.811,
    block_fp8_gemm: 0.808,
    fp4_gemm: 0.500,
    grouped_gemm: 1.140,
    matmul_bandwidth: 0.842,
    half_depth_bytes: 310.1,
    attention_forward: 0.920,
    attention_backward: 0.571,
    mla_attention: 0.833,
    softmax: 0.605,
    softmax_overlap: Overlap::PingPong,
    softmaxes_backward: 2.18,
    attention_ramp_keys: 398.9,
    attention_block: 128.0,
    attention_micros: 9.7,
    flash_attention_2: HOPPER_IN_RUN.flash_attention_2,
    vector_bandwidth: 0.923,
    gather_bandwidth: 0.424,
    convolution: 0.689,
    scan: 0.574,
    in_run: HOPPER_IN_RUN.rate,
    fitted_on: Evidence::Kernels("aiconfigurator 095f58a", &[
        ("gemm", 1182), ("attention", 1388), ("cast", 88), ("mla", 286), ("grouped", 223),
    ]),
    in_run_fitted_on: HOPPER_IN_RUN.fitted_on,
};

/// B200, B300, GB200 and GB300.
#[rustfmt::skip]
pub const BLACKWELL: Kernels = Kernels {
    family: "NVIDIA Blackwell",
    gemm: 0.752,
    fp8_gemm: 0.714,
    block_fp8_gemm: 0.764,
    fp4_gemm: 0.531,
    grouped_gemm: 1.176,
    matmul_bandwidth: 0.762,
    half_depth_bytes: 306.6,
    attention_forward: 0.835,
    attention_backward: 0.480,
    mla_attention: 0.773,
    softmax: 0.722,
    softmax_overlap: Overlap::Pipelined,
    softmaxes_backward: 2.20,
    attention_ramp_keys: 478.6,
    attention_block: 128.0,
    attention_micros: 11.0,
    flash_attention_2: BLACKWELL_IN_RUN.flash_attention_2,
    vector_bandwidth: 0.848,
    gather_bandwidth: 0.430,
    convolution: 0.444,
    scan: 0.381,
    in_run: BLACKWELL_IN_RUN.rate,
    fitted_on: Evidence::Kernels("aiconfigurator 095f58a", &[
        ("gemm", 2208), ("attention", 2776), ("cast", 176), ("mla", 572), ("grouped", 432),
    ]),
    in_run_fitted_on: BLACKWELL_IN_RUN.fitted_on,
};

/// H200.
#[rustfmt::skip]
pub const H200: Levels = Levels {
    gemm: 0.836, fp8_gemm: 0.862, block_fp8_gemm: 0.776, fp4_gemm: 0.500,
    attention_forward: 0.897, softmax: 0.610,
};

/// B300.
#[rustfmt::skip]
pub const B300: Levels = Levels {
    gemm: 0.833, fp8_gemm: 0.770, block_fp8_gemm: 0.814, fp4_gemm: 0.386,
    attention_forward: 0.952, softmax: 0.415,
};

/// GB200.
#[rustfmt::skip]
pub const GB200: Levels = Levels {
    gemm: 0.748, fp8_gemm: 0.691, block_fp8_gemm: 0.720, fp4_gemm: 0.530,
    attention_forward: 0.821, softmax: 0.807,
};

/// GB300.
#[rustfmt::skip]
pub const GB300: Levels = Levels {
    gemm: 0.839, fp8_gemm: 0.770, block_fp8_gemm: 0.824, fp4_gemm: 0.384,
    attention_forward: 0.949, softmax: 0.445,
};

// ---- What runs say: written by `cargo xtask calibrate`. ----

/// Steps on A100 and A800.
#[rustfmt::skip]
const AMPERE_IN_RUN: InRun = InRun {
    rate: 0.846,
    flash_attention_2: 0.689,
    fitted_on: Evidence::Runs(&[
        ("bigscience", 48), ("korthikanti", 9), ("llm_foundry", 68), ("megatron21", 11),
        ("torchtitan", 7), ("vtrain_single", 11), ("zero_bubble", 48),
    ]),
};

/// Steps on H100, H800, H200 and H20.
#[rustfmt::skip]
const HOPPER_IN_RUN: InRun = InRun {
    rate: 0.808,
    flash_attention_2: 0.358,
    fitted_on: Evidence::Runs(&[
        ("automodel", 5), ("bridge_perf", 22), ("bridge_skills", 5), ("dgxc_bench", 105),
        ("llm_foundry", 52), ("mcore_examples", 2), ("megatron24", 9), ("mlperf", 18),
        ("moe_folding", 65), ("moe_modelzoo", 13), ("nemo_2407", 33), ("torchtitan", 11),
    ]),
};

/// Steps on B200, B300, GB200 and GB300.
#[rustfmt::skip]
const BLACKWELL_IN_RUN: InRun = InRun {
    rate: 0.841,
    flash_attention_2: 0.181,
    fitted_on: Evidence::Runs(&[
        ("bridge_perf", 80), ("colossalai", 1), ("dgxc_bench", 15), ("dsv3_gb200_ladder", 1),
        ("mlperf", 7), ("moe_modelzoo", 3), ("torchtitan", 4),
    ]),
};

/// Megatron-Core.
#[rustfmt::skip]
pub const MEGATRON: Host = Host {
    dispatch_micros: 53.0,
    sync_micros: 220.7,
    syncs: [1.0, 1.0, 0.0],
    launches_per_expert: 0.516,
    stops_early: false,
    element_passes: 1.000,
    straggler_sigma: 0.0094,
    fitted_on: Evidence::Runs(&[
        ("automodel", 5), ("bridge_perf", 102), ("bridge_skills", 5), ("colossalai", 1),
        ("dgxc_bench", 108), ("dsv3_gb200_ladder", 1), ("korthikanti", 9), ("mcore_examples", 2),
        ("megatron21", 8), ("megatron24", 9), ("mlperf", 25), ("moe_folding", 65),
        ("moe_modelzoo", 16), ("nemo_2407", 33), ("vtrain_single", 11), ("zero_bubble", 48),
    ]),
};

/// MindSpeed and MindFormers.
#[rustfmt::skip]
pub const MINDSPEED: Host = Host {
    dispatch_micros: 30.0,
    sync_micros: 600.0,
    syncs: [1.0, 1.0, 1.0],
    launches_per_expert: 0.500,
    stops_early: false,
    element_passes: 1.000,
    straggler_sigma: 0.0094,
    fitted_on: Evidence::Runs(&[
        ("ascend_runs/mindformers", 15), ("ascend_runs/mindspeed-llm", 8),
        ("ascend_runs/torchtitan-npu", 2), ("mindspeed_head", 2), ("mindspeed_rc3", 10),
    ]),
};

/// PyTorch FSDP and its relatives.
#[rustfmt::skip]
pub const FSDP: Host = Host {
    dispatch_micros: 20.0,
    sync_micros: 300.0,
    syncs: [1.0, 1.0, 0.0],
    launches_per_expert: 0.500,
    stops_early: true,
    element_passes: 1.000,
    straggler_sigma: 0.0326,
    fitted_on: Evidence::Runs(&[("dgxc_bench", 12), ("llm_foundry", 120), ("torchtitan", 22)]),
};

/// Errors of the step time by family and kind of model, all families together last.
#[rustfmt::skip]
pub const SPREADS: &[Spread] = &[
    Spread { family: "Ascend 910", kind: ModelKind::Dense,
        is_of_time: true, half: [-0.115, -0.027], most: [-0.265, 0.847],
        coverage: [0.515, 0.875], rows: 27, sources: 4 },
    Spread { family: "Ascend 910", kind: ModelKind::Experts,
        is_of_time: true, half: [-0.417, 0.732], most: [-0.727, 1.914],
        coverage: [0.778, 1.000], rows: 10, sources: 3 },
    Spread { family: "Ascend 910", kind: ModelKind::Mixed,
        is_of_time: true, half: [-0.018, 1.333], most: [-0.895, 2.210],
        coverage: [0.000, 0.000], rows: 2, sources: 1 },
    Spread { family: "NVIDIA Ampere", kind: ModelKind::Dense,
        is_of_time: true, half: [-0.081, 0.045], most: [-0.193, 0.352],
        coverage: [0.499, 0.945], rows: 202, sources: 7 },
    Spread { family: "NVIDIA Hopper", kind: ModelKind::Dense,
        is_of_time: true, half: [-0.035, 0.095], most: [-0.140, 0.193],
        coverage: [0.514, 0.905], rows: 223, sources: 9 },
    Spread { family: "NVIDIA Hopper", kind: ModelKind::Experts,
        is_of_time: true, half: [-0.112, 0.043], most: [-0.326, 0.404],
        coverage: [0.517, 0.946], rows: 117, sources: 6 },
    Spread { family: "NVIDIA Hopper", kind: ModelKind::Mixed,
        is_of_time: true, half: [-0.124, 0.222], most: [-0.214, 0.390],
        coverage: [0.444, 1.000], rows: 20, sources: 4 },
    Spread { family: "NVIDIA Blackwell", kind: ModelKind::Dense,
        is_of_time: true, half: [0.042, 0.297], most: [-0.385, 0.368],
        coverage: [0.489, 0.904], rows: 51, sources: 4 },
    Spread { family: "NVIDIA Blackwell", kind: ModelKind::Experts,
        is_of_time: true, half: [-0.135, 0.540], most: [-0.485, 1.708],
        coverage: [0.548, 1.000], rows: 60, sources: 4 },
    Spread { family: "NVIDIA Blackwell", kind: ModelKind::Mixed,
        is_of_time: true, half: [0.073, 0.553], most: [-1.013, 1.389],
        coverage: [0.000, 0.000], rows: 41, sources: 1 },
    Spread { family: "", kind: ModelKind::Dense,
        is_of_time: true, half: [-0.082, 0.088], most: [-0.171, 0.291],
        coverage: [0.545, 0.914], rows: 503, sources: 19 },
    Spread { family: "", kind: ModelKind::Experts,
        is_of_time: true, half: [-0.204, 0.220], most: [-0.467, 0.983],
        coverage: [0.495, 0.928], rows: 187, sources: 10 },
    Spread { family: "", kind: ModelKind::Mixed,
        is_of_time: true, half: [-0.139, 0.357], most: [-0.260, 1.330],
        coverage: [0.536, 0.900], rows: 63, sources: 5 },
];

/// Errors of the ratio of two step times of one source, model and accelerator.
#[rustfmt::skip]
pub const PAIR_SPREAD: Spread = Spread { family: "", kind: ModelKind::Experts,
        is_of_time: true, half: [-0.070, 0.070], most: [-0.659, 0.659],
        coverage: [0.518, 0.869], rows: 1251, sources: 12 };

/// Errors of the peak memory, of the peaks behind [`MEMORY_QUANTILES`] that were printed.
#[rustfmt::skip]
pub const MEMORY_SPREAD: Spread = Spread { family: "", kind: ModelKind::Experts,
        is_of_time: false, half: [-0.041, 0.150], most: [-0.318, 0.460],
        coverage: [0.544, 0.714], rows: 58, sources: 7 };

/// Signed errors of the peak memory, of 58 peaks from 7 sources that print recomputation and
/// micro-batch, and of 24 runs that ran though predicted not to fit.
#[rustfmt::skip]
pub const MEMORY_QUANTILES: [MemoryQuantile; 7] = [
    MemoryQuantile { share: 0.05, log_ratio: -0.276 },
    MemoryQuantile { share: 0.10, log_ratio: -0.226 },
    MemoryQuantile { share: 0.25, log_ratio: -0.067 },
    MemoryQuantile { share: 0.50, log_ratio: -0.032 },
    MemoryQuantile { share: 0.75, log_ratio: 0.114 },
    MemoryQuantile { share: 0.90, log_ratio: 0.177 },
    MemoryQuantile { share: 0.95, log_ratio: 0.319 },
];
