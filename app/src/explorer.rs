//! The explorer's state and everything derived from it; no view code.
//!
//! One signal holds the design. The checked plan and the estimate are memos of it, so a number on
//! the page can't disagree with the knobs. While a design breaks a rule the last good numbers stay.
//! The rows of the knobs are notified of their changes.

pub mod history;
mod drag;
pub mod queries;
mod rows;
pub mod stored;

use std::sync::Arc;

use leptos::prelude::*;
use model::catalogue::preset::Preset;
use model::design::link;
use model::design::violation::{Nearest, Violation};
use model::design::{Design, KnobId};
use model::ground::choice::{Balance, Software};
use model::ground::knob::{Kind, KnobError, Value};
use model::metric::MetricId;
use model::routing::Effect;
use model::{Estimator, Plan, legal_values};
use present::insight::numbers::Numbers;
use present::insight::recorded::{self, Recorded};
use present::words::about::About;
use present::words::name;

use crate::explorer::history::{History, Step};
use crate::reaction::memo;
use crate::widget::part::Part;

use drag::Before;
pub use rows::Row;
use rows::{Rows, write};

/// Owner of the numbers on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumbersOf {
    /// The design itself.
    Design,
    /// The last design that broke no rule.
    LastLegal,
    /// The preset: no design has been legal since the page was opened.
    Preset,
}

/// Numbers on the page, and their owner.
#[derive(Clone, Debug, PartialEq)]
struct OnPage {
    numbers: Arc<Numbers>,
    of: NumbersOf,
}

/// Element that a page may put something beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The row of a knob.
    Knob(KnobId),
    /// The card of a metric.
    Metric(MetricId),
}

/// Function that makes a page's additions beside knobs and numbers.
pub type Beside = Arc<dyn Fn(Topic) -> Part + Send + Sync>;

/// The state of the page.
#[derive(Clone, Copy)]
pub struct Explorer {
    design: RwSignal<Design>,
    /// The design as a query string, which takes longer to write than most of what follows it.
    link: Memo<String>,
    history: RwSignal<History>,
    /// Whether another design has been shown since the page was opened.
    moved: RwSignal<bool>,
    last_edited: RwSignal<Option<KnobId>>,
    /// Whether a pointer holds a slider; the gesture then goes on however long it rests.
    held: StoredValue<bool>,
    /// Whether a value is being typed; it isn't known yet whether the text so far is meant.
    typed: StoredValue<bool>,
    /// The design and its numbers as they were when the pointer took hold.
    before: RwSignal<Option<Before>>,
    /// Preset of the design. A signal of its own: its followers don't run at each change of a knob.
    preset: RwSignal<&'static Preset>,
    preset_design: Memo<Design>,
    title: Memo<String>,
    preset_numbers: Memo<Arc<Numbers>>,
    rows: Rows,
    violations: Memo<Vec<Violation>>,
    on_page: Memo<OnPage>,
    /// The design as it was when the knobs last rested: what takes long follows it.
    resting: RwSignal<Design>,
    /// A plan with the loads of the trace at hand.
    traced: RwSignal<Option<Arc<Plan>>>,
    /// The trace that the visitor opened.
    pub recorded: RwSignal<Recorded>,
    /// The metric whose explanation is open.
    pub explained: RwSignal<Option<MetricId>>,
    /// Text of each knob, in the order of the registry; empty until it is first requested.
    pub abouts: RwSignal<Vec<About>>,
    /// Text in the search box over the knobs, in lower case.
    pub search: RwSignal<String>,
    /// Whether the sheet of knobs is up, on a phone.
    pub sheet_open: RwSignal<bool>,
    /// Whether the help on keys is open.
    pub help_open: RwSignal<bool>,
    /// Whether the list of steps is open.
    pub steps_open: RwSignal<bool>,
    /// Whether the other conventions for MFU are open.
    pub conventions_open: RwSignal<bool>,
    /// Whether the design is read-only.
    pub locked: RwSignal<bool>,
    /// Additions of the page; `None` on the explorer's own page.
    beside: StoredValue<Option<Beside>>,
}

impl Explorer {
    /// The state of a page that has just been opened.
    #[must_use]
    pub fn new(design: Design) -> Self {
        let resting = RwSignal::new(design.clone());
        let (preset, rows) = (RwSignal::new(design.preset), Rows::new(&design));
        let design = RwSignal::new(design);
        let link = memo(move || design.with(link::encode));
        let preset_design = memo(move || preset.get().design());
        let title = memo(move || design.with(name::title));
        let traced = RwSignal::new(None::<Arc<Plan>>);
        let estimator = StoredValue::new(Estimator::new());
        let checked = memo(move || {
            traced.with(|traced| design.with(|design| check(design, estimator, traced.as_deref())))
        });
        let preset_numbers = memo(move || {
            preset_design.with(|preset| {
                // Most pages are opened on a preset as it is.
                let is_shown = || design.with_untracked(|design| design == preset);
                let shown = || checked.get_untracked().ok().filter(|_| is_shown());
                let shown = traced.with_untracked(Option::is_none).then(shown).flatten();
                shown.unwrap_or_else(|| Arc::new(Numbers::new(legal_plan(preset))))
            })
        });
        let violations = memo(move || {
            checked.with(|checked| checked.as_ref().err().cloned().unwrap_or_default())
        });
        let on_page = Memo::new(move |before: Option<&OnPage>| {
            if let Ok(numbers) = checked.get() {
                return OnPage { numbers, of: NumbersOf::Design };
            }
            match before {
                Some(OnPage { numbers, of: NumbersOf::Design | NumbersOf::LastLegal }) => {
                    OnPage { numbers: numbers.clone(), of: NumbersOf::LastLegal }
                }
                _ => OnPage { numbers: preset_numbers.get(), of: NumbersOf::Preset },
            }
        });
        let explorer = Self {
            design,
            link,
            history: RwSignal::default(),
            moved: RwSignal::new(false),
            last_edited: RwSignal::new(None),
            held: StoredValue::new(false),
            typed: StoredValue::new(false),
            before: RwSignal::new(None),
            preset,
            preset_design,
            title,
            preset_numbers,
            rows,
            violations,
            on_page,
            resting,
            traced,
            recorded: RwSignal::default(),
            explained: RwSignal::new(None),
            abouts: RwSignal::default(),
            search: RwSignal::default(),
            sheet_open: RwSignal::new(false),
            help_open: RwSignal::new(false),
            steps_open: RwSignal::new(false),
            conventions_open: RwSignal::new(false),
            locked: RwSignal::new(false),
            beside: StoredValue::new(None),
        };
        explorer.tell_rows();
        explorer
    }

    /// Shows a design.
    fn show(self, design: Design) {
        let preset = design.preset;
        self.design.set(design);
        write(self.moved, true);
        write(self.preset, preset);
        self.tell_rows();
    }

    /// Puts something beside knobs and numbers.
    pub fn put_beside(self, beside: Beside) {
        self.beside.set_value(Some(beside));
    }

    /// The page's addition beside a knob or a number.
    #[must_use]
    pub fn beside(self, topic: Topic) -> Option<Part> {
        self.beside.with_value(|beside| beside.as_ref().map(|beside| beside(topic)))
    }

    /// Shows a design that came from elsewhere: no step of the history.
    pub fn follow(self, design: Design) {
        if self.design.with_untracked(|shown| *shown != design) {
            self.show(design);
        }
    }

    /// Whether another design has been shown since the page was opened.
    #[must_use]
    pub fn has_moved(self) -> bool {
        self.moved.get()
    }

    /// Whether a gesture on a knob is going on, so that its value is still changing.
    #[must_use]
    pub fn in_gesture(self) -> bool {
        self.history.with(History::is_open)
    }

    /// Tells the rows of the knobs what has changed for them.
    fn tell_rows(self) {
        self.violations.with_untracked(|violations| {
            self.preset_design.with_untracked(|preset| {
                self.design.with_untracked(|design| self.rows.tell(design, preset, violations));
            });
        });
    }

    /// Reads the design.
    pub fn with_design<T>(self, read: impl FnOnce(&Design) -> T) -> T {
        self.design.with(read)
    }

    /// The design as a query string.
    #[must_use]
    pub fn link(self) -> String {
        self.link.get()
    }

    /// The preset that the design starts from.
    #[must_use]
    pub fn preset(self) -> &'static Preset {
        self.preset.get()
    }

    /// Title of the design.
    #[must_use]
    pub fn title(self) -> String {
        self.title.get()
    }

    /// The plan and estimate that the page shows, which are those of the last legal design.
    fn numbers(self) -> Arc<Numbers> {
        self.on_page.with(|on_page| on_page.numbers.clone())
    }

    /// Reads the plan and estimate that the page shows.
    pub fn with_numbers<T>(self, read: impl FnOnce(&Numbers) -> T) -> T {
        read(&self.numbers())
    }

    /// Reads plan and estimate as [`Self::with_numbers`] does, without following changes.
    pub fn with_numbers_untracked<T>(self, read: impl FnOnce(&Numbers) -> T) -> T {
        self.on_page.with_untracked(|on_page| read(&on_page.numbers))
    }

    /// Owner of the numbers that the page shows.
    #[must_use]
    pub fn shown(self) -> NumbersOf {
        self.on_page.with(|on_page| on_page.of)
    }

    /// The design, while nothing but its trace's loads is missing.
    #[must_use]
    pub fn lacks_loads(self) -> Option<Design> {
        let design = self.design.get();
        let is_traced = design.routing.balance == Balance::Trace;
        let is_broken = self.violations.with(|violations| !violations.is_empty());
        let lacks = || Plan::with_effect(&design, Effect::UNIFORM).is_ok();
        (is_traced && is_broken && lacks()).then_some(design)
    }

    /// Takes what the trace at hand does to a design.
    pub fn take_loads(self, design: &Design, numbers: &[f64]) {
        let effect = recorded::effect(numbers, design);
        let plan = effect.and_then(|effect| Plan::with_effect(design, effect).ok());
        if let Some(plan) = plan {
            self.traced.set(Some(Arc::new(plan)));
            self.tell_rows();
        }
    }

    /// Reads the unchanged preset's numbers.
    pub fn with_preset_numbers<T>(self, read: impl FnOnce(&Numbers) -> T) -> T {
        read(&self.preset_numbers.get())
    }

    /// Reads the rules that the design breaks.
    pub fn with_violations<T>(self, read: impl FnOnce(&[Violation]) -> T) -> T {
        self.violations.with(|violations| read(violations))
    }

    /// Have the knobs rested since the last change?
    #[must_use]
    pub fn rests(self) -> bool {
        self.resting.with(|resting| self.design.with(|design| resting == design))
    }

    /// Tells that the knobs rest.
    pub fn rest(self) {
        let design = self.design.get_untracked();
        // The page may be gone by the time that its knobs have rested long enough.
        let _ = self.resting.try_set(design);
    }

    /// The knobs that differ from the preset, in registry order.
    #[must_use]
    pub fn changed(self) -> RwSignal<Vec<KnobId>> {
        self.rows.changed
    }

    /// Signals that the row of a knob follows.
    #[must_use]
    pub fn row(self, id: KnobId) -> Row {
        self.rows.row(id)
    }

    /// The preset's value of a knob.
    #[must_use]
    pub fn preset_value(self, id: KnobId) -> Value {
        self.preset_design.with(|design| design.get(id))
    }

    /// The knob that was set last.
    #[must_use]
    pub fn last_edited(self) -> Option<KnobId> {
        self.last_edited.get()
    }

    /// Whole numbers that a slider offers for a knob: the legal ones and the current one.
    ///
    /// They are sought around the preset's value, so the list stays as it is during a drag.
    #[must_use]
    pub fn positions(self, id: KnobId) -> Vec<u64> {
        let Kind::Integer(..) = id.knob().kind else { return Vec::new() };
        let (mut trial, current) = self.design.with(|design| (design.clone(), design.get(id)));
        // The preset's own value is within bounds.
        let _ = trial.set(id, &self.preset_value(id));
        let legal = legal_values(&trial, id).into_iter().chain([current]);
        let mut numbers: Vec<u64> = legal.filter_map(|value| value.as_integer()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The legal values of any knob, the current one included.
    #[must_use]
    pub fn legal_values(self, id: KnobId) -> Vec<Value> {
        self.design.with(|design| legal_values(design, id))
    }

    /// Sets a knob.
    ///
    /// # Errors
    /// A value of the wrong type or out of the knob's bounds; nothing changes.
    pub fn set(self, id: KnobId, value: &Value) -> Result<(), KnobError> {
        let before = self.design.get_untracked();
        let mut after = before.clone();
        after.set(id, value)?;
        self.move_knob(id, before, after);
        Ok(())
    }

    /// Sets a knob from what a person typed.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn set_text(self, id: KnobId, text: &str) -> Result<(), KnobError> {
        let before = self.design.get_untracked();
        let mut after = before.clone();
        after.set_text(id, text)?;
        self.move_knob(id, before, after);
        Ok(())
    }

    fn move_knob(self, id: KnobId, before: Design, after: Design) {
        if before == after || self.is_given_up() || self.locked.get_untracked() {
            return;
        }
        let own = self.preset_design.with_untracked(|preset| preset.kernel.software);
        let after = with_software(own, &before, after);
        self.history.update(|history| history.record_knob(id, before));
        self.last_edited.set(Some(id));
        self.show(after);
    }

    /// Ends a gesture on a knob: the next change is another step of the history.
    pub fn end_gesture(self) {
        if self.history.with_untracked(History::is_open) {
            let now = self.design.get_untracked();
            self.history.update(|history| history.close(&now));
        }
    }

    /// A value begins to be typed, or that is done, which ends the gesture.
    pub fn set_typed(self, typed: bool) {
        self.typed.set_value(typed);
        if !typed {
            self.end_gesture();
        }
    }

    /// Whether a value is being typed.
    #[must_use]
    pub fn is_typed(self) -> bool {
        self.typed.try_get_value() == Some(true)
    }

    /// Ends a gesture by keys, which nothing else tells the end of.
    pub fn end_still_gesture(self) {
        if self.held.try_get_value() == Some(false) {
            self.end_gesture();
        }
    }

    /// Takes a way out of a violation.
    pub fn mend(self, way: &Nearest) {
        self.end_gesture();
        // The model offers values within bounds only.
        let _ = self.set(way.knob, &way.value);
        self.end_gesture();
    }

    /// Puts a knob back to its preset's value.
    pub fn reset(self, id: KnobId) {
        self.end_gesture();
        // The preset's own value is within bounds.
        let _ = self.set(id, &self.preset_value(id));
        self.end_gesture();
    }

    /// Puts every knob back.
    pub fn reset_all(self) {
        self.replace("all changes".to_owned(), self.preset_design.get_untracked());
    }

    /// Opens a preset; false when there is none of that id.
    pub fn open_preset(self, id: &str) -> bool {
        let Ok(design) = Design::from_preset(id) else { return false };
        self.replace(design.preset.title.to_owned(), design);
        true
    }

    /// Opens a design as a whole, as a step of the history.
    pub fn replace(self, label: String, after: Design) {
        let before = self.design.get_untracked();
        if before == after || self.locked.get_untracked() {
            return;
        }
        self.history.update(|history| history.record(label, before));
        self.last_edited.set(None);
        self.show(after);
    }

    /// Takes the last step back.
    pub fn undo(self) {
        self.step(History::undo);
    }

    /// Takes a step again that was taken back.
    pub fn redo(self) {
        self.step(History::redo);
    }

    /// Goes to the design after `place` steps of the history.
    pub fn go(self, place: usize) {
        self.step(|history, now| history.go(place, now));
    }

    /// Number of steps up to the design that is shown.
    #[must_use]
    pub fn place(self) -> usize {
        self.history.with(History::place)
    }

    /// Link of the design after `place` steps; `None` if that is forgotten or was never reached.
    #[must_use]
    pub fn link_at(self, place: usize) -> Option<String> {
        self.history.with_untracked(|history| {
            self.design.with_untracked(|now| history.design_at(place, now).map(link::encode))
        })
    }

    /// Opens a design of which this history knows nothing, and begins a new one with it.
    pub fn begin_with(self, design: Design) {
        self.history.set(History::default());
        self.last_edited.set(None);
        self.follow(design);
    }

    /// The steps of the history, and how many of them the design has.
    #[must_use]
    pub fn steps(self) -> (Vec<Step>, usize) {
        self.history.with(|history| self.design.with(|now| (history.steps(now), history.place())))
    }

    fn step(self, step: impl FnOnce(&mut History, &Design) -> Option<Design>) {
        let now = self.design.get_untracked();
        if let Some(Some(design)) = self.history.try_update(|history| step(history, &now)) {
            self.last_edited.set(None);
            self.show(design);
        }
    }

    /// Label of the step that undo would take back.
    #[must_use]
    pub fn undo_label(self) -> Option<String> {
        self.history.with(|history| history.undo_label().map(str::to_owned))
    }

    /// Label of the step that redo would take again.
    #[must_use]
    pub fn redo_label(self) -> Option<String> {
        self.history.with(|history| history.redo_label().map(str::to_owned))
    }
}

/// A design after a change, with a state of the software that there is on its accelerator: it goes
/// with its maker, and the preset's own comes back with it.
fn with_software(own: Software, before: &Design, mut after: Design) -> Design {
    if after.cluster.accelerator != before.cluster.accelerator {
        if !fits(after.kernel.software, &after) {
            after.kernel.software = Software::Calibrated;
        } else if fits(own, &after) && !fits(own, before) {
            after.kernel.software = own;
        }
    }
    after
}

fn fits(software: Software, design: &Design) -> bool {
    software.is_of(&design.cluster.accelerator.row().kernels)
}

/// A design's numbers, or the rules that it breaks.
type Checked = Result<Arc<Numbers>, Vec<Violation>>;

/// Checks a design. What it has in common with those before it is kept: its loads, its layers, its
/// stages. Recorded loads are taken over from a plan of the same trace.
fn check(design: &Design, estimator: StoredValue<Estimator>, traced: Option<&Plan>) -> Checked {
    if let Some(base) = recorded::same_trace(design, traced) {
        return base.variant(design).map(|plan| Arc::new(Numbers::new(plan)));
    }
    let said = estimator.try_update_value(|estimator| estimator.estimate(design));
    // Kept as long as the page, like the memo that asks.
    let said = said.unwrap_or_else(|| Estimator::new().estimate(design));
    said.map(|(plan, estimate)| Arc::new(Numbers { plan, estimate }))
}

/// A preset's plan, or that of the preset that a visitor meets first.
fn legal_plan(design: &Design) -> Plan {
    let first = || Design::from_preset(Preset::DEFAULT_ID).ok();
    Plan::new(design)
        .ok()
        .or_else(|| Plan::new(&first()?).ok())
        .expect("the first preset is legal: a test opens every preset")
}

#[cfg(test)]
mod tests;
