//! What a search may change of a design: the knobs of its strategy.

use alloc::vec::Vec;

use crate::design::{Design, KnobSet};
use crate::ground::choice::{Choice, Method};
use crate::ground::knob::{Role, Value};
use crate::rules::vocabulary::Vocabulary;

/// Knobs that say together what is computed again.
pub(super) const RECOMPUTATION: KnobSet = KnobSet::with_role(Role::Recomputation);

/// Knobs of a strategy that hide one thing behind another: what they promise must hold.
pub(super) const OVERLAPS: KnobSet = KnobSet::with_role(Role::Overlap);

/// Overlaps of a design that must hold for its number.
pub(super) fn overlaps(design: &Design) -> usize {
    OVERLAPS.iter().filter(|knob| design.get(*knob) == Value::Flag(true)).count()
}

/// The schedules that a search goes through: those that the framework can express.
/// V-half and V-min have no closed form to be found by, and GPipe holds more than 1F1B and is no
/// faster.
pub(super) fn methods(design: &Design, words: &Vocabulary) -> Vec<Method> {
    let unseen = [Method::Gpipe, Method::VHalf, Method::VMin];
    let is_found = |method: &Method| {
        let is_own = *method == design.schedule.method;
        words.has_method(design, *method) && (is_own || !unseen.contains(method))
    };
    Method::ALL.iter().copied().filter(is_found).collect()
}
