//! The page's state and everything derived from it; no view code.

use leptos::prelude::*;
use model::Plan;
use model::design::KnobId;
use model::design::violation::Violation;
use model::metric::{MetricId, Regime};
use present::page::budget::{BudgetInput, BudgetAnswer, with_preset};

use crate::panel::asking::{Asking, Field, Outcome, Typed};

/// The regimes whose metrics the page explains.
pub(super) const EXPLAINED: [Regime; 2] = [Regime::Budget, Regime::Quality];

/// The state of the page.
#[derive(Clone, Copy)]
pub(super) struct State {
    outcome: Outcome<BudgetInput, BudgetAnswer>,
    explained: RwSignal<MetricId>,
    typed: Typed,
}

impl State {
    pub(super) fn new(asked: BudgetInput) -> Self {
        let is_legal = |asked: &BudgetInput| {
            let baseline = asked.baseline.iter();
            baseline.chain([&asked.design]).all(|design| Plan::new(design).is_ok())
        };
        let explained = RwSignal::new(MetricId::days_to_train);
        let outcome = Outcome::new(asked, is_legal, BudgetAnswer::new);
        Self { outcome, explained, typed: Typed::new() }
    }

    /// The metric whose terms are shown.
    pub(super) fn explained(self) -> MetricId {
        self.explained.get()
    }

    /// Shows the terms of the metric of that name.
    pub(super) fn explain(self, name: &str) {
        let known = EXPLAINED.into_iter().find_map(|regime| MetricId::find_of(regime, name));
        if let Some(metric) = known {
            self.outcome.compute();
            self.explained.set(metric);
        }
    }

    /// Part of the request.
    pub(super) fn with<T>(self, read: impl FnOnce(&BudgetInput) -> T) -> T {
        self.outcome.with_asked(read)
    }

    /// The rules that it breaks.
    pub(super) fn violations(self) -> Vec<Violation> {
        self.outcome.violations()
    }

    /// Whether the numbers are those of an earlier request.
    pub(super) fn is_stale(self) -> bool {
        self.outcome.is_stale()
    }

    /// Text of the design shown: the request, or the last one that could train.
    pub(super) fn with_shown(self, text: impl FnOnce(&BudgetAnswer) -> String) -> String {
        self.outcome.with_shown(text)
    }

    /// Asks for something else.
    pub(super) fn ask(self, asked: BudgetInput) {
        self.typed.forget();
        self.outcome.ask(asked);
    }
}

impl Asking for State {
    fn knob(name: &str) -> Option<KnobId> {
        KnobId::named(name)
    }

    fn text(self, field: &Field) -> String {
        self.with(|asked| field.text(&asked.design))
    }

    fn write(self, field: &Field, text: &str) {
        let mut asked = self.outcome.asked_untracked();
        if self.typed.set(&mut asked.design, field, text, with_preset) {
            self.ask(asked);
        }
    }

    fn refused(self, field: &Field) -> Option<String> {
        self.typed.refused(field)
    }

    fn is_broken(self, field: &Field) -> bool {
        self.outcome.is_broken(field)
    }
}
