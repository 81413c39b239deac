//! Chunked scans and causal convolutions over time, forward.

use model::answer::microbench::{Burst, ChunkedScan, ScanRule};
use model::ground::choice::Precision;

use super::table::{self, Row};
use super::{Case, Work};

/// A kernel of linear attention or Mamba-2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kernel {
    Scan(ChunkedScan),
    /// A convolution of so many elements, 16 bits each, read and written.
    Convolution(f64),
}

impl Kernel {
    pub(super) fn seconds(&self, burst: &Burst) -> f64 {
        match self {
            Self::Scan(scan) => burst.scan(scan).get(),
            Self::Convolution(elements) => burst.convolution(4.0 * elements).get(),
        }
    }
}

pub(super) fn cases() -> Vec<Case> {
    table::rows(include_str!("../../kernels/scan.csv"), case)
}

fn case(row: &Row<'_>) -> Option<Case> {
    let (sequences, tokens) = (row.number("sequences")?, row.number("tokens_per_sequence")?);
    // Of a convolution, its channels.
    let heads = row.number("heads")?;
    let rule = match row.text("kernel") {
        "gdn" => Some(ScanRule::GatedDelta),
        "kda" => Some(ScanRule::KimiDelta),
        "mamba2" => Some(ScanRule::Mamba { groups: row.number("groups")? }),
        _ => None,
    };
    let (kind, kernel, name) = match rule {
        Some(rule) => {
            let widths = [row.number("key_dim")?, row.number("value_dim")?];
            let scan = ChunkedScan { rule, sequences, tokens, heads, widths };
            ("scan", Kernel::Scan(scan), "heads")
        }
        None => ("convolution", Kernel::Convolution(sequences * tokens * heads), "channels"),
    };
    Some(Case {
        kind,
        part: row.part()?,
        precision: Precision::Bf16,
        shape: format!("{}, {sequences} x {tokens} tokens, {heads} {name}", row.text("kernel")),
        work: Work::Scan(kernel),
        measured_us: row.number("min_us")?,
    })
}
