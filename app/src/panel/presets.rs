//! Choosing a preset: a list to pick from, its story, and the way to the gallery of all of them.

use leptos::prelude::*;
use maud::html;
use model::catalogue::preset::{Preset, PresetKind};
use present::form::option_group;
use present::format;
use present::html::source;
use present::site::Page;

use crate::browser::on_server;
use crate::explorer::Explorer;
use crate::reaction::handler;
use crate::widget::choice::{Select, select};
use crate::widget::part::{IntoPart, flag, live, text};

const KINDS: [(PresetKind, &str); 2] =
    [(PresetKind::Recipe, "Published runs"), (PresetKind::Model, "Models on a default cluster")];

/// The preset that the design starts from.
pub fn presets(explorer: Explorer) -> impl IntoView {
    let picker = select(Select {
        id: "preset".to_owned(),
        options: on_server(|| options(explorer.preset().id)),
        value: Signal::derive(move || explorer.preset().id.to_owned()),
        invalid: Signal::derive(|| false),
        described_by: "preset-story".to_owned(),
        locked: explorer.locked.into(),
        on_pick: Callback::new(move |id: String| {
            explorer.open_preset(&id);
        }),
    });
    let count = move || explorer.changed().with(Vec::len);
    let changes = text(move || match count() {
        0 => "Unchanged".to_owned(),
        count => format!("{} changed", format::counted(count as u64, "knob", "knobs")),
    });
    let label = text(move || (if count() == 0 { "Preset" } else { "Based on preset" }).to_owned());
    view! {
        <section class="presets" aria-labelledby="preset-label">
            <label id="preset-label" class="group-title" for="preset">
                {label}
            </label>
            {picker}
            <p id="preset-story" class="story">
                {live(move || Some(match count() {
                    0 => view! { <span inner_html=story(explorer.preset())></span> }.part(),
                    _ => explorer.title().part(),
                }))}
            </p>
            <p class="preset-changes">
                <span>{changes}</span>
                <button
                    type="button"
                    class="text-button"
                    disabled=flag(move || count() == 0)
                    on:click=handler(move |_| explorer.reset_all())
                >
                    "Reset all"
                </button>
                <a href=Page::Presets.path()>"All presets"</a>
            </p>
        </section>
    }
}

/// All presets by their kinds, one of them chosen.
fn options(chosen: &str) -> String {
    let of = |kind| {
        html! {
            @for preset in Preset::all().filter(|it| it.kind == kind) {
                option value=(preset.id) selected[preset.id == chosen]
                    disabled[preset.refused.is_some()] { (preset.title) }
            }
        }
    };
    let groups = html! { @for (kind, heading) in KINDS { (option_group(heading, &of(kind))) } };
    groups.into_string()
}

/// Story of a preset, with the source that published it.
fn story(preset: &Preset) -> String {
    html! { (preset.story) " · " (source(preset.source)) }.into_string()
}
