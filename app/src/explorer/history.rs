//! Undo and redo over whole designs. A gesture on one knob, such as a drag, is one entry.

use model::design::{Design, KnobId};
use present::format::{short_label, spelled};

/// Maximum number of entries; older ones are forgotten.
const MAX_ENTRIES: usize = 500;

/// A step that can be taken back or again.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    label: String,
    design: Design,
}

/// A step as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Change of the step: `TP 8 → 16`.
    pub words: String,
    /// Number of steps up to and including it, as [`History::go`] takes it.
    pub place: usize,
    /// Whether the design that is shown has it.
    pub is_done: bool,
}

/// The steps before and after the design that is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    past: Vec<Entry>,
    /// Entries of the past that were too many: places are counted with them.
    forgotten: usize,
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

    /// Notes a step of its own, such as another preset.
    pub fn record(&mut self, label: String, before: Design) {
        self.open = None;
        self.future.clear();
        if self.past.len() == MAX_ENTRIES {
            self.past.remove(0);
            self.forgotten += 1;
        }
        self.past.push(Entry { label, design: before });
    }

    /// Ends the gesture: the next change is an entry of its own. One that led back to where it
    /// began leaves none.
    pub fn close(&mut self, now: &Design) {
        let is_idle = self.past.last().is_some_and(|entry| entry.design == *now);
        if self.open.take().is_some() && is_idle {
            self.past.pop();
        }
    }

    /// Forgets the gesture that goes on, as if it had never begun.
    pub fn forget_gesture(&mut self) {
        if self.open.take().is_some() {
            self.past.pop();
        }
    }

    /// Whether a gesture is going on.
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

    /// Every step, the oldest first, those that were taken back included: where each leads, in
    /// words, when `now` is shown. A step that changed nothing says so little that it is left out.
    #[must_use]
    pub fn steps(&self, now: &Design) -> Vec<Step> {
        let entries = self.past.iter().chain(self.future.iter().rev());
        let places = self.past.iter().map(|entry| &entry.design).chain([now]);
        let places = places.chain(self.future.iter().rev().map(|entry| &entry.design));
        let pairs = places.clone().zip(places.skip(1));
        let steps = entries.zip(pairs).enumerate().filter(|(_, (_, (from, to)))| from != to);
        let step = |(index, (entry, (from, to))): (usize, (&Entry, (&Design, &Design)))| Step {
            words: in_words(&entry.label, from, to),
            place: self.forgotten + index + 1,
            is_done: index < self.past.len(),
        };
        steps.map(step).collect()
    }

    /// Number of steps up to the design that is shown.
    #[must_use]
    pub const fn place(&self) -> usize {
        self.forgotten + self.past.len()
    }

    /// The design after `place` steps, when `now` is shown; `None` if that is forgotten or was
    /// never reached.
    #[must_use]
    pub fn design_at<'a>(&'a self, place: usize, now: &'a Design) -> Option<&'a Design> {
        let here = self.place();
        if place >= here {
            let ahead = place - here;
            return match ahead {
                0 => Some(now),
                _ => Some(&self.future.get(self.future.len().checked_sub(ahead)?)?.design),
            };
        }
        Some(&self.past.get(place.checked_sub(self.forgotten)?)?.design)
    }

    /// Goes to the design after `place` steps, however many of them have to be taken back or again.
    pub fn go(&mut self, place: usize, now: &Design) -> Option<Design> {
        self.open = None;
        let before = self.place();
        let mut at = now.clone();
        while self.place() != place {
            let back = self.place() > place;
            let (from, to) = if back {
                (&mut self.past, &mut self.future)
            } else {
                (&mut self.future, &mut self.past)
            };
            let Some(Entry { label, design }) = from.pop() else { break };
            to.push(Entry { label, design: std::mem::replace(&mut at, design) });
        }
        (self.place() != before).then_some(at)
    }

    /// Label of the step that undo would take back.
    #[must_use]
    pub fn undo_label(&self) -> Option<&str> {
        self.past.last().map(|entry| entry.label.as_str())
    }

    /// Label of the step that redo would take again.
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

/// Change of a step: the knob with both values if it was one, else the label that was recorded.
fn in_words(label: &str, from: &Design, to: &Design) -> String {
    let mut differing = KnobId::ALL.iter().filter(|id| from.get(**id) != to.get(**id));
    let one = differing.next().filter(|_| from.preset == to.preset);
    match (one, differing.next()) {
        (Some(id), None) => {
            let [from, to] = [from, to].map(|design| spelled(&design.get(*id)));
            format!("{} {from} → {to}", short_label(*id))
        }
        _ => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use model::ground::knob::Value;

    use super::*;

    const PP: KnobId = KnobId::pipeline_model_parallel_size;
    const TP: KnobId = KnobId::tensor_model_parallel_size;

    /// A design and its history, as the explorer holds them.
    struct Fixture {
        design: Design,
        history: History,
    }

    impl Fixture {
        fn new() -> Self {
            let design = Design::from_preset(model::catalogue::preset::Preset::DEFAULT_ID);
            Self { design: design.expect("the default preset"), history: History::default() }
        }

        fn set(&mut self, knob: KnobId, value: u64) {
            self.history.record_knob(knob, self.design.clone());
            self.design.set(knob, &Value::Integer(value)).expect("in bounds");
        }

        fn close(&mut self) {
            self.history.close(&self.design);
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
        let mut fixture = Fixture::new();
        for value in [8, 4, 2] {
            fixture.set(PP, value);
        }
        fixture.close();
        assert!(fixture.undo());
        assert_eq!(fixture.value(PP), Value::Integer(16));
        assert!(!fixture.undo());
    }

    #[test]
    fn two_gestures_on_one_knob_are_two_entries() {
        let mut fixture = Fixture::new();
        fixture.set(PP, 8);
        fixture.close();
        fixture.set(PP, 4);
        assert!(fixture.undo());
        assert_eq!(fixture.value(PP), Value::Integer(8));
    }

    #[test]
    fn another_knob_begins_another_entry() {
        let mut fixture = Fixture::new();
        fixture.set(PP, 8);
        fixture.set(TP, 4);
        assert!(fixture.undo());
        assert_eq!((fixture.value(PP), fixture.value(TP)), (Value::Integer(8), Value::Integer(8)));
    }

    #[test]
    fn redo_returns_what_undo_took_until_something_else_is_changed() {
        let mut fixture = Fixture::new();
        fixture.set(PP, 8);
        assert!(fixture.undo());
        assert!(fixture.redo());
        assert_eq!(fixture.value(PP), Value::Integer(8));
        assert!(fixture.undo());
        fixture.set(TP, 4);
        assert!(!fixture.redo());
    }

    #[test]
    fn a_gesture_that_ends_where_it_began_is_no_step() {
        let mut fixture = Fixture::new();
        fixture.set(TP, 4);
        fixture.close();
        fixture.set(PP, 8);
        fixture.set(PP, 16);
        fixture.close();
        assert_eq!(fixture.history.place(), 1);
    }

    #[test]
    fn the_design_of_each_place_is_known_until_it_is_forgotten() {
        let mut fixture = Fixture::new();
        let mut designs = vec![fixture.design.clone()];
        for value in [8, 4, 2] {
            fixture.set(PP, value);
            fixture.close();
            designs.push(fixture.design.clone());
        }
        assert!(fixture.undo());
        for (place, design) in designs.iter().enumerate() {
            assert_eq!(fixture.history.design_at(place, &fixture.design), Some(design), "{place}");
        }
        assert_eq!(fixture.history.design_at(4, &fixture.design), None);
        for index in 0..MAX_ENTRIES as u64 {
            fixture.set(PP, 1 + index % 2);
            fixture.close();
        }
        assert_eq!(fixture.history.place(), MAX_ENTRIES + 2);
        assert_eq!(fixture.history.design_at(1, &fixture.design), None);
        assert!(fixture.history.design_at(2, &fixture.design).is_some());
    }

    #[test]
    fn a_drag_back_to_where_it_began_is_passed_over() {
        let mut fixture = Fixture::new();
        fixture.set(TP, 4);
        fixture.close();
        fixture.set(PP, 8);
        fixture.set(PP, 16);
        assert!(fixture.undo());
        assert_eq!(fixture.value(TP), Value::Integer(8));
    }

    #[test]
    fn steps_say_what_they_did_and_which_are_taken_back() {
        let mut fixture = Fixture::new();
        fixture.set(TP, 4);
        fixture.set(PP, 8);
        fixture.close();
        fixture.set(PP, 4);
        assert!(fixture.undo());
        let steps = fixture.history.steps(&fixture.design);
        let said: Vec<_> = steps.iter().map(|step| (step.words.as_str(), step.is_done)).collect();
        assert_eq!(said, [("TP 8 → 4", true), ("PP 16 → 8", true), ("PP 8 → 4", false)]);
    }

    #[test]
    fn going_to_a_step_is_undo_or_redo_as_often_as_it_takes() {
        let mut fixture = Fixture::new();
        let mut designs = vec![fixture.design.clone()];
        for (knob, value) in [(TP, 4), (PP, 8), (TP, 2), (PP, 4)] {
            fixture.set(knob, value);
            fixture.close();
            designs.push(fixture.design.clone());
        }
        let words = fixture.history.steps(&fixture.design);
        for place in [1, 4, 0, 3, 2] {
            let design = fixture.history.go(place, &fixture.design).expect("another place");
            fixture.design = design;
            assert_eq!(fixture.design, designs[place]);
            assert_eq!(fixture.history.place(), place);
            let now = fixture.history.steps(&fixture.design);
            assert!(now.iter().zip(&words).all(|(now, then)| now.words == then.words));
        }
        assert_eq!(fixture.history.go(2, &fixture.design), None);
        let beyond = fixture.history.go(99, &fixture.design);
        assert_eq!(beyond.as_ref(), designs.last());
    }

    #[test]
    fn a_step_that_changed_nothing_is_not_listed() {
        let mut fixture = Fixture::new();
        fixture.set(TP, 4);
        fixture.close();
        fixture.set(PP, 8);
        fixture.set(PP, 16);
        let steps = fixture.history.steps(&fixture.design);
        assert_eq!(steps.len(), 1);
        assert_eq!(steps[0].words, "TP 8 → 4");
    }

    #[test]
    fn a_gesture_that_is_given_up_leaves_no_entry() {
        let mut fixture = Fixture::new();
        fixture.set(TP, 4);
        fixture.close();
        fixture.history.forget_gesture();
        fixture.set(PP, 8);
        fixture.set(PP, 4);
        fixture.history.forget_gesture();
        assert_eq!(fixture.history.undo_label(), Some(TP.knob().label));
    }

    #[test]
    fn only_so_many_entries_are_kept() {
        let mut fixture = Fixture::new();
        for index in 0..MAX_ENTRIES as u64 + 10 {
            fixture.set(PP, 1 + index % 2);
            fixture.close();
        }
        let undone = (0..).take_while(|_| fixture.undo()).count();
        assert!(undone <= MAX_ENTRIES);
    }
}
