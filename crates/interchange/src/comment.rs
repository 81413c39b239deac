//! `# moescape: section.knob=value`: what a design has and a script has no argument for.

use model::design::KnobId;
use model::preset::Preset;

use crate::draft::Draft;

/// What a line of ours begins with, behind `#`.
pub(crate) const MARK: &str = "moescape:";

/// Applies the comments of a text.
pub(crate) fn read(text: &str, draft: &mut Draft) {
    for (line, content) in (1..).zip(text.lines()) {
        let comment = content.trim().strip_prefix('#').map(str::trim_start);
        let Some(setting) = comment.and_then(|comment| comment.strip_prefix(MARK)) else {
            continue;
        };
        let Some((key, value)) = setting.trim().split_once('=') else {
            draft.fault(line, setting.trim(), "a comment for Moescape is `section.knob=value`");
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        if key == "preset" {
            match Preset::find(value) {
                Ok(preset) => draft.preset = Some(preset),
                Err(error) => draft.fault(line, key, error.to_string()),
            }
            continue;
        }
        match KnobId::find(key) {
            Ok(knob) => draft.set(knob, value, "# moescape:", line),
            Err(error) => draft.fault(line, key, error.to_string()),
        }
    }
}
