//! Settings of `moescape serve`: from flags, from the environment and from a file, in this order.
//!
//! The file has the flags' names. What it says of a flag that isn't given becomes one, so that a
//! value is read in one way, wherever it comes from.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, FromArgMatches};

use super::Command;
use crate::jobs::nats::Address;
use crate::store;

/// The command that has settings.
const COMMAND: &str = "serve";

/// Flags that say what to do once, and aren't settings.
const NO_SETTINGS: [&str; 3] = ["config", "print-config", "help"];

/// A setting's name, as the flag's, and what holds.
struct Setting {
    name: String,
    values: Vec<String>,
    is_many: bool,
    from: String,
}

/// A command line, with what a file adds to it.
pub(super) struct Settled {
    pub(super) command: Command,
    settings: Vec<Setting>,
}

/// Reason why a command line isn't taken.
#[derive(Debug)]
pub(super) enum Fault {
    /// The command line itself, or a request for help.
    Usage(clap::Error),
    /// The file: one line for each thing that is wrong.
    File(Vec<String>),
}

impl From<clap::Error> for Fault {
    fn from(error: clap::Error) -> Self {
        Self::Usage(error)
    }
}

/// Reads a command line, and for `serve` the file that it names.
pub(super) fn settle(given: &[OsString]) -> Result<Settled, Fault> {
    let read = |line: &[OsString]| super::command().try_get_matches_from(line);
    let first = read(given)?;
    let Some(serve) = first.subcommand_matches(COMMAND) else {
        return Ok(Settled { command: Command::from_arg_matches(&first)?, settings: vec![] });
    };
    let Some(file) = serve.get_one::<PathBuf>("config") else {
        let settings = settings(serve, None);
        return Ok(Settled { command: Command::from_arg_matches(&first)?, settings });
    };
    let fault = |line: String| format!("{}: {line}", file.display());
    let text = fs::read_to_string(file)
        .map_err(|error| Fault::File(vec![format!("can't read {}: {error}", file.display())]))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or(""));
        let line = before.matches('\n').count() + 1;
        Fault::File(vec![fault(format!("line {line}: {}", error.message()))])
    })?;
    let (mut faults, mut added) = (Vec::new(), Vec::new());
    for (name, value) in &table {
        match flags(name, value) {
            Err(line) => faults.push(fault(line)),
            // What is given elsewhere holds.
            Ok((argument, _)) if is_given(serve, &argument) => {}
            Ok((_, flags)) => match read(&with(given, &flags)) {
                // What it needs beside it may be in another line.
                Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => {
                    faults.push(fault(in_one_line(&error)));
                }
                Ok(_) | Err(_) => added.extend(flags),
            },
        }
    }
    if !faults.is_empty() {
        return Err(Fault::File(faults));
    }
    let whole = read(&with(given, &added));
    let whole = whole.map_err(|error| Fault::File(vec![fault(in_one_line(&error))]))?;
    let mut shown = settings(serve, None);
    if let Some(serve) = whole.subcommand_matches(COMMAND) {
        shown = settings(serve, Some((&shown, &file.display().to_string())));
    }
    Ok(Settled { command: Command::from_arg_matches(&whole)?, settings: shown })
}

/// The command line with more flags behind the command's name.
fn with(given: &[OsString], flags: &[OsString]) -> Vec<OsString> {
    let (before, behind) = given.split_at(given.len().min(2));
    [before, flags, behind].concat()
}

/// First paragraph of clap's message, in one line and without `error: ` before it.
pub(super) fn in_one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.is_empty());
    let line = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    line.trim_start_matches("error: ").to_owned()
}

fn is_given(matches: &ArgMatches, argument: &Arg) -> bool {
    let from = matches.value_source(argument.get_id().as_str());
    matches!(from, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
}

/// The flags that can be set by a file or the environment.
pub(super) fn known() -> Vec<Arg> {
    let command = super::command();
    let serve = command.find_subcommand(COMMAND);
    let all = serve.into_iter().flat_map(clap::Command::get_arguments);
    let is_setting = |name: &str| !NO_SETTINGS.contains(&name);
    all.filter(|argument| argument.get_long().is_some_and(is_setting)).cloned().collect()
}

/// A line of the file as flags.
fn flags(name: &str, value: &toml::Value) -> Result<(Arg, Vec<OsString>), String> {
    let known = known();
    let argument = known.iter().find(|argument| argument.get_long() == Some(name));
    let argument = argument.ok_or_else(|| {
        let names = known.iter().filter_map(Arg::get_long);
        let like = |other: &str| strsim::jaro_winkler(other, name);
        let nearest = names.max_by(|a, b| like(a).total_cmp(&like(b))).unwrap_or_default();
        format!("there is no setting `{name}`; the nearest is `{nearest}`")
    })?;
    let plain = |value: &toml::Value| match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Boolean(is_on) if is_switch(argument) => Ok(is_on.to_string()),
        toml::Value::Array(_) if !is_many(argument) => {
            Err(format!("`{name}` takes one value, not a list"))
        }
        toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_)
        | toml::Value::Array(_)
        | toml::Value::Table(_) => {
            let found = value.type_str();
            Err(format!("`{name}` takes a text or a whole number, not a {found}"))
        }
    };
    let values = match value.as_array().filter(|_| is_many(argument)) {
        Some(values) => values.iter().map(plain).collect::<Result<Vec<_>, _>>()?,
        None => vec![plain(value)?],
    };
    let flags = values.iter().map(|value| format!("--{name}={value}").into()).collect();
    Ok((argument.clone(), flags))
}

fn is_many(argument: &Arg) -> bool {
    matches!(argument.get_action(), clap::ArgAction::Append)
}

/// Whether an argument is a switch: on or off.
fn is_switch(argument: &Arg) -> bool {
    argument.get_possible_values().iter().any(|value| value.get_name() == "true")
}

/// Settings in effect, each with its origin. `before` is what holds without the file, and the
/// file's name.
fn settings(matches: &ArgMatches, before: Option<(&[Setting], &str)>) -> Vec<Setting> {
    let setting = |argument: Arg| {
        let id = argument.get_id().as_str();
        let name = argument.get_long().unwrap_or_default().to_owned();
        let values = matches.get_raw(id).into_iter().flatten();
        let values = values.map(|value| value.to_string_lossy().into_owned());
        // Without the name and password that it may have.
        let values = values.map(|value| {
            let nats = value.parse::<Address>().map(|address| address.to_string());
            let store = || value.parse::<store::Address>().map(|address| address.to_string());
            nats.or_else(|_| store()).unwrap_or(value)
        });
        let from = match matches.value_source(id) {
            Some(ValueSource::CommandLine) => "flag".to_owned(),
            Some(ValueSource::EnvVariable) => {
                let name = argument.get_env().unwrap_or_default().to_string_lossy();
                format!("environment, {name}")
            }
            _ => "default".to_owned(),
        };
        let known = before.and_then(|(settings, file)| {
            let known = settings.iter().find(|setting| setting.name == name)?;
            Some((known.from.clone(), file))
        });
        let from = match known {
            // A flag that wasn't there before is the file's.
            Some((known, file)) if known == "default" && from == "flag" => format!("file, {file}"),
            _ => from,
        };
        Setting { name, values: values.collect(), is_many: is_many(&argument), from }
    };
    known().into_iter().map(setting).collect()
}

impl Settled {
    /// Settings in effect, as a file that sets them.
    pub(super) fn shown(&self) -> String {
        let mut text = String::new();
        for Setting { name, values, is_many, from } in &self.settings {
            let _ = if values.is_empty() {
                writeln!(text, "# {name} isn't set")
            } else {
                writeln!(text, "{}  # {from}", line(name, values, *is_many))
            };
        }
        text
    }
}

/// Columns of the file's comments.
const MAX_COLUMNS: usize = 98;

/// First lines of the file.
const HEAD: &str = "\
# Settings of `moescape serve`. What stands here holds without it, too; what has no value yet
# begins with #. A flag holds before the environment, that before this file.
";

/// A file of all settings, with what each is, and what holds without it.
pub(super) fn example() -> String {
    let mut text = HEAD.to_owned();
    for argument in known() {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let mut column = MAX_COLUMNS;
        for word in help.split_whitespace() {
            let width = word.chars().count() + 1;
            if column + width > MAX_COLUMNS {
                text.push_str("\n#");
                column = 1;
            }
            let _ = write!(text, " {word}");
            column += width;
        }
        let name = argument.get_long().unwrap_or_default();
        let values = argument.get_default_values().iter();
        let values: Vec<String> =
            values.map(|value| value.to_string_lossy().into_owned()).collect();
        let _ = writeln!(text, "\n# [environment: MOESCAPE_{}]", variable(name));
        let _ = if values.is_empty() {
            let place = argument.get_value_names().unwrap_or_default().join(" ");
            let line = line(name, &[place], is_many(&argument));
            writeln!(text, "# {line}")
        } else {
            writeln!(text, "{}", line(name, &values, is_many(&argument)))
        };
    }
    text
}

/// A flag's name in the environment, behind the program's.
fn variable(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

/// A setting as a line of a file.
fn line(name: &str, values: &[String], is_many: bool) -> String {
    let quoted = |value: &String| {
        if value.parse::<u64>().is_ok() || value.parse::<bool>().is_ok() {
            return value.clone();
        }
        toml::Value::String(value.clone()).to_string()
    };
    let values = values.iter().map(quoted).collect::<Vec<_>>().join(", ");
    if is_many { format!("{name} = [{values}]") } else { format!("{name} = {values}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(file: &str, flags: &[&str]) -> Result<String, Vec<String>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("moescape.toml");
        fs::write(&path, file).unwrap();
        let mut line: Vec<OsString> = ["moescape", "serve", "--config"].map(Into::into).to_vec();
        line.push(path.clone().into());
        line.extend(flags.iter().map(Into::into));
        let name = path.display().to_string();
        let plain = |text: &str| text.replace(&name, "FILE");
        match settle(&line) {
            Ok(settled) => Ok(plain(&settled.shown())),
            Err(Fault::File(lines)) => Err(lines.iter().map(|line| plain(line)).collect()),
            Err(Fault::Usage(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn every_setting_has_a_name_in_the_environment() {
        assert!(known().len() > 12);
        for argument in known() {
            let name = variable(argument.get_long().unwrap());
            let variable = argument.get_env().unwrap_or_default().to_string_lossy();
            assert_eq!(variable, format!("MOESCAPE_{name}"));
        }
    }

    #[test]
    fn the_example_names_every_setting_and_says_what_holds_without_it() {
        let example = example();
        assert!(example.lines().all(|line| line.chars().count() <= MAX_COLUMNS + 1), "{example}");
        let plain = |shown: String| {
            let lines = shown.lines().map(|line| line.split("  # ").next().unwrap_or_default());
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(plain(settled(&example, &[]).unwrap()), plain(settled("", &[]).unwrap()));
        let table: toml::Table = example.parse().unwrap();
        for argument in known() {
            let name = argument.get_long().unwrap();
            let is_set = !argument.get_default_values().is_empty();
            assert_eq!(table.contains_key(name), is_set, "{name}");
            let begins = format!("{name} = ");
            let lines = example.lines().map(|line| line.trim_start_matches("# "));
            assert_eq!(lines.filter(|line| line.starts_with(&begins)).count(), 1, "{name}");
        }
        let listen = example.replace("127.0.0.1:3000", "127.0.0.1:4170");
        assert_ne!(plain(settled(&listen, &[]).unwrap()), plain(settled("", &[]).unwrap()));
    }

    #[test]
    fn the_unit_and_the_container_set_what_there_is() {
        let unit = include_str!("../../deploy/moescape.service");
        let container = include_str!("../../deploy/Containerfile");
        let known = known();
        for text in [unit, container] {
            let named = text.split("MOESCAPE_").skip(1);
            let named: Vec<&str> = named.filter_map(|rest| rest.split('=').next()).collect();
            assert!(named.contains(&"DATA"));
            for name in named.into_iter().filter(|name| *name != "CONFIG") {
                let variable = format!("MOESCAPE_{name}");
                let is = |argument: &Arg| argument.get_env() == Some(variable.as_ref());
                assert!(known.iter().any(is), "{variable}");
            }
        }
    }

    #[test]
    fn a_flag_holds_before_a_file_and_a_file_before_a_default() {
        let file = "listen = \"127.0.0.1:4170\"\nmax-connections = 64\nhost = [\"a\", \"b.c\"]\n\
                    engine = \"nats://me:secret@nats:4222\"\n\
                    store = \"postgres://me:secret@db:5433/moescape\"\nmcp = true\n";
        let shown = settled(file, &["--max-connections", "32"]).unwrap();
        for line in [
            "listen = \"127.0.0.1:4170\"  # file, FILE",
            "max-connections = 32  # flag",
            "host = [\"a\", \"b.c\"]  # file, FILE",
            "embed-from = \"*\"  # default",
            "engine = \"nats://nats:4222\"  # file, FILE",
            "store = \"postgres://me@db:5433/moescape\"  # file, FILE",
            "mcp = true  # file, FILE",
            "# public-url isn't set",
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
        }
        // What is shown is a file that says the same.
        assert!(settled(&shown, &[]).is_ok());
    }

    #[test]
    fn settings_that_need_each_other_stand_in_one_file_and_one_alone_names_the_other() {
        let keep = "keep-days = 30\n";
        let shown = settled(&format!("{keep}archive-to = \"none\"\n"), &[]).unwrap();
        assert!(shown.contains("keep-days = 30  # file, FILE"), "{shown}");
        assert!(settled(keep, &["--archive-to=none"]).is_ok());
        let faults = settled(keep, &[]).unwrap_err();
        assert_eq!(faults.len(), 1);
        assert!(
            faults[0].starts_with("FILE: ") && faults[0].contains("--archive-to"),
            "{faults:?}"
        );
        let both = "backup-to = \"/b\"\nstore = \"postgres://me@db/moescape\"\n";
        let faults = settled(both, &[]).unwrap_err();
        assert!(faults[0].starts_with("FILE: ") && faults[0].contains("--store"), "{faults:?}");
    }

    #[test]
    fn all_that_is_wrong_with_a_file_is_said_at_once() {
        let file = "listne = \"127.0.0.1:0\"\nmax-connections = 0\nhost = \"http://a\"\n\
                    public-url = [\"https://a\"]\nlog-level = true\nconfig = \"b\"\n";
        let faults = settled(file, &[]).unwrap_err().join("\n");
        assert_eq!(faults.lines().count(), 6, "{faults}");
        for part in [
            "FILE: there is no setting `listne`; the nearest is `listen`",
            "--max-connections",
            "leave out what stands before the name",
            "`public-url` takes one value, not a list",
            "`log-level` takes a text or a whole number, not a boolean",
            "no setting `config`",
        ] {
            assert!(faults.contains(part), "{part}\n{faults}");
        }
        let faults = settled("listen = \"a\"\nlisten = \"b\"", &[]).unwrap_err();
        assert!(faults[0].starts_with("FILE: line 2: "), "{faults:?}");
        assert!(settled("", &[]).is_ok());
    }
}
