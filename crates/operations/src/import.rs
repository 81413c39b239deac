//! `import`: a design of what others write.

mod answer;
mod given;
mod text;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use interchange::{
    Answers, Bundle, Fault, Format, MAX_BYTES, MAX_CONFIG_BYTES, import_with, is_archive, unpacked,
};
use model::design::file::Extent;
use model::design::{Design, link};
use present::words::provenance::Provenance;
use reports::report::BrokenRule;
use reports::typed::Written;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use answer::Imported;
use answer::{Assumed, Ignored, Question, Set, UnknownKey, imported};

use crate::caller::Caller;
use crate::files;
use crate::numbers::{Data, broken_lines, map, titled};
use crate::operation::Operation;
use crate::refusal::{Refusal, Wrong};

/// The verb.
pub struct Import;

/// Arguments of the verb.
#[derive(Debug, Default, clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "ImportInput")]
pub struct Input {
    /// Who wrote it; auto unless said.
    #[arg(required = true, help = "Who wrote the file")]
    pub format: Option<Dialect>,
    /// Paths, at a terminal.
    #[arg(
        value_name = "FILE",
        required = true,
        help = "A config.json, launch script, recipe, YAML or TOML file, a folder, or an archive \
                (zip, tar, tar.gz) of such; several are read together; `-` reads stdin"
    )]
    #[serde(skip)]
    files: Vec<PathBuf>,
    /// The text of a config.json, launch script, recipe, YAML or TOML file; of several files one
    /// behind another, each below a line `==> path <==`.
    #[arg(skip)]
    pub text: String,
    /// Archive in place of the text, where a door takes bytes.
    #[arg(skip)]
    #[serde(skip)]
    pub archive: Option<Vec<u8>>,
    /// Of several files the one that starts the run.
    #[arg(
        long,
        value_name = "PATH",
        help = "Of several files, the one that starts the run; found by itself where it isn't said"
    )]
    pub entry: Option<String>,
    /// Answers to questions by their own names: `model=qwen3-8b`, `env NNODES=4`, `arg 2=64`,
    /// `num_devices=64`.
    #[arg(
        long,
        value_name = "QUESTION=VALUE",
        help = "Answer a question by its own name: `model=qwen3-8b`, `env NNODES=4`, `arg 2=64`, \
                `num_devices=64`"
    )]
    #[serde(default)]
    pub answer: Vec<String>,
    /// Knobs to set in any case: `knob=value`.
    #[arg(
        long,
        value_name = "KNOB=VALUE",
        help = "Answer a question for a knob, or set it in any case; the last one wins"
    )]
    #[serde(default)]
    pub set: Vec<String>,
    /// Variables of the environment that a script is run in: `NAME=VALUE`.
    #[arg(
        long,
        value_name = "NAME=VALUE",
        help = "Set a variable of the environment that the script is run in"
    )]
    #[serde(default)]
    pub env: Vec<String>,
    /// The script's own arguments.
    #[arg(
        long,
        value_name = "ARGS",
        allow_hyphen_values = true,
        help = "The script's own arguments, in one word: `--args \"1 8 4096\"`"
    )]
    pub args: Option<Words>,
    /// The model, where its name in the text says nothing.
    #[arg(
        long,
        value_name = "NAME",
        help = "The model, where its name in the file says nothing: a preset or a name such as \
                qwen2.5-72b"
    )]
    pub model: Option<String>,
    /// A preset that gives what the text doesn't speak of.
    #[arg(
        long,
        value_name = "ID",
        help = "Take from this preset what the file doesn't speak of: for a config.json all but \
                the shape of the model, for a launch script the cluster"
    )]
    pub preset: Option<String>,
}

/// Whoever wrote a text.
#[derive(Clone, Copy, Debug, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Hugging Face's config.json
    Hf,
    /// Megatron-LM's arguments, and what the frameworks around it call them
    Megatron,
    /// MindSpeed-LLM's arguments
    Mindspeed,
    /// An inference engine's launch command, or MindIE's config.json
    Serving,
    /// Our own design file, JSON or TOML
    Design,
    /// Detected automatically
    Auto,
}

impl Dialect {
    /// Every dialect by its name.
    pub const ALL: [(&str, Self); 6] = [
        ("auto", Self::Auto),
        ("hf", Self::Hf),
        ("megatron", Self::Megatron),
        ("mindspeed", Self::Mindspeed),
        ("serving", Self::Serving),
        ("design", Self::Design),
    ];

    /// The format; `None` where the text tells.
    const fn format(self) -> Option<Format> {
        match self {
            Self::Hf => Some(Format::HuggingFace),
            Self::Megatron => Some(Format::Megatron),
            Self::Mindspeed => Some(Format::Mindspeed),
            Self::Serving => Some(Format::Serving),
            Self::Design => Some(Format::Design),
            Self::Auto => None,
        }
    }
}

/// Words, which a terminal takes in one text.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Words(pub Vec<String>);

impl FromStr for Words {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.split_whitespace().map(str::to_owned).collect()))
    }
}

/// Import of a text.
pub struct Answer {
    import: interchange::Import,
    /// The design as a TOML file; empty where there is none.
    file: String,
}

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
    format: String,
    /// The design file: give it to other tools as `design`, or the link as `link`.
    design: Map<String, Value>,
    link: Option<String>,
    set: Data<Vec<Set>>,
    assumed: Data<Vec<Assumed>>,
    ignored: Data<Vec<Ignored>>,
    unknown: Data<Vec<UnknownKey>>,
    /// Answer them by `set`, `env`, `args` or `model`.
    questions: Data<Vec<Question>>,
    violations: Data<Vec<BrokenRule>>,
    model_version: String,
}

impl Operation for Import {
    const NAME: &'static str = "import";
    const SUMMARY: &'static str =
        "Make a design of a config.json, a launch script or an argument file";
    const TITLE: &'static str = "Import a configuration";
    const DESCRIPTION: &'static str = "Makes a design of a Hugging Face config.json, a launch \
        script of Megatron-LM or MindSpeed-LLM, a recipe of sixteen frameworks, or an engine's \
        launch command. Lists what was assumed, ignored and not known, and asks for what the text \
        leaves open: put these questions to the person.";
    const HAS_ROUTE: bool = false;
    type Input = Input;
    type Answer = Answer;
    type Output = Imported;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let answers = input.answers()?;
        let base = input.preset.as_deref().map(Design::from_preset).transpose()?;
        let (format, base) = (input.format.and_then(Dialect::format), base.as_ref());
        let import = match input.source(caller)? {
            Source::Files(files) => files.import(format, input.entry.as_deref(), base, &answers),
            Source::Text(text) => {
                let format = format.unwrap_or_else(|| Format::detect(&text));
                import_with(format, &text, base, &answers)
            }
        };
        if !caller.waits() {
            return Err(caller.ended("send less of it"));
        }
        let file = import.design.as_ref().map(|design| {
            let from = Provenance::of_link(&link::encode(design), caller.today());
            files::toml(design, Extent::Changed, &from)
        });
        Ok(Answer { import, file: file.transpose()?.unwrap_or_default() })
    }

    fn output(answer: &Answer) -> Written<Imported> {
        Written::of(imported(&answer.import))
    }

    fn text(answer: &Answer) -> String {
        answer.file.clone()
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let report = imported(&answer.import);
        let brief = Brief {
            format: report.format.to_owned(),
            design: report.design.map(map).unwrap_or_default(),
            link: report.link.map(|link| caller.design(&link)),
            set: Data(report.set),
            assumed: Data(report.assumed),
            ignored: Data(report.ignored),
            unknown: Data(report.unknown),
            questions: Data(report.questions),
            violations: Data(report.violations),
            model_version: report.model_version.to_owned(),
        };
        let text = brief.text();
        (brief, text)
    }

    fn failure(answer: &Answer) -> Option<Refusal> {
        let wrong = |fault: &Fault| Wrong::new("unreadable_text", "text", fault.to_string());
        answer.faults().map(|faults| Refusal::of(faults.iter().map(wrong)))
    }

    fn remarks(answer: &Answer) -> Vec<String> {
        text::remarks(&answer.import)
    }
}

impl Answer {
    /// Reasons why there is no design; `None` where there is one.
    #[must_use]
    pub fn faults(&self) -> Option<&[Fault]> {
        self.import.design.is_none().then_some(self.import.errors.as_slice())
    }
}

/// Source of a design: one text, or files.
enum Source {
    Text(String),
    Files(Bundle),
}

impl Source {
    /// The source in the bytes of a file.
    fn of_file(path: &Path, bytes: Vec<u8>) -> Result<Self, Refusal> {
        if is_archive(&bytes) {
            Self::of_archive(&bytes)
        } else {
            Self::of_text(files::text_of(path, bytes)?)
        }
    }

    fn of_archive(bytes: &[u8]) -> Result<Self, Refusal> {
        unpacked(bytes).map(Self::Files).map_err(unreadable)
    }

    /// The source in a text, which may be several files one behind another.
    fn of_text(text: String) -> Result<Self, Refusal> {
        let files = Bundle::of_text(&text).transpose().map_err(unreadable)?;
        Ok(files.map_or(Self::Text(text), Self::Files))
    }
}

fn unreadable(detail: String) -> Refusal {
    Refusal::new("unreadable_text", "text", detail)
}

impl Input {
    /// The source of the design.
    fn source(&self, caller: &dyn Caller) -> Result<Source, Refusal> {
        if let Some(bytes) = &self.archive {
            return Source::of_archive(bytes);
        }
        if self.files.is_empty() {
            self.check_length()?;
            return Source::of_text(self.text.clone());
        }
        let mut texts = vec![];
        for path in &self.files {
            match caller.folder(path)? {
                Some(folder) => texts.extend(folder),
                None if self.files.len() == 1 => {
                    let max_bytes = interchange::MAX_ARCHIVE as u64;
                    return Source::of_file(path, files::bytes(path, max_bytes, caller)?);
                }
                None => {
                    let text = files::imported_text(path, caller)?;
                    texts.push((path.display().to_string(), text));
                }
            }
        }
        // Paths of single files may lead anywhere: the person names them.
        texts.iter_mut().for_each(|(path, _)| {
            *path = path.trim_start_matches(['/', '.']).replace("../", "");
        });
        Bundle::new(texts).map(Source::Files).map_err(unreadable)
    }

    /// Refuses a text that is longer than is read.
    fn check_length(&self) -> Result<(), Refusal> {
        let (bytes, max_bytes) = (self.text.len(), max_bytes(&self.text));
        if bytes <= max_bytes {
            return Ok(());
        }
        let detail = format!("the text has {bytes} bytes; at most {max_bytes} are read");
        Err(Refusal::new("too_long", "text", detail))
    }

    /// Answers to what a text leaves open.
    fn answers(&self) -> Result<Answers, Refusal> {
        let mut answers = Answers::default();
        let model = self.model.as_deref().map(str::trim).filter(|model| !model.is_empty());
        answers.model = model.map(str::to_owned);
        let mut refused: Vec<Refusal> = vec![];
        refused.extend(self.answer.iter().filter_map(|it| given::answer(&mut answers, it).err()));
        refused.extend(self.set.iter().filter_map(|it| given::set(&mut answers, it).err()));
        refused.extend(self.env.iter().filter_map(|it| given::env(&mut answers, it).err()));
        answers.arguments = self.args.clone().unwrap_or_default().0;
        let refusal = Refusal::of(refused.into_iter().flat_map(|refusal| refusal.errors));
        if refusal.is_empty() { Ok(answers) } else { Err(refusal) }
    }
}

/// Maximum number of bytes of a text: only JSON may be longer than a script.
#[must_use]
pub fn max_bytes(text: &str) -> usize {
    let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    if is_json { MAX_CONFIG_BYTES } else { MAX_BYTES }
}

impl Brief {
    fn text(&self) -> String {
        let asked = self.questions.0.iter().map(|it| {
            let guess = it.guess.as_ref().map_or_else(String::new, |it| format!(" (taken: {it})"));
            format!("{}: {}{guess}; {}", it.name, it.purpose, it.follows)
        });
        let unknown = self.unknown.0.iter().map(|it| it.key.clone());
        let assumed = self.assumed.0.iter().map(|it| it.detail.clone());
        format!(
            "Read as {}: {} knobs set\n{}{}{}{}{}\n",
            self.format,
            self.set.0.len(),
            broken_lines(&self.violations.0),
            titled("Asks", &asked.collect::<Vec<_>>()),
            titled("Not known", &unknown.collect::<Vec<_>>()),
            titled("Assumed", &assumed.collect::<Vec<_>>()),
            self.link.as_deref().unwrap_or_default()
        )
    }
}
