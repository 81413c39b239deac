//! The highest MFU that was published for designs like one at hand.

use super::best::BEST;
use crate::catalogue::calibration::ModelKind;
use crate::ground::choice::{AttentionFlops, Precision};
use crate::training::estimate::Metrics;
use crate::training::plan::Plan;

/// The published run with the highest MFU of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    /// The family of its accelerator.
    pub family: &'static str,
    /// The kind of its model.
    pub kind: ModelKind,
    /// Bits of an operand of its matrix products.
    pub bits: u8,
    /// The run's id in the table of published runs.
    pub id: &'static str,
    /// The model's name as published.
    pub model: &'static str,
    /// Its MFU, as [`comparable_mfu`] counts.
    pub mfu: f64,
}

impl Best {
    /// One of the table: family, kind and bits; id and model; and MFU.
    pub(super) const fn new(
        (family, kind, bits): (&'static str, ModelKind, u8),
        [id, model]: [&'static str; 2],
        mfu: f64,
    ) -> Self {
        Self { family, kind, bits, id, model, mfu }
    }
}

/// Bits of an operand of matrix products at this precision, without its scales.
#[must_use]
pub fn operand_bits(precision: Precision) -> u8 {
    let bits = precision.operand_bytes() * 8.0;
    [32, 16, 8].into_iter().find(|width| bits >= f64::from(*width)).unwrap_or(4)
}

/// MFU as all runs are counted that are compared with one another: half of the attention scores,
/// the MTP layer, and the data sheet's peak of the number format, whatever a design counts.
#[must_use]
pub fn comparable_mfu(plan: &Plan, metrics: &Metrics) -> f64 {
    let flops = plan.flops_per_token_under(AttentionFlops::Causal, true);
    flops.get() * metrics.tokens_per_second_per_device / plan.flops.peak.get()
}

/// The published run with the highest MFU on the family of a plan's accelerator, of its kind of
/// model and width of operands; `None` if there is none.
#[must_use]
pub fn best(plan: &Plan) -> Option<&'static Best> {
    let on = &plan.deployment;
    let of = (on.accelerator.kernels.family, plan.model_kind(), operand_bits(on.precision));
    BEST.iter().find(|best| (best.family, best.kind, best.bits) == of)
}
