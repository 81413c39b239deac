//! A slider that is held: the state before it is shown beside the present one, and can be restored.

use std::sync::Arc;

use leptos::prelude::*;
use model::design::{Design, KnobId};
use model::ground::knob::Value;
use present::insight::numbers::Numbers;

use super::Explorer;
use crate::explorer::history::History;

/// State before a drag.
#[derive(Clone, Debug)]
pub(super) struct Before {
    design: Design,
    numbers: Arc<Numbers>,
    /// Whether the drag was given up; its further moves don't count then.
    is_given_up: bool,
}

impl Explorer {
    /// A pointer takes hold of a slider, which begins a gesture, or lets go, which ends it.
    pub fn hold(self, held: bool) {
        self.held.set_value(held);
        self.end_gesture();
        self.before.set(held.then(|| Before {
            design: self.design.get_untracked(),
            numbers: self.on_page.with_untracked(|on_page| on_page.numbers.clone()),
            is_given_up: false,
        }));
    }

    /// Reads the numbers from before the drag, while there is one.
    #[must_use]
    pub fn with_numbers_before<T>(self, read: impl FnOnce(&Numbers) -> T) -> Option<T> {
        self.numbers_before().map(|numbers| read(&numbers))
    }

    fn numbers_before(self) -> Option<Arc<Numbers>> {
        self.before.with(|before| before.as_ref().map(|before| before.numbers.clone()))
    }

    /// The value of a knob before the drag that changes it.
    #[must_use]
    pub fn value_before(self, id: KnobId) -> Option<Value> {
        let value = self.before.with(|before| before.as_ref().map(|it| it.design.get(id)));
        value.filter(|value| *value != self.row(id).value.get())
    }

    /// Gives a drag up: the design is what it was, and nothing of the drag is a step of the
    /// history. False where there is none.
    pub fn revert(self) -> bool {
        let begun = self.before.with_untracked(|before| {
            before.as_ref().filter(|before| !before.is_given_up).map(|it| it.design.clone())
        });
        let Some(design) = begun else { return false };
        self.before.update(|before| before.iter_mut().for_each(|it| it.is_given_up = true));
        self.history.update(History::forget_gesture);
        self.follow(design);
        true
    }

    /// Whether a pointer holds a slider.
    #[must_use]
    pub fn is_dragged(self) -> bool {
        self.before.with_untracked(Option::is_some)
    }

    /// Whether the drag that goes on has been given up.
    pub(super) fn is_given_up(self) -> bool {
        self.before.with_untracked(|before| before.as_ref().is_some_and(|it| it.is_given_up))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PP: KnobId = KnobId::pipeline_model_parallel_size;

    #[test]
    fn a_drag_that_is_given_up_leaves_nothing() {
        let design = model::design::link::decode("").expect("a link that decodes");
        let owner = Owner::new();
        owner.with(|| {
            let explorer = Explorer::new(design);
            let first = explorer.with_numbers(Clone::clone);
            assert!(!explorer.revert());
            explorer.hold(true);
            explorer.set(PP, &Value::Integer(8)).expect("in bounds");
            assert_eq!(explorer.value_before(PP), Some(Value::Integer(16)));
            assert_eq!(explorer.with_numbers_before(Clone::clone), Some(first.clone()));
            assert!(explorer.with_numbers(|numbers| *numbers != first));
            assert!(explorer.revert());
            explorer.set(PP, &Value::Integer(4)).expect("in bounds");
            assert!(explorer.with_numbers(|numbers| *numbers == first));
            assert_eq!((explorer.undo_label(), explorer.redo_label()), (None, None));
            explorer.hold(false);
            assert_eq!(explorer.value_before(PP), None);
            explorer.set(PP, &Value::Integer(4)).expect("in bounds");
            assert!(explorer.with_numbers(|numbers| *numbers != first));
        });
    }
}
