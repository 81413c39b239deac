//! The lists of models and accelerators to choose from, as the server writes them.

use maud::html;
use model::catalogue::accelerator::AcceleratorId;
use model::catalogue::preset::{Preset, PresetKind};
use model::ground::choice::Choice;

use crate::html::option;
use crate::words::name;

/// The presets of a kind that can be searched.
#[must_use]
pub fn models(kind: PresetKind) -> String {
    let presets = Preset::all().filter(|it| it.kind == kind && it.refused.is_none());
    presets.map(|preset| option(preset.id, preset.title, false).into_string()).collect()
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
            optgroup label=(maker) { @for option in of(maker) { (option) } }
        }
    };
    markup.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_accelerator_that_trains_and_every_preset_can_be_chosen() {
        let models = [PresetKind::Model, PresetKind::Recipe].map(models).concat();
        let machines = accelerators(AcceleratorId::H20);
        for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
            assert!(models.contains(&format!("value=\"{}\"", preset.id)), "{}", preset.id);
        }
        let all = AcceleratorId::ALL.iter();
        for accelerator in all.filter(|it| it.row().bf16_tflops.is_some()) {
            let name = accelerator.name();
            assert!(machines.contains(&format!("value=\"{name}\"")), "{name}");
        }
        assert_eq!(machines.matches(" selected").count(), 1);
        let mut names: Vec<String> =
            AcceleratorId::ALL.iter().map(|it| name::chosen(*it)).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "no two are called the same");
    }
}
