//! The page's state and everything derived from it; no view code.

use std::sync::Arc;

use leptos::prelude::*;
use model::budget::Assessment;
use model::design::KnobId;
use model::violation::Violation;

use super::Asked;

/// What was asked for, with what it comes to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    pub(super) asked: Asked,
    pub(super) assessment: Assessment,
}

impl Shown {
    /// What comes of it.
    ///
    /// # Errors
    /// The rules that design or baseline break.
    pub(super) fn new(asked: &Asked) -> Result<Self, Vec<Violation>> {
        let assessment = Assessment::new(&asked.design, asked.baseline.as_ref())?;
        Ok(Self { asked: asked.clone(), assessment })
    }
}

/// The state of the page.
#[derive(Clone, Copy)]
pub(super) struct State {
    asked: RwSignal<Asked>,
    outcome: Memo<Result<Arc<Shown>, Vec<Violation>>>,
    shown: Memo<Option<Arc<Shown>>>,
    /// What was typed and isn't a value, by knob.
    wrong: RwSignal<Vec<(KnobId, String)>>,
}

impl State {
    pub(super) fn new(asked: Asked) -> Self {
        let asked = RwSignal::new(asked);
        let outcome = Memo::new(move |_| asked.with(|asked| Shown::new(asked).map(Arc::new)));
        let shown = Memo::new(move |before: Option<&Option<Arc<Shown>>>| match outcome.get() {
            Ok(shown) => Some(shown),
            Err(_) => before.cloned().flatten(),
        });
        Self { asked, outcome, shown, wrong: RwSignal::default() }
    }

    /// Something of what is asked for.
    pub(super) fn with<T>(self, read: impl FnOnce(&Asked) -> T) -> T {
        self.asked.with(read)
    }

    /// The rules that it breaks.
    pub(super) fn violations(self) -> Vec<Violation> {
        self.outcome.with(|outcome| outcome.as_ref().err().cloned().unwrap_or_default())
    }

    /// Are the numbers those of something else?
    pub(super) fn is_stale(self) -> bool {
        self.outcome.with(Result::is_err)
    }

    /// Text of what is shown: what is asked for, or the last that could train.
    pub(super) fn with_shown(self, text: impl FnOnce(&Shown) -> String) -> String {
        self.shown.with(|shown| shown.as_deref().map_or_else(String::new, text))
    }

    /// Asks for something else.
    pub(super) fn ask(self, asked: Asked) {
        self.wrong.set(Vec::new());
        self.asked.set(asked);
    }

    /// A text for a knob: taken, or refused with the reason.
    pub(super) fn write(self, id: KnobId, text: &str) {
        let mut asked = self.asked.get_untracked();
        let text = if text.trim().is_empty() { "none" } else { text };
        match asked.design.set_text(id, text) {
            Ok(()) => self.ask(asked),
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
