//! The page's state and everything derived from it; no view code.

use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use model::ground::choice::{Choice, Method};
use present::page::schedule::form;
use present::page::schedule::input::{Field, Input};
use present::page::schedule::run::{self, Refusal, Row, ScheduleRun};
use web_sys::{Element, HtmlElement, HtmlInputElement};

use crate::browser::Later;
use crate::panel::asking::{self, Asking};
use crate::reaction::memo;
use crate::widget::number_box::NOT_A_NUMBER;

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
        let outcome = memo(move || run::run(&input.get()).map(Arc::new));
        let refusal = memo(move || {
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
        let compared = memo(move || {
            let now = input.get();
            if run::compares_quickly(&now) { now } else { resting.get() }
        });
        let rows = memo(move || run::compare(&compared.get()));
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

    /// A text for a number: taken, or kept with the reason why not.
    fn write_number(self, field: Field, text: &str) {
        let mut input = self.input.get_untracked();
        let outcome = input.set(field, text);
        if outcome.is_err() || self.draft_untracked(field) {
            // A browser doesn't tell what a box holds that isn't a number.
            let kept = if text == NOT_A_NUMBER { "" } else { text };
            self.drafts.update(|drafts| {
                drafts.retain(|draft| draft.field != field);
                let draft = |message| Draft { field, text: kept.to_owned(), message };
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

    /// Something of what was typed into a field and refused.
    fn draft<T>(self, field: Field, read: impl FnOnce(&Draft) -> T) -> Option<T> {
        self.drafts.with(|drafts| drafts.iter().find(|draft| draft.field == field).map(read))
    }
}

/// The number of a field; `None` if it is the method.
fn number(field: &asking::Field) -> Option<Field> {
    Field::ALL.into_iter().find(|number| number.key() == field.name)
}

impl Asking for State {
    const IS_LIVE: bool = true;

    fn text(self, field: &asking::Field) -> String {
        let Some(field) = number(field) else { return self.input().method.name().to_owned() };
        let draft = self.draft(field, |draft| draft.text.clone());
        draft.unwrap_or_else(|| self.input().get(field))
    }

    fn write(self, field: &asking::Field, text: &str) {
        if let Some(field) = number(field) {
            self.write_number(field, text);
        } else if let Some(method) = Method::from_name(text) {
            self.ask(self.input.get_untracked().with_method(method));
        }
    }

    fn refused(self, field: &asking::Field) -> Option<String> {
        self.draft(number(field)?, |draft| format!("This {}.", draft.message))
    }

    fn is_broken(self, field: &asking::Field) -> bool {
        let Some(field) = number(field) else { return false };
        self.refusal.with(|refusal| {
            let problems = refusal.iter().flat_map(|refusal| &refusal.problems);
            problems.into_iter().any(|problem| problem.field == field)
        })
    }

    fn is_same(field: &asking::Field, typed: &str, text: &str) -> bool {
        number(field).map_or(typed == text, |field| field.same(typed, text))
    }

    fn step(self, field: &asking::Field, up: bool) -> bool {
        let Some(field) = number(field) else { return false };
        if let Some(next) = self.input.get_untracked().stepped(field, up) {
            self.write_number(field, &next);
        }
        true
    }

    fn follow(self, field: &asking::Field, control: &Element) {
        let (Some(field), Some(input)) = (number(field), control.dyn_ref::<HtmlInputElement>())
        else {
            return;
        };
        let asked = self.input();
        input.set_placeholder(&form::placeholder(&asked, field));
        let group = control.closest(".schedule-group").ok().flatten();
        if let Some(group) = group.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
            group.set_hidden(!form::has_groups(&asked));
        }
    }
}
