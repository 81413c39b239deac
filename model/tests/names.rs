//! Names of the catalogue: each is that of its row alone.

use model::catalogue::accelerator::AcceleratorId;
use model::catalogue::names::fold;
use model::catalogue::preset::{Preset, PresetKind};
use model::ground::choice::Choice;

#[test]
fn every_accelerator_is_found_by_each_of_its_names_and_by_its_id() {
    for id in AcceleratorId::ALL {
        assert!(!id.aliases().is_empty(), "{} has a name", id.name());
        for name in id.aliases() {
            assert_eq!(AcceleratorId::named_in(name), Some(*id), "{name}");
            let text = format!("8x {} (SXM)", name.to_uppercase());
            assert_eq!(AcceleratorId::named_in(&text), Some(*id), "{text}");
        }
        assert_eq!(AcceleratorId::named_in(id.name()), Some(*id), "{}", id.name());
    }
    for other in ["MI300X", "TPU v5p", "RTX 4090", "NVIDIA A30", "a3-megagpu-8g", ""] {
        assert_eq!(AcceleratorId::named_in(other), None, "{other}");
    }
}

#[test]
fn every_model_is_found_by_each_of_its_names_and_no_name_is_of_two() {
    let models: Vec<&Preset> = Preset::all()
        .filter(|preset| preset.kind == PresetKind::Model && preset.refused.is_none())
        .collect();
    let mut all: Vec<String> = models.iter().map(|preset| fold(preset.id)).collect();
    for preset in models {
        assert_eq!(Preset::named_in(preset.id), Some(preset));
    }
    for names in Preset::names() {
        for name in names.names {
            let text = format!("owner/{}-Instruct", name.to_uppercase());
            assert_eq!(Preset::named_in(&text), Some(names.preset), "{text}");
            all.push(fold(name));
        }
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "a name stands in two rows");
    assert_eq!(Preset::named_in("Gemma-4"), None);
}
