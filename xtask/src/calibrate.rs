//! `cargo xtask calibrate`: fits the model's constants to the published runs.
//!
//! The fit itself is a program of the crate `validation`, since it needs the model and the runs.
//! It is a task of its own and no part of `test`: numbers change only when somebody wants them to.

use anyhow::{Context, Result};

use crate::command;
use crate::workspace::Workspace;

/// The file whose lower part the fit writes.
const TABLE: &str = "model/src/catalogue/calibration.rs";

/// Whether to write.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print the table instead of writing it
    #[arg(long)]
    dry_run: bool,
    /// The levels of kernels, from measured ones: before the fit to runs, which rests on them
    #[arg(long)]
    kernels: bool,
    /// Leave the fit out: only the errors of the peak memory
    #[arg(long, conflicts_with = "kernels")]
    memory: bool,
    /// Print the constants of collectives and of the exchanges of experts, fitted to measured ones
    #[arg(long)]
    collectives: bool,
}

/// Runs the fit, then says what it wrote and what that asks for.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let line = "run --release --package validation --features runs --bin calibrate --";
    let mut fit = workspace.cargo(line.split(' '));
    if arguments.kernels {
        fit.arg("--kernels");
    }
    if arguments.memory {
        fit.arg("--memory");
    }
    if arguments.collectives {
        return command::run(fit.arg("--collectives"));
    }
    if arguments.dry_run {
        return command::run(fit.arg("--dry-run"));
    }
    let path = workspace.root.join(TABLE);
    let read = || std::fs::read_to_string(&path).with_context(|| format!("cannot read {TABLE}"));
    let before = read()?;
    command::run(&mut fit)?;
    for line in report(&before, &read()?) {
        println!("{line}");
    }
    Ok(())
}

/// Report of the lines that changed in the table, and of what to do about them.
fn report(before: &str, after: &str) -> Vec<String> {
    if before == after {
        return vec![format!("{TABLE} stays as it is")];
    }
    let mut lines = vec![format!("wrote {TABLE}")];
    let pairs = constants(before).into_iter().zip(constants(after));
    lines.extend(
        pairs
            .filter(|(old, new)| old != new)
            .map(|((name, old), (_, new))| format!("  {name}: {old} -> {new}")),
    );
    lines.push(
        "numbers change: raise the version of the crate model, say so in CHANGELOG.md, and run\n  \
         UPDATE_GOLDEN=1 cargo test --package model --test golden"
            .to_owned(),
    );
    lines
}

/// The table's constants by name, `HOPPER.gemm`, with their values as written; the errors
/// below them follow from these.
fn constants(text: &str) -> Vec<(String, &str)> {
    let above_bands = text.split("pub const SPREADS").next().unwrap_or_default();
    let mut table = "";
    let mut found = Vec::new();
    for line in above_bands.lines() {
        let named = line.strip_prefix("pub const ").or_else(|| line.strip_prefix("const "));
        if let Some(rest) = named {
            table = rest.split(':').next().unwrap_or_default();
        }
        for part in line.split([',', '{', '}']) {
            let Some((name, value)) = part.trim().split_once(": ") else { continue };
            if value.starts_with(|letter: char| letter.is_ascii_digit()) {
                found.push((format!("{table}.{name}"), value));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "
pub const HOPPER: Kernels = Kernels {
    family: \"NVIDIA Hopper\",
    gemm: 0.736,
    fp8_gemm: 0.641,
};

const HOPPER_IN_RUN: InRun =
    InRun { rate: 0.959 };
";

    #[test]
    fn a_table_that_stays_is_not_written() {
        assert_eq!(report(BEFORE, BEFORE), ["model/src/catalogue/calibration.rs stays as it is"]);
    }

    #[test]
    fn each_constant_that_changes_is_named_with_both_values() {
        let after = BEFORE.replace("0.736", "0.741").replace("0.959", "0.953");
        let lines = report(BEFORE, &after);
        assert_eq!(lines[0], "wrote model/src/catalogue/calibration.rs");
        assert_eq!(lines[1], "  HOPPER.gemm: 0.736 -> 0.741");
        assert_eq!(lines[2], "  HOPPER_IN_RUN.rate: 0.959 -> 0.953");
        assert!(lines[3].contains("raise the version"), "{lines:?}");
        assert_eq!(lines.len(), 4);
    }
}
