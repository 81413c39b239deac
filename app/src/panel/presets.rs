//! Choosing a preset: a list to pick from, its story, and a gallery of all of them.

use leptos::either::Either;
use leptos::ev;
use leptos::prelude::*;
use model::preset::{Preset, PresetKind};

use super::explanation::source;
use crate::explorer::Explorer;
use crate::present::format;
use crate::site::Page;
use crate::widget::choice::{Item, Items, Select, select};

const KINDS: [(PresetKind, &str); 2] =
    [(PresetKind::Recipe, "Published runs"), (PresetKind::Model, "Models on a default cluster")];

/// The preset that the design starts from.
pub fn presets(explorer: Explorer) -> impl IntoView {
    let groups = KINDS.map(|(kind, heading)| Items {
        heading: heading.to_owned(),
        items: of_kind(kind).map(item).collect(),
    });
    let picker = select(Select {
        id: "preset".to_owned(),
        groups: groups.into(),
        value: Signal::derive(move || explorer.preset().id.to_owned()),
        invalid: Signal::derive(|| false),
        described_by: "preset-story".to_owned(),
        locked: explorer.locked.into(),
        on_pick: Callback::new(move |id: String| open(explorer, &id)),
    });
    let count = move || explorer.changed().with(Vec::len);
    let changes = move || match count() {
        0 => "Unchanged".to_owned(),
        count => format!("{} changed", format::counted(count as u64, "knob", "knobs")),
    };
    view! {
        <section class="presets" aria-labelledby="preset-label">
            <label id="preset-label" class="group-title" for="preset">
                {move || if count() == 0 { "Preset" } else { "Based on preset" }}
            </label>
            {picker}
            <p id="preset-story" class="story">
                {move || match count() {
                    0 => Either::Left(view! {
                        {explorer.preset().story} " · " {source(explorer.preset().source)}
                    }),
                    _ => Either::Right(explorer.title()),
                }}
            </p>
            <p class="preset-changes">
                <span>{changes}</span>
                <button
                    type="button"
                    class="text-button"
                    disabled=move || count() == 0
                    on:click=move |_| explorer.reset_all()
                >
                    "Reset all"
                </button>
            </p>
            <p class="preset-import">
                <a href="/import">"Import a model or a launch script"</a>
            </p>
            {gallery(explorer)}
        </section>
    }
}

fn of_kind(kind: PresetKind) -> impl Iterator<Item = &'static Preset> {
    Preset::all().filter(move |preset| preset.kind == kind)
}

fn item(preset: &'static Preset) -> Item {
    Item {
        value: preset.id.to_owned(),
        label: preset.title.to_owned(),
        enabled: preset.refused.is_none(),
    }
}

fn open(explorer: Explorer, id: &str) {
    explorer.open_preset(id);
}

/// Every preset with its story; links, so that they also work before the page is interactive.
fn gallery(explorer: Explorer) -> impl IntoView {
    let groups: Vec<_> = KINDS
        .iter()
        .map(|(kind, heading)| {
            let entries: Vec<_> = of_kind(*kind).map(|preset| entry(explorer, preset)).collect();
            view! { <h3>{*heading}</h3><ul>{entries}</ul> }
        })
        .collect();
    view! {
        <details class="gallery">
            <summary>"All presets and their stories"</summary>
            {groups}
            <h3>"Step by step"</h3>
            <p class="gallery-link">
                <a href=Page::Ladder.path()>
                    "Pangu Ultra MoE from 18.9 % over 30.0 % to 41 % MFU"
                </a>
            </p>
        </details>
    }
}

fn entry(explorer: Explorer, preset: &'static Preset) -> impl IntoView {
    if let Some(reason) = preset.refused {
        return Either::Left(view! {
            <li class="refused">
                <strong>{preset.title}</strong>
                <span>"Can't be opened: " {reason}</span>
            </li>
        });
    }
    let follow = move |event: ev::MouseEvent| {
        // With a modifier the browser opens another tab.
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            event.prevent_default();
            open(explorer, preset.id);
        }
    };
    Either::Right(view! {
        <li>
            <a
                href=format!("/?v=1&preset={}", preset.id)
                aria-current=move || (explorer.preset().id == preset.id).then_some("true")
                on:click=follow
            >
                <strong>{preset.title}</strong>
                <span>{preset.story}</span>
            </a>
        </li>
    })
}
