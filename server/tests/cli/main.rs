//! The binary `moescape`, run as a person or a script runs it.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

#[cfg(unix)]
mod agents;
mod budget;
mod calibrate;
mod compare;
mod doctor;
mod export;
mod experts;
mod find;
mod import;
mod infer;
mod ledger;
mod lists;
mod mcp;
mod metrics;
#[path = "../process/nats.rs"]
mod nats;
mod predict;
mod routing;
mod schedule;
mod serve;
mod sweep;
mod validate;
mod verdict;

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Result of a run.
struct Run {
    status: i32,
    stdout: String,
    stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().expect("not ended by a signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_moescape"));
    command.args(arguments);
    command
}

/// Words of a command line without quotes, each of its own.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn run(arguments: &[&str]) -> Run {
    command(arguments).output().unwrap().into()
}

/// Runs the program with something on stdin.
fn run_with(arguments: &[&str], stdin: &[u8]) -> Run {
    let mut command = command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    // The program may refuse before it has read everything.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.into()
}

/// A successful run's stdout.
#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{arguments:?}");
    run.stdout
}

/// The messages of a run that the user can mend, which printed no result.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}: {}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    run.stderr
}

/// Messages of command lines that the user can mend, each below what was typed.
#[track_caller]
fn refusals(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("$ moescape {line}\n{}", refused(&words(line)))).collect()
}

/// Whether a text has a line that begins like this, however far it is indented.
fn has_line(text: &str, start: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(start))
}
