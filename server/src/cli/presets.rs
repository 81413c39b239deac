//! `moescape presets`: what can be opened.

use model::catalogue::preset::Preset;
use model::design::file::json;

use super::Failure;
use super::output;
use crate::registry;

/// How to list.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints every preset.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.json {
        return output::result(&json::print(&registry::presets()));
    }
    let (open, refused): (Vec<_>, Vec<_>) =
        Preset::all().chain(Preset::served()).partition(|preset| preset.refused.is_none());
    let row = |preset: &Preset| {
        let story = preset.refused.unwrap_or(preset.story);
        let kind = registry::kind_name(preset.kind);
        vec![preset.id.into(), kind.into(), format!("{}: {story}", preset.title)]
    };
    let table = |presets: &[&Preset]| {
        operations::table("lll", &presets.iter().map(|preset| row(preset)).collect::<Vec<_>>())
    };
    let mut text = format!("Presets\n{}", table(&open));
    if !refused.is_empty() {
        text.push_str(&format!("\nKnown, but no knobs express them\n{}", table(&refused)));
    }
    output::result(&text)
}
