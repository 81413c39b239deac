//! What one chooses and types in. Without a script it is a plain form.

use leptos::ev;
use leptos::prelude::*;
use model::design::KnobId;
use model::knob::{Kind, Value};
use model::link;
use model::preset::Preset;

use super::state::State;
use super::{BASELINE, with_preset};
use crate::present::name;
use crate::site::Page;

const MACHINE: &[KnobId] = &[KnobId::accelerator, KnobId::num_devices];
const RUN: &[KnobId] = &[
    KnobId::train_tokens,
    KnobId::price_per_device_hour,
    KnobId::device_watts,
    KnobId::pue,
    KnobId::deadline_days,
];
const FAILURES: &[KnobId] = &[
    KnobId::mtbf_device_hours,
    KnobId::checkpoint_gb_per_sec,
    KnobId::checkpoint_async,
    KnobId::checkpoint_interval_seconds,
    KnobId::restart_seconds,
    KnobId::spare_devices,
];
const DATA: &[KnobId] = &[KnobId::ramp, KnobId::unique_tokens];

/// The whole form.
pub(super) fn form(state: State) -> impl IntoView {
    let group = |title: &'static str, ids: &'static [KnobId]| {
        let rows: Vec<_> = ids.iter().map(|id| knob(state, *id)).collect();
        view! { <fieldset><legend>{title}</legend>{rows}</fieldset> }
    };
    // What the form doesn't show goes along without a script, too.
    let kept = state.with(|asked| {
        let own = asked.design.changed().into_iter().filter(|id| !is_shown(*id));
        let mut kept: Vec<(String, String)> =
            own.map(|id| (id.id(), asked.design.get(id).to_string())).collect();
        kept.extend(asked.baseline.as_ref().map(|it| (BASELINE.to_owned(), link::encode(it))));
        kept
    });
    let kept: Vec<_> = kept
        .into_iter()
        .map(|(key, value)| view! { <input type="hidden" name=key value=value /> })
        .collect();
    view! {
        <form class="card schedule-form" action=Page::Budget.path() method="get" novalidate
            aria-label="Design, run and failures"
            on:submit=|event: ev::SubmitEvent| event.prevent_default()
        >
            <fieldset><legend>"Design"</legend>{presets(state)}</fieldset>
            {group("Machine", MACHINE)}
            {group("Run", RUN)}
            {group("Failures and checkpoints", FAILURES)}
            {group("Batch and data", DATA)}
            {kept}
            <button type="submit" class="button primary only-plain">"Count"</button>
            <a id="example" class="button" href=Page::Budget.path()>"Back to the example"</a>
        </form>
    }
}

fn is_shown(id: KnobId) -> bool {
    [MACHINE, RUN, FAILURES, DATA].iter().any(|ids| ids.contains(&id))
}

fn presets(state: State) -> impl IntoView {
    let now = move || state.with(|asked| asked.design.preset.id);
    let first = untrack(now);
    let options: Vec<_> = Preset::all()
        .filter(|it| it.refused.is_none())
        .map(|it| view! { <option value=it.id selected=it.id == first>{it.title}</option> })
        .collect();
    let pick = move |event| {
        if let Ok(preset) = Preset::find(&event_target_value(&event)) {
            let other = untrack(|| {
                state.with(|asked| asked.with(|design| *design = with_preset(design, preset)))
            });
            state.ask(other);
        }
    };
    view! {
        <div class="schedule-field">
            <label for="preset">"Preset"</label>
            <select class="select" id="preset" name="preset" autocomplete="off"
                prop:value=now on:change=pick
            >
                {options}
            </select>
        </div>
    }
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
fn knob(state: State, id: KnobId) -> impl IntoView {
    let knob = id.knob();
    let field = knob.id();
    let value = Memo::new(move |_| state.with(|asked| text(&asked.design.get(id))));
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
                <input type="text" inputmode="decimal" class="number-box"
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

/// The values of a list with their names; none where a number is typed.
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
