//! The state of the software: what kernels and host of a given date reach, as published.
//!
//! Each entry of a state has a value, the range that its source leaves and the source. None rests
//! on a throughput or an MFU that the model predicts. Published gains from end to end (operators
//! 1.15, host 1.045, expert prediction and data rearrangement 1.255, expert balancing 1.10, all
//! overlaps 1.726) are no inputs: they stand beside the model's own ratios.

use crate::accelerator::Accelerator;
use crate::calibration::{ASCEND, Host, Kernels};
use crate::choice::{Framework, Software};
use crate::design::{Design, Kernel};
use crate::source::{
    CANN_RECIPES, HUAWEI_OPERATORS, LIMULIDAE, MINDFORMERS, PTO_ISA, Source, TILELANG_ASCEND,
};

/// A rate, and what its source leaves open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// What the model takes: the middle of the range, unless the source names one as typical.
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
    /// The same, backward.
    pub attention_backward_efficiency: Rate,
    /// Share of the memory bandwidth that element-wise kernels and copies of rows reach.
    pub vector_bandwidth_share: Rate,
    /// How long the device waits when the host reads sizes back, in microseconds.
    pub sync_microseconds: Rate,
    /// How often the host does so in a MoE layer and micro-batch: forward, recomputation and
    /// backward together.
    pub syncs_per_layer: Rate,
}

/// How often sizes are read back in a MoE layer and micro-batch: 1.5 ms saved each time and 4 to 5
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
    /// The rates of a dated state; none where the family's own constants count.
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

    /// Is it a state that this family of accelerators has had?
    #[must_use]
    pub fn is_of(self, kernels: &Kernels) -> bool {
        self == Self::Calibrated || kernels.family == ASCEND.family
    }
}

/// A design at the slowest and at the fastest rates that the sources of its dated state leave open;
/// none where the family's own constants or ideal ones count. Rates that the design sets itself
/// stay.
#[must_use]
pub fn ends(design: &Design) -> Option<[Design; 2]> {
    let rates = design.kernel.software.rates()?;
    if design.kernel.framework == Framework::Ideal {
        return None;
    }
    let [mut slow, mut fast] = [design.clone(), design.clone()];
    let mut open = |knob: fn(&mut Kernel) -> &mut Option<f64>, [slowest, fastest]: [f64; 2]| {
        for (design, end) in [(&mut slow, slowest), (&mut fast, fastest)] {
            knob(&mut design.kernel).get_or_insert(end);
        }
    };
    open(|it| &mut it.gemm_efficiency, rates.gemm_efficiency.range);
    let grouped = rates.grouped_gemm_relative_efficiency.range;
    open(|it| &mut it.grouped_gemm_relative_efficiency, grouped);
    open(|it| &mut it.attention_forward_efficiency, rates.attention_forward_efficiency.range);
    open(|it| &mut it.attention_backward_efficiency, rates.attention_backward_efficiency.range);
    open(|it| &mut it.vector_bandwidth_share, rates.vector_bandwidth_share.range);
    let longest_first = |Rate { range: [least, most], .. }: Rate| [most, least];
    open(|it| &mut it.sync_microseconds, longest_first(rates.sync_microseconds));
    open(|it| &mut it.syncs_per_layer, longest_first(rates.syncs_per_layer));
    Some([slow, fast])
}

/// Share of the memory bandwidth that nothing which runs exceeds.
const BEST_VECTOR: f64 = 0.9;

/// Turns an accelerator's and a framework's constants into the rates of a design: those of its
/// state of the software in their place, and what the design sets by itself in the place of both.
///
/// Without a framework kernels reach the best that was measured, and the host costs nothing.
pub(crate) fn install(kernel: &Kernel, accelerator: &mut Accelerator, host: &mut Host) {
    accelerator.sustained_clock *= kernel.sustained_clock;
    limit(kernel, accelerator, host);
    let kernels = &mut accelerator.kernels;
    let dated = kernel.software.rates().filter(|_| kernel.framework != Framework::Ideal);
    let rate = |own: Option<f64>, of: fn(&Rates) -> Rate| {
        own.or_else(|| dated.map(|rates| of(rates).value))
    };
    if let Some(share) = rate(kernel.gemm_efficiency, |rates| rates.gemm_efficiency) {
        // Whatever the format: a design has one.
        let of = |bytes: f64| gemm_level(share, kernels.half_depth_bytes / bytes);
        let [wide, narrow, least] = [of(2.0), of(1.0), of(0.5)];
        (kernels.gemm, kernels.fp8_gemm) = (wide, narrow);
        (kernels.block_fp8_gemm, kernels.fp4_gemm) = (narrow, least);
    }
    let relative = kernel.grouped_gemm_relative_efficiency;
    if let Some(share) = rate(relative, |rates| rates.grouped_gemm_relative_efficiency) {
        kernels.grouped_gemm = share;
    }
    let forward = kernel.attention_forward_efficiency;
    if let Some(share) = rate(forward, |rates| rates.attention_forward_efficiency) {
        kernels.attention_forward = share;
    }
    let backward = kernel.attention_backward_efficiency;
    if let Some(share) = rate(backward, |rates| rates.attention_backward_efficiency) {
        kernels.attention_backward = share;
    }
    if let Some(share) = rate(kernel.vector_bandwidth_share, |rates| rates.vector_bandwidth_share) {
        (kernels.vector_bandwidth, kernels.gather_bandwidth) = (share, share);
    }
    if let Some(micros) = rate(kernel.sync_microseconds, |rates| rates.sync_microseconds) {
        host.sync_micros = micros;
    }
    if let Some(count) = rate(kernel.syncs_per_layer, |rates| rates.syncs_per_layer) {
        host.sync_times(count);
    }
}

/// From bursts to steps, and the constants' own limits: no matmul is faster than the best that was
/// measured on the part, whatever its family reaches, and attention is of the library that the
/// framework calls.
fn limit(kernel: &Kernel, accelerator: &mut Accelerator, host: &Host) {
    let kernels = &mut accelerator.kernels;
    if kernel.framework == Framework::Ideal {
        let best = accelerator.best_gemm_fraction;
        for product in [
            &mut kernels.gemm,
            &mut kernels.fp8_gemm,
            &mut kernels.block_fp8_gemm,
            &mut kernels.fp4_gemm,
            &mut kernels.attention_forward,
            &mut kernels.attention_backward,
        ] {
            *product = best;
        }
        (kernels.grouped_gemm, kernels.mla_attention, kernels.softmax) = (1.0, 1.0, 1.0);
        (kernels.vector_bandwidth, kernels.gather_bandwidth) = (BEST_VECTOR, BEST_VECTOR);
        return;
    }
    // A part that sustains a higher clock still does no better than the best matmul.
    let most = accelerator.best_gemm_fraction / accelerator.sustained_clock;
    let rate = kernels.in_run;
    for level in [
        &mut kernels.fp8_gemm,
        &mut kernels.block_fp8_gemm,
        &mut kernels.fp4_gemm,
        &mut kernels.softmax,
        &mut kernels.matmul_bandwidth,
        &mut kernels.vector_bandwidth,
        &mut kernels.gather_bandwidth,
    ] {
        *level *= rate;
    }
    kernels.gemm = (kernels.gemm * rate).min(most);
    let library = if host.flash_attention_2 { kernels.flash_attention_2 } else { 1.0 };
    kernels.attention_forward = (kernels.attention_forward * rate).min(most) * library;
    kernels.attention_backward = (kernels.attention_backward * rate).min(most) * library;
    kernels.vector_bandwidth /= host.element_passes;
}
