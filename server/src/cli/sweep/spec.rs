//! The spec of a sweep: a file, or one that comes with the program.

use std::path::Path;

use model::ground::knob::KnobError;
use sweep::{Space, Spec};

use super::text::read_text;
use crate::cli::Failure;

/// Bytes of a spec, at most.
const MAX_SPEC_BYTES: u64 = 1 << 20;

/// Reads a spec and numbers its designs.
pub(in crate::cli) fn read(name: &str) -> Result<Space, Failure> {
    let known = sweep::published().iter().find(|spec| spec.name == name);
    let spec = match known {
        Some(spec) => Spec::from_toml(spec.text),
        None if !Path::new(name).exists() && name != "-" => return Err(missing(name)),
        None => {
            let text = read_text(name, MAX_SPEC_BYTES)?;
            if is_toml(name, &text) { Spec::from_toml(&text) } else { Spec::from_json(&text) }
        }
    };
    let space = spec.and_then(|spec| Space::new(spec).map_err(|error| vec![error]));
    space.map_err(|errors| Failure::User(errors.iter().map(line).collect()))
}

fn missing(name: &str) -> Failure {
    let shown: String = name.chars().take(200).collect();
    let names: Vec<&str> = sweep::published().iter().map(|spec| spec.name).collect();
    Failure::user(format!("there is no file {shown}; specs by name: {}", names.join(", ")))
}

/// Whether a file is TOML, by its extension; if that tells nothing, a text that begins with a brace
/// is JSON.
fn is_toml(name: &str, text: &str) -> bool {
    match Path::new(name).extension().and_then(|extension| extension.to_str()) {
        Some("toml") => true,
        Some("json") => false,
        _ => !text.trim_start().starts_with('{'),
    }
}

/// An error with the place that it is about.
fn line(error: &KnobError) -> String {
    if error.knob.is_empty() || error.detail.contains(&error.knob) {
        error.to_string()
    } else {
        format!("{}: {error}", error.knob)
    }
}
