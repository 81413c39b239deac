//! `# moescape: section.knob=value`: what a design has and a script has no argument for.

use std::borrow::Cow;

use model::catalogue::preset::Preset;
use model::design::KnobId;

use crate::Format;
use crate::draft::{COMMENT, Draft};

pub(crate) use crate::card::MARK;

/// Setting of a line that is a comment for us, behind the mark. In JSON, which has no comments, it
/// is a word in quotes.
fn setting(line: &str) -> Option<Cow<'_, str>> {
    let said = |line: &str| -> Option<usize> {
        let setting = line.strip_prefix('#')?.trim_start().strip_prefix(MARK)?;
        Some(line.len() - setting.len())
    };
    let line = line.trim();
    let Some(inner) = line.strip_prefix('"') else {
        return Some(Cow::Borrowed(&line[said(line)?..]));
    };
    let start = said(inner)?;
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let setting = inner.get(start..)?;
    let mut plain = String::with_capacity(setting.len());
    let mut letters = setting.chars();
    while let Some(letter) = letters.next() {
        // What is quoted in JSON has these two escaped; a name holds no other that has to be.
        let escaped = letter == '\\';
        plain.extend(if escaped { letters.next() } else { Some(letter) });
    }
    Some(Cow::Owned(plain))
}

/// A comment as a string of JSON holds it.
pub(crate) fn in_json(line: &str) -> String {
    line.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The format that a text says it has.
pub(crate) fn format(text: &str) -> Option<Format> {
    let mut settings = text.lines().filter_map(setting);
    let named = settings.find_map(|setting| {
        let name = setting.trim().strip_prefix("format=")?;
        Some(Format::ALL.into_iter().find(|format| format.name() == name))
    });
    named.flatten()
}

/// The knobs that a text's comments set.
pub(crate) fn knobs(text: &str) -> Vec<KnobId> {
    let settings = text.lines().filter_map(setting);
    settings.filter_map(|setting| KnobId::named(setting.split_once('=')?.0.trim())).collect()
}

/// Applies the comments of a text.
pub(crate) fn read(text: &str, draft: &mut Draft) {
    // What follows from another knob is read behind it.
    let mut late = vec![];
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
        match KnobId::named(key) {
            Some(knob) if knob.follows() => late.push((knob, value.to_owned(), line)),
            Some(knob) => draft.set(knob, value, COMMENT, line),
            None => draft.unknown_knob(key, line),
        }
    }
    for (knob, value, line) in late {
        draft.set(knob, &value, COMMENT, line);
    }
}
