//! Lists of models and accelerators to choose from.

use maud::{Markup, html};
use model::catalogue::accelerator::AcceleratorId;
use model::catalogue::preset::{Preset, PresetKind};
use model::ground::choice::Choice;

use super::{option, option_group};
use crate::words::name;

/// Headings of published runs and of models.
pub const KINDS: [(PresetKind, &str); 2] =
    [(PresetKind::Recipe, "Published runs"), (PresetKind::Model, "Models")];

/// Presets that can be opened, each by the value that stands for it; one is chosen by its id.
#[must_use]
pub fn presets(
    all: impl Iterator<Item = &'static Preset>,
    value: fn(&'static Preset) -> String,
    chosen: &str,
) -> Markup {
    html! {
        @for preset in all.filter(|it| it.refused.is_none()) {
            (option(&value(preset), preset.title, preset.id == chosen))
        }
    }
}

/// Presets of these kinds under their headings.
#[must_use]
pub fn preset_groups(
    kinds: &[(PresetKind, &str)],
    value: fn(&'static Preset) -> String,
    chosen: &str,
) -> Markup {
    let of = |kind| presets(Preset::all().filter(move |it| it.kind == kind), value, chosen);
    html! { @for (kind, heading) in kinds { (option_group(heading, &of(*kind))) } }
}

/// A preset's id.
#[must_use]
pub fn id(preset: &Preset) -> String {
    preset.id.to_owned()
}

/// A link to a preset's design.
#[must_use]
pub fn link(preset: &'static Preset) -> String {
    model::design::link::encode(&preset.design())
}

/// Accelerators that train, by their makers; one of them is chosen.
#[must_use]
pub fn accelerators(chosen: AcceleratorId) -> String {
    let of = |maker: &'static str| {
        let all = AcceleratorId::ALL.iter().copied().filter(move |it| {
            let row = it.row();
            row.title.starts_with(maker) && (row.bf16_tflops.is_some() || *it == chosen)
        });
        all.map(|it| option(it.name(), &name::chosen(it), it == chosen))
    };
    let markup = html! {
        @for maker in ["NVIDIA", "Ascend"] {
            (option_group(maker, &html! { @for option in of(maker) { (option) } }))
        }
    };
    markup.into_string()
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    #[test]
    fn every_accelerator_that_trains_and_every_preset_can_be_chosen() {
        let models = preset_groups(&KINDS, id, "").into_string();
        let [models, machines] = [models, accelerators(AcceleratorId::H20)]
            .map(|options| Html::new(&format!("<select>{options}</select>")));
        for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
            assert!(models.has(&format!("option[value$='{}']", preset.id)), "{}", preset.id);
        }
        let all = AcceleratorId::ALL.iter();
        for accelerator in all.filter(|it| it.row().bf16_tflops.is_some()) {
            let name = accelerator.name();
            assert!(machines.has(&format!("option[value='{name}']")), "{name}");
        }
        assert_eq!(machines.count("[selected]"), 1);
        let mut names: Vec<String> =
            AcceleratorId::ALL.iter().map(|it| name::chosen(*it)).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "no two are called the same");
    }
}
