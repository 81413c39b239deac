//! `moescape export`: a design as a file, a launch script, or its numbers as a table.

use model::file::Extent;

use super::input::Source;
use super::{Failure, output};
use crate::exports::{self, Export};

/// What to write.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Format of the file
    format: Format,
    #[command(flatten)]
    source: Source,
    /// Write every knob, not only those that differ from the preset; JSON and TOML only
    #[arg(long)]
    full: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// The design file, JSON
    Json,
    /// The design file, TOML
    Toml,
    /// A launch script for Megatron-LM
    Megatron,
    /// A launch script for MindSpeed-LLM
    Mindspeed,
    /// Headline metrics, stages and axes as a table, CSV
    Csv,
    /// All numbers, JSON
    Metrics,
    /// The table of csv, Parquet
    Parquet,
    /// The pipeline's timeline, a Chrome trace
    Trace,
}

impl Format {
    const fn export(self) -> Export {
        match self {
            Self::Json => Export::Json,
            Self::Toml => Export::Toml,
            Self::Megatron => Export::Megatron,
            Self::Mindspeed => Export::Mindspeed,
            Self::Csv => Export::Csv,
            Self::Metrics => Export::Metrics,
            Self::Parquet => Export::Parquet,
            Self::Trace => Export::Trace,
        }
    }
}

/// Prints the file.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design()?;
    if arguments.full && !matches!(arguments.format, Format::Json | Format::Toml) {
        let line = "--full is for json and toml: other files hold every knob, or none, anyway";
        return Err(Failure::user(line));
    }
    let extent = if arguments.full { Extent::Full } else { Extent::Changed };
    let bytes = exports::file(arguments.format.export(), &design, extent).map_err(Failure::user)?;
    output::bytes(&bytes)
}
