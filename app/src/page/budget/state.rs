//! The page's state and everything derived from it; no view code.

use model::Plan;
use model::design::KnobId;
use model::metric::{MetricId, Regime};
use present::page::budget::{BudgetAnswer, BudgetInput, with_preset};

use crate::panel::asking::{Asking, Field, Outcome};

/// The state of the page.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) outcome: Outcome<BudgetInput, BudgetAnswer>,
}

impl State {
    pub(super) fn new(asked: BudgetInput) -> Self {
        let is_legal = |asked: &BudgetInput| {
            let baseline = asked.baseline.iter();
            baseline.chain([&asked.design]).all(|design| Plan::new(design).is_ok())
        };
        let explains = &[Regime::Budget, Regime::Quality];
        let first = MetricId::days_to_train;
        Self { outcome: Outcome::new(asked, explains, first, is_legal, BudgetAnswer::new) }
    }

    /// Asks for something else.
    pub(super) fn ask(self, asked: BudgetInput) {
        self.outcome.ask(asked);
    }
}

impl Asking for State {
    fn knob(name: &str) -> Option<KnobId> {
        KnobId::named(name)
    }

    fn text(self, field: &Field) -> String {
        self.outcome.with_asked(|asked| field.text(&asked.design))
    }

    fn write(self, field: &Field, text: &str) {
        let mut asked = self.outcome.asked_untracked();
        if self.outcome.set(&mut asked.design, field, text, with_preset) {
            self.ask(asked);
        }
    }

    fn refused(self, field: &Field) -> Option<String> {
        self.outcome.refused(field)
    }

    fn is_broken(self, field: &Field) -> bool {
        self.outcome.is_broken(field)
    }
}
