//! The page's state and everything derived from it; no view code.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use model::design::{Design, KnobId};
use model::metric::{MetricId, Regime};
use model::search::find::{LayoutFront, OneThread};
use model::serving::{LAYOUT, ServingPlan, infer};
use present::page::serving::measured::Measured;
use present::page::serving::{ServingAnswer, with_model};

use crate::browser::{Later, takes_over};
use crate::panel::asking::{Asking, Field, Outcome};
use crate::reaction::memo;

/// Layouts follow when the numbers have been still for this long.
const DEBOUNCE: Duration = Duration::from_millis(250);

/// The state of the page.
#[derive(Clone, Copy)]
pub(super) struct State {
    resting: RwSignal<Design>,
    pub(super) outcome: Outcome<Design, ServingAnswer>,
    /// Whether the layouts are those that the page was opened with, as the server wrote them.
    front_stands: RwSignal<bool>,
    front: Memo<Arc<LayoutFront>>,
    measured: RwSignal<Measured>,
    /// Whether the browser needs the measured loads: until something changes they are in the page.
    wants_measured: RwSignal<bool>,
    later: Later,
}

impl State {
    pub(super) fn new(design: Design) -> Self {
        let resting = RwSignal::new(design.clone());
        let is_legal = |design: &Design| ServingPlan::new(design).is_ok();
        let (explains, first) = (&[Regime::Serving], MetricId::tpot_seconds);
        let outcome = Outcome::new(design, explains, first, is_legal, |design| {
            let plan = ServingPlan::new(design)?;
            let inference = infer(&plan);
            Ok(ServingAnswer { plan, inference })
        });
        let layouts = move |design: &Design| LayoutFront::new(design, &OneThread);
        let front = memo(move || Arc::new(resting.with(layouts)));
        let front_stands = RwSignal::new(takes_over());
        // The server has it before it writes the page.
        let measured = RwSignal::new(use_context::<Measured>().unwrap_or_default());
        let wants_measured = RwSignal::new(!takes_over());
        let later = Later::new(DEBOUNCE);
        Self { resting, outcome, front_stands, front, measured, wants_measured, later }
    }

    /// The plan of what is shown.
    pub(super) fn plan(self) -> Option<ServingPlan> {
        self.outcome.now(|ran| ran.plan.clone())
    }

    /// Text of the layouts, with the design that they are of and its measured loads; empty if they
    /// are in the page already.
    pub(super) fn with_front(
        self,
        text: impl FnOnce(&LayoutFront, &Design, &Measured) -> String,
    ) -> String {
        if self.front_stands.get() {
            return String::new();
        }
        self.measured.with(|measured| {
            self.front.with(|front| self.resting.with(|design| text(front, design, measured)))
        })
    }

    /// Something of the design that layouts are of.
    pub(super) fn with_resting<T>(self, read: impl FnOnce(&Design) -> T) -> T {
        self.resting.with(read)
    }

    /// Whether the measured loads are needed.
    pub(super) fn wants_measured(self) -> bool {
        self.wants_measured.get()
    }

    /// Takes the measured loads of its model and accelerator.
    pub(super) fn take_measured(self, measured: Measured) {
        // The page may be gone by now.
        let _ = self.measured.try_set(measured);
    }

    /// Asks for something else.
    pub(super) fn ask(self, design: Design) {
        self.wants_measured.set(true);
        self.outcome.ask(design.clone());
        self.later.run(move || {
            // The page may be gone by now.
            let _ = self.resting.try_set(design);
            let _ = self.front_stands.try_set(false);
        });
    }

    /// Takes over layout and load of another design of the same model.
    pub(super) fn lay_out(self, other: &Design) {
        let mut design = self.outcome.asked_untracked();
        if design.preset.id != other.preset.id {
            return;
        }
        for id in LAYOUT.iter() {
            design.put(id, &other.get(id));
        }
        self.ask(design);
    }
}

impl Asking for State {
    fn knob(name: &str) -> Option<KnobId> {
        KnobId::named(name)
    }

    fn text(self, field: &Field) -> String {
        self.outcome.with_asked(|design| field.text(design))
    }

    fn write(self, field: &Field, text: &str) {
        let mut design = self.outcome.asked_untracked();
        if self.outcome.set(&mut design, field, text, with_model) {
            self.ask(design);
        }
    }

    fn refused(self, field: &Field) -> Option<String> {
        self.outcome.refused(field)
    }

    fn is_broken(self, field: &Field) -> bool {
        self.outcome.is_broken(field)
    }
}
