//! The page's state and everything derived from it; no view code.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use present::page::schedule::input::{Field, Input};
use present::page::schedule::run::{self, Refusal, Row, ScheduleRun};

use crate::browser::Later;

/// A comparison that takes long follows when the numbers have been still for this long.
const DEBOUNCE: Duration = Duration::from_millis(250);

/// A text that was refused; the number stays what it was.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    field: Field,
    text: String,
    message: String,
}

/// The state of the page.
#[derive(Clone, Copy)]
pub(super) struct State {
    input: RwSignal<Input>,
    drafts: RwSignal<Vec<Draft>>,
    resting: RwSignal<Input>,
    refusal: Memo<Option<Refusal>>,
    shown: Memo<Option<Arc<ScheduleRun>>>,
    rows: Memo<Vec<Row>>,
    later: Later,
}

impl State {
    pub(super) fn new(input: Input) -> Self {
        let resting = RwSignal::new(input);
        let input = RwSignal::new(input);
        let outcome = Memo::new(move |_| run::run(&input.get()).map(Arc::new));
        let refusal = Memo::new(move |_| {
            outcome.with(|outcome| outcome.as_ref().err().map(|refusal| (**refusal).clone()))
        });
        let shown =
            Memo::new(move |before: Option<&Option<Arc<ScheduleRun>>>| match outcome.get() {
                Ok(ran) => Some(ran),
                Err(_) => match before {
                    Some(Some(ran)) => Some(ran.clone()),
                    _ => run::first_good(&input.get_untracked()).map(Arc::new),
                },
            });
        let compared = Memo::new(move |_| {
            let now = input.get();
            if run::compares_quickly(&now) { now } else { resting.get() }
        });
        let rows = Memo::new(move |_| run::compare(&compared.get()));
        let drafts = RwSignal::default();
        Self { input, drafts, resting, refusal, shown, rows, later: Later::new(DEBOUNCE) }
    }

    /// Requested input.
    pub(super) fn input(self) -> Input {
        self.input.get()
    }

    /// Reason why it can't run.
    pub(super) fn refusal(self) -> Option<Refusal> {
        self.refusal.get()
    }

    /// Whether the numbers are those of another input.
    pub(super) fn is_stale(self) -> bool {
        self.refusal.with(Option::is_some)
    }

    /// The schedule whose numbers are shown: the requested one, or the last that could run.
    pub(super) fn shown(self) -> Option<Arc<ScheduleRun>> {
        self.shown.get()
    }

    /// Text of the schedule shown; empty if there is none.
    pub(super) fn with_shown(self, text: impl FnOnce(&ScheduleRun) -> String) -> String {
        self.shown.with(|ran| ran.as_deref().map_or_else(String::new, text))
    }

    /// All methods beside each other.
    pub(super) fn with_rows<T>(self, read: impl FnOnce(&[Row]) -> T) -> T {
        self.rows.with(|rows| read(rows))
    }

    /// Asks for something else.
    pub(super) fn ask(self, input: Input) {
        self.drafts.set(Vec::new());
        self.change(input);
    }

    fn change(self, input: Input) {
        self.input.set(input);
        self.later.run(move || {
            // The page may be gone by now.
            let _ = self.resting.try_set(input);
        });
    }

    /// A box holds what isn't a number, and a browser doesn't tell what.
    pub(super) fn write_nonsense(self, field: Field) {
        self.write(field, "not a number");
        self.drafts.update(|drafts| {
            for draft in drafts.iter_mut().filter(|draft| draft.field == field) {
                draft.text.clear();
            }
        });
    }

    /// A text for a field: taken, or kept with the reason why not.
    pub(super) fn write(self, field: Field, text: &str) {
        let mut input = self.input.get_untracked();
        let outcome = input.set(field, text);
        if outcome.is_err() || self.draft_untracked(field) {
            self.drafts.update(|drafts| {
                drafts.retain(|draft| draft.field != field);
                let draft = |message| Draft { field, text: text.to_owned(), message };
                drafts.extend(outcome.as_ref().err().cloned().map(draft));
            });
        }
        if outcome.is_ok() {
            self.change(input);
        }
    }

    fn draft_untracked(self, field: Field) -> bool {
        self.drafts.with_untracked(|drafts| drafts.iter().any(|draft| draft.field == field))
    }

    /// Text in a field's box.
    pub(super) fn text(self, field: Field) -> String {
        let draft = self.drafts.with(|drafts| {
            drafts.iter().find(|draft| draft.field == field).map(|draft| draft.text.clone())
        });
        draft.unwrap_or_else(|| self.input.with(|input| input.get(field)))
    }

    /// Problem with the text that was typed.
    pub(super) fn refused(self, field: Field) -> Option<String> {
        self.drafts.with(|drafts| {
            drafts.iter().find(|draft| draft.field == field).map(|draft| draft.message.clone())
        })
    }

    /// Whether a field's text is refused or breaks a rule.
    pub(super) fn is_wrong(self, field: Field) -> bool {
        let breaks = |refusal: &Option<Refusal>| {
            let problems = refusal.iter().flat_map(|refusal| &refusal.problems);
            problems.into_iter().any(|problem| problem.field == field)
        };
        self.refused(field).is_some() || self.refusal.with(breaks)
    }
}
