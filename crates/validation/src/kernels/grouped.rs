//! Layers of experts on one rank: grouped products with the copies, the activation function and the
//! casts around them, each counted apart.

use model::answer::microbench::Burst;
use model::ground::choice::Precision;

use super::gemm::quantised;
use super::table::{self, Row};
use super::{Case, Work};

/// A gated layer of experts, balanced, this rank's share of it, without an exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Experts {
    precision: Precision,
    /// Bytes of a cast, an element.
    cast: Option<f64>,
    tokens: f64,
    hidden: f64,
    /// Width of an expert on this rank.
    inner: f64,
    /// Rows of all local experts.
    rows: f64,
    /// Experts of the layer, and of this rank.
    experts: f64,
    local: f64,
}

impl Experts {
    /// Router, sort, copies, two grouped products and the weighted sum of copies.
    pub(super) fn seconds(&self, burst: &Burst) -> f64 {
        let Self { hidden, inner, rows, local, .. } = *self;
        let each = rows / local;
        let products = burst.grouped_product([each, hidden, 2.0 * inner], local)
            + burst.grouped_product([each, inner, hidden], local);
        // Scores in 32 bits, read and written; a histogram, its sums and the index follow.
        let router = burst.elementwise(self.tokens * self.experts * 8.0, 4.0);
        let summed = burst.gather(2.0 * hidden * (rows + self.tokens), 1.0);
        (products + router + summed).get() + self.copies(burst)
    }

    /// Copies in the experts' order, casts and the activation function.
    ///
    /// With one scale a tensor tokens are cast before they are copied and the activation function
    /// writes narrow elements. Scales of blocks take kernels of their own behind the copies and
    /// behind the activation function.
    fn copies(&self, burst: &Burst) -> f64 {
        let Self { hidden, inner, rows, .. } = *self;
        let tokens = self.tokens.min(rows);
        let [copied, narrow] = [hidden * (rows + tokens), inner * rows];
        let narrowed = self.precision.operand_bytes();
        let parts = match self.cast {
            None => burst.gather(2.0 * copied, 1.0) + burst.elementwise(6.0 * narrow, 1.0),
            Some(cast) if self.precision == Precision::Fp8Blockwise => {
                burst.gather(2.0 * copied, 1.0)
                    + burst.elementwise(cast * hidden * rows, 1.0)
                    + burst.elementwise((6.0 + cast) * narrow, 2.0)
            }
            Some(cast) => {
                burst.elementwise(cast * hidden * tokens, 1.0)
                    + burst.gather(narrowed * copied, 1.0)
                    + burst.elementwise((4.0 + narrowed) * narrow, 1.0)
            }
        };
        parts.get()
    }
}

pub(super) fn cases() -> Vec<Case> {
    table::rows(include_str!("../../kernels/moe.csv"), case)
}

/// The fastest of a shape's rows count: the frameworks' kernels differ two- to fourfold.
fn case(row: &Row<'_>) -> Option<Case> {
    let number = |column| row.number(column);
    let (precision, tokens, experts) = (row.precision()?, number("tokens")?, number("experts")?);
    let [hidden, ffn, topk] = [number("hidden")?, number("expert_ffn")?, number("topk")?];
    let [ep, etp] = [number("ep")?, number("etp")?];
    let part = row.part()?;
    let work = Experts {
        precision,
        cast: quantised(part, precision).map(|[bytes, _]| bytes),
        tokens,
        hidden,
        inner: ffn / etp,
        rows: tokens * topk / ep,
        experts,
        local: experts / ep,
    };
    Some(Case {
        kind: "grouped",
        part,
        precision,
        shape: format!(
            "{tokens} tokens, hidden {hidden}, {experts} experts of {ffn}, top {topk}, EP {ep}, \
             ETP {etp}"
        ),
        work: Work::Experts(work),
        measured_us: number("min_us")?,
    })
}
