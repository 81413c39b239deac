//! `moescape knobs`: what a design is made of.

use model::design::KnobId;
use model::design::file::json;
use model::ground::knob::{Kind, MAX_ARGUMENTS, MAX_NAME, Section};

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

/// Prints every knob with what it takes and means.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.json {
        return output::result(&json::print(&registry::knobs()));
    }
    let sections = Section::ALL.map(|section| {
        let knobs: Vec<String> = KnobId::in_section(section).map(describe).collect();
        format!("{}\n{}", section.name(), knobs.concat())
    });
    output::result(&sections.join("\n"))
}

fn describe(id: KnobId) -> String {
    let knob = id.knob();
    let space = if knob.unit.is_empty() { "" } else { " " };
    let mut text = format!("  {}  {}{space}{}\n", id.id(), takes(knob.kind), knob.unit);
    text.push_str(&format!("      {}. Source: {}\n", id.words().meaning, id.words().source.title));
    if !knob.aliases.is_empty() {
        text.push_str(&format!("      Also: {}\n", knob.aliases.join(", ")));
    }
    if let Some(reason) = knob.not_offered {
        text.push_str(&format!("      Not offered yet: {reason}\n"));
    }
    text
}

/// The values that a knob takes, in words.
fn takes(kind: Kind) -> String {
    match kind {
        Kind::Integer(low, high) => format!("{low} to {high}"),
        Kind::OptionalInteger(low, high) => format!("{low} to {high}, or none"),
        Kind::Real(low, high) => format!("{low} to {high}, real"),
        Kind::OptionalReal(low, high) => format!("{low} to {high}, real, or none"),
        Kind::Flag => "true or false".into(),
        Kind::Choice(names) => names.join(" | "),
        Kind::Subset(names) => format!("some of {}, or none", names.join(",")),
        Kind::LayerFreq => "a number or a pattern such as ([0]*3+[1]*58)".into(),
        Kind::PerStage(high) => format!("0 to {high}, or one for each stage, or none"),
        Kind::PositionList(high) => format!("positions from 0 to {high}, or none"),
        Kind::LayerPattern(text) => format!("a pattern such as {}, or none", text.example()),
        Kind::Layout => "a layout such as Et*3|(tt|)*29mL, or none".into(),
        Kind::Hash => "the hash of a stored trace, or none".into(),
        Kind::Name => format!("a name of up to {MAX_NAME} characters, or none"),
        Kind::Arguments => {
            format!("arguments such as `rotary-base 10000`, up to {MAX_ARGUMENTS} bytes, or none")
        }
    }
}
