//! `# moescape: section.knob=value`: what a design has and a script has no argument for.

use model::design::KnobId;
use model::preset::Preset;

use crate::Format;
use crate::draft::Draft;

pub(crate) use crate::card::MARK;

/// What a line says for us. In JSON, which has no comments, it is a word in quotes.
fn setting(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = line.strip_prefix('"').map_or(line, |inner| inner.trim_end_matches(['"', ',']));
    line.strip_prefix('#')?.trim_start().strip_prefix(MARK)
}

/// The format that a text says it has.
pub(crate) fn format(text: &str) -> Option<Format> {
    let mut settings = text.lines().filter_map(setting);
    let name = settings.find_map(|setting| setting.trim().strip_prefix("format="))?;
    Format::ALL.into_iter().find(|format| format.name() == name)
}

/// Applies the comments of a text.
pub(crate) fn read(text: &str, draft: &mut Draft) {
    for (line, content) in (1..).zip(text.lines()) {
        let Some(setting) = setting(content) else { continue };
        let Some((key, value)) = setting.trim().split_once('=') else {
            draft.fault(line, setting.trim(), "a comment for Moescape is `section.knob=value`");
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        if key == "format" {
            continue;
        }
        if key == "preset" {
            match Preset::find(value) {
                Ok(preset) => {
                    draft.preset = Some(preset);
                    draft.settle();
                }
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
