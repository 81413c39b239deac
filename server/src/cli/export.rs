//! `moescape export`: a design as a file, JSON or TOML.

use model::file::{self, Extent, json};

use super::input::Source;
use super::{Failure, output};

/// What to write.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Format of the file
    format: Format,
    #[command(flatten)]
    source: Source,
    /// Write every knob, not only those that differ from the preset
    #[arg(long)]
    full: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// JSON
    Json,
    /// TOML
    Toml,
}

/// Prints the file.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design()?;
    let extent = if arguments.full { Extent::Full } else { Extent::Changed };
    let text = match arguments.format {
        Format::Json => json::write(&design, extent),
        Format::Toml => toml::to_string(&file::write(&design, extent))
            .map_err(|error| Failure::Internal(format!("can't write TOML: {error}")))?,
    };
    output::result(&text)
}
