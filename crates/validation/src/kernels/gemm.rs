//! Matrix products.

use model::answer::microbench::Burst;
use model::catalogue::accelerator::AcceleratorId;
use model::catalogue::calibration::BLACKWELL;
use model::ground::choice::Precision;

use super::table::{self, Row};
use super::{Case, Work};

/// y [m, n] = x [m, k] w [k, n]; x is made narrower first where this many bytes an element, in so
/// many kernels, say so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Product {
    shape: [f64; 3],
    quantised: Option<[f64; 2]>,
}

impl Product {
    pub(super) fn seconds(&self, burst: &Burst) -> f64 {
        let [m, k, _] = self.shape;
        let quantised = self
            .quantised
            .map_or(0.0, |[bytes, kernels]| burst.elementwise(m * k * bytes, kernels).get());
        burst.product(self.shape).get() + quantised
    }
}

/// Bytes read and written to make one 16-bit element a narrower one, in how many kernels, where it
/// is.
///
/// By the smallest products, which take 2 us longer than in 16 bits on Hopper and 4 on Blackwell,
/// and by narrow ones, which wait for it most: one kernel on Hopper. On Blackwell two, of which one
/// finds the largest element where a tensor has one scale and one brings blocks' scales into the
/// tensor cores' layout otherwise.
pub(super) fn quantised(part: AcceleratorId, precision: Precision) -> Option<[f64; 2]> {
    let is_blackwell = part.row().kernels.family == BLACKWELL.family;
    let kernels = if is_blackwell { 2.0 } else { 1.0 };
    let bytes = match precision {
        Precision::Bf16 | Precision::Fp16 | Precision::Fp32 => return None,
        Precision::Fp8Tensorwise if is_blackwell => 2.0 + 2.0 + 1.0,
        Precision::Fp8Tensorwise
        | Precision::Fp8Delayed
        | Precision::Fp8Blockwise
        | Precision::Mxfp8 => 2.0 + 1.0,
        // Half a byte, and a scale of one byte for 16 elements.
        Precision::Nvfp4 => 2.0 + 0.5625,
    };
    Some([bytes, kernels])
}

pub(super) fn cases() -> Vec<Case> {
    table::rows(include_str!("../../kernels/gemm.csv"), case)
}

/// Case of a row: of a shape's rows of several frameworks the median counts, whose kernels are much
/// the same libraries', but for 8 bits the fastest: there rows hold the frameworks' own ways of
/// making elements narrower, some at a tenth of the bandwidth.
fn case(row: &Row<'_>) -> Option<Case> {
    let precision = row.precision()?;
    let shape = [row.number("m_rows")?, row.number("k")?, row.number("n")?];
    let eight_bits = matches!(precision, Precision::Fp8Tensorwise | Precision::Fp8Blockwise);
    let [m, k, n] = shape;
    let part = row.part()?;
    let quantised = quantised(part, precision);
    Some(Case {
        kind: "gemm",
        part,
        precision,
        shape: format!("m {m} k {k} n {n}"),
        work: Work::Product(Product { shape, quantised }),
        measured_us: row.number(if eight_bits { "min_us" } else { "median_us" })?,
    })
}
