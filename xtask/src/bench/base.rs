//! The benches of another commit beside those of this one, in turns.
//!
//! Both are built alike, the base in a worktree below the target directory. Machines differ, and
//! one machine from minute to minute: what repeats is the ratio of runs next to each other.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::command;
use crate::workspace::Workspace;

/// Packages with their benches.
const BENCHES: [(&str, &str); 2] = [("model", "estimate"), ("sweep", "sweep")];

/// Runs of each side.
const ROUNDS: usize = 3;

/// The longest that a run takes: of one that is stopped, what it printed so far counts.
const LONGEST: Duration = Duration::from_secs(90);

/// Times that a bench printed, in microseconds, by what they are of.
type Times = Vec<(String, f64)>;

/// Runs the benches of a commit and of this one in turns, and prints what both take.
pub(super) fn compare(workspace: &Workspace, commit: &str) -> Result<()> {
    let below = workspace.target.join("base");
    let tree = below.join("tree");
    if tree.exists() {
        command::run(git(workspace, &["worktree", "remove", "--force"]).arg(&tree))?;
    }
    command::run(git(workspace, &["worktree", "add", "--detach"]).arg(&tree).arg(commit))?;
    for (package, bench) in BENCHES {
        let base = built(&tree, &below.join("target"), package, bench)?;
        let now = built(&workspace.root, &workspace.target, package, bench)?;
        let (mut bases, mut nows) = (Times::new(), Times::new());
        for _ in 0..ROUNDS {
            keep_fastest(&mut bases, times(&base)?);
            keep_fastest(&mut nows, times(&now)?);
        }
        let known: HashMap<&str, f64> = bases.iter().map(|(of, time)| (&**of, *time)).collect();
        println!("{bench:36} {:>12} {:>12} {:>9}", "base, µs", "now, µs", "now/base");
        for (of, now) in &nows {
            if let Some(base) = known.get(&**of) {
                println!("{of:36} {base:12.2} {now:12.2} {:9.3}", now / base);
            }
        }
    }
    command::run(git(workspace, &["worktree", "remove", "--force"]).arg(&tree))
}

fn git(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.current_dir(&workspace.root).args(arguments);
    git
}

/// Builds a bench of a tree; its program.
fn built(tree: &Path, target: &Path, package: &str, bench: &str) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(tree).env("CARGO_TARGET_DIR", target);
    cargo.args(["bench", "--no-run", "--message-format", "json", "--package", package]);
    let messages = command::output(cargo.args(["--bench", bench]))?;
    let mut messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let program = messages.find_map(|message: serde_json::Value| {
        let is_asked = message["target"]["name"] == bench;
        message["executable"].as_str().filter(|_| is_asked).map(PathBuf::from)
    });
    program.with_context(|| format!("cargo built no bench {bench} of {package}"))
}

/// Runs a bench for its times.
fn times(program: &Path) -> Result<Times> {
    let mut child = Command::new(program).arg("--bench").stdout(Stdio::piped()).spawn()?;
    let (send, lines) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.map_while(|line| send.send(line).ok()).for_each(drop);
        });
    }
    let end = Instant::now() + LONGEST;
    let mut times = Times::new();
    while let Ok(line) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
        times.extend(time_of(&line));
    }
    // One that has ended can't be stopped any more.
    let _ = child.kill();
    child.wait()?;
    Ok(times)
}

/// Name of what a line's first time is of, and the time in microseconds.
fn time_of(line: &str) -> Option<(String, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).enumerate().find_map(|(place, pair)| {
        let unit = match pair[1] {
            "µs" => 1.0,
            "ms" => 1e3,
            _ => return None,
        };
        let time: f64 = pair[0].parse().ok()?;
        // A sweep's line has its name alone in front of all that it counted.
        let counts = words[..place].iter().any(|word| word.ends_with(';'));
        let name = if counts { &words[..1] } else { &words[..place] };
        Some((name.join(" "), time * unit))
    })
}

/// Keeps the faster of two times of each line.
fn keep_fastest(fastest: &mut Times, times: Times) {
    for (of, time) in times {
        match fastest.iter_mut().find(|(known, _)| *known == of) {
            Some((_, least)) => *least = least.min(time),
            None => fastest.push((of, time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_of_the_words_in_front_of_it() {
        let of = |of: &str, time| Some((of.to_owned(), time));
        assert_eq!(time_of("Plan::new               12.50 µs"), of("Plan::new", 12.5));
        assert_eq!(time_of("  512 micro-batches   2.00 ms"), of("512 micro-batches", 2_000.0));
        let sweep = "strategy   4.41 s on 2 cores: 9 legal of 10 points of 11, 8 feasible; 4.40 \
                     µs per legal design and core, 2 of them a second and core";
        assert_eq!(time_of(sweep), of("strategy", 4.4));
        assert_eq!(time_of("350 MiB of memory at most"), None);
    }

    #[test]
    fn the_fastest_run_counts() {
        let mut fastest = Times::new();
        for time in [3.0, 1.0, 2.0] {
            keep_fastest(&mut fastest, vec![("a".to_owned(), time)]);
        }
        assert_eq!(fastest, [("a".to_owned(), 1.0)]);
    }
}
