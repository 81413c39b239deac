//! Command line of `moescape`. Results go to stdout, messages to stderr.
//!
//! Exit status: 0 (also when a design doesn't fit), 2 for what the user can mend, 3 for a check
//! that fails, 1 for the rest.

mod log;
mod output;
mod progress;
mod trace;
mod folder;
mod terminal;
mod knobs;
mod licences;
mod presets;
mod settings;
mod sweep;
mod merge;
mod worker;
pub(crate) mod retention;
mod upkeep;
mod serve;
mod static_site;
mod admin;
mod backup;
mod doctor;
mod mcp;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use operations::{Entry, OPERATIONS};

/// Predicts how large mixture-of-experts models train and serve on NPU and GPU clusters.
#[derive(Debug, Parser)]
#[command(name = "moescape", version, arg_required_else_help = true, subcommand_required = true)]
struct Program;

/// A command with its arguments.
enum Command {
    /// An operation, which every door has.
    Operation(&'static Entry, ArgMatches),
    /// A command that the command line alone has.
    Own(Box<Own>),
}

#[derive(Debug, Subcommand)]
enum Own {
    /// List the presets: published recipes and models
    Presets(presets::Arguments),
    /// List the knobs: what a design is made of
    Knobs(knobs::Arguments),
    /// Evaluate every design of a space: the best, the Pareto front, what rules out the rest
    Sweep(sweep::Arguments),
    /// Compute sweeps that are handed out over NATS
    Worker(worker::Arguments),
    /// Put the results of a sweep's shards together
    Merge(merge::Arguments),
    /// Serve the explorer and its API
    Serve(Box<serve::Arguments>),
    /// Write the explorer as a folder of files that any web server hands out
    Static(static_site::Arguments),
    /// Answer agents by the Model Context Protocol, over stdio or HTTP: the commands as tools
    Mcp(mcp::Arguments),
    /// Check what a server needs: settings, data, store, NATS, clock, descriptors; say what to do
    Doctor(doctor::Arguments),
    /// See who keeps how much on a server, and list, show, delete or export it
    Admin(admin::Arguments),
    /// Print the licences of the software that this binary is made of
    Licences(licences::Arguments),
    /// Copy what a server keeps, also while it runs
    Backup(backup::Backup),
    /// Put such a copy back
    Restore(backup::Restore),
    /// Bring what a server's data directory holds into an empty PostgreSQL database
    Migrate(backup::Migrate),
}

/// Reason why a command failed; [`main`] says what there was to say.
#[derive(Debug)]
enum Failure {
    /// The user can mend it: one line for each thing that is wrong.
    User(Vec<String>),
    /// A check asked for more than was reached: one line for each target that is missed.
    Missed(Vec<String>),
    /// Fault that the user can't mend.
    Internal(String),
    /// Stdout is gone: whoever read it has seen enough.
    Closed,
}

impl Failure {
    fn user(line: impl Into<String>) -> Self {
        Self::User(vec![line.into()])
    }

    /// Failure to write to stdout.
    fn writing(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        Self::Internal(format!("can't write the result: {error}"))
    }
}

/// Every command with its arguments, to be described.
#[must_use]
pub fn command() -> clap::Command {
    let operations = OPERATIONS.iter().filter(|entry| entry.has_command);
    let program = Program::command().subcommands(operations.map(|entry| (entry.command)()));
    Own::augment_subcommands(program)
}

impl FromArgMatches for Command {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let operation = matches.subcommand().and_then(|(name, arguments)| {
            let entry = OPERATIONS.iter().find(|it| it.has_command && it.name == name)?;
            Some(Self::Operation(entry, arguments.clone()))
        });
        operation.map_or_else(|| Own::from_arg_matches(matches).map(Box::new).map(Self::Own), Ok)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A file of the settings of `moescape serve`: what each is, and what holds without it.
#[must_use]
pub fn example_settings() -> String {
    settings::example()
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let line: Vec<OsString> = std::env::args_os().collect();
    let settled = match settings::settle(&line) {
        Ok(settled) => settled,
        Err(settings::Fault::Usage(error)) => error.exit(),
        Err(settings::Fault::File(lines)) => return ended(Err(Failure::User(lines))),
    };
    let shown = settled.shown();
    let outcome = match settled.command {
        Command::Operation(entry, arguments) => terminal::run(entry, &arguments),
        Command::Own(own) => run(*own, &shown),
    };
    ended(outcome)
}

fn run(command: Own, settings: &str) -> Result<(), Failure> {
    match command {
        Own::Presets(arguments) => presets::run(&arguments),
        Own::Knobs(arguments) => knobs::run(&arguments),
        Own::Sweep(arguments) => sweep::run(&arguments),
        Own::Worker(arguments) => worker::run(&arguments),
        Own::Merge(arguments) => merge::run(&arguments),
        Own::Serve(arguments) if arguments.print_config => output::result(settings),
        Own::Serve(arguments) => serve::run(*arguments),
        Own::Static(arguments) => static_site::run(&arguments),
        Own::Mcp(arguments) => mcp::run(arguments),
        Own::Doctor(arguments) => doctor::run(&arguments),
        Own::Admin(arguments) => admin::run(arguments),
        Own::Licences(arguments) => licences::run(&arguments),
        Own::Backup(arguments) => backup::backup(arguments),
        Own::Restore(arguments) => backup::restore(arguments),
        Own::Migrate(arguments) => backup::migrate(arguments),
    }
}

/// Says how a command ended.
fn ended(outcome: Result<(), Failure>) -> ExitCode {
    match outcome {
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::User(lines)) => {
            lines.iter().for_each(|line| output::message(&format!("error: {line}")));
            ExitCode::from(2)
        }
        Err(Failure::Missed(lines)) => {
            lines.iter().for_each(|line| output::message(line));
            ExitCode::from(3)
        }
        Err(Failure::Internal(line)) => {
            output::message(&format!("error: {line}"));
            ExitCode::FAILURE
        }
    }
}
