//! The arguments of Megatron-LM and MindSpeed-LLM that make a design, as a launch script.
//!
//! What is written is read again at once: every knob that the arguments alone don't bring back
//! stands below them as a comment that [`crate::import()`] reads. So the way back is exact.

mod groups;
mod layout;

use core::fmt::Write as _;

use model::MODEL_VERSION;
use model::design::{Design, KnobId};
use model::link;

use crate::{Format, comment, draft};
use groups::Group;

/// Where an export comes from.
#[derive(Clone, Copy, Debug)]
pub struct Provenance<'a> {
    /// The day, as `2026-01-31`.
    pub date: &'a str,
}

/// What an export as a launch script can't say by an argument: each knob with its value. It stands
/// in comments there.
#[must_use]
pub fn without_argument(script: &str) -> Vec<(KnobId, String)> {
    let comments =
        script.lines().filter_map(|line| line.strip_prefix("# ")?.strip_prefix(comment::MARK));
    let settings = comments.filter_map(|setting| setting.trim().split_once('='));
    settings.filter_map(|(key, value)| Some((KnobId::find(key).ok()?, value.to_owned()))).collect()
}

/// A launch script that makes a design; none for a format that isn't one.
#[must_use]
pub fn export(format: Format, design: &Design, provenance: &Provenance<'_>) -> Option<String> {
    let (title, program) = match format {
        Format::HuggingFace | Format::Serving | Format::Design => return None,
        Format::Megatron => ("Megatron-LM", "pretrain_gpt.py"),
        Format::Mindspeed => ("MindSpeed-LLM", "pretrain_gpt.py"),
    };
    let groups = groups::for_format(format, design);
    let mut text = String::from("#!/bin/bash\n");
    let head = [
        format!("Arguments of {title} for a design of Moescape"),
        format!("design: /?{}", link::encode(design)),
        format!("model version: {MODEL_VERSION}"),
        format!("date: {}", provenance.date),
        "Data, tokenizer, learning rate and checkpoints are yours to add.".to_owned(),
    ];
    head.iter().for_each(|line| push(&mut text, &format!("# {line}")));
    text.push('\n');
    let script = script(&groups, program);
    text.push_str(&script);
    let left = left_open(format, design, &script);
    push(&mut text, "");
    push(&mut text, "# What no argument above says, for `moescape import`:");
    push(&mut text, &format!("# {} preset={}", comment::MARK, design.preset.id));
    for knob in left {
        push(&mut text, &format!("# {} {}={}", comment::MARK, knob.id(), design.get(knob)));
    }
    Some(text)
}

fn push(text: &mut String, line: &str) {
    // Writing to a string can't fail.
    let _ = writeln!(text, "{line}");
}

/// The arrays and the command that uses them.
fn script(groups: &[Group], program: &str) -> String {
    let mut text = String::new();
    let groups: Vec<&Group> = groups.iter().filter(|group| !group.arguments.is_empty()).collect();
    for group in &groups {
        push(&mut text, &format!("# {}", group.title));
        push(&mut text, &format!("{}=(", group.name));
        for argument in &group.arguments {
            push(&mut text, &format!("    {argument}"));
        }
        push(&mut text, ")\n");
    }
    let mut parts = groups.iter().map(|group| format!("\"${{{}[@]}}\"", group.name)).peekable();
    let launcher = parts.next_if(|part| part.contains("DISTRIBUTED")).unwrap_or_default();
    let mut command = vec![format!("torchrun {launcher} {program}")];
    command.extend(parts);
    push(&mut text, &command.join(" \\\n    "));
    text
}

/// The knobs that the arguments alone don't bring back.
fn left_open(format: Format, design: &Design, script: &str) -> Vec<KnobId> {
    let mut draft = draft::Draft::new(format, None, &crate::Answers::default());
    let arguments = crate::shell::arguments(script, &mut draft);
    crate::launch::read(arguments, None, &mut draft);
    let differs = |knob: &KnobId| draft.design.get(*knob) != design.get(*knob);
    KnobId::ALL.iter().copied().filter(differs).collect()
}
