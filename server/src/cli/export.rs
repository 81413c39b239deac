//! `moescape export`: a design as a file, a launch script, or its numbers as a table.

use interchange::Launcher;
use model::design::file::{Extent, json};
use reports::exported;

use super::input::Source;
use super::{Failure, output};
use crate::designs::exports::{self, Export};

/// What to write.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Format of the file
    format: Export,
    #[command(flatten)]
    source: Source,
    /// Write every knob, not only those that differ from the preset; JSON and TOML only
    #[arg(long)]
    full: bool,
    /// What starts the processes of a launch script; megatron and mindspeed only
    #[arg(long, value_name = "LAUNCHER")]
    launcher: Option<Start>,
    /// Print JSON: the file, what its own words come to beside the design, and what to check; for
    /// files that start a run
    #[arg(long)]
    json: bool,
}

/// What starts the processes.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Start {
    /// torchrun, by hand on each node
    Torchrun,
    /// A batch job of Slurm
    Slurm,
}

/// Prints the file, and beside it what it doesn't say and the numbers turn on.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design()?;
    let format = arguments.format;
    if arguments.full && !matches!(format, Export::Json | Export::Toml) {
        let line = "--full is for json and toml: other files hold every knob, or none, anyway";
        return Err(Failure::user(line));
    }
    if arguments.launcher.is_some() && !format.is_script() {
        let line = "--launcher is for megatron and mindspeed: other files start no processes";
        return Err(Failure::user(line));
    }
    let launcher = match arguments.launcher {
        None | Some(Start::Torchrun) => Launcher::Torchrun,
        Some(Start::Slurm) => Launcher::Slurm,
    };
    if let Some(made) = exports::started(format, launcher, &design) {
        let made = made.map_err(Failure::user)?;
        if arguments.json {
            return output::result(&json::print(&exported::report(&made)));
        }
        if let Some(reading) = made.reading.as_ref().filter(|reading| reading.differs()) {
            reading.sentences().iter().for_each(|line| output::message(line));
        }
        return output::bytes(made.text.as_bytes());
    }
    if arguments.json {
        let line = "--json is for files that start a run; metrics and json are JSON by themselves";
        return Err(Failure::user(line));
    }
    let extent = if arguments.full { Extent::Full } else { Extent::Changed };
    let bytes = exports::file(format, &design, extent).map_err(Failure::user)?;
    output::bytes(&bytes)
}
