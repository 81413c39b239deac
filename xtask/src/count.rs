//! `cargo xtask count`: the instructions that fixed amounts of work take, beside those written
//! down.
//!
//! Seconds differ from machine to machine and from hour to hour; instructions, counted by valgrind,
//! repeat. `xtask/instructions.json` has them by version of the model, and why they changed. The
//! work is that of the profile of tests, so that nothing is compiled for it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::command;
use crate::tool::{self, Install, Tool};
use crate::workspace::Workspace;

/// Share by which work may take more instructions than are written down.
const ALLOWANCE: f64 = 0.03;

/// Variants of the C library's functions for newer processors, which would make the counts those of
/// a machine.
const PLAIN: &str = "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-ERMS,-FSRM,-BMI2";

/// Work that is counted: a run of an example, less what a run with other arguments takes.
struct Work {
    name: &'static str,
    example: &'static str,
    argument: &'static str,
    less: &'static str,
}

const fn work(
    name: &'static str,
    example: &'static str,
    argument: &'static str,
    less: &'static str,
) -> Work {
    Work { name, example, argument, less }
}

/// All of it.
const WORKS: [Work; 7] = [
    work("an estimate, the first", "work", "estimate-cold", "start"),
    work("100 estimates of a known design", "work", "estimate-known", "estimate-cold"),
    work("131,072 points of a grid", "work", "grid", "start"),
    work("10,000 random points", "work", "random", "start"),
    work("1,000 random points, simulated", "work", "simulated", "start"),
    work("a search for a layout", "work", "find", "start"),
    work("the explorer's page", "page", "2", "1"),
];

/// Counts by the name of the work.
type Counts = BTreeMap<String, u64>;

/// What is done with the counts.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write them down as those that hold from now on, with the reason
    #[arg(long, value_name = "WHY")]
    because: Option<String>,
}

/// Counts and prints; writes down where it is asked to.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    tool::require(&[Tool::Valgrind], Install::Toolchain)?;
    let counts = counted(workspace)?;
    let mut versions = written(workspace)?;
    print(&counts, &limits(&versions)?);
    if let Some(why) = &arguments.because {
        let version = version(workspace)?;
        versions.push(json!({ "model": version, "why": why, "instructions": counts }));
        let text = format!("{:#}\n", Value::from(versions));
        std::fs::write(file(workspace), text).context("can't write the counts down")?;
    }
    Ok(())
}

/// Fails where work takes more instructions than are written down.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let (counts, limits) = (counted(workspace)?, limits(&written(workspace)?)?);
    print(&counts, &limits);
    let complaints = complaints(&counts, &limits);
    ensure!(
        complaints.is_empty(),
        "{}\nmake it as quick as it was, or say why it isn't: cargo xtask count --because WHY",
        complaints.join("\n"),
    );
    Ok(())
}

/// Work that takes more than it may, and work without a limit.
fn complaints(counts: &Counts, limits: &Counts) -> Vec<String> {
    let complaint = |(name, count): (&String, &u64)| match limits.get(name) {
        None => Some(format!("{name}: no count is written down")),
        Some(limit) => {
            let (count, limit) = (*count as f64, *limit as f64);
            let more = (count / limit - 1.0) * 100.0;
            (count > limit * (1.0 + ALLOWANCE))
                .then(|| format!("{name}: {more:.1} % more instructions"))
        }
    };
    counts.iter().filter_map(complaint).collect()
}

fn print(counts: &Counts, limits: &Counts) {
    println!("{:34} {:>16} {:>16}", "instructions", "written down", "now");
    for (name, count) in counts {
        let Some(limit) = limits.get(name) else {
            println!("{name:34} {:>16} {count:16}", "-");
            continue;
        };
        let change = (*count as f64 / *limit as f64 - 1.0) * 100.0;
        println!("{name:34} {limit:16} {count:16} {change:+7.1} %");
    }
}

/// The instructions that all work takes here.
fn counted(workspace: &Workspace) -> Result<Counts> {
    // As the tests build them.
    let build = "build --workspace --features validation/runs --examples";
    command::run(&mut workspace.cargo(build.split(' ')))?;
    let mut runs: Vec<(&str, &str)> =
        WORKS.iter().flat_map(|it| [(it.example, it.argument), (it.example, it.less)]).collect();
    runs.sort_unstable();
    runs.dedup();
    let taken = runs.par_iter().map(|run| Ok((*run, instructions(workspace, run.0, run.1)?)));
    let taken = taken.collect::<Result<BTreeMap<_, _>>>()?;
    let own = |it: &Work| {
        let (all, less) = (taken[&(it.example, it.argument)], taken[&(it.example, it.less)]);
        (it.name.to_owned(), all.saturating_sub(less))
    };
    Ok(WORKS.iter().map(own).collect())
}

/// The instructions of a run, from its beginning to its end.
fn instructions(workspace: &Workspace, example: &str, argument: &str) -> Result<u64> {
    let program = workspace.target.join("debug/examples").join(example);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    valgrind.arg(&program).arg(argument).env("GLIBC_TUNABLES", PLAIN).stdout(Stdio::null());
    let output = valgrind.output().context("can't run valgrind")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{example} {argument} failed:\n{told}");
    match refs(&told) {
        Some(count) => Ok(count),
        None => bail!("valgrind doesn't tell how many instructions {example} took:\n{told}"),
    }
}

/// The count in what valgrind tells: `==1== I refs: 1,234`.
fn refs(told: &str) -> Option<u64> {
    let line = told.lines().find_map(|line| line.split_once("refs:"))?.1;
    line.trim().replace(',', "").parse().ok()
}

/// The versions that are written down, the newest last.
fn written(workspace: &Workspace) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(file(workspace)).context("no xtask/instructions.json")?;
    serde_json::from_str(&text).context("xtask/instructions.json isn't a list of versions")
}

/// The counts that hold: those of the newest version.
fn limits(versions: &[Value]) -> Result<Counts> {
    let newest = versions.last().map(|version| version["instructions"].clone());
    serde_json::from_value(newest.unwrap_or_else(|| json!({}))).context("counts are whole numbers")
}

/// The version of the model, which changes with its numbers.
fn version(workspace: &Workspace) -> Result<String> {
    let model = workspace.packages.iter().find(|package| package["name"] == "model");
    let version = model.and_then(|package| package["version"].as_str());
    version.map(str::to_owned).context("cargo tells no version of the model")
}

fn file(workspace: &Workspace) -> PathBuf {
    workspace.root.join("xtask/instructions.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(&str, u64)]) -> Counts {
        pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn work_may_take_three_percent_more_and_no_more() {
        let limits = counts(&[("a page", 1_000), ("a search", 1_000)]);
        let found = complaints(&counts(&[("a page", 1_030), ("a search", 1_050)]), &limits);
        assert_eq!(found, ["a search: 5.0 % more instructions"]);
    }

    #[test]
    fn new_work_needs_a_count() {
        let found = complaints(&counts(&[("a page", 1)]), &Counts::new());
        assert_eq!(found, ["a page: no count is written down"]);
    }

    #[test]
    fn the_count_is_read_from_what_valgrind_tells() {
        assert_eq!(refs("==1== \n==1== I refs:        1,234,567\n"), Some(1_234_567));
        assert_eq!(refs("==1== nothing"), None);
    }
}
