//! The form of the page, which only the server writes: what one chooses and types in.

use maud::{Markup, html};
use model::catalogue::preset::Preset;
use model::design::violation::Violation;
use model::design::{KnobId, link};

use super::{BASELINE, BudgetInput};
use crate::form::knob::{Knobs, choice};
use crate::form::lists::{id, presets};
use crate::form::{group, hidden};
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

/// Content of the form.
#[must_use]
pub fn html(asked: &BudgetInput, broken: &[Violation]) -> String {
    let knobs = Knobs { design: &asked.design, broken, kind: "text" };
    let all = presets(Preset::all(), id, asked.design.preset.id);
    let markup = html! {
        (group("", "Design", &choice("preset", "Preset", all)))
        (knobs.group("Machine", MACHINE))
        (knobs.group("Run", RUN))
        p.muted { "The price of 2 a device-hour that this page begins with is an example." }
        (knobs.group("Failures and checkpoints", FAILURES))
        (knobs.group("Batch and data", DATA))
        (kept(asked))
        button.button.primary.only-plain type="submit" { "Count" }
        a #example.button href=(Page::Budget.path()) { "Back to the example" }
    };
    markup.into_string()
}

/// Knobs and baseline that the form doesn't show, and that go along.
fn kept(asked: &BudgetInput) -> Markup {
    let is_shown = |id: &KnobId| [MACHINE, RUN, FAILURES, DATA].iter().any(|ids| ids.contains(id));
    let own = asked.design.changed().into_iter().filter(|id| !is_shown(id));
    html! {
        @for id in own { (hidden(&id.id(), &asked.design.get(id).to_string())) }
        @if let Some(baseline) = &asked.baseline { (hidden(BASELINE, &link::encode(baseline))) }
    }
}
