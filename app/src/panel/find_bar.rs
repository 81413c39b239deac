//! The question in a line: a model, a number of devices of a kind, and the button that goes to the
//! page.

use leptos::prelude::*;
use model::catalogue::accelerator::AcceleratorId;
use model::catalogue::preset::{Preset, PresetKind};
use model::ground::choice::Choice;
use present::form::find_bar::tokens_of_step;
use present::form::lists::{self, accelerators, presets};
use present::site::Page;
use present::words::name;

use crate::browser::on_server;
use crate::explorer::Explorer;
use crate::widget::part::text;

/// The design that the line begins with.
#[derive(Clone, Copy)]
pub struct Start {
    /// Its link, which goes along.
    link: Signal<String>,
    /// Name of its model.
    model: Signal<String>,
    devices: Signal<u64>,
    accelerator: Signal<AcceleratorId>,
    /// Tokens of its step, as they are typed.
    step: Signal<String>,
}

impl Start {
    /// The explorer's design, as it is at any time.
    #[must_use]
    pub fn at_hand(explorer: Explorer) -> Self {
        Self {
            link: Signal::derive(move || explorer.link()),
            model: Signal::derive(move || explorer.with_design(name::model)),
            devices: Signal::derive(move || explorer.with_design(|it| it.cluster.num_devices)),
            accelerator: Signal::derive(move || explorer.with_design(|it| it.cluster.accelerator)),
            step: Signal::derive(move || explorer.with_design(tokens_of_step)),
        }
    }
}

/// The form in a line.
pub fn bar(start: Start) -> impl IntoView {
    view! {
        <form class="find-bar" action=Page::Find.path() aria-label="Find layouts">
            {fields(start)}
            <button class="button primary">"Find layouts"</button>
        </form>
    }
}

/// Model, devices, accelerator and batch in a sentence. A field that is left as it is changes
/// nothing of the design.
fn fields(start: Start) -> impl IntoView {
    let Start { link, model, devices, accelerator, step } = start;
    let list = |kind| {
        on_server(|| {
            let of = Preset::all().filter(|it| it.kind == kind);
            presets(of, lists::id, "").into_string()
        })
    };
    view! {
        <input type="hidden" name="find.from" autocomplete="off" value=text(move || link.get())/>
        <span class="find-sentence">
            <span>"I have"</span>
            <select name="find.model" aria-label="Model" autocomplete="off">
                <option value="">{text(move || model.get())}</option>
                <optgroup label="Models" inner_html=list(PresetKind::Model)></optgroup>
                <optgroup
                    label="Published runs"
                    inner_html=list(PresetKind::Recipe)
                ></optgroup>
            </select>
            <a href="/import">"or a config.json"</a>
            <span>"and"</span>
            <input
                type="number"
                name="find.devices"
                aria-label="Devices"
                min="1"
                inputmode="numeric"
                autocomplete="off"
                required
                value=text(move || devices.get().to_string())
            />
            <span aria-hidden="true">"×"</span>
            <select
                name="find.accelerator"
                aria-label="Accelerator"
                autocomplete="off"
                prop:value=text(move || accelerator.get().name().to_owned())
                inner_html=on_server(|| accelerators(accelerator.get_untracked()))
            ></select>
            <span>"at"</span>
            <input
                type="text"
                name="find.step_tokens"
                class="find-amount"
                aria-label="Tokens a step"
                inputmode="decimal"
                autocomplete="off"
                spellcheck="false"
                placeholder=text(move || step.get())
            />
            <span>"tokens a step"</span>
        </span>
    }
}
