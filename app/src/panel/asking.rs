//! A page that asks for knobs beside what they come to: what was typed, the last that held, and the
//! form, links and sections that show it.

use std::mem;
use std::sync::Arc;

use leptos::either::Either;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::{ev, html};
use model::catalogue::preset::Preset;
use model::design::violation::Violation;
use model::design::{Design, KnobId};
use model::metric::{MetricId, Regime};
use present::form::knob::{self, problem_id};
use present::form::options;
use present::site::Page;
use web_sys::{Element, HtmlInputElement};

use super::header;
use crate::browser::dom::{clicked_link, set_value, value};
use crate::browser::download::{closest, elements};
use crate::browser::{copy as copy_text, on_server, reset_soon, takes_over};
use crate::reaction::{effect, memo};
use crate::widget::number_box::NOT_A_NUMBER;

/// Result of the request, or the rules that it breaks.
///
/// The result of the first request is in the page as the server wrote it: the browser computes it
/// only once it has to stay beside a request that breaks rules.
pub struct Outcome<A: Send + Sync + 'static, T: Send + Sync + 'static> {
    /// Whether the first request still holds and breaks no rule.
    stands: RwSignal<bool>,
    found: Memo<Result<Arc<T>, Vec<Violation>>>,
    shown: Memo<Option<Arc<T>>>,
    asked: RwSignal<A>,
    /// Reasons why typed texts were refused, by knob.
    refused: RwSignal<Vec<(KnobId, String)>>,
    /// Regimes whose metrics the page explains, and the one that it does.
    explains: &'static [Regime],
    explained: RwSignal<MetricId>,
}

impl<A: Send + Sync, T: Send + Sync> Clone for Outcome<A, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Send + Sync, T: Send + Sync> Copy for Outcome<A, T> {}

impl<A: Clone + Send + Sync, T: PartialEq + Send + Sync> Outcome<A, T> {
    /// Outcome of the first request and of all later ones; `is_legal` tells sooner whether it
    /// breaks no rule.
    pub fn new(
        first: A,
        explains: &'static [Regime],
        explained: MetricId,
        is_legal: fn(&A) -> bool,
        find: fn(&A) -> Result<T, Vec<Violation>>,
    ) -> Self {
        let stands = RwSignal::new(takes_over() && is_legal(&first));
        let stood = StoredValue::new(stands.get_untracked().then(|| first.clone()));
        let asked = RwSignal::new(first);
        let found = memo(move || asked.with(find).map(Arc::new));
        let shown = Memo::new(move |before: Option<&Option<Arc<T>>>| match found.get() {
            Ok(now) => Some(now),
            Err(_) => before.cloned().flatten().or_else(|| {
                let first = stood.with_value(|first| first.as_ref().map(find));
                first?.ok().map(Arc::new)
            }),
        });
        let (refused, explained) = (RwSignal::default(), RwSignal::new(explained));
        Self { stands, found, shown, asked, refused, explains, explained }
    }

    /// Part of the request.
    pub fn with_asked<R>(self, read: impl FnOnce(&A) -> R) -> R {
        self.asked.with(read)
    }

    /// The request, to be changed.
    #[must_use]
    pub fn asked_untracked(self) -> A {
        self.asked.get_untracked()
    }

    /// Asks for something else.
    pub fn ask(self, other: A) {
        self.refused.set(Vec::new());
        self.asked.set(other);
        self.compute();
    }

    /// Computes even a result that is in the page, since more of it is needed.
    fn compute(self) {
        if self.stands.get_untracked() {
            self.stands.set(false);
        }
    }

    /// The rules that the request breaks.
    #[must_use]
    pub fn violations(self) -> Vec<Violation> {
        self.read(|found| found.as_ref().err().cloned()).flatten().unwrap_or_default()
    }

    /// Whether the numbers are those of an earlier request.
    #[must_use]
    pub fn is_stale(self) -> bool {
        self.read(Result::is_err) == Some(true)
    }

    /// Text of the result shown: of the request, or of the last one that broke no rule; empty if it
    /// is in the page already.
    pub fn with_shown(self, text: impl FnOnce(&T) -> String) -> String {
        if self.stands.get() {
            return String::new();
        }
        self.shown.with(|shown| shown.as_deref().map_or_else(String::new, text))
    }

    /// Part of the result shown, even if it is in the page already; nothing follows it.
    pub fn now<R>(self, read: impl FnOnce(&T) -> R) -> Option<R> {
        self.shown.with_untracked(|shown| shown.as_deref().map(read))
    }

    /// Whether a broken rule names the knob of a field.
    #[must_use]
    pub fn is_broken(self, field: &Field) -> bool {
        let Some(id) = field.knob else { return false };
        let breaks = |all: &Vec<Violation>| all.iter().any(|it| it.knobs.contains(&id));
        self.read(|found| found.as_ref().is_err_and(breaks)) == Some(true)
    }

    /// Sets a field of a design to a text, where another preset makes another design; keeps the
    /// reason where it is refused.
    #[must_use]
    pub fn set(
        self,
        design: &mut Design,
        field: &Field,
        text: &str,
        with_preset: fn(&Design, &'static Preset) -> Design,
    ) -> bool {
        let Some(id) = field.knob else {
            let other = Preset::find(text).map(|preset| with_preset(design, preset));
            return other.map(|other| *design = other).is_ok();
        };
        let text = if text.trim().is_empty() { "none" } else { text };
        let Err(error) = design.set_text(id, text) else { return true };
        self.refused.update(|wrong| {
            wrong.retain(|(known, _)| *known != id);
            wrong.push((id, error.to_string()));
        });
        false
    }

    /// Reason why the text typed into a field was refused.
    #[must_use]
    pub fn refused(self, field: &Field) -> Option<String> {
        self.refused.with(|wrong| {
            let found = wrong.iter().find(|(known, _)| Some(*known) == field.knob);
            found.map(|(_, message)| message.clone())
        })
    }

    /// Explains the metric of a name.
    fn explain(self, name: &str) {
        let mut regimes = self.explains.iter();
        if let Some(metric) = regimes.find_map(|it| MetricId::find_of(*it, name)) {
            self.compute();
            self.explained.set(metric);
        }
    }

    /// Explains the metric that a click asks for; the link itself leads to the explanation.
    pub(crate) fn follow(self, event: &ev::MouseEvent) {
        let link = clicked_link(event).map(|(link, _)| link);
        if let Some(metric) = link.and_then(|link| link.get_attribute("data-explain")) {
            self.explain(&metric);
        }
    }

    /// Result of the request; `None` if it is in the page already.
    fn read<R>(self, read: impl FnOnce(&Result<Arc<T>, Vec<Violation>>) -> R) -> Option<R> {
        (!self.stands.get()).then(|| self.found.with(read))
    }
}

/// Field of a form, which is sent under its name.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The knob of that name, if it is one; the field `preset` says what all differ from.
    knob: Option<KnobId>,
}

impl Field {
    fn of<S: Asking>(control: &Element) -> Option<Self> {
        let name = control.get_attribute("name")?;
        Some(Self { knob: S::knob(&name), name })
    }

    /// The value of a design as text.
    #[must_use]
    pub fn text(&self, design: &Design) -> String {
        self.knob.map_or_else(|| design.preset.id.to_owned(), |id| knob::text(&design.get(id)))
    }
}

/// The state of such a page, as its form sees it.
pub trait Asking: Copy + Send + Sync + 'static {
    /// Whether a text is taken while it is typed, and not when that is done.
    const IS_LIVE: bool = false;

    /// The knob of a name, on a page that asks for knobs.
    fn knob(_: &str) -> Option<KnobId> {
        None
    }

    /// The requested value as text.
    fn text(self, field: &Field) -> String;

    /// A text for a field: taken, or refused with the reason.
    fn write(self, field: &Field, text: &str);

    /// Reason why the text typed into a field was refused.
    fn refused(self, field: &Field) -> Option<String>;

    /// Whether a broken rule names this field.
    fn is_broken(self, field: &Field) -> bool;

    /// Whether a typed text has the same value as another one, so that it may stay.
    fn is_same(_: &Field, typed: &str, text: &str) -> bool {
        typed == text
    }

    /// Goes to the next (true) or previous value of a field; false where the browser does.
    fn step(self, _: &Field, _: bool) -> bool {
        false
    }

    /// Lets more of a control follow the state than value and problem.
    fn follow(self, _: &Field, _: &Element) {}
}

/// State of a field as the form shows it.
#[derive(Debug, PartialEq)]
struct Held {
    text: String,
    problem: String,
    is_wrong: bool,
}

/// The form of a page. Its content is the server's; the values follow the state, and are sent to
/// it. Without a script it is a plain form.
pub fn form<S: Asking>(
    state: S,
    page: Page,
    label: &'static str,
    content: fn(S) -> String,
) -> impl IntoView {
    let node = NodeRef::<html::Form>::new();
    let mut fields: Vec<(Field, Element)> = Vec::new();
    let mut held: Vec<Held> = Vec::new();
    effect(move || {
        let Some(form) = node.get() else { return };
        if fields.is_empty() {
            let controls = elements(&form, ".schedule-field [name]");
            fields.extend(controls.filter_map(|it| Some((Field::of::<S>(&it)?, it))));
        }
        let mut before = mem::take(&mut held).into_iter();
        let hold = |(field, it): &(Field, Element)| hold(state, field, it, before.next().as_ref());
        held = fields.iter().map(hold).collect();
    });
    let heard = move |event: ev::Event| {
        let Some((control, field)) = target::<S>(&event) else { return };
        let input = control.dyn_ref::<HtmlInputElement>();
        if (event.type_() == "input") == (S::IS_LIVE && input.is_some()) {
            let is_nonsense = input.is_some_and(|input| input.validity().bad_input());
            let text = if is_nonsense { NOT_A_NUMBER.to_owned() } else { value(&control) };
            state.write(&field, &text);
        }
    };
    let step = move |event: ev::KeyboardEvent| {
        let up = match event.key().as_str() {
            "ArrowUp" => true,
            "ArrowDown" => false,
            _ => return,
        };
        if target::<S>(&event).is_some_and(|(_, field)| state.step(&field, up)) {
            event.prevent_default();
        }
    };
    view! {
        <form class="card schedule-form" action=page.path() method="get" novalidate
            aria-label=label node_ref=node inner_html=on_server(|| content(state))
            on:submit=|event: ev::SubmitEvent| event.prevent_default()
            on:input=heard on:change=heard on:keydown=step
        ></form>
    }
}

/// The control that an event is on.
fn target<S: Asking>(event: &ev::Event) -> Option<(Element, Field)> {
    let control = closest(event, "[name]")?;
    Field::of::<S>(&control).map(|field| (control, field))
}

/// Shows a field as it is now; what is typed stays while the state says the same as before.
fn hold<S: Asking>(state: S, field: &Field, control: &Element, before: Option<&Held>) -> Held {
    let problem = state.refused(field).unwrap_or_default();
    let is_wrong = !problem.is_empty() || state.is_broken(field);
    let now = Held { text: state.text(field), problem, is_wrong };
    let has_moved = |before: &Held| {
        before.text != now.text || (now.problem.is_empty() && !before.problem.is_empty())
    };
    if before.is_none_or(has_moved) && !S::is_same(field, &value(control), &now.text) {
        set_value(control, &now.text);
    }
    if before.is_none_or(|before| *before != now) && control.has_attribute("aria-invalid") {
        // An attribute of a fixed, valid name can always be set.
        let _ = control.set_attribute("aria-invalid", if is_wrong { "true" } else { "false" });
        if let Some(place) = document().get_element_by_id(&problem_id(&field.name)) {
            place.set_text_content(Some(&now.problem));
        }
    }
    state.follow(field, control);
    now
}

/// A page of this kind: its main part, or text on what is wrong with its link.
pub fn page<V: IntoView>(page: Page, main: Result<V, String>) -> impl IntoView {
    let main = match main {
        Ok(main) => Either::Left(main),
        Err(wrong) => Either::Right(view! {
            <main id="results" class="broken-link" inner_html=wrong></main>
        }),
    };
    view! {
        <div class="schedule-page">
            {header::beside(page, "results", "Skip to the results")}
            {main}
        </div>
    }
}

/// The rules that the request breaks, where the numbers are those of an earlier one.
pub fn verdict(
    is_stale: impl Fn() -> bool + Send + Sync + 'static,
    problems: impl Fn() -> String + Send + Sync + 'static,
) -> impl IntoView {
    view! {
        <div class="verdict broken" role="region" aria-label="Broken rules"
            hidden=move || !is_stale() inner_html=problems
        ></div>
    }
}

/// A button that copies a command.
pub fn copy_button(command: impl Fn() -> String + 'static) -> impl IntoView {
    let copied = RwSignal::new(false);
    let copy = move |_| {
        copy_text(untrack(&command), move |done| {
            // The page may be gone by then.
            let _ = copied.try_set(done);
            reset_soon(copied);
        });
    };
    view! {
        <button type="button" class="button" on:click=copy>
            <span aria-live="polite">
                {move || if copied.get() { "Copied" } else { "Copy command" }}
            </span>
        </button>
    }
}

/// The section of a page that says how one of its numbers comes about.
pub fn explained<A, T>(of: Outcome<A, T>, text: fn(&T, MetricId) -> String) -> impl IntoView
where
    A: Clone + Send + Sync,
    T: PartialEq + Send + Sync,
{
    let now = move || of.explained.get().metric().name;
    let entries = on_server(|| {
        let metrics = of.explains.iter().flat_map(|regime| MetricId::of(*regime));
        let metrics = metrics.map(|it| (it.metric().name, it.metric().label));
        options(metrics, untrack(now)).into_string()
    });
    let text = memo(move || {
        let metric = of.explained.get();
        of.with_shown(|shown| text(shown, metric))
    });
    view! {
        <section id="explained" class="card schedule-card" aria-labelledby="explained-title">
            <h2 id="explained-title">"How a number comes about"</h2>
            <div class="schedule-field">
                <label for="explained-metric">"Metric"</label>
                <select class="select" id="explained-metric" autocomplete="off" prop:value=now
                    on:change=move |event| of.explain(&event_target_value(&event))
                    inner_html=entries
                ></select>
            </div>
            <div inner_html=move || text.get()></div>
        </section>
    }
}

/// The top of the results: broken rules, and two texts with their labels: what the numbers are of,
/// and the headline numbers.
pub fn head<A, T>(
    of: Outcome<A, T>,
    labels: [&'static str; 2],
    texts: [fn(&T) -> String; 2],
    problems: fn(&[Violation], &A) -> String,
) -> impl IntoView
where
    A: Clone + Send + Sync,
    T: PartialEq + Send + Sync,
{
    let [subject, cards] = texts.map(|text| memo(move || of.with_shown(text)));
    let [subject_label, cards_label] = labels;
    let problems = move || {
        let violations = of.violations();
        of.with_asked(|asked| problems(&violations, asked))
    };
    view! {
        <div id="results" class="schedule-results answer-head" class:stale=move || of.is_stale()>
            {verdict(move || of.is_stale(), problems)}
            <section class="card schedule-card" aria-label=subject_label
                inner_html=move || subject.get()
            ></section>
            <section class="cards" aria-label=cards_label inner_html=move || cards.get()></section>
        </div>
    }
}

/// A section with a heading and text that follows the state.
pub fn section(
    id: &'static str,
    title: &'static str,
    text: impl Fn() -> String + Send + Sync + 'static,
) -> impl IntoView {
    let heading = format!("{id}-title");
    let text = memo(text);
    view! {
        <section id=id class="card schedule-card" aria-labelledby=heading.clone()>
            <h2 id=heading.clone()>{title}</h2>
            <div class="scroll-x" role="region" tabindex="0" aria-label=format!("{title}, table")
                inner_html=move || text.get()
            ></div>
        </section>
    }
}
