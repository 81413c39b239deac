//! One knob: label, control, reset, what it comes to, what is wrong with it, what it means.

use leptos::either::{Either, EitherOf4};
use leptos::prelude::*;
use model::design::KnobId;
use model::design::violation::Nearest;
use model::ground::knob::{Kind, KnobError, Section, Value};
use present::form::options;
use present::format;
use present::words::about::About;
use present::words::{knob_note, name};

use super::studies;
use super::verdict::{way_out, ways_out};
use crate::browser::{on_server, takes_over};
use crate::explorer::{self, Explorer, NumbersOf, Topic};
use crate::reaction::handler;
use crate::widget::choice::{Chips, Select, TickBox, chips, select, tick_box};
use crate::widget::number_box::{Entry, NumberBox, number_box};
use crate::widget::part::{IntoPart, Part, flag, live, text, truth, while_so};
use crate::widget::slider::{Slider, slider};

/// A value that was refused, and the value that stayed.
#[derive(Clone, Debug, PartialEq)]
struct Refused {
    error: KnobError,
    stayed: Value,
}

/// State that the parts of a row share.
#[derive(Clone, Copy)]
struct Row {
    explorer: Explorer,
    id: KnobId,
    value: RwSignal<Value>,
    is_changed: RwSignal<bool>,
    is_broken: RwSignal<bool>,
    refused: RwSignal<Option<Refused>>,
}

/// Draws a knob; `found` tells whether the search leaves it in view.
pub fn knob(explorer: Explorer, id: KnobId, found: Memo<bool>) -> impl IntoView {
    let explorer::Row { value, is_changed, is_broken } = explorer.row(id);
    let row = Row { explorer, id, value, is_changed, is_broken, refused: RwSignal::new(None) };
    let about = RwSignal::new(false);
    let label = id.knob().label;
    let about_id = format!("about-{}", id.knob().name);
    let is_flag = matches!(id.knob().kind, Kind::Flag);
    view! {
        <div
            class="knob"
            class:flag=is_flag
            class:broken=flag(move || row.is_wrong())
            data-knob=id.id()
            hidden=flag(move || !found.get())
        >
            <div class="knob-head">
                {row.label()}
                {row.reset_button()}
                <button
                    type="button"
                    class="info"
                    aria-label=format!("About {label}")
                    aria-expanded=truth(move || about.get())
                    aria-controls=about_id.clone()
                    on:click=handler(move |_| about.update(|open| *open = !*open))
                >
                    "?"
                </button>
                {row.control()}
            </div>
            {explorer.beside(Topic::Knob(id))}
            {row.slider()}
            {row.note()}
            {row.problem()}
            <div id=about_id class="about" hidden=flag(move || !about.get())>
                {while_so(about.into(), move || about_knob(explorer, id))}
            </div>
        </div>
    }
}

impl Row {
    fn control_id(self) -> String {
        format!("knob-{}", self.id.knob().name)
    }

    fn problem_id(self) -> String {
        format!("problem-{}", self.id.knob().name)
    }

    fn label_id(self) -> String {
        format!("label-{}", self.id.knob().name)
    }

    /// The refusal, as long as the value is still the one that stayed.
    fn refusal(self) -> Option<KnobError> {
        let refused = self.refused.get()?;
        self.value.with(|value| *value == refused.stayed).then_some(refused.error)
    }

    fn is_wrong(self) -> bool {
        self.is_broken.get() || self.refusal().is_some()
    }

    fn wrong_signal(self) -> Signal<bool> {
        Signal::derive(move || self.is_wrong())
    }

    /// Tries a typed text and keeps the refusal.
    fn type_text(self, text: &str) {
        let text = text.trim();
        let unsets = text.is_empty()
            && matches!(
                self.id.knob().kind,
                Kind::OptionalInteger(..)
                    | Kind::OptionalReal(..)
                    | Kind::PerStage(_)
                    | Kind::PositionList(_)
                    | Kind::Layout
                    | Kind::LayerPattern(_)
                    | Kind::Hash
                    | Kind::Name
                    | Kind::Arguments
            );
        let outcome = self.explorer.set_text(self.id, if unsets { "none" } else { text });
        let stayed = self.value.get_untracked();
        self.refused.set(outcome.err().map(|error| Refused { error, stayed }));
    }

    fn set(self, value: &Value) {
        // Lists, ticks and positions offer values within bounds only.
        let _ = self.explorer.set(self.id, value);
        self.refused.set(None);
    }

    fn label(self) -> impl IntoView {
        let knob = self.id.knob();
        let unit = (!knob.unit.is_empty()).then(|| {
            view! { <span class="knob-unit">{format!(", {}", knob.unit)}</span> }
        });
        if matches!(knob.kind, Kind::Subset(_)) {
            return Either::Left(view! {
                <span class="knob-label" id=self.label_id()>{knob.label}{unit}</span>
            });
        }
        Either::Right(view! {
            <label class="knob-label" id=self.label_id() for=self.control_id()>
                {knob.label}{unit}
            </label>
        })
    }

    fn reset_button(self) -> impl IntoView {
        let Self { id, is_changed, .. } = self;
        let title = move || {
            text(move || format!("Reset {} to {}", id.knob().label, self.explorer.preset_value(id)))
        };
        view! {
            <button
                type="button"
                class="reset"
                class:shown=flag(move || is_changed.get())
                disabled=flag(move || !is_changed.get() || self.explorer.locked.get())
                aria-label=title()
                title=title()
                on:click=handler(move |_| {
                    self.refused.set(None);
                    self.explorer.reset(id);
                })
            ></button>
        }
    }

    fn control(self) -> impl IntoView {
        match self.id.knob().kind {
            Kind::Integer(low, high) | Kind::OptionalInteger(low, high) => {
                EitherOf4::A(self.number_box(Entry::Whole(low, high)))
            }
            Kind::Real(low, high) | Kind::OptionalReal(low, high) => {
                EitherOf4::A(self.number_box(Entry::Real(low, high)))
            }
            Kind::Flag => EitherOf4::B(self.tick_box()),
            Kind::Choice(names) => EitherOf4::C(self.select(names)),
            Kind::Subset(names) => EitherOf4::D(self.chips(names)),
            Kind::LayerFreq
            | Kind::PerStage(_)
            | Kind::PositionList(_)
            | Kind::Layout
            | Kind::LayerPattern(_)
            | Kind::Hash
            | Kind::Name
            | Kind::Arguments => EitherOf4::A(self.number_box(Entry::Text)),
        }
    }

    fn number_box(self, entry: Entry) -> impl IntoView {
        let value = Signal::derive(move || {
            self.value.with(|value| {
                let unset = matches!(value, Value::None)
                    || matches!(value, Value::List(values) if values.is_empty());
                if unset { String::new() } else { value.to_string() }
            })
        });
        let placeholder = if self.id.knob().section == Section::Cluster {
            Signal::derive(move || {
                self.explorer.with_numbers(|numbers| knob_note::unset(self.id, &numbers.plan))
            })
        } else {
            Signal::stored("none".to_owned())
        };
        number_box(NumberBox {
            id: self.control_id(),
            entry,
            value,
            placeholder,
            refused: Signal::derive(move || self.refusal().is_some()),
            invalid: self.wrong_signal(),
            described_by: self.problem_id(),
            locked: self.explorer.locked.into(),
            on_type: Callback::new(move |text: String| {
                self.explorer.set_typed(true);
                self.type_text(&text);
            }),
            on_step: Callback::new(move |up| self.step(up)),
            on_done: Callback::new(move |()| self.explorer.set_typed(false)),
        })
    }

    /// Goes to the next or previous legal value.
    fn step(self, up: bool) {
        let current = self.value.get_untracked();
        let values = untrack(|| self.explorer.legal_values(self.id));
        let at = values.iter().position(|value| *value == current).unwrap_or(0);
        let next = if up { at.checked_add(1) } else { at.checked_sub(1) };
        if let Some(value) = next.and_then(|next| values.get(next)) {
            self.set(value);
        }
    }

    fn tick_box(self) -> impl IntoView {
        tick_box(TickBox {
            id: self.control_id(),
            ticked: Signal::derive(move || self.value.with(|value| *value == Value::Flag(true))),
            invalid: self.wrong_signal(),
            described_by: self.problem_id(),
            locked: self.explorer.locked.into(),
            on_tick: Callback::new(move |ticked| self.set_at_once(&Value::Flag(ticked))),
        })
    }

    fn select(self, names: &'static [&'static str]) -> impl IntoView {
        let chosen = self.value.with_untracked(Value::to_string);
        // The page's text stays when the browser takes it over: only the server needs labels.
        let label = |it: &'static str| on_server(|| name::value(it)).unwrap_or_else(|| it.into());
        let labels: Vec<String> = names.iter().map(|it| label(it)).collect();
        let entries = names.iter().copied().zip(labels.iter().map(String::as_str));
        select(Select {
            id: self.control_id(),
            options: options(entries, &chosen).into_string(),
            value: Signal::derive(move || self.value.with(Value::to_string)),
            invalid: self.wrong_signal(),
            described_by: self.problem_id(),
            locked: self.explorer.locked.into(),
            on_pick: Callback::new(move |name| self.set_at_once(&Value::Text(name))),
        })
    }

    fn chips(self, names: &'static [&'static str]) -> impl IntoView {
        let ticked = Signal::derive(move || {
            self.value.with(|value| {
                let Value::List(values) = value else { return Vec::new() };
                values.iter().map(Value::to_string).collect()
            })
        });
        let on_tick = move |(name, is_ticked): (&'static str, bool)| {
            let before = ticked.get_untracked();
            let stays = |other: &&&str| match **other == name {
                true => is_ticked,
                false => before.iter().any(|ticked| ticked == **other),
            };
            let values = names.iter().filter(stays).map(|name| Value::Text((*name).to_owned()));
            self.set_at_once(&Value::List(values.collect()));
        };
        chips(Chips {
            labelled_by: self.label_id(),
            names,
            ticked,
            locked: self.explorer.locked.into(),
            on_tick: Callback::new(on_tick),
        })
    }

    fn set_at_once(self, value: &Value) {
        self.explorer.end_gesture();
        self.set(value);
        self.explorer.end_gesture();
    }

    /// A slider over the legal values, for the knobs in view.
    fn slider(self) -> Option<impl IntoView> {
        let knob = self.id.knob();
        if !knob.primary || !matches!(knob.kind, Kind::Integer(..)) {
            return None;
        }
        // Which values are legal takes longer than an estimate: none is sought before the slider is
        // used or a knob has moved. While a gesture on some knob goes on its own list stays anyway,
        // and the others are made when it ends.
        let used = RwSignal::new(!takes_over());
        let positions = Memo::new(move |before: Option<&Vec<u64>>| match before {
            _ if !used.get() && !self.explorer.has_moved() => Vec::new(),
            Some(before) if self.explorer.in_gesture() && !(before.is_empty() && used.get()) => {
                before.clone()
            }
            _ => self.explorer.positions(self.id),
        });
        let use_it = move || {
            if !used.get_untracked() {
                used.set(true);
            }
        };
        let current = move || {
            if let Value::Integer(number) = self.value.get() { number } else { 0 }
        };
        let position = move || {
            let current = current();
            positions.with(|positions| positions.partition_point(|number| *number < current))
        };
        let words = move || {
            let space = if knob.unit.is_empty() { "" } else { " " };
            format!("{}{space}{}", format::whole(current()), knob.unit)
        };
        let on_move = move |position: usize| {
            use_it();
            if let Some(number) = positions.with_untracked(|all| all.get(position).copied()) {
                self.set(&Value::Integer(number));
            }
        };
        let ghost = move || {
            let before = self.explorer.value_before(self.id);
            before.map_or_else(String::new, |value| format!("was {value}"))
        };
        let slider = slider(Slider {
            label: format!("{} slider", knob.label),
            count: Signal::derive(move || positions.with(Vec::len)),
            position: Signal::derive(position),
            text: Signal::derive(words),
            locked: self.explorer.locked.into(),
            on_move: Callback::new(on_move),
            on_use: Callback::new(move |()| use_it()),
            on_hold: Callback::new(move |held| self.explorer.hold(held)),
        });
        Some(view! {
            {slider}
            <span class="ghost" aria-hidden="true">{text(ghost)}</span>
        })
    }

    fn note(self) -> Option<impl IntoView> {
        let has_note = matches!(
            self.id,
            KnobId::global_batch_size
                | KnobId::expert_model_parallel_size
                | KnobId::pipeline_model_parallel_size
                | KnobId::virtual_pipeline_model_parallel_size
                | KnobId::num_devices
                | KnobId::accelerator
        );
        let note = move || {
            if self.explorer.shown() != NumbersOf::Design {
                return String::new();
            }
            self.explorer.with_numbers(|numbers| knob_note::note(self.id, &numbers.plan))
        };
        has_note.then(|| view! { <p class="knob-note">{text(note)}</p> })
    }

    /// Problem with the value, with the ways out as buttons.
    ///
    /// The knob that was set last carries the whole message; the others that the rule ties to it
    /// only offer their own ways out.
    fn problem(self) -> impl IntoView {
        let problem = live(move || {
            if let Some(error) = self.refusal() {
                return Some(self.refused_view(error));
            }
            self.is_broken.get().then(|| self.broken_view())
        });
        view! { <div id=self.problem_id() class="problem">{problem}</div> }
    }

    fn refused_view(self, error: KnobError) -> Part {
        let nearest = error.nearest.into_iter();
        let nearest = nearest.map(|text| (format!("Set to {text}"), text));
        let nearest =
            nearest.map(|(label, text)| way_out(label, handler(move |_| self.type_text(&text))));
        let nearest: Vec<_> = nearest.collect();
        view! { <p>{error.detail}</p><p class="ways">{nearest}</p> }.part()
    }

    fn broken_view(self) -> Part {
        let (explorer, id) = (self.explorer, self.id);
        let speaks = explorer.last_edited().is_none_or(|last| last == id);
        explorer.with_violations(|rules| {
            let rules = rules.iter().filter(|rule| rule.knobs.contains(&id));
            let views: Vec<_> = rules
                .map(|rule| {
                    let own = |way: &&Nearest| speaks || way.knob == id;
                    let ways: Vec<Nearest> = rule.nearest.iter().filter(own).cloned().collect();
                    let message = speaks.then(|| view! { <p>{rule.message.clone()}</p> });
                    view! { {message}<p class="ways">{ways_out(explorer, &ways)}</p> }
                })
                .collect();
            views.part()
        })
    }
}

/// Text of the module of studies on a knob, as soon as it has sent it.
fn about_knob(explorer: Explorer, id: KnobId) -> Part {
    studies::ask_abouts(explorer);
    let html = text(move || {
        let html = |all: &[About]| all.get(id as usize).map(|about| about.html.clone());
        explorer.abouts.with(|all| html(all)).unwrap_or_default()
    });
    view! { <div inner_html=html></div> }.part()
}
