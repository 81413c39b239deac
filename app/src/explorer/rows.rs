//! What the row of a knob follows: signals of its own, written only when they change.
//!
//! Memos of the design in their place would be checked at every change, for each of a hundred knobs
//! and for everything that follows them: that takes longer than the estimate.

use leptos::prelude::*;
use model::design::violation::Violation;
use model::design::{Design, KnobId};
use model::ground::knob::Value;

/// Signals that the row of a knob follows.
#[derive(Clone, Copy)]
pub struct Row {
    /// The value.
    pub value: RwSignal<Value>,
    /// Whether it differs from the preset.
    pub is_changed: RwSignal<bool>,
    /// Whether a broken rule names it.
    pub is_broken: RwSignal<bool>,
}

/// The rows of all knobs.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    of: StoredValue<Vec<Row>>,
    /// The knobs that differ from the preset, in registry order.
    pub(super) changed: RwSignal<Vec<KnobId>>,
}

impl Rows {
    /// Rows that tell of nothing yet.
    pub(super) fn new(design: &Design) -> Self {
        let row = |id: &KnobId| Row {
            value: RwSignal::new(design.get(*id)),
            is_changed: RwSignal::new(false),
            is_broken: RwSignal::new(false),
        };
        let of = StoredValue::new(KnobId::ALL.iter().map(row).collect());
        Self { of, changed: RwSignal::default() }
    }

    /// The row of a knob.
    pub(super) fn row(self, id: KnobId) -> Row {
        // The registry holds knobs in the order of their ids.
        self.of.with_value(|rows| rows[id as usize])
    }

    /// Tells each row what has changed for it.
    pub(super) fn tell(self, design: &Design, preset: &Design, violations: &[Violation]) {
        let mut changed = Vec::new();
        for id in KnobId::ALL {
            let (row, value) = (self.row(*id), design.get(*id));
            let is_changed = value != preset.get(*id);
            if is_changed {
                changed.push(*id);
            }
            let is_broken = violations.iter().any(|violation| violation.knobs.contains(id));
            write(row.value, value);
            write(row.is_changed, is_changed);
            write(row.is_broken, is_broken);
        }
        write(self.changed, changed);
    }
}

/// Writes a signal where it differs.
pub(super) fn write<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|before| *before != value) {
        signal.set(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_the_id_of_their_knob() {
        for (index, id) in KnobId::ALL.iter().enumerate() {
            assert_eq!(*id as usize, index);
        }
    }
}
