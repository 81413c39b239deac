//! Presets to take from what a text doesn't say, as the choices of a form.

use maud::{Markup, html};
use model::catalogue::preset::{Preset, PresetKind};
use present::html::option;

/// Presets by what they are.
const KINDS: [(PresetKind, &str); 2] = [
    (PresetKind::Recipe, "From a published run"),
    (PresetKind::Model, "From a model on our default cluster"),
];

/// The choices, plain defaults first, of which one is chosen by its id; none is an empty text.
pub(super) fn preset_options(chosen: &str) -> Markup {
    html! {
        (option("", "Plain defaults", chosen.is_empty()))
        @for (kind, label) in KINDS { optgroup label=(label) {
            @for preset in Preset::all().filter(|it| it.kind == kind && it.refused.is_none()) {
                (option(preset.id, preset.title, chosen == preset.id))
            }
        } }
    }
}
