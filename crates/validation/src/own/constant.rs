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

/// A constant, whose knob, rate in effect and entry of a dated state have one name.
macro_rules! constant {
    ($name:ident, $follows_in_run:literal, $dated:expr) => {
        Constant {
            knob: KnobId::$name,
            in_effect: |rates| rates.$name,
            own: |kernel| &mut kernel.$name,
            follows_in_run: $follows_in_run,
            dated: $dated,
        }
    };
    ($name:ident, $follows_in_run:literal) => {
        constant!($name, $follows_in_run, Some(|rates| rates.$name))
    };
}

/// The constants, in the order of the registry.
pub(crate) static CONSTANTS: [Constant; COUNT] = [
    constant!(in_run_rate, false, None),
    constant!(gemm_efficiency, true),
    constant!(grouped_gemm_relative_efficiency, false),
    constant!(attention_forward_efficiency, true),
    constant!(attention_backward_efficiency, true),
    constant!(vector_bandwidth_share, true),
    constant!(sync_microseconds, false),
    constant!(syncs_per_layer, false),
];

/// Time that a read-back takes at least, in microseconds: a fit moves its logarithm.
const MIN_SYNC_MICROSECONDS: f64 = 1.0;

impl Constant {
    /// Bounds of its knob's values.
    pub(crate) fn bounds(&self) -> [f64; 2] {
        let Kind::OptionalReal(least, most) = self.knob.knob().kind else {
            return [f64::MIN_POSITIVE, f64::MAX];
        };
        [least.max(MIN_SYNC_MICROSECONDS.min(most * 1e-3)), most]
    }

    /// Spread of a cluster's value around the family's before any run is seen: the standard
    /// deviation of its logarithm.
    ///
    /// The dated states of Ascend's software are the one series that is published: a cluster's is
    /// taken to be as far from the family's as that of November 2024 is from that of 2026. What
    /// the two have in common counts as the least of the others.
    pub(crate) fn prior(&self) -> f64 {
        let states = [Software::Ascend202411, Software::Ascend2026].map(Software::rates);
        let [Some(before), Some(after)] = states else { return MIN_PRIOR_DEVIATION };
        let Some(of) = self.dated else { return MIN_PRIOR_DEVIATION };
        (of(after).value / of(before).value).ln().abs().max(MIN_PRIOR_DEVIATION)
    }
}

/// 0.70 against 0.83: of matrix products, the entry that has moved least.
const MIN_PRIOR_DEVIATION: f64 = 0.17;

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
            assert!(
                (MIN_PRIOR_DEVIATION..=1.3).contains(&constant.prior()),
                "{}",
                constant.knob.id()
            );
        }
        assert_eq!(CONSTANTS[IN_RUN].knob, KnobId::in_run_rate);
        assert_eq!(CONSTANTS[SYNCS].knob, KnobId::syncs_per_layer);
        assert!(Kernel::default() != kernel);
    }
}
