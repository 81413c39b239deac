//! The page's state and everything derived from it; no view code.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use model::design::{Design, KnobId};
use model::serving::front::Front;
use model::serving::{Inference, ServingPlan, infer};
use model::violation::Violation;

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
        Self { design, resting, outcome, shown, front, wrong, later: Later::new(REST) }
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

    /// Text of the layouts, with the design that they are of.
    pub(super) fn with_front(self, text: impl FnOnce(&Front, &Design) -> String) -> String {
        self.front.with(|front| self.resting.with(|design| text(front, design)))
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
        let (own, other) = (&mut design.serving, &other.serving);
        own.disaggregation = other.disaggregation;
        own.tensor_parallel_size = other.tensor_parallel_size;
        own.pipeline_parallel_size = other.pipeline_parallel_size;
        own.data_parallel_size = other.data_parallel_size;
        own.moe_expert_parallel_size = other.moe_expert_parallel_size;
        own.moe_tensor_parallel_size = other.moe_tensor_parallel_size;
        own.concurrency = other.concurrency;
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
