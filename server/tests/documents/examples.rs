//! Blocks marked `console` are run: each `$` is a command, what follows is its output.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use server::site::guide::CHAPTERS;

use crate::{is_updating, keep, read};

/// Files with examples: the guide, and what else shows the program at work.
fn files() -> impl Iterator<Item = &'static str> {
    CHAPTERS.iter().map(|chapter| chapter.english.file).chain(["README.md"])
}

#[test]
fn every_example_prints_what_the_guide_shows() {
    let mut commands = 0;
    for file in files() {
        let text = read(file);
        let directory = tempfile::tempdir().unwrap();
        let mut ran = Ran::default();
        let written = rewritten(&text, directory.path(), &mut ran);
        commands += ran.commands;
        if ran.commands > 0 {
            // Units are in a column of their own.
            ran.output = ran.output.split_whitespace().collect::<Vec<_>>().join(" ");
            for number in bold_numbers(&text) {
                assert!(
                    ran.output.contains(&number),
                    "{file} says **{number}**, and no command of it prints that"
                );
            }
        }
        keep(file, |known| {
            assert!(known == text || is_updating(), "{file} has changed");
            // Another test may have written its part meanwhile.
            if known == text { written } else { rewritten(known, directory.path(), &mut ran) }
        });
    }
    assert!(commands > 20, "only {commands} commands");
}

/// Output of a file's commands.
#[derive(Default)]
struct Ran {
    commands: usize,
    output: String,
}

/// The text with the output of its commands as it is today.
fn rewritten(text: &str, directory: &Path, ran: &mut Ran) -> String {
    let mut written = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        written.push_str(line);
        written.push('\n');
        let Some(language) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if language == "console" {
            for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                let output = run(command, directory);
                ran.commands += 1;
                ran.output.push_str(&output);
                let _ = write!(written, "$ {command}\n{output}");
            }
        } else {
            let content: String = block.iter().map(|line| format!("{line}\n")).collect();
            if let Some((_, name)) = language.split_once(" file=") {
                std::fs::write(directory.join(name), &content).unwrap();
            }
            written.push_str(&content);
        }
        written.push_str("```\n");
    }
    written
}

/// Runs a line of the shell, with `moescape` on its path, and gives what it says on both streams.
fn run(command: &str, directory: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_moescape"));
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(directory)
        .env("PATH", format!("{}:{path}", program.parent().unwrap().display()))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // Spaces at ends of lines mean nothing, and editors take them away.
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Texts in bold that have a digit, outside of blocks.
fn bold_numbers(text: &str) -> Vec<String> {
    let mut is_code = false;
    let prose: String = text
        .lines()
        .filter(|line| {
            is_code ^= line.starts_with("```");
            !is_code
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let bold = prose.split("**").skip(1).step_by(2);
    bold.filter(|bold| bold.contains(|c: char| c.is_ascii_digit()) && !bold.contains('±'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn numbers_in_bold_are_found_outside_of_blocks() {
    let text = "So **39.0 %** and **this**.\n\n```console\n$ a **7**\n```\n\n**12** too.\n";
    assert_eq!(bold_numbers(text), ["39.0 %", "12"]);
}
