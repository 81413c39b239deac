//! Matrix products.

use model::accelerator::AcceleratorId;
use model::burst::Burst;
use model::calibration::BLACKWELL;
use model::choice::Precision;

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
        let quantised = self.quantised.map_or(0.0, |[bytes, kernels]| {
            burst.elementwise(m * k * bytes, kernels).get()
        });
        burst.product(self.shape).get() + quantised
    }
}

/// Bytes read and written to make one 16-bit element a narrower one, where it is.
pub(super) fn quantised(precision: Precision) -> Option<f64> {
    match precision {
        Precision::Bf16 | Precision::Fp16 | Precision::Fp32 => None,
        Precision::Fp8Delayed
        | Precision::Fp8Tensorwise
        | Precision::Fp8Blockwise
        | Precision::Mxfp8 => Some(2.0 + 1.0),
        // Half a byte, and a scale of one byte for 16 elements.
        Precision::Nvfp4 => Some(2.0 + 0.5625),
    }
}

/// Kernels that make x narrower: on Blackwell scales are brought into the tensor cores' layout as
/// well, and small products take 4 us longer than in 16 bits, on Hopper 2.
fn quantising_kernels(part: AcceleratorId) -> f64 {
    if part.row().kernels.family == BLACKWELL.family { 2.0 } else { 1.0 }
}

pub(super) fn cases() -> Vec<Case> {
    table::rows(include_str!("../../kernels/gemm.csv"), case)
}

/// Of a shape's rows of several frameworks the median counts, whose kernels are much the same
/// libraries', but for 8 bits the fastest: there rows hold the frameworks' own ways of making
/// elements narrower, some at a tenth of the bandwidth.
fn case(row: &Row<'_>) -> Option<Case> {
    let precision = row.precision()?;
    let shape = [row.number("m_rows")?, row.number("k")?, row.number("n")?];
    let eight_bits = matches!(precision, Precision::Fp8Tensorwise | Precision::Fp8Blockwise);
    let [m, k, n] = shape;
    let part = row.part()?;
    let quantised = quantised(precision).map(|bytes| [bytes, quantising_kernels(part)]);
    Some(Case {
        kind: "gemm",
        part,
        precision,
        shape: format!("m {m} k {k} n {n}"),
        work: Work::Product(Product { shape, quantised }),
        measured_us: row.number(if eight_bits { "min_us" } else { "median_us" })?,
    })
}
