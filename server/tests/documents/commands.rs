//! `docs/cli.md`, written from the commands themselves.

use std::fmt::Write as _;

use clap::{Arg, Command};

use crate::{keep, row, table};

const HEAD: &str = "# The command line

<!-- Written by UPDATE_DOCS=1 cargo test -p server --test documents: don't edit. -->

`moescape` predicts, sweeps, converts and serves. Results go to stdout, messages to stderr.

| Exit status | Means |
|---|---|
| 0 | there is an estimate, also of a design that doesn't fit its memory |
| 1 | the program or the system failed |
| 2 | something in the input is to be mended; every reason is printed |
| 3 | `moescape validate --check` missed a target |
";

#[test]
fn the_reference_of_the_command_line_is_what_the_program_understands() {
    let mut command = server::cli::command();
    command.build();
    let mut text = HEAD.to_owned();
    let commands: Vec<&Command> =
        command.get_subcommands().filter(|command| command.get_name() != "help").collect();
    assert!(commands.len() > 10, "{}", commands.len());
    let mut rows = vec![row(["Command", "Does"])];
    for command in &commands {
        let name = command.get_name();
        let link = format!("[{name}](#moescape-{name})");
        rows.push(row([link, about(command)]));
    }
    let _ = write!(text, "\n{}", table(&rows));
    for command in commands {
        describe(&mut text, command, "##", "moescape");
    }
    keep("docs/cli.md", |_| text);
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn describe(text: &mut String, command: &Command, level: &str, above: &str) {
    let name = format!("{above} {}", command.get_name());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let _ = write!(text, "\n{level} {name}\n\n{}.\n\n```text\n{usage}\n```\n", about(command));
    let mut rows = vec![row(["Argument", "Is", "Default"])];
    let shown = |argument: &&Arg| !argument.is_hide_set() && argument.get_id() != "help";
    for argument in command.get_arguments().filter(shown) {
        rows.push(describe_argument(argument));
    }
    if rows.len() > 1 {
        let _ = write!(text, "\n{}", table(&rows));
    }
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        describe(text, command, "###", &name);
    }
}

fn describe_argument(argument: &Arg) -> Vec<String> {
    let name = argument.to_string();
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let (help, stated) = stated_default(&help);
    let mut help = help.replace('<', "\\<");
    let values = argument.get_possible_values();
    let is_flag = !argument.get_action().takes_values();
    if !values.is_empty() && !is_flag {
        let values = values.iter().filter(|value| !value.is_hide_set()).map(|value| {
            let meaning = value.get_help().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("`{}`{meaning}", value.get_name())
        });
        help.push_str(&format!(": {}", values.collect::<Vec<_>>().join(", ")));
    }
    let defaults = argument.get_default_values().iter();
    let defaults: Vec<String> =
        defaults.map(|value| format!("`{}`", value.to_string_lossy())).collect();
    let default = if is_flag || defaults.is_empty() { stated } else { defaults.join(", ") };
    row([format!("`{name}`"), help, default])
}

/// A default that the help states in words, at its end.
fn stated_default(help: &str) -> (String, String) {
    match help.split_once(" [default: ") {
        Some((help, default)) => (help.to_owned(), default.trim_end_matches(']').to_owned()),
        None => (help.to_owned(), String::new()),
    }
}
