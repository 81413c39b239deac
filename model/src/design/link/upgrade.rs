//! What earlier versions of the link format called differently, so that every released link opens.
//!
//! Each version has a [`Step`] to the next one; a link goes through those from its own version on,
//! and is then read as a new one. A renamed knob's old name is taken here and nowhere else, so that
//! it can't come to mean another knob in new links.

use alloc::string::{String, ToString};

/// Renames from a version of the format to the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Knobs: the old name, with every section and alias that it could have, and the new one.
    pub knobs: &'static [(&'static str, &'static str)],
    /// Presets: the old id and the new one.
    pub presets: &'static [(&'static str, &'static str)],
    /// Values: the knob by its new name, the old value and the new one.
    pub values: &'static [(&'static str, &'static str, &'static str)],
}

/// The steps from version 1 on: there is one version so far, and none.
pub const STEPS: &[Step] = &[];

/// Brings a key and its value from a version to the newest one.
pub fn upgrade(key: &mut String, value: &mut String, version: u64, steps: &[Step]) {
    let done = usize::try_from(version.saturating_sub(1)).unwrap_or(usize::MAX);
    for step in steps.iter().skip(done) {
        let renamed = |names: &[(&str, &'static str)], name: &str| {
            names.iter().find(|(old, _)| *old == name).map(|(_, new)| new.to_string())
        };
        if key.as_str() == "preset" {
            if let Some(new) = renamed(step.presets, value) {
                *value = new;
            }
            continue;
        }
        if let Some(new) = renamed(step.knobs, key) {
            *key = new;
        }
        let respelled = step
            .values
            .iter()
            .find(|(knob, old, _)| *knob == key.as_str() && *old == value.as_str());
        if let Some((_, _, new)) = respelled {
            *value = new.to_string();
        }
    }
}
