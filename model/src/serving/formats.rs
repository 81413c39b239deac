//! Number formats of serving: what they cost on a device.

use super::engine::Overheads;
use crate::catalogue::accelerator::Accelerator;
use crate::catalogue::calibration::{ASCEND, BLACKWELL};
use crate::design::Design;
use crate::device::kernel::{DecodeRates, Device};
use crate::ground::choice::{Precision, WeightDtype};

/// Dense peak of 8-bit whole numbers: that of 8-bit floating point where a part has it, else twice
/// that of FP16, as data sheets of A100, 910B and 310P have it.
pub(super) fn int8_tops(row: &Accelerator) -> f64 {
    row.fp8_tflops.unwrap_or(2.0 * row.fp16_tflops)
}

/// Format of a part: the precision whose kernels run, their peak in TFLOPS, and bytes of a weight
/// over those of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Format {
    precision: Precision,
    peak_tflops: f64,
    weights: f64,
}

impl Format {
    fn new(dtype: WeightDtype, row: &Accelerator) -> Self {
        let wide = row.bf16_tflops.unwrap_or(row.fp16_tflops);
        let precision = if row.bf16_tflops.is_some() { Precision::Bf16 } else { Precision::Fp16 };
        let of_16_bits = |bytes: f64| Self { precision, peak_tflops: wide, weights: bytes / 2.0 };
        let bytes = dtype.bytes();
        match (dtype, row.fp8_tflops, row.fp4_tflops) {
            (WeightDtype::Fp8, Some(peak), _) => {
                Self { precision: Precision::Fp8Blockwise, peak_tflops: peak, weights: 1.0 }
            }
            (WeightDtype::Int8, ..) => {
                Self { precision: Precision::Fp8Delayed, peak_tflops: int8_tops(row), weights: 1.0 }
            }
            // Activations of 8 bits, weights of 4: at the rate of 8.
            (WeightDtype::Mxfp4, Some(peak), Some(_)) => {
                Self { precision: Precision::Mxfp8, peak_tflops: peak, weights: bytes }
            }
            (WeightDtype::Nvfp4, _, Some(peak)) => {
                Self { precision: Precision::Nvfp4, peak_tflops: peak, weights: 1.0 }
            }
            // Widened on their way to the units.
            _ => of_16_bits(bytes),
        }
    }
}

/// Share of the peak that attention over latents reaches in decode, and of the bandwidth at which
/// the cache is read.
///
/// # Source
/// FlashMLA on H800: 660 of 989 TFLOPS, 3,000 of 3,350 GB/s; `CloudMatrix384`: 65.4 and 84.1 %;
/// AIConfigurator: B200 1,355 of 2,250 TFLOPS and 5,600 of 8,000 GB/s; grouped-query attention of
/// FlashAttention-3 at 85 to 89 % of the bandwidth.
fn decode_shares(family: &str) -> [f64; 2] {
    match family {
        _ if family == ASCEND.family => [0.654, 0.841],
        _ if family == BLACKWELL.family => [0.602, 0.70],
        "NVIDIA Ampere" => [0.6, 0.80],
        _ => [0.667, 0.87],
    }
}

/// The device of a design that serves, and the same for what stays in 16 bits.
pub(super) fn devices(design: &Design, row: &Accelerator, overheads: &Overheads) -> [Device; 2] {
    let dtype = design.serving.weight_dtype;
    let scale = match (design.cluster.peak_bf16_tflops, row.bf16_tflops) {
        (Some(own), Some(nominal)) => own / nominal,
        _ => 1.0,
    };
    let device = |format: Format| {
        let peak = format.peak_tflops * scale * 1e12;
        let [share, cache] = decode_shares(row.kernels.family);
        let wide = row.bf16_tflops.unwrap_or(row.fp16_tflops) * scale * 1e12;
        let rates =
            DecodeRates { attention: wide * share, cache_bytes: row.hbm_gb_per_sec * 1e9 * cache };
        Device::of(row, format.precision, peak).serving(
            overheads.kernel_micros * 1e-6,
            format.weights,
            rates,
        )
    };
    let wide = device(Format::new(WeightDtype::Bf16, row));
    let own = Format::new(dtype, row);
    let device = if dtype.is_of_experts() { wide.with_experts(&device(own)) } else { device(own) };
    [device, wide]
}
