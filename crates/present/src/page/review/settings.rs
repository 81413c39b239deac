//! What one design has and another hasn't, as settings of knobs.

use model::design::{Design, KnobId};
use review::Setting;

/// Settings that make one design of another.
pub fn between(before: &Design, after: &Design) -> Vec<Setting> {
    let differing = KnobId::ALL.iter().filter(|id| before.get(**id) != after.get(**id));
    let setting = |id: &KnobId| Setting { knob: id.id(), value: Some(after.get(*id).to_string()) };
    differing.map(setting).collect()
}

/// A design with knobs set.
pub fn with(design: &Design, settings: &[Setting]) -> Design {
    let mut design = design.clone();
    for setting in settings {
        let Ok(id) = KnobId::find(&setting.knob) else { continue };
        match &setting.value {
            // A knob that this version knows takes what it took when it was written.
            Some(value) => {
                let _ = design.set_text(id, value);
            }
            None => design.reset(id),
        }
    }
    design
}
