//! Launch scripts: arrays of arguments, and the command that uses them.

use core::fmt::Write as _;

use model::design::Design;

use super::Target;
use super::groups::{self, Group, Word};

/// The arrays and the command.
pub(super) fn body(target: Target, design: &Design) -> String {
    let groups = groups::for_target(target == Target::Mindspeed, design);
    let groups: Vec<&Group> = groups.iter().filter(|group| !group.arguments.is_empty()).collect();
    let mut text = String::new();
    for group in &groups {
        // Writing to a string can't fail.
        let _ = writeln!(text, "# {}\n{}=(", group.title, group.name);
        for argument in &group.arguments {
            let _ = writeln!(text, "    {}", written(argument));
        }
        text.push_str(")\n\n");
    }
    let mut parts = groups.iter().map(|group| format!("\"${{{}[@]}}\"", group.name)).peekable();
    let launcher = parts.next_if(|part| part.contains("DISTRIBUTED")).unwrap_or_default();
    let mut command = vec![format!("torchrun {launcher} pretrain_gpt.py")];
    command.extend(parts);
    let _ = writeln!(text, "{}", command.join(" \\\n    "));
    text
}

/// An argument as a shell reads it.
fn written(argument: &Word) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._,+-".contains(c);
    let quoted = |word: &String| {
        if word.chars().all(plain) { word.clone() } else { format!("'{word}'") }
    };
    let words: Vec<String> = argument.values.iter().map(quoted).collect();
    let gap = if words.is_empty() { "" } else { " " };
    format!("--{}{gap}{}", argument.name, words.join(" "))
}
