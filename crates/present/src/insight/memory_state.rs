//! Words on how sure it is that a design fits: the same texts, classes and bounds wherever memory
//! is judged.

use model::ground::units::Bytes;
use model::search::verdict::{Place, Tightest, tightest};
use model::training::estimate::{Estimate, Metrics};
use model::{MemoryState, Plan};

use crate::format;
use crate::insight::numbers::Numbers;

/// A state within a sentence or a cell: `fits`, `tight`, `unlikely`, `does not fit`.
#[must_use]
pub const fn word(state: MemoryState) -> &'static str {
    match state {
        MemoryState::Fits => "fits",
        MemoryState::Tight => "tight",
        MemoryState::Unlikely => "unlikely",
        MemoryState::DoesNotFit => "does not fit",
    }
}

/// Suffix for other numbers of a design that isn't sure to fit: `, tight`.
#[must_use]
pub const fn aside(state: MemoryState) -> &'static str {
    match state {
        MemoryState::Fits => "",
        MemoryState::Tight => ", tight",
        MemoryState::Unlikely => ", unlikely to fit",
        MemoryState::DoesNotFit => ", does not fit",
    }
}

/// Class of an element that a state colours; empty if it fits.
#[must_use]
pub const fn class(state: MemoryState) -> &'static str {
    match state {
        MemoryState::Fits => "",
        MemoryState::Tight => "tight",
        MemoryState::Unlikely => "unlikely",
        MemoryState::DoesNotFit => "over",
    }
}

/// The classes of a text that says whether a design fits; they have its colour and its sign.
#[must_use]
pub const fn said_class(state: MemoryState) -> &'static str {
    match state {
        MemoryState::Fits => "fits",
        MemoryState::Tight => "fits tight",
        MemoryState::Unlikely => "fits unlikely",
        MemoryState::DoesNotFit => "fits over",
    }
}

/// `Tight, 57 % likely to fit`.
#[must_use]
pub fn short(metrics: &Metrics) -> String {
    format!("{}, {}", metrics.memory_state().label(), likely(metrics.fit_probability))
}

/// `Tight: 58.3 of 60.3 GiB, 57 % likely to fit`, of the memory that is fuller for its
/// size.
#[must_use]
pub fn sentence(numbers: &Numbers) -> String {
    sentence_of(&numbers.plan, &numbers.estimate)
}

/// Sentence on whether a plan with its estimate fits, as [`sentence`].
#[must_use]
pub fn sentence_of(plan: &Plan, estimate: &Estimate) -> String {
    said(&tightest(plan, estimate), estimate.metrics.fit_probability)
}

fn said(found: &Tightest, fit_probability: f64) -> String {
    let Tightest { peak, limit, .. } = *found;
    let of = match found.place {
        Place::Device => "",
        Place::Host => " of host memory",
    };
    let (over, likely) = (format::memory(peak.beyond(limit)), likely(fit_probability));
    let state = MemoryState::of(fit_probability);
    match state {
        MemoryState::Fits => {
            format!("Fits: {} free{of}, {likely}", format::memory(limit.beyond(peak)))
        }
        MemoryState::Tight | MemoryState::Unlikely if peak.get() > limit.get() => {
            format!("{}: predicted over the limit by {over}{of}, {likely}", state.label())
        }
        MemoryState::Tight | MemoryState::Unlikely => {
            format!("{}: {}{of}, {likely}", state.label(), of_limit(peak, limit))
        }
        MemoryState::DoesNotFit => format!("Does not fit: {over} over the limit{of}, {likely}"),
    }
}

/// `58.3 of 60.3 GiB`.
#[must_use]
pub fn of_limit(peak: Bytes, limit: Bytes) -> String {
    let (peak, limit) = (format::memory(peak), format::memory(limit));
    if peak.unit == limit.unit {
        format!("{} of {limit}", peak.number)
    } else {
        format!("{peak} of {limit}")
    }
}

/// `57 % likely to fit`.
fn likely(fit_probability: f64) -> String {
    format!("{} likely to fit", format::likelihood(fit_probability))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(peak: f64, limit: f64) -> Tightest {
        let [peak, limit] = [peak, limit].map(Bytes::gib);
        Tightest { place: Place::Device, stage: 0, peak, limit }
    }

    #[test]
    fn each_state_says_what_is_left_or_over_and_how_likely_it_fits() {
        for (peak, likelihood, words) in [
            (46.4, 0.93, "Fits: 13.9 GiB free, 93 % likely to fit"),
            (58.3, 0.574, "Tight: 58.3 of 60.3 GiB, 57 % likely to fit"),
            (60.9, 0.512, "Tight: predicted over the limit by 0.6 GiB, 51 % likely to fit"),
            (62.8, 0.382, "Unlikely: predicted over the limit by 2.5 GiB, 38 % likely to fit"),
            (60.2, 0.45, "Unlikely: 60.2 of 60.3 GiB, 45 % likely to fit"),
            (90.0, 0.043, "Does not fit: 29.7 GiB over the limit, 4 % likely to fit"),
        ] {
            assert_eq!(said(&found(peak, 60.3), likelihood), words);
        }
    }

    #[test]
    fn host_memory_is_named_where_it_is_the_fuller_one() {
        let found = Tightest { place: Place::Host, ..found(70.0, 64.0) };
        let words = "Unlikely: predicted over the limit by 6.0 GiB of host memory, \
                     30 % likely to fit";
        assert_eq!(said(&found, 0.3), words);
    }

    /// 89.99 % isn't shown as 90 %, from which on a design fits.
    #[test]
    fn a_likelihood_never_reads_as_one_of_another_state() {
        for (likelihood, words) in [
            (0.899_9, "89 % likely to fit"),
            (0.499_9, "49 % likely to fit"),
            (0.9, "90 % likely to fit"),
            (0.099_9, "9 % likely to fit"),
            (0.1, "10 % likely to fit"),
            (0.999, "> 99 % likely to fit"),
            (0.001, "< 1 % likely to fit"),
        ] {
            assert_eq!(likely(likelihood), words);
        }
    }

    #[test]
    fn words_and_classes_tell_the_states_apart() {
        for (index, one) in MemoryState::ALL.into_iter().enumerate() {
            for other in MemoryState::ALL.into_iter().skip(index + 1) {
                assert_ne!(word(one), word(other));
                assert_ne!(aside(one), aside(other));
                assert_ne!(class(one), class(other));
                assert_ne!(said_class(one), said_class(other));
            }
        }
    }
}
