//! The design that a command works on: a preset or a file, with knobs set on top.

use model::ground::text::shorten;
use operations::Names;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use model::catalogue::preset::Preset;
use model::design::file::{self, Tree, json};
use model::design::{Design, KnobId, link};
use model::ground::knob::KnobError;

use super::Failure;

/// Bytes of a design file, at most.
const MAX_FILE_LEN: u64 = interchange::MAX_BYTES as u64;

/// Bytes of a file of others that is imported, at most, where it is JSON.
const MAX_CONFIG_LEN: u64 = interchange::MAX_CONFIG_BYTES as u64;

/// Where the design comes from.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    /// Design file, JSON or TOML; `-` reads stdin
    #[arg(value_name = "FILE", conflicts_with = "preset")]
    file: Option<PathBuf>,
    /// Preset to start from; `moescape presets` lists them, and the default is
    /// `pangu-ultra-moe-6k@2`
    #[arg(long, value_name = "ID")]
    preset: Option<String>,
    /// Set a knob, as `section.name=value` or by a short name such as `tp=8`; the last one wins
    #[arg(long = "set", value_name = "KNOB=VALUE")]
    settings: Vec<String>,
}

/// A design that a command begins with.
#[derive(Debug)]
struct Start {
    /// The design; where it can't be read, another that settings are checked on all the same.
    design: Design,
    /// Errors in the input.
    errors: Vec<String>,
}

impl Source {
    /// The design, or everything that is wrong with it.
    pub(super) fn design(&self) -> Result<Design, Failure> {
        self.design_by(Names::Training)
    }

    /// The design, or everything that is wrong with it; `names` resolves short names of knobs.
    pub(super) fn design_by(&self, names: Names) -> Result<Design, Failure> {
        let start = match &self.file {
            Some(path) => Start::from_result(read(path)?),
            None => self.of_preset(),
        };
        let Start { mut design, mut errors } = start;
        errors.extend(self.set_all(&mut design, names));
        if errors.is_empty() { Ok(design) } else { Err(Failure::User(errors)) }
    }

    /// Sets what is to be set, and says what is wrong with it; `names` resolves short names.
    fn set_all(&self, design: &mut Design, names: Names) -> Vec<String> {
        let follows = |setting: &&String| {
            let name = setting.split_once('=').map_or("", |(name, _)| name.trim());
            names.find(name).is_ok_and(KnobId::follows)
        };
        let (last, first): (Vec<_>, Vec<_>) = self.settings.iter().partition(follows);
        let settings = first.into_iter().chain(last);
        let errors = settings.filter_map(|setting| set(design, setting, names).err());
        errors.map(|error| error.to_string()).collect()
    }

    fn of_preset(&self) -> Start {
        let id = self.preset.as_deref().unwrap_or(Preset::DEFAULT_ID);
        Start::from_result(Design::from_preset(id).map_err(|error| vec![error]))
    }
}

impl Start {
    fn from_result(design: Result<Design, Vec<KnobError>>) -> Self {
        let (design, errors) = match design {
            Ok(design) => (design, vec![]),
            Err(errors) => (default_design(), errors.iter().map(KnobError::to_string).collect()),
        };
        Self { design, errors }
    }
}

fn default_design() -> Design {
    link::salvage("").0
}

/// Applies `knob=value`.
fn set(design: &mut Design, setting: &str, names: Names) -> Result<(), KnobError> {
    let (knob, value) = setting.split_once('=').ok_or_else(|| KnobError {
        rule: "missing_value",
        knob: setting.to_owned(),
        detail: format!("--set takes KNOB=VALUE, not `{}`", shorten(setting)),
        nearest: vec![],
    })?;
    design.set_text(names.find(knob.trim())?, value)
}

/// Reads a design file; the outer error is about the file, the inner one about its content.
fn read(path: &Path) -> Result<Result<Design, Vec<KnobError>>, Failure> {
    Ok(parse(path, &read_text(path)?))
}

/// The design of a file's text.
fn parse(path: &Path, text: &str) -> Result<Design, Vec<KnobError>> {
    if is_toml(path, text) { read_toml(text) } else { json::read(text) }
}

/// The bytes of a file, or of stdin, up to a limit.
pub(super) fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let shown = if is_stdin(path) { "stdin".into() } else { path.display().to_string() };
    let failed = |error: io::Error| Failure::user(format!("can't read {shown}: {error}"));
    let mut bytes = Vec::new();
    if is_stdin(path) {
        io::stdin().lock().take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let file = File::open(path).map_err(failed)?;
        file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > most {
        let line = format!("{shown} has more than {most} bytes; a design has a few thousand");
        return Err(Failure::user(line));
    }
    Ok(bytes)
}

/// The text that bytes of a file are; only JSON may be longer than a design.
pub(super) fn read_text_of(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    let shown = if is_stdin(path) { "stdin".into() } else { path.display().to_string() };
    let plain = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let is_json = plain.trim_ascii_start().starts_with(b"{");
    let most = if is_json { MAX_CONFIG_LEN } else { MAX_FILE_LEN };
    if bytes.len() as u64 > most {
        let line = format!("{shown} has more than {most} bytes; a design has a few thousand");
        return Err(Failure::user(line));
    }
    String::from_utf8(bytes)
        .map_err(|error| Failure::user(format!("{shown} is not UTF-8 text: {error}")))
}

/// The text of a file, or of stdin.
pub(super) fn read_text(path: &Path) -> Result<String, Failure> {
    read_text_of(path, read_bytes(path, MAX_FILE_LEN)?)
}

/// The text of a file, or of stdin, that others may have written.
pub(super) fn read_import(path: &Path) -> Result<String, Failure> {
    read_text_of(path, read_bytes(path, MAX_CONFIG_LEN)?)
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether a file is TOML, by its extension; if that tells nothing, a text that begins with a brace
/// is JSON.
fn is_toml(path: &Path, text: &str) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => true,
        Some("json") => false,
        _ => !text.trim_start().starts_with(['{', '[']),
    }
}

fn read_toml(text: &str) -> Result<Design, Vec<KnobError>> {
    let tree: Tree = toml::from_str(text).map_err(|error| {
        vec![KnobError {
            rule: "not_toml",
            knob: String::new(),
            detail: format!("the file is no TOML: {}", error.to_string().trim_end()),
            nearest: vec![],
        }]
    })?;
    file::read(&tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_known_by_the_extension_or_the_first_character() {
        assert!(is_toml(Path::new("a.toml"), "{}"));
        assert!(!is_toml(Path::new("a.json"), "schema = 1"));
        assert!(is_toml(Path::new("-"), "schema = 1"));
        assert!(!is_toml(Path::new("-"), "\n {\"schema\":1}"));
    }

    #[test]
    fn toml_and_json_hold_the_same_designs() {
        let mut design = Design::from_preset("deepseek-v3").unwrap();
        design.set_text(KnobId::noop_layers, "62,63").unwrap();
        design.set_text(KnobId::recompute_modules, "none").unwrap();
        design.set_text(KnobId::hbm_usable_gib, "60").unwrap();
        for extent in [file::Extent::Changed, file::Extent::Full] {
            let text = toml::to_string(&file::write(&design, extent)).unwrap();
            assert_eq!(read_toml(&text), Ok(design.clone()), "{text}");
        }
    }

    #[test]
    fn toml_that_holds_no_design_is_refused() {
        for (text, rule) in [
            ("schema = ", "not_toml"),
            ("schema = 1\nschema = 1", "not_toml"),
            ("schema = 1\n[parallel]\nnoop_layers = 1979-05-27", "wrong_type"),
            ("schema = 1\n[memory]\nreserved_gib = nan", "out_of_range"),
            ("schema = 1\n[memory]\nreserved_gib = inf", "out_of_range"),
            ("schema = 1\n[transformer]\nnum_layers = -1", "out_of_range"),
        ] {
            let errors = read_toml(text).expect_err(text);
            assert_eq!(errors.iter().map(|e| e.rule).collect::<Vec<_>>(), [rule], "{text}");
        }
    }
}
