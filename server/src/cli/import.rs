//! `moescape import`: a design of what others write.

use std::path::PathBuf;

use interchange::{Assumed, Format, Import, Unknown, import};
use model::design::Design;
use model::file::{Extent, json};
use model::knob::KnobError;

use super::{Failure, input, output};
use crate::{exports, imported};

/// What to read and how to write it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Who wrote the file
    format: Written,
    /// A config.json, launch script or YAML file; `-` reads stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Take from this preset what the file doesn't speak of: for a config.json all but the shape of
    /// the model, for a launch script the cluster
    #[arg(long, value_name = "ID")]
    preset: Option<String>,
    /// Print JSON: the design and every list
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Written {
    /// Hugging Face's config.json
    Hf,
    /// Megatron-LM's arguments
    Megatron,
    /// MindSpeed-LLM's arguments
    Mindspeed,
    /// Our own design file, JSON or TOML
    Design,
    /// Detected automatically
    Auto,
}

/// Prints the design as TOML, and beside it what was assumed, ignored and not known.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = input::read_text(&arguments.file)?;
    let format = match arguments.format {
        Written::Hf => Format::HuggingFace,
        Written::Megatron => Format::Megatron,
        Written::Mindspeed => Format::Mindspeed,
        Written::Design => Format::Design,
        Written::Auto => Format::detect(&text),
    };
    let wrong = |error: KnobError| Failure::user(error.to_string());
    let base = arguments.preset.as_deref().map(Design::from_preset).transpose().map_err(wrong)?;
    let import = import(format, &text, base.as_ref());
    if arguments.json {
        output::result(&json::print(&imported::report(&import)))?;
    }
    let Some(design) = &import.design else {
        return Err(Failure::User(import.errors.iter().map(ToString::to_string).collect()));
    };
    if !arguments.json {
        remarks(&import).iter().for_each(|line| output::message(line));
        let toml = exports::toml(design, Extent::Changed, &exports::provenance(design));
        output::result(&toml.map_err(Failure::Internal)?)?;
    }
    Ok(())
}

/// What there is to say beside the design, in lines; what is ignored for one reason in one.
fn remarks(import: &Import) -> Vec<String> {
    let mut lines: Vec<String> = import.unknown.iter().map(unknown).collect();
    lines.extend(import.assumed.iter().map(assumed));
    let mut reasons: Vec<&str> = vec![];
    for ignored in &import.ignored {
        if !reasons.contains(&ignored.reason.as_str()) {
            reasons.push(&ignored.reason);
        }
    }
    for reason in reasons {
        let same = import.ignored.iter().filter(|ignored| ignored.reason == reason);
        let keys: Vec<&str> = same.map(|ignored| ignored.key.as_str()).collect();
        lines.push(format!("ignored: {} ({reason})", keys.join(", ")));
    }
    let violations = import.violations.iter().map(output::broken_rule);
    lines.extend(violations.map(|line| format!("breaks a rule: {line}")));
    lines
}

/// A key that isn't known, in a line.
pub(super) fn unknown(unknown: &Unknown) -> String {
    let nearest = unknown.nearest.as_ref();
    let nearest = nearest.map(|name| format!(" (nearest: {name})")).unwrap_or_default();
    format!("unknown: {}{}{nearest}", place(unknown.line), unknown.key)
}

/// What the file doesn't say, in a line.
pub(super) fn assumed(assumed: &Assumed) -> String {
    format!("assumed: {}", assumed.detail)
}

fn place(line: u64) -> String {
    if line == 0 { String::new() } else { format!("line {line}: ") }
}
