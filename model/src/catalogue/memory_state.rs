//! How sure it is that a design fits its memory.
//!
//! A predicted peak is off by some share, so a design just below its limit may run out of memory,
//! and one just above it may run. [`crate::catalogue::calibration::MEMORY_QUANTILES`] has how far
//! published peaks were off, signed; the share of them that would still be within the limit is the
//! probability that the design fits, and [`MemoryState`] puts that into one of four words.

use crate::catalogue::calibration::{MEMORY_QUANTILES, MemoryQuantile};

/// The probability of fitting from which on a design counts as fitting.
pub const MIN_FITS_PROBABILITY: f64 = 0.9;

/// The probability of fitting from which on a design that isn't sure to fit is tight: at least as
/// likely to fit as not.
pub const MIN_TIGHT_PROBABILITY: f64 = 0.5;

/// The probability of fitting below which a design counts as not fitting.
pub const MIN_UNLIKELY_PROBABILITY: f64 = 0.1;

/// Whether a design fits its memory, as far as the error of the prediction lets one say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryState {
    /// It fits with a probability of [`MIN_FITS_PROBABILITY`] or more.
    Fits,
    /// It may run out of memory, and fits with a probability of [`MIN_TIGHT_PROBABILITY`] or more.
    Tight,
    /// It may fit, and runs out of memory more likely than not.
    Unlikely,
    /// It fits with a probability below [`MIN_UNLIKELY_PROBABILITY`].
    DoesNotFit,
}

impl MemoryState {
    /// Every state, from the most room to the least.
    pub const ALL: [Self; 4] = [Self::Fits, Self::Tight, Self::Unlikely, Self::DoesNotFit];

    /// The state of a design that fits with this probability.
    #[must_use]
    pub fn of(fit_probability: f64) -> Self {
        if fit_probability >= MIN_FITS_PROBABILITY {
            Self::Fits
        } else if fit_probability >= MIN_TIGHT_PROBABILITY {
            Self::Tight
        } else if fit_probability >= MIN_UNLIKELY_PROBABILITY {
            Self::Unlikely
        } else {
            Self::DoesNotFit
        }
    }

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Tight => "tight",
            Self::Unlikely => "unlikely",
            Self::DoesNotFit => "does_not_fit",
        }
    }

    /// A short name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Fits => "Fits",
            Self::Tight => "Tight",
            Self::Unlikely => "Unlikely",
            Self::DoesNotFit => "Does not fit",
        }
    }
}

/// The probability that a design fits whose limit is `room` times its predicted peak, where that
/// peak may be higher by the factor `e^shortfall`.
///
/// The published peaks' signed errors are the distribution of this design's own: it fits where
/// ln(true / predicted) <= ln(room) - shortfall. Strictly between 0 and 1, and never falls with
/// more room.
pub(crate) fn fit_probability(room: f64, shortfall: f64) -> f64 {
    share_below(libm::log(room) - shortfall)
}

/// The share of published peaks whose ln(measured / predicted) is at most `error`.
///
/// Linear between the quantiles of the table. Beyond the outermost ones the share that is left
/// falls as 1 / (1 + t), where t = 0 at the quantile and its slope there is that of the piece
/// inside: a heavy tail, as a handful of sources can't tell how fast the true one falls.
fn share_below(error: f64) -> f64 {
    let [first, second, .., last_but_one, last] = &MEMORY_QUANTILES;
    if error < first.log_ratio {
        return tail(first.share, slope(first, second), first.log_ratio - error);
    }
    let mut below = first;
    for above in &MEMORY_QUANTILES {
        if error < above.log_ratio {
            return below.share + slope(below, above) * (error - below.log_ratio);
        }
        below = above;
    }
    1.0 - tail(1.0 - last.share, slope(last_but_one, last), error - last.log_ratio)
}

/// The ln(measured / predicted) that this share of the published peaks is at most off by; of a
/// share beyond the table its outermost one.
pub(crate) fn error_of(share: f64) -> f64 {
    let [first, .., last] = &MEMORY_QUANTILES;
    let mut below = first;
    for above in &MEMORY_QUANTILES {
        if share <= above.share {
            if above.share <= below.share {
                return above.log_ratio;
            }
            return below.log_ratio + (share - below.share) / slope(below, above);
        }
        below = above;
    }
    last.log_ratio
}

/// Remaining share at this distance from where the share and its slope were these.
fn tail(share: f64, slope: f64, distance: f64) -> f64 {
    const MIN_SHARE: f64 = 1e-6;
    (share / (1.0 + slope / share * distance)).max(MIN_SHARE)
}

fn slope(below: &MemoryQuantile, above: &MemoryQuantile) -> f64 {
    (above.share - below.share) / (above.log_ratio - below.log_ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_rises_strictly() {
        for pair in MEMORY_QUANTILES.windows(2) {
            let [below, above] = pair else { continue };
            assert!(below.share < above.share && below.log_ratio < above.log_ratio, "{pair:?}");
        }
        let [first, .., last] = &MEMORY_QUANTILES;
        assert!(first.share > 0.0 && last.share < 1.0);
    }

    #[test]
    fn the_share_is_that_of_the_table_at_each_quantile_and_meets_from_both_sides() {
        for quantile in &MEMORY_QUANTILES {
            for aside in [-1e-9, 0.0, 1e-9] {
                let found = share_below(quantile.log_ratio + aside);
                assert!((found - quantile.share).abs() < 1e-6, "{quantile:?}, {found}");
            }
        }
    }

    #[test]
    fn more_room_never_makes_a_design_less_likely_to_fit_and_nothing_is_certain() {
        let mut before = 0.0;
        for step in -4_000..=4_000 {
            let found = share_below(f64::from(step) * 2.5e-3);
            assert!(found >= before && found > 0.0 && found < 1.0, "{step}: {found}");
            before = found;
        }
        for room in [f64::MIN_POSITIVE, 1e-300, 1e300, f64::INFINITY] {
            let found = fit_probability(room, 0.0);
            assert!(found > 0.0 && found < 1.0, "{room}: {found}");
        }
    }

    #[test]
    fn the_error_of_a_share_has_that_share_below_it() {
        for step in 5..=95 {
            let share = f64::from(step) / 100.0;
            assert!((share_below(error_of(share)) - share).abs() < 1e-9, "{share}");
        }
        assert!(error_of(0.0) <= error_of(1.0));
    }

    #[test]
    fn a_shortfall_makes_a_design_less_likely_to_fit() {
        for room in [0.5, 0.9, 1.0, 1.03, 1.2, 2.0] {
            assert!(fit_probability(room, 0.05) < fit_probability(room, 0.0), "{room}");
        }
    }

    #[test]
    fn states_change_at_their_thresholds() {
        let below = |threshold: f64| f64::from_bits(threshold.to_bits() - 1);
        assert_eq!(MemoryState::of(1.0), MemoryState::Fits);
        assert_eq!(MemoryState::of(MIN_FITS_PROBABILITY), MemoryState::Fits);
        assert_eq!(MemoryState::of(below(MIN_FITS_PROBABILITY)), MemoryState::Tight);
        assert_eq!(MemoryState::of(MIN_TIGHT_PROBABILITY), MemoryState::Tight);
        assert_eq!(MemoryState::of(below(MIN_TIGHT_PROBABILITY)), MemoryState::Unlikely);
        assert_eq!(MemoryState::of(MIN_UNLIKELY_PROBABILITY), MemoryState::Unlikely);
        assert_eq!(MemoryState::of(below(MIN_UNLIKELY_PROBABILITY)), MemoryState::DoesNotFit);
        assert_eq!(MemoryState::of(0.0), MemoryState::DoesNotFit);
    }

    #[test]
    fn a_design_that_fits_is_below_its_limit_and_one_that_does_not_is_above() {
        assert!(fit_probability(1.0, 0.0) < MIN_FITS_PROBABILITY);
        assert!(fit_probability(1.0, 0.0) >= MIN_UNLIKELY_PROBABILITY);
    }

    #[test]
    fn a_closed_form_within_its_own_error_of_the_limit_never_fits() {
        for shortfall in [0.05, 0.16] {
            assert!(fit_probability(libm::exp(shortfall), shortfall) < MIN_FITS_PROBABILITY);
        }
    }
}
