//! A design's state of the software, put in the place of the constants of its accelerator and host.

use crate::catalogue::accelerator::Accelerator;
use crate::catalogue::calibration::{ASCEND, Host, Kernels};
use crate::catalogue::rates::{Rate, Rates, gemm_level};
use crate::design::{Design, Kernel};
use crate::ground::choice::{Framework, Software};

impl Software {
    /// Whether this family of accelerators has had the state.
    #[must_use]
    pub fn is_of(self, kernels: &Kernels) -> bool {
        self == Self::Calibrated || kernels.family == ASCEND.family
    }
}

/// A design at the slowest and at the fastest rates that the sources of its dated state leave open;
/// `None` if the family's own constants or ideal ones count. Rates that the design sets itself
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
    if let Some(own) = kernel.in_run_rate {
        accelerator.kernels.in_run = own;
    }
    limit(kernel, accelerator, host);
    let kernels = &mut accelerator.kernels;
    let dated = kernel.software.rates().filter(|_| kernel.framework != Framework::Ideal);
    let rate = |own: Option<f64>, of: fn(&Rates) -> Rate| {
        own.or_else(|| dated.map(|rates| of(rates).value))
    };
    // A dated state's rates are of steps, and of other clusters.
    let in_run = kernel.in_run_rate.unwrap_or(1.0);
    let share = |own: Option<f64>, of: fn(&Rates) -> Rate| {
        own.or_else(|| dated.map(|rates| (of(rates).value * in_run).min(1.0)))
    };
    if let Some(share) = share(kernel.gemm_efficiency, |rates| rates.gemm_efficiency) {
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
    if let Some(share) = share(forward, |rates| rates.attention_forward_efficiency) {
        kernels.attention_forward = share;
    }
    let backward = kernel.attention_backward_efficiency;
    if let Some(share) = share(backward, |rates| rates.attention_backward_efficiency) {
        kernels.attention_backward = share;
    }
    if let Some(share) = share(kernel.vector_bandwidth_share, |rates| rates.vector_bandwidth_share)
    {
        (kernels.vector_bandwidth, kernels.gather_bandwidth) = (share, share);
    }
    if let Some(micros) = rate(kernel.sync_microseconds, |rates| rates.sync_microseconds) {
        host.sync_micros = micros;
    }
    if let Some(count) = rate(kernel.syncs_per_layer, |rates| rates.syncs_per_layer) {
        host.sync_times(count);
    }
}

/// From microbenchmarks to steps, and the constants' own limits: no matmul is faster than the best
/// that was measured on the part, whatever its family reaches, and attention is of the library that
/// the design names, or the one written for the family: PyTorch's own attention is cuDNN's from
/// Hopper on where torchtitan asks for that first (`attention.py`, `set_priority`).
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
        (kernels.convolution, kernels.scan) = (1.0, 1.0);
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
        // A cluster's own rate may be above the family's microbenchmarks, and nothing above its
        // peak.
        if kernel.in_run_rate.is_some() {
            *level = level.min(1.0);
        }
    }
    kernels.gemm = (kernels.gemm * rate).min(most);
    let is_second = kernel.flash_attention_version == Some(2);
    let library = if is_second { kernels.flash_attention_2 } else { 1.0 };
    kernels.attention_forward = (kernels.attention_forward * rate).min(most) * library;
    kernels.attention_backward = (kernels.attention_backward * rate).min(most) * library;
    kernels.vector_bandwidth /= host.element_passes;
}
