//! The lists of models and accelerators to choose from, as the server writes them.

use std::fmt::Write as _;

use model::accelerator::AcceleratorId;
use model::choice::Choice;
use model::preset::{Preset, PresetKind};

use crate::present::html::{element, escaped};
use crate::present::name;

/// The presets of a kind that can be searched.
#[must_use]
pub fn models(kind: PresetKind) -> String {
    let mut html = String::new();
    for preset in Preset::all().filter(|it| it.kind == kind && it.refused.is_none()) {
        option(&mut html, preset.id, preset.title, false);
    }
    html
}

/// Accelerators that train, by their makers; one of them is chosen.
#[must_use]
pub fn accelerators(chosen: AcceleratorId) -> String {
    let mut html = String::new();
    for maker in ["NVIDIA", "Ascend"] {
        // Writing to a string can't fail.
        let _ = write!(html, "<optgroup label=\"{maker}\">");
        let all = AcceleratorId::ALL.iter().copied();
        for accelerator in all.filter(|it| it.row().title.starts_with(maker)) {
            let row = accelerator.row();
            if row.bf16_tflops.is_some() || accelerator == chosen {
                let short = name::part(accelerator);
                option(&mut html, accelerator.name(), short, accelerator == chosen);
            }
        }
        html.push_str("</optgroup>");
    }
    html
}

/// An entry of a list.
pub fn option(html: &mut String, value: &str, words: &str, chosen: bool) {
    let chosen = if chosen { " selected" } else { "" };
    element(html, "option", &format!("value=\"{}\"{chosen}", escaped(value)), words);
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
        let mut names: Vec<&str> = AcceleratorId::ALL.iter().map(|it| name::part(*it)).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "no two are called the same");
    }
}
