//! What one chooses and types in. Without a script it is a plain form.

use leptos::ev;
use leptos::prelude::*;
use model::catalogue::preset::Preset;
use model::design::KnobId;
use model::design::link;
use present::page::budget::{BASELINE, with_preset};
use present::site::Page;

use super::state::State;
use crate::panel::asking::field;

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
        let rows: Vec<_> = ids.iter().map(|id| field(state, *id)).collect();
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
            <p class="muted">
                "The price of 2 a device-hour that this page begins with is an example."
            </p>
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
