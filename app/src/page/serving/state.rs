//! The page's state and everything derived from it; no view code.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use model::design::{Design, KnobId};
use model::serving::front::{Front, LAYOUT};
use model::serving::{Inference, ServingMetric, ServingPlan, infer};
use model::violation::Violation;

use super::measured::Measured;
use crate::browser::Later;

/// Layouts follow when the numbers have been still for this long.
const REST: Duration = Duration::from_millis(250);

/// A plan with what it gives.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ran {
    pub(super) plan: ServingPlan,
    pub(super) inference: Inference,
}

/// The state of the page.
#[derive(Clone, Copy)]
pub(super) struct State {
    design: RwSignal<Design>,
    resting: RwSignal<Design>,
    outcome: Memo<Result<Arc<Ran>, Vec<Violation>>>,
    shown: Memo<Option<Arc<Ran>>>,
    front: Memo<Arc<Front>>,
    measured: RwSignal<Measured>,
    explained: RwSignal<ServingMetric>,
    /// What was typed and isn't a value, by knob.
    wrong: RwSignal<Vec<(KnobId, String)>>,
    later: Later,
}

impl State {
    pub(super) fn new(design: Design) -> Self {
        let resting = RwSignal::new(design.clone());
        let design = RwSignal::new(design);
        let outcome = Memo::new(move |_| {
            design.with(|design| {
                let plan = ServingPlan::new(design)?;
                let inference = infer(&plan);
                Ok(Arc::new(Ran { plan, inference }))
            })
        });
        let shown = Memo::new(move |before: Option<&Option<Arc<Ran>>>| match outcome.get() {
            Ok(ran) => Some(ran),
            Err(_) => before.cloned().flatten(),
        });
        let front = Memo::new(move |_| Arc::new(resting.with(Front::new)));
        let wrong = RwSignal::default();
        let measured = RwSignal::default();
        let explained = RwSignal::new(ServingMetric::tpot_seconds);
        let later = Later::new(REST);
        Self { design, resting, outcome, shown, front, measured, explained, wrong, later }
    }

    /// Something of the design.
    pub(super) fn with<T>(self, read: impl FnOnce(&Design) -> T) -> T {
        self.design.with(read)
    }

    /// The rules that the design breaks.
    pub(super) fn violations(self) -> Vec<Violation> {
        self.outcome.with(|outcome| outcome.as_ref().err().cloned().unwrap_or_default())
    }

    /// Are the numbers those of something else?
    pub(super) fn is_stale(self) -> bool {
        self.outcome.with(Result::is_err)
    }

    /// Text of what is shown: what is asked for, or the last that could serve.
    pub(super) fn with_shown(self, text: impl FnOnce(&Ran) -> String) -> String {
        self.shown.with(|ran| ran.as_deref().map_or_else(String::new, text))
    }

    /// Text of the layouts, with the design that they are of and what was measured of it.
    pub(super) fn with_front(
        self,
        text: impl FnOnce(&Front, &Design, &Measured) -> String,
    ) -> String {
        self.measured.with(|measured| {
            self.front.with(|front| self.resting.with(|design| text(front, design, measured)))
        })
    }

    /// Something of the design that layouts are of.
    pub(super) fn with_resting<T>(self, read: impl FnOnce(&Design) -> T) -> T {
        self.resting.with(read)
    }

    /// What was measured of its model and accelerator has come.
    pub(super) fn take_measured(self, measured: Measured) {
        // The page may be gone by now.
        let _ = self.measured.try_set(measured);
    }

    /// The metric whose terms are shown.
    pub(super) fn explained(self) -> ServingMetric {
        self.explained.get()
    }

    /// Shows the terms of the metric of that name.
    pub(super) fn explain(self, name: &str) {
        if let Some(metric) = ServingMetric::find(name) {
            self.explained.set(metric);
        }
    }

    /// Asks for something else.
    pub(super) fn ask(self, design: Design) {
        self.wrong.set(Vec::new());
        self.design.set(design.clone());
        self.later.run(move || {
            // The page may be gone by now.
            let _ = self.resting.try_set(design);
        });
    }

    /// Takes over layout and load of another design of the same model.
    pub(super) fn lay_out(self, other: &Design) {
        let mut design = self.design.get_untracked();
        if design.preset.id != other.preset.id {
            return;
        }
        for id in LAYOUT {
            design.put(*id, &other.get(*id));
        }
        self.ask(design);
    }

    /// A text for a knob: taken, or refused with the reason.
    pub(super) fn write(self, id: KnobId, text: &str) {
        let mut design = self.design.get_untracked();
        let text = if text.trim().is_empty() { "none" } else { text };
        match design.set_text(id, text) {
            Ok(()) => self.ask(design),
            Err(error) => self.wrong.update(|wrong| {
                wrong.retain(|(known, _)| *known != id);
                wrong.push((id, error.to_string()));
            }),
        }
    }

    /// What is wrong with what was typed for a knob.
    pub(super) fn refused(self, id: KnobId) -> Option<String> {
        self.wrong.with(|wrong| {
            wrong.iter().find(|(known, _)| *known == id).map(|(_, message)| message.clone())
        })
    }

    /// Does a broken rule name this knob?
    pub(super) fn is_broken(self, id: KnobId) -> bool {
        self.outcome.with(|outcome| {
            outcome.as_ref().is_err_and(|all| all.iter().any(|it| it.knobs.contains(&id)))
        })
    }
}
