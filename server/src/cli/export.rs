//! `moescape export`: a design as a file, a launch script, or its numbers as a table.

use model::file::Extent;

use super::input::Source;
use super::{Failure, output};
use crate::exports::{self, Export};

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
}

/// Prints the file.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design()?;
    if arguments.full && !matches!(arguments.format, Export::Json | Export::Toml) {
        let line = "--full is for json and toml: other files hold every knob, or none, anyway";
        return Err(Failure::user(line));
    }
    let extent = if arguments.full { Extent::Full } else { Extent::Changed };
    let bytes = exports::file(arguments.format, &design, extent).map_err(Failure::user)?;
    output::bytes(&bytes)
}
