//! The constants that runs of one's own may move, and how far they may be off before any run.

use model::answer::in_effect::RatesInEffect;
use model::catalogue::rates::{Rate, Rates};
use model::design::{Kernel, KnobId};
use model::ground::choice::Software;
use model::ground::knob::Kind;

/// Number of constants.
pub(crate) const COUNT: usize = 8;

/// The place of the rate inside steps.
pub(crate) const IN_RUN: usize = 0;

/// The place of how often sizes are read back.
pub(crate) const SYNCS: usize = 7;

/// A constant, which is a knob's.
pub(crate) struct Constant {
    pub(crate) knob: KnobId,
    /// Value in effect while the knob is `none`.
    pub(crate) in_effect: fn(&RatesInEffect) -> f64,
    /// The knob's place in a design.
    pub(crate) own: fn(&mut Kernel) -> &mut Option<f64>,
    /// Whether it is a rate inside steps, so that it moves with the cluster's.
    pub(crate) follows_in_run: bool,
    /// Its entry in a dated state; `None` for the rate inside steps.
    dated: Option<fn(&Rates) -> Rate>,
}

/// The constants, in the order of the registry.
pub(crate) static CONSTANTS: [Constant; COUNT] = [
    Constant {
        knob: KnobId::in_run_rate,
        in_effect: |rates| rates.in_run_rate,
        own: |kernel| &mut kernel.in_run_rate,
        follows_in_run: false,
        dated: None,
    },
    Constant {
        knob: KnobId::gemm_efficiency,
        in_effect: |rates| rates.gemm_efficiency,
        own: |kernel| &mut kernel.gemm_efficiency,
        follows_in_run: true,
        dated: Some(|rates| rates.gemm_efficiency),
    },
    Constant {
        knob: KnobId::grouped_gemm_relative_efficiency,
        in_effect: |rates| rates.grouped_gemm_relative_efficiency,
        own: |kernel| &mut kernel.grouped_gemm_relative_efficiency,
        follows_in_run: false,
        dated: Some(|rates| rates.grouped_gemm_relative_efficiency),
    },
    Constant {
        knob: KnobId::attention_forward_efficiency,
        in_effect: |rates| rates.attention_forward_efficiency,
        own: |kernel| &mut kernel.attention_forward_efficiency,
        follows_in_run: true,
        dated: Some(|rates| rates.attention_forward_efficiency),
    },
    Constant {
        knob: KnobId::attention_backward_efficiency,
        in_effect: |rates| rates.attention_backward_efficiency,
        own: |kernel| &mut kernel.attention_backward_efficiency,
        follows_in_run: true,
        dated: Some(|rates| rates.attention_backward_efficiency),
    },
    Constant {
        knob: KnobId::vector_bandwidth_share,
        in_effect: |rates| rates.vector_bandwidth_share,
        own: |kernel| &mut kernel.vector_bandwidth_share,
        follows_in_run: true,
        dated: Some(|rates| rates.vector_bandwidth_share),
    },
    Constant {
        knob: KnobId::sync_microseconds,
        in_effect: |rates| rates.sync_microseconds,
        own: |kernel| &mut kernel.sync_microseconds,
        follows_in_run: false,
        dated: Some(|rates| rates.sync_microseconds),
    },
    Constant {
        knob: KnobId::syncs_per_layer,
        in_effect: |rates| rates.syncs_per_layer,
        own: |kernel| &mut kernel.syncs_per_layer,
        follows_in_run: false,
        dated: Some(|rates| rates.syncs_per_layer),
    },
];

/// Time that a read-back takes at least, in microseconds: a fit moves its logarithm.
const LEAST_SYNC: f64 = 1.0;

impl Constant {
    /// Bounds of its knob's values.
    pub(crate) fn bounds(&self) -> [f64; 2] {
        let Kind::OptionalReal(least, most) = self.knob.knob().kind else {
            return [f64::MIN_POSITIVE, f64::MAX];
        };
        [least.max(LEAST_SYNC.min(most * 1e-3)), most]
    }

    /// Spread of a cluster's value around the family's before any run is seen: the standard
    /// deviation of its logarithm.
    ///
    /// The dated states of Ascend's software are the one series that is published: a cluster's is
    /// taken to be as far from the family's as that of November 2024 is from that of 2026. What
    /// the two have in common counts as the least of the others.
    pub(crate) fn prior(&self) -> f64 {
        let states = [Software::Ascend202411, Software::Ascend2026].map(Software::rates);
        let [Some(before), Some(after)] = states else { return LEAST_PRIOR };
        let Some(of) = self.dated else { return LEAST_PRIOR };
        (of(after).value / of(before).value).ln().abs().max(LEAST_PRIOR)
    }
}

/// 0.70 against 0.83: of matrix products, the entry that has moved least.
const LEAST_PRIOR: f64 = 0.17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_is_a_knob_of_kernels_within_legal_bounds() {
        let mut kernel = Kernel::default();
        for constant in &CONSTANTS {
            let [least, most] = constant.bounds();
            assert!(constant.knob.id().starts_with("kernel.") && 0.0 < least && least < most);
            *(constant.own)(&mut kernel) = Some(least);
            assert!((LEAST_PRIOR..=1.3).contains(&constant.prior()), "{}", constant.knob.id());
        }
        assert_eq!(CONSTANTS[IN_RUN].knob, KnobId::in_run_rate);
        assert_eq!(CONSTANTS[SYNCS].knob, KnobId::syncs_per_layer);
        assert!(Kernel::default() != kernel);
    }
}
