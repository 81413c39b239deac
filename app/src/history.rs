//! Undo and redo over whole designs. A gesture on one knob, such as a drag, is one entry.

use model::design::{Design, KnobId};

/// So many entries are kept; older ones are forgotten.
const LONGEST: usize = 500;

/// A step that can be taken back or again.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    label: String,
    design: Design,
}

/// The steps before and after the design that is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    past: Vec<Entry>,
    future: Vec<Entry>,
    /// The knob whose gesture goes on: its further changes join the last entry.
    open: Option<KnobId>,
}

impl History {
    /// Notes a step of one knob, away from `before`.
    pub fn record_knob(&mut self, knob: KnobId, before: Design) {
        if self.open == Some(knob) {
            self.future.clear();
            return;
        }
        self.record(knob.knob().label.to_owned(), before);
        self.open = Some(knob);
    }

    /// Notes a step that stands for itself, such as another preset.
    pub fn record(&mut self, label: String, before: Design) {
        self.open = None;
        self.future.clear();
        if self.past.len() == LONGEST {
            self.past.remove(0);
        }
        self.past.push(Entry { label, design: before });
    }

    /// Ends the gesture: the next change is an entry of its own.
    pub fn close(&mut self) {
        self.open = None;
    }

    /// Forgets the gesture that goes on, as if it had never begun.
    pub fn forget_gesture(&mut self) {
        if self.open.take().is_some() {
            self.past.pop();
        }
    }

    /// Is a gesture going on?
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The design before the last step; steps that changed nothing are passed over.
    pub fn undo(&mut self, now: &Design) -> Option<Design> {
        step(&mut self.past, &mut self.future, &mut self.open, now)
    }

    /// The design after the step that was taken back last.
    pub fn redo(&mut self, now: &Design) -> Option<Design> {
        step(&mut self.future, &mut self.past, &mut self.open, now)
    }

    /// What undo would take back.
    #[must_use]
    pub fn undo_label(&self) -> Option<&str> {
        self.past.last().map(|entry| entry.label.as_str())
    }

    /// What redo would do again.
    #[must_use]
    pub fn redo_label(&self) -> Option<&str> {
        self.future.last().map(|entry| entry.label.as_str())
    }
}

fn step(
    from: &mut Vec<Entry>,
    to: &mut Vec<Entry>,
    open: &mut Option<KnobId>,
    now: &Design,
) -> Option<Design> {
    *open = None;
    while let Some(Entry { label, design }) = from.pop() {
        if design != *now {
            to.push(Entry { label, design: now.clone() });
            return Some(design);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use model::knob::Value;

    use super::*;

    const PP: KnobId = KnobId::pipeline_model_parallel_size;
    const TP: KnobId = KnobId::tensor_model_parallel_size;

    /// A design and its history, as the explorer holds them.
    struct Desk {
        design: Design,
        history: History,
    }

    impl Desk {
        fn new() -> Self {
            let design = Design::from_preset(model::preset::Preset::DEFAULT_ID);
            Self { design: design.expect("the default preset"), history: History::default() }
        }

        fn set(&mut self, knob: KnobId, value: u64) {
            self.history.record_knob(knob, self.design.clone());
            self.design.set(knob, &Value::Integer(value)).expect("in bounds");
        }

        fn undo(&mut self) -> bool {
            let before = self.history.undo(&self.design);
            before.map(|before| self.design = before).is_some()
        }

        fn redo(&mut self) -> bool {
            let after = self.history.redo(&self.design);
            after.map(|after| self.design = after).is_some()
        }

        fn value(&self, knob: KnobId) -> Value {
            self.design.get(knob)
        }
    }

    #[test]
    fn a_drag_is_one_entry() {
        let mut desk = Desk::new();
        for value in [8, 4, 2] {
            desk.set(PP, value);
        }
        desk.history.close();
        assert!(desk.undo());
        assert_eq!(desk.value(PP), Value::Integer(16));
        assert!(!desk.undo());
    }

    #[test]
    fn two_gestures_on_one_knob_are_two_entries() {
        let mut desk = Desk::new();
        desk.set(PP, 8);
        desk.history.close();
        desk.set(PP, 4);
        assert!(desk.undo());
        assert_eq!(desk.value(PP), Value::Integer(8));
    }

    #[test]
    fn another_knob_begins_another_entry() {
        let mut desk = Desk::new();
        desk.set(PP, 8);
        desk.set(TP, 4);
        assert!(desk.undo());
        assert_eq!((desk.value(PP), desk.value(TP)), (Value::Integer(8), Value::Integer(8)));
    }

    #[test]
    fn redo_returns_what_undo_took_until_something_else_is_changed() {
        let mut desk = Desk::new();
        desk.set(PP, 8);
        assert!(desk.undo());
        assert!(desk.redo());
        assert_eq!(desk.value(PP), Value::Integer(8));
        assert!(desk.undo());
        desk.set(TP, 4);
        assert!(!desk.redo());
    }

    #[test]
    fn a_drag_back_to_where_it_began_is_passed_over() {
        let mut desk = Desk::new();
        desk.set(TP, 4);
        desk.history.close();
        desk.set(PP, 8);
        desk.set(PP, 16);
        assert!(desk.undo());
        assert_eq!(desk.value(TP), Value::Integer(8));
    }

    #[test]
    fn a_gesture_that_is_given_up_leaves_no_entry() {
        let mut desk = Desk::new();
        desk.set(TP, 4);
        desk.history.close();
        desk.history.forget_gesture();
        desk.set(PP, 8);
        desk.set(PP, 4);
        desk.history.forget_gesture();
        assert_eq!(desk.history.undo_label(), Some(TP.knob().label));
    }

    #[test]
    fn only_so_many_entries_are_kept() {
        let mut desk = Desk::new();
        for index in 0..LONGEST as u64 + 10 {
            desk.set(PP, 1 + index % 2);
            desk.history.close();
        }
        let undone = (0..).take_while(|_| desk.undo()).count();
        assert!(undone <= LONGEST);
    }
}
