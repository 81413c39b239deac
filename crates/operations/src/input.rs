//! The design that a call is about, as every door names one.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use model::catalogue::preset::Preset;
use model::design::file::{self, Tree, json};
use model::design::{Design, KnobId, link};
use model::ground::knob::KnobError;
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

    /// The design and the knobs that are set; `names` resolves their short names.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(
        &self,
        names: Names,
        caller: &dyn Caller,
    ) -> Result<(Design, Vec<KnobId>), Refusal> {
        if self.set.len() > MAX_SETTINGS {
            let count = self.set.len();
            let detail = format!("`set` takes at most {MAX_SETTINGS} settings, not {count}");
            return Err(Refusal::new("too_many_settings", "set", detail));
        }
        // Settings are looked at on another design where this one can't be read.
        let (mut design, mut errors) = match self.start(caller)? {
            Ok(design) => (design, vec![]),
            Err(errors) => (link::salvage("").0, errors),
        };
        let mut set = vec![];
        let follows = |setting: &&String| {
            let name = setting.split_once('=').map_or("", |(name, _)| name.trim());
            names.find(name).is_ok_and(KnobId::follows)
        };
        let (last, first): (Vec<_>, Vec<_>) = self.set.iter().partition(follows);
        for setting in first.into_iter().chain(last) {
            match put(&mut design, setting, names) {
                Ok(knob) => set.push(knob),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok((design, set)) } else { Err(errors.into()) }
    }

    /// The design before anything is set on it; the outer error is that none is named.
    fn start(&self, caller: &dyn Caller) -> Result<Result<Design, Vec<KnobError>>, Refusal> {
        let given = [
            self.preset.is_some(),
            self.design.is_some(),
            self.link.is_some(),
            self.file.is_some(),
        ];
        match given.map(u8::from).iter().sum::<u8>() {
            1 => {}
            0 if caller.has_default_design() => return Ok(of_preset(Preset::DEFAULT_ID)),
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
        if let Some(path) = &self.file {
            return read_file(path, caller);
        }
        if let Some(id) = &self.preset {
            return Ok(of_preset(id));
        }
        if let Some(tree) = &self.design {
            return Ok(file::read(tree));
        }
        Ok(link::of_address(self.link.as_deref().unwrap_or_default()))
    }
}

/// A second design beside the first: at a terminal a preset's id, a file or a link in one word.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Tree")]
#[schemars(with = "DesignInput")]
pub struct BaselineInput(Baseline);

#[derive(Clone, Debug)]
enum Baseline {
    Word(String),
    Input(DesignInput),
}

impl FromStr for BaselineInput {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(Baseline::Word(text.to_owned())))
    }
}

impl TryFrom<Tree> for BaselineInput {
    type Error = String;

    fn try_from(tree: Tree) -> Result<Self, Self::Error> {
        let input = if is_file(&tree) {
            DesignInput::of_file(tree)
        } else {
            let input = arguments::read(tree);
            input.map_err(|refusal| refusal.errors.iter().map(Wrong::line).collect::<String>())?
        };
        Ok(Self(Baseline::Input(input)))
    }
}

impl BaselineInput {
    /// The design.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(&self, caller: &dyn Caller) -> Result<Design, Refusal> {
        let word = match &self.0 {
            Baseline::Input(input) => {
                let read = input.read(Names::Training, caller);
                return Ok(read.map_err(|refusal| refusal.within("baseline"))?.0);
            }
            Baseline::Word(word) => word,
        };
        let design = if word.contains('=') {
            link::of_address(word)
        } else if caller.has_file(Path::new(word)) {
            read_file(Path::new(word), caller)?
        } else {
            of_preset(word)
        };
        design.map_err(|errors| Refusal::from(errors).within("baseline"))
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
    let text = files::text(path, caller)?;
    let is_toml = files::is_toml(path, &text, &['{', '[']);
    Ok(if is_toml { read_toml(&text) } else { json::read(&text) })
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
        detail: "a setting is knob=value, such as tp=8".to_owned(),
        nearest: vec![],
    })?;
    Ok((names.find(name.trim())?, value))
}
