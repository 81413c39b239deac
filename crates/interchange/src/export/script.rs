//! Launch scripts: environment, what is to be set, arrays of arguments, and the command that uses
//! them.

use core::fmt::Write as _;

use model::design::Design;

use super::groups::{self, Group, Word};
use super::start::{self, Variable};
use super::{Launcher, Target};
use crate::carried::{self, Piece};

/// Everything but the head and the comments below.
pub(super) fn body(target: Target, launcher: Launcher, design: &Design) -> String {
    let mindspeed = target == Target::Mindspeed;
    let mut groups = groups::with_extra(mindspeed, design);
    let (run, variables) = start::run(mindspeed, design);
    groups.push(run);
    groups.retain(|group| !group.arguments.is_empty());
    let nodes = groups::nodes(design);
    let (further, found) = start::rendezvous(launcher, nodes.map_or(1, |(nodes, _)| nodes));
    let mut text = String::new();
    if launcher == Launcher::Slurm {
        text.push_str(&slurm(mindspeed, nodes));
    }
    text.push_str("set -euo pipefail\n\n# Yours to set: the script stops where one is empty\n");
    for Variable { name, meaning } in variables.iter().chain(&found) {
        // Writing to a string can't fail.
        let _ = writeln!(text, ": \"${{{name}:?set {name} to {meaning}}}\"");
    }
    for (name, argument) in start::imported(design) {
        if variables.iter().all(|own| own.name != name) {
            let _ = writeln!(text, ": \"${{{name}:?set {name}, which --{argument} takes}}\"");
        }
    }
    if !further.is_empty() {
        text.push_str("MASTER_PORT=\"${MASTER_PORT:-29500}\"\n");
        if launcher == Launcher::Slurm {
            text.push_str(
                "MASTER_ADDR=\"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\"\n",
            );
        }
    }
    text.push_str("\n# Environment\n");
    for line in start::environment(mindspeed, design) {
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
    for group in &groups {
        array(group, further, &mut text);
    }
    text.push_str(&command(launcher, start::program(mindspeed, design), &groups));
    text
}

/// Slurm's directives: one task on each node, which starts its processes itself.
fn slurm(mindspeed: bool, nodes: Option<(u64, u64)>) -> String {
    let Some((nodes, per_node)) = nodes else { return String::new() };
    let mut text = format!("#SBATCH --nodes={nodes}\n#SBATCH --ntasks-per-node=1\n");
    if !mindspeed {
        let _ = writeln!(text, "#SBATCH --gpus-per-node={per_node}");
    }
    text.push_str("#SBATCH --exclusive\n\n");
    text
}

fn array(group: &Group, further: &[&str], text: &mut String) {
    let _ = writeln!(text, "# {}\n{}=(", group.title, group.name);
    for argument in &group.arguments {
        let _ = writeln!(text, "    {}", written(argument));
    }
    if group.name == groups::LAUNCHER {
        further.iter().for_each(|line| {
            let _ = writeln!(text, "    {line}");
        });
    }
    text.push_str(")\n\n");
}

fn command(launcher: Launcher, program: &str, groups: &[Group]) -> String {
    let mut parts = groups.iter().map(|group| format!("\"${{{}[@]}}\"", group.name)).peekable();
    let own = parts.next_if(|part| part.contains(groups::LAUNCHER)).unwrap_or_default();
    let before = match launcher {
        Launcher::Torchrun => "",
        Launcher::Slurm => "srun ",
    };
    let mut command = vec![format!("{before}torchrun {own} {program}")];
    command.extend(parts);
    format!("cd \"$CHECKOUT_PATH\"\n{}\n", command.join(" \\\n    "))
}

/// An argument as a shell reads it.
fn written(argument: &Word) -> String {
    let words: Vec<String> = argument.values.iter().map(|word| quoted(word)).collect();
    let gap = if words.is_empty() { "" } else { " " };
    format!("--{}{gap}{}", argument.name, words.join(" "))
}

/// A word as a shell reads it: nothing in it is run, and of `${NAME}` the value is taken.
fn quoted(word: &str) -> String {
    // It is one prefix, or weights and prefixes, each a word.
    if word == "${DATA_PATH}" {
        return "$DATA_PATH".to_owned();
    }
    let text = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._,+-/:=@%".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text.to_owned()
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    let pieces = carried::pieces(word).unwrap_or_else(|| vec![Piece::Text(word)]);
    let each = pieces.into_iter().map(|piece| match piece {
        Piece::Text(own) => text(own),
        Piece::Variable(name) => format!("\"${{{name}}}\""),
    });
    each.collect()
}
