//! The state of the software: what kernels and host of a given date reach, as published.
//!
//! Each entry of a state has a value, the range that its source leaves and the source. None rests
//! on a throughput or an MFU that the model predicts. Published gains from end to end (operators
//! 1.15, host 1.045, expert prediction and data rearrangement 1.255, expert balancing 1.10, all
//! overlaps 1.726) are no inputs: they stand beside the model's own ratios.

use crate::ground::choice::Software;
use crate::ground::source::{
    CANN_RECIPES, HUAWEI_OPERATORS, LIMULIDAE, MINDFORMERS, PTO_ISA, Source, TILELANG_ASCEND,
};

/// A rate, and what its source leaves open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Value that the model takes: the middle of the range, unless the source names one as typical.
    pub value: f64,
    /// From the least to the most that the source allows.
    pub range: [f64; 2],
    /// Where it is published.
    pub source: Source,
}

impl Rate {
    const fn of(value: f64, source: Source) -> Self {
        Self { value, range: [value, value], source }
    }

    const fn within(least: f64, most: f64, source: Source) -> Self {
        Self { value: 0.5 * (least + most), range: [least, most], source }
    }
}

/// Depth of the large matmuls that published rates are of, in elements.
///
/// PTO-ISA's 0.79 and 0.87 are of cubes of 3,072 and 6,144 a side; MindFormers' rows are of models
/// 4,096 to 8,192 wide.
pub const LARGE_MATMUL_DEPTH: f64 = 4_096.0;

/// The level of matmuls, that of an endlessly deep one, of which a large one reaches this share.
///
/// `half_depth` is the depth that a tile's loading and draining take the time of, in elements.
pub(crate) const fn gemm_level(share: f64, half_depth: f64) -> f64 {
    share * (1.0 + half_depth / LARGE_MATMUL_DEPTH)
}

/// The rates of one state. Shares are of peaks that losses by shape, tile and wave come on top of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Share of the peak that a large, aligned matmul reaches, [`LARGE_MATMUL_DEPTH`] deep.
    pub gemm_efficiency: Rate,
    /// Rate of a grouped matmul over that of one matmul.
    pub grouped_gemm_relative_efficiency: Rate,
    /// Share of the peak that the products of flash attention reach, forward.
    pub attention_forward_efficiency: Rate,
    /// Share of the peak that the products of flash attention reach, backward.
    pub attention_backward_efficiency: Rate,
    /// Share of the memory bandwidth that element-wise kernels and copies of rows reach.
    pub vector_bandwidth_share: Rate,
    /// Time that the device waits when the host reads sizes back, in microseconds.
    pub sync_microseconds: Rate,
    /// Number of these read-backs in a MoE layer and micro-batch: forward, recomputation and
    /// backward together.
    pub syncs_per_layer: Rate,
}

/// Number of read-backs of sizes in a MoE layer and micro-batch: 1.5 ms saved each time and 4 to 5
/// % of a step of 30 to 34.5 s are 3.0 to 4.3 in Pangu Ultra MoE, 3 as one in each of three passes.
const SYNCS: Rate = Rate { value: 3.0, range: [3.0, 4.3], source: HUAWEI_OPERATORS };

const ASCEND_2024_11: Rates = Rates {
    gemm_efficiency: Rate::of(0.70, MINDFORMERS),
    grouped_gemm_relative_efficiency: Rate::of(0.78, CANN_RECIPES),
    attention_forward_efficiency: Rate::of(0.28, MINDFORMERS),
    attention_backward_efficiency: Rate::of(0.26, MINDFORMERS),
    vector_bandwidth_share: Rate::of(0.39, LIMULIDAE),
    sync_microseconds: Rate::of(2_100.0, HUAWEI_OPERATORS),
    syncs_per_layer: SYNCS,
};

const ASCEND_2025_05: Rates = Rates {
    grouped_gemm_relative_efficiency: Rate::within(0.78, 0.90, CANN_RECIPES),
    attention_forward_efficiency: Rate::of(0.30, HUAWEI_OPERATORS),
    attention_backward_efficiency: Rate::of(0.28, HUAWEI_OPERATORS),
    ..ASCEND_2024_11
};

/// Matmul 10 %, attention 50 % forward and 30 % backward faster than in May, element-wise kernels
/// twice, at best three times; a read-back takes 0.6 ms.
const ASCEND_2025_06: Rates = Rates {
    gemm_efficiency: Rate::of(0.77, HUAWEI_OPERATORS),
    grouped_gemm_relative_efficiency: Rate::within(0.90, 1.00, CANN_RECIPES),
    attention_forward_efficiency: Rate::of(0.45, HUAWEI_OPERATORS),
    attention_backward_efficiency: Rate::of(0.36, HUAWEI_OPERATORS),
    vector_bandwidth_share: Rate { value: 0.78, range: [0.78, 1.00], source: HUAWEI_OPERATORS },
    sync_microseconds: Rate::of(600.0, HUAWEI_OPERATORS),
    syncs_per_layer: SYNCS,
};

/// The state that Ascend's own constants are of.
pub const ASCEND_2026: Rates = Rates {
    gemm_efficiency: Rate::within(0.79, 0.87, PTO_ISA),
    grouped_gemm_relative_efficiency: Rate::of(1.00, CANN_RECIPES),
    attention_forward_efficiency: Rate::within(0.45, 0.50, TILELANG_ASCEND),
    // No rate of 2026 is published: 0.26 to 0.30 of before, 30 % faster.
    attention_backward_efficiency: Rate::within(0.34, 0.39, HUAWEI_OPERATORS),
    vector_bandwidth_share: Rate::within(0.60, 0.90, CANN_RECIPES),
    sync_microseconds: Rate::of(600.0, HUAWEI_OPERATORS),
    syncs_per_layer: SYNCS,
};

impl Software {
    /// The rates of a dated state; `None` if the family's own constants count.
    #[must_use]
    pub const fn rates(self) -> Option<&'static Rates> {
        match self {
            Self::Calibrated => None,
            Self::Ascend202411 => Some(&ASCEND_2024_11),
            Self::Ascend202505 => Some(&ASCEND_2025_05),
            Self::Ascend202506 => Some(&ASCEND_2025_06),
            Self::Ascend2026 => Some(&ASCEND_2026),
        }
    }
}
