//! A page that asks for knobs beside what they come to: what was typed, the last that held, and the
//! form, links and sections that show it.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use model::design::violation::Violation;
use model::design::{Design, KnobId};
use model::ground::knob::{Kind, Value};
use model::metric::MetricId;
use present::words::name;

use crate::browser::takes_over;

/// Reasons why typed texts were refused, by knob.
#[derive(Clone, Copy)]
pub struct Typed(RwSignal<Vec<(KnobId, String)>>);

impl Typed {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self(RwSignal::default())
    }

    /// Forgets all, as there is another request.
    pub fn forget(self) {
        self.0.set(Vec::new());
    }

    /// Sets a knob of a design to a text; keeps the reason where it is refused.
    #[must_use]
    pub fn set(self, design: &mut Design, id: KnobId, text: &str) -> bool {
        let text = if text.trim().is_empty() { "none" } else { text };
        let Err(error) = design.set_text(id, text) else { return true };
        self.0.update(|wrong| {
            wrong.retain(|(known, _)| *known != id);
            wrong.push((id, error.to_string()));
        });
        false
    }

    /// Reason why the text typed for a knob was refused.
    #[must_use]
    pub fn refused(self, id: KnobId) -> Option<String> {
        self.0.with(|wrong| {
            wrong.iter().find(|(known, _)| *known == id).map(|(_, message)| message.clone())
        })
    }
}

impl Default for Typed {
    fn default() -> Self {
        Self::new()
    }
}

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
        is_legal: fn(&A) -> bool,
        find: fn(&A) -> Result<T, Vec<Violation>>,
    ) -> Self {
        let stands = RwSignal::new(takes_over() && is_legal(&first));
        let stood = StoredValue::new(stands.get_untracked().then(|| first.clone()));
        let asked = RwSignal::new(first);
        let found = Memo::new(move |_| asked.with(find).map(Arc::new));
        let shown = Memo::new(move |before: Option<&Option<Arc<T>>>| match found.get() {
            Ok(now) => Some(now),
            Err(_) => before.cloned().flatten().or_else(|| {
                let first = stood.with_value(|first| first.as_ref().map(find));
                first?.ok().map(Arc::new)
            }),
        });
        Self { stands, found, shown, asked }
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
        self.asked.set(other);
        self.compute();
    }

    /// Computes even a result that is in the page, since more of it is needed.
    pub fn compute(self) {
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

    /// Whether a broken rule names this knob.
    #[must_use]
    pub fn is_broken(self, id: KnobId) -> bool {
        let breaks = |all: &Vec<Violation>| all.iter().any(|it| it.knobs.contains(&id));
        self.read(|found| found.as_ref().is_err_and(breaks)) == Some(true)
    }

    /// Result of the request; `None` if it is in the page already.
    fn read<R>(self, read: impl FnOnce(&Result<Arc<T>, Vec<Violation>>) -> R) -> Option<R> {
        (!self.stands.get()).then(|| self.found.with(read))
    }
}

/// The state of such a page, as its form sees it.
pub trait Asking: Copy + Send + Sync + 'static {
    /// Type of the browser's input: `number` or `text`.
    const TYPED_AS: &'static str;

    /// The requested value.
    fn value(self, id: KnobId) -> Value;

    /// A text for a knob: taken, or refused with the reason.
    fn write(self, id: KnobId, text: &str);

    /// Reason why the text typed for a knob was refused.
    fn refused(self, id: KnobId) -> Option<String>;

    /// Whether a broken rule names this knob.
    fn is_broken(self, id: KnobId) -> bool;
}

fn text(value: &Value) -> String {
    match value {
        Value::None => String::new(),
        // Tokens: more zeros than anyone counts.
        Value::Real(number) if *number >= 1e9 => format!("{number:e}"),
        Value::Flag(_) | Value::Integer(_) | Value::Real(_) | Value::Text(_) | Value::List(_) => {
            value.to_string()
        }
    }
}

/// A knob with its box or its list.
pub fn field<S: Asking>(state: S, id: KnobId) -> impl IntoView {
    let knob = id.knob();
    let field = knob.id();
    let value = Memo::new(move |_| text(&state.value(id)));
    let is_wrong = move || state.refused(id).is_some() || state.is_broken(id);
    let invalid = move || if is_wrong() { "true" } else { "false" };
    let change = move |event: ev::Event| state.write(id, &event_target_value(&event));
    let first = value.get_untracked();
    let control = match names(knob.kind) {
        Some(names) => {
            let options: Vec<_> = names
                .into_iter()
                .map(|(it, label)| {
                    let is_first = it == first;
                    view! { <option value=it selected=is_first>{label}</option> }
                })
                .collect();
            view! {
                <select class="select" id=field.clone() name=field.clone() autocomplete="off"
                    prop:value=move || value.get() on:change=change aria-invalid=invalid
                >
                    {options}
                </select>
            }
            .into_any()
        }
        None => {
            let is_optional =
                matches!(knob.kind, Kind::OptionalInteger(..) | Kind::OptionalReal(..));
            view! {
                <input type=S::TYPED_AS inputmode="decimal" class="number-box"
                    step=(S::TYPED_AS == "number").then_some("any")
                    id=field.clone() name=field.clone() autocomplete="off"
                    value=first.clone() prop:value=move || value.get()
                    placeholder=if is_optional { "none" } else { "" }
                    aria-invalid=invalid on:change=change
                />
            }
            .into_any()
        }
    };
    // Not where the label says it.
    let has_unit = !knob.unit.is_empty() && !knob.label.ends_with(knob.unit);
    let unit = has_unit.then(|| view! { " " <span class="unit">{knob.unit}</span> });
    let problem = move || state.refused(id);
    view! {
        <div class="schedule-field">
            <label for=field.clone()>{knob.label}{unit}</label>
            {control}
            <p class="schedule-problem">{problem}</p>
        </div>
    }
}

/// The values of a list with their names; `None` if a number is typed.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are typed")]
fn names(kind: Kind) -> Option<Vec<(String, String)>> {
    match kind {
        Kind::Choice(names) => Some(
            names
                .iter()
                .map(|it| ((*it).to_owned(), name::value(it).unwrap_or_else(|| (*it).to_owned())))
                .collect(),
        ),
        Kind::Flag => {
            Some(vec![("true".to_owned(), "on".to_owned()), ("false".to_owned(), "off".to_owned())])
        }
        _ => None,
    }
}

/// Metric of the page whose explanation is shown, and the explanation.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The metrics to choose from.
    pub metrics: Vec<MetricId>,
    /// The one that is shown.
    pub now: Signal<MetricId>,
    /// Shows that of a name.
    pub choose: Callback<String>,
    /// Explanation as HTML text.
    pub text: Memo<String>,
}

/// The section of a page that says how one of its numbers comes about.
pub fn explained(of: Explained) -> impl IntoView {
    let Explained { metrics, now, choose, text } = of;
    let now = move || now.get().metric().name;
    let first = untrack(now);
    let options: Vec<_> = metrics
        .into_iter()
        .map(MetricId::metric)
        .map(|it| view! { <option value=it.name selected=it.name == first>{it.label}</option> })
        .collect();
    view! {
        <section id="explained" class="card schedule-card" aria-labelledby="explained-title">
            <h2 id="explained-title">"How a number comes about"</h2>
            <div class="schedule-field">
                <label for="explained-metric">"Metric"</label>
                <select class="select" id="explained-metric" autocomplete="off" prop:value=now
                    on:change=move |event| choose.run(event_target_value(&event))
                >
                    {options}
                </select>
            </div>
            <div inner_html=move || text.get()></div>
        </section>
    }
}

/// A section with a heading and text that follows the state.
pub fn section(
    id: &'static str,
    title: &'static str,
    text: impl Fn() -> String + Send + Sync + 'static,
) -> impl IntoView {
    let heading = format!("{id}-title");
    let text = Memo::new(move |_| text());
    view! {
        <section id=id class="card schedule-card" aria-labelledby=heading.clone()>
            <h2 id=heading.clone()>{title}</h2>
            <div class="scroll-x" role="region" tabindex="0" aria-label=format!("{title}, table")
                inner_html=move || text.get()
            ></div>
        </section>
    }
}
