//! 16-bit elements made 8-bit ones with a scale that is given.

use model::answer::microbench::Burst;
use model::ground::choice::Precision;

use super::table::{self, Row};
use super::{Case, Work};

/// A cast of this many elements, two bytes read and one written each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cast {
    elements: f64,
}

impl Cast {
    pub(super) fn seconds(&self, burst: &Burst) -> f64 {
        burst.elementwise(3.0 * self.elements, 1.0).get()
    }
}

pub(super) fn cases() -> Vec<Case> {
    table::rows(include_str!("../../kernels/cast.csv"), case)
}

/// The fastest of a shape's rows count: one framework's kernel is at a tenth of the bandwidth.
fn case(row: &Row<'_>) -> Option<Case> {
    let [rows, width] = [row.number("m_rows")?, row.number("k")?];
    Some(Case {
        kind: "cast",
        part: row.part()?,
        precision: Precision::Fp8Tensorwise,
        shape: format!("{rows} x {width}"),
        work: Work::Cast(Cast { elements: rows * width }),
        measured_us: row.number("min_us")?,
    })
}
