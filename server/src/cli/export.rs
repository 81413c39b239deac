//! `moescape export`: a design as a file, JSON or TOML, or as a launch script.

use interchange::{Format as Launcher, Provenance};
use model::MODEL_VERSION;
use model::design::Design;
use model::file::{self, Extent, json};
use model::link;

use super::input::Source;
use super::{Failure, output};
use crate::calendar;

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
    /// JSON
    Json,
    /// TOML
    Toml,
    /// A launch script for Megatron-LM
    Megatron,
    /// A launch script for MindSpeed-LLM
    Mindspeed,
}

/// Prints the file.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design()?;
    let extent = if arguments.full { Extent::Full } else { Extent::Changed };
    let text = match arguments.format {
        Format::Json => json::write(&design, extent),
        Format::Toml => toml(&design, extent)?,
        Format::Megatron => script(Launcher::Megatron, &design, arguments.full)?,
        Format::Mindspeed => script(Launcher::Mindspeed, &design, arguments.full)?,
    };
    output::result(&text)
}

/// The TOML file of a design, with where it comes from.
pub(super) fn toml(design: &Design, extent: Extent) -> Result<String, Failure> {
    let text = toml::to_string(&file::write(design, extent))
        .map_err(|error| Failure::Internal(format!("can't write TOML: {error}")))?;
    let link = link::encode(design);
    let date = calendar::today();
    Ok(format!("# design: /?{link}\n# model version: {MODEL_VERSION}\n# date: {date}\n{text}"))
}

fn script(launcher: Launcher, design: &Design, full: bool) -> Result<String, Failure> {
    if full {
        return Err(Failure::user("--full is for JSON and TOML: a script holds every knob anyway"));
    }
    let provenance = Provenance { date: &calendar::today() };
    interchange::export(launcher, design, &provenance)
        .ok_or_else(|| Failure::Internal("no script is written for this launcher".to_owned()))
}
