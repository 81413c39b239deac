//! The design that a call is about, as every door names one.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use interchange::{Format, Import, import};
use model::catalogue::preset::Preset;
use model::design::file::{self, Tree, json};
use model::design::{Design, KnobId, link};
use model::ground::knob::KnobError;
use model::ground::text::shorten;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments;
use crate::caller::Caller;
use crate::files;
use crate::names::Names;
use crate::refusal::{Refusal, Wrong};

/// Maximum number of settings of one design.
pub const MAX_SETTINGS: usize = 1_000;

/// A design: one of `preset`, `design` and `link`, and what is set on top of it.
#[derive(Clone, Debug, Default, clap::Args, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DesignInput {
    /// Path of a design file, at a terminal.
    #[arg(
        value_name = "FILE",
        conflicts_with = "preset",
        help = "Design file, JSON or TOML; `-` reads stdin"
    )]
    #[serde(skip)]
    file: Option<PathBuf>,
    /// The id of a preset to start from, such as `pangu-ultra-moe-6k@2` or `qwen3-30b-a3b`; see
    /// `moescape://presets`.
    #[arg(
        long,
        value_name = "ID",
        help = "Preset to start from; `moescape presets` lists them, and the default is \
                `pangu-ultra-moe-6k@2`"
    )]
    preset: Option<String>,
    /// Knobs to set on top, each `knob=value`, by id or short name: `["tp=8",
    /// "training.micro_batch_size=2"]`; the last one wins. See `moescape://knobs`.
    #[arg(
        long,
        value_name = "KNOB=VALUE",
        help = "Set a knob, as `section.name=value` or by a short name such as `tp=8`; the last \
                one wins"
    )]
    set: Vec<String>,
    /// A design file in place of a preset: `{"schema": 1, "preset": "...", "parallel": {...}}`.
    #[arg(skip)]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    design: Option<Tree>,
    /// The link of a design in place of a preset: `https://.../?v=1&preset=...`.
    #[arg(skip)]
    link: Option<String>,
    /// Design in one word, at a terminal: a preset's id, a design file or a link.
    #[arg(skip)]
    #[serde(skip)]
    word: Option<String>,
}

/// A design before anything is set on it.
pub(crate) struct Start {
    /// The design; where it can't be read, another on which settings are checked all the same.
    pub(crate) design: Design,
    /// All that is wrong with it.
    pub(crate) errors: Vec<Wrong>,
    /// Report of its import, if the file is in a foreign format.
    pub(crate) import: Option<Import>,
}

impl DesignInput {
    /// The input of a design file's tree.
    #[must_use]
    pub fn of_file(tree: Tree) -> Self {
        Self { design: Some(tree), ..Self::default() }
    }

    /// The input of a design's link.
    #[must_use]
    pub fn of_link(link: String) -> Self {
        Self { link: Some(link), ..Self::default() }
    }

    /// The input of a word: a preset's id, a design file or a link.
    #[must_use]
    pub fn of_word(word: &str) -> Self {
        Self { word: Some(word.to_owned()), ..Self::default() }
    }

    /// Whether it names no design and sets nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources() == 0 && self.set.is_empty()
    }

    /// The design and the knobs that are set; `names` resolves their short names.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(
        &self,
        names: Names,
        caller: &dyn Caller,
    ) -> Result<(Design, Vec<KnobId>), Refusal> {
        let Start { mut design, mut errors, .. } = self.start(caller)?;
        let (set, wrong) = self.set_on(&mut design, names);
        errors.extend(wrong);
        if errors.is_empty() { Ok((design, set)) } else { Err(Refusal::of(errors)) }
    }

    /// The design before anything is set on it.
    ///
    /// # Errors
    /// No design is named or several are, there are too many settings, or the file can't be read.
    fn start(&self, caller: &dyn Caller) -> Result<Start, Refusal> {
        if self.set.len() > MAX_SETTINGS {
            let count = self.set.len();
            let detail = format!("`set` takes at most {MAX_SETTINGS} settings, not {count}");
            return Err(Refusal::new("too_many_settings", "set", detail));
        }
        match self.sources() {
            1 => {}
            0 if caller.has_default_design() => {
                return Ok(Start::of(of_preset(Preset::DEFAULT_ID)));
            }
            0 => {
                let detail = "say which design: a `preset` (moescape://presets lists them), a \
                              `design` file or a `link`; ask for it rather than guess";
                return Err(Refusal::new("missing_design", "preset", detail));
            }
            _ => {
                let detail = "give one of `preset`, `design` and `link`, and the rest by `set`";
                return Err(Refusal::new("several_designs", "preset", detail));
            }
        }
        Ok(Start::of(if let Some(path) = &self.file {
            read_file(path, caller)?
        } else if let Some(id) = &self.preset {
            of_preset(id)
        } else if let Some(tree) = &self.design {
            file::read(tree)
        } else if let Some(word) = &self.word {
            named(word, caller)?
        } else {
            link::of_address(self.link.as_deref().unwrap_or_default())
        }))
    }

    /// The design before anything is set on it, of any file that can be imported.
    ///
    /// # Errors
    /// As of a design file.
    pub(crate) fn start_imported(&self, caller: &dyn Caller) -> Result<Start, Refusal> {
        let Some(path) = &self.file else { return self.start(caller) };
        let text = files::imported_text(path, caller)?;
        let format = Format::detect(&text);
        if format == Format::Design {
            return Ok(Start::of(parse(path, &text)));
        }
        let import = import(format, &text, None);
        let errors = import.errors.iter();
        let errors = errors.map(|fault| Wrong::new("unreadable_text", "", fault.to_string()));
        Ok(Start {
            design: import.design.clone().unwrap_or_else(stand_in),
            errors: errors.collect(),
            import: Some(import),
        })
    }

    /// Sets knobs, those that follow from others last; the knobs, and what is wrong with the
    /// settings.
    pub(crate) fn set_on(&self, design: &mut Design, names: Names) -> (Vec<KnobId>, Vec<Wrong>) {
        let follows = |setting: &&String| {
            let name = setting.split_once('=').map_or("", |(name, _)| name.trim());
            names.find(name).is_ok_and(KnobId::follows)
        };
        let (last, first): (Vec<_>, Vec<_>) = self.set.iter().partition(follows);
        let (mut set, mut errors) = (vec![], vec![]);
        for setting in first.into_iter().chain(last) {
            match put(design, setting, names) {
                Ok(knob) => set.push(knob),
                Err(error) => errors.push(error.into()),
            }
        }
        (set, errors)
    }

    /// The knobs that are set; `names` resolves their short names.
    pub(crate) fn knobs(&self, names: Names) -> impl Iterator<Item = KnobId> {
        let set = self.set.iter().filter_map(|setting| setting.split_once('='));
        set.filter_map(move |(name, _)| names.find(name.trim()).ok())
    }

    /// Number of designs that are named.
    fn sources(&self) -> usize {
        let given = [
            self.preset.is_some(),
            self.design.is_some(),
            self.link.is_some(),
            self.file.is_some(),
            self.word.is_some(),
        ];
        given.into_iter().filter(|is_given| *is_given).count()
    }
}

impl Start {
    fn of(design: Result<Design, Vec<KnobError>>) -> Self {
        let (design, errors) = match design {
            Ok(design) => (design, vec![]),
            Err(errors) => (stand_in(), errors.into_iter().map(Wrong::from).collect()),
        };
        Self { design, errors, import: None }
    }
}

/// Design on which settings are checked where their own can't be read.
fn stand_in() -> Design {
    link::salvage("").0
}

/// A second design beside the first: at a terminal a preset's id, a file or a link in one word.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Tree")]
#[schemars(with = "DesignInput")]
pub struct BaselineInput(DesignInput);

impl FromStr for BaselineInput {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(DesignInput::of_word(text)))
    }
}

impl TryFrom<Tree> for BaselineInput {
    type Error = String;

    fn try_from(tree: Tree) -> Result<Self, Self::Error> {
        if is_file(&tree) {
            return Ok(Self(DesignInput::of_file(tree)));
        }
        let input = arguments::read(tree);
        let line = |refusal: Refusal| refusal.errors.iter().map(Wrong::line).collect::<String>();
        input.map(Self).map_err(line)
    }
}

impl BaselineInput {
    /// The design.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(&self, caller: &dyn Caller) -> Result<Design, Refusal> {
        let read = self.0.read(Names::Training, caller);
        Ok(read.map_err(|refusal| refusal.within("baseline"))?.0)
    }
}

/// Whether a tree is a design file: arguments have no schema.
#[must_use]
pub fn is_file(tree: &Tree) -> bool {
    tree.get("schema").is_some()
}

fn of_preset(id: &str) -> Result<Design, Vec<KnobError>> {
    Design::from_preset(id).map_err(|error| vec![error])
}

/// The design of a file; the outer error is about the file, the inner one about its content.
pub(crate) fn read_file(
    path: &Path,
    caller: &dyn Caller,
) -> Result<Result<Design, Vec<KnobError>>, Refusal> {
    Ok(parse(path, &files::text(path, caller)?))
}

/// The design of a word: a link, a file that there is, or a preset.
fn named(word: &str, caller: &dyn Caller) -> Result<Result<Design, Vec<KnobError>>, Refusal> {
    if word.contains('=') {
        return Ok(link::of_address(word));
    }
    let path = Path::new(word);
    if caller.has_file(path) { read_file(path, caller) } else { Ok(of_preset(word)) }
}

/// The design of a file's text.
fn parse(path: &Path, text: &str) -> Result<Design, Vec<KnobError>> {
    let is_toml = files::is_toml(path, text, &['{', '[']);
    if is_toml { read_toml(text) } else { json::read(text) }
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

/// Applies `knob=value`.
fn put(design: &mut Design, setting: &str, names: Names) -> Result<KnobId, KnobError> {
    let (knob, value) = setting_of(setting, names)?;
    design.set_text(knob, value)?;
    Ok(knob)
}

/// Knob and value of `knob=value`.
pub(crate) fn setting_of(setting: &str, names: Names) -> Result<(KnobId, &str), KnobError> {
    let (name, value) = setting.split_once('=').ok_or_else(|| KnobError {
        rule: "missing_value",
        knob: setting.chars().take(80).collect(),
        detail: format!("a setting is knob=value, such as tp=8, not `{}`", shorten(setting)),
        nearest: vec![],
    })?;
    Ok((names.find(name.trim())?, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_known_by_the_extension_or_the_first_character() {
        let is_toml = |path: &str, text: &str| files::is_toml(Path::new(path), text, &['{', '[']);
        assert!(is_toml("a.toml", "{}"));
        assert!(!is_toml("a.json", "schema = 1"));
        assert!(is_toml("-", "schema = 1"));
        assert!(!is_toml("-", "\n {\"schema\":1}"));
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
