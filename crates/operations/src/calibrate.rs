//! `calibrate`: what one's own runs say of the state of one's software, as knobs.

mod text;

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use model::design::Design;
use present::words::provenance::Provenance;
use reports::typed::Written;
use schemars::JsonSchema;
use serde::Deserialize;
use validation::own::read::{self, Content};
use validation::own::{Calibration, CalibrationInput};

pub use text::{agreement, measured, verdict};

use crate::caller::Caller;
use crate::input;
use crate::names::Names;
use crate::numbers::{Data, tree};
use crate::operation::Operation;
use crate::provenance::WithProvenance;
use crate::refusal::{Kind, Refusal, Wrong};

/// Maximum number of files of a call.
pub const MAX_FILES: usize = 200;

/// Maximum number of bytes of a file that is sent, once it is unpacked.
const MAX_SENT_BYTES: u64 = 256 << 20;

/// Maximum number of settings.
const MAX_SETTINGS: usize = 200;

/// The verb.
pub struct Calibrate;

/// Arguments of the verb.
#[derive(Debug, Default, clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "CalibrateInput")]
pub struct Input {
    /// Files of runs: each a CSV table with the columns that `runs` of `validate` takes, a log of
    /// Megatron-LM or MindSpeed-LLM, or operator times of a profile (a Chrome trace of the PyTorch
    /// profiler, or a table of Ascend's). The step's lines of a log do.
    #[arg(
        value_name = "FILE",
        required = true,
        value_parser = PathBufValueParser::new().map(RunFile::Path),
        help = "Runs: a CSV file with the columns of `validate --runs`, a log of Megatron-LM or \
                MindSpeed-LLM, or operator times of a profile (a Chrome trace of the PyTorch \
                profiler, kernel_details.csv, op_summary_*.csv or op_statistic.csv of Ascend's); \
                packed by gzip or not"
    )]
    pub files: Vec<RunFile>,
    /// A preset with what a log or a profile leaves open: its cluster, and the whole design where
    /// it has none.
    #[arg(
        long,
        value_name = "ID|FILE",
        help = "Preset or design file with what a log or a profile leaves open: its cluster, and \
                the whole design where it has none"
    )]
    pub preset: Option<String>,
    /// Knobs to set in every run, each `knob=value`; logs need `cluster.accelerator` where no
    /// preset gives it.
    #[arg(
        long,
        value_name = "KNOB=VALUE",
        help = "Set a knob in every run, as `section.name=value` or by a short name; logs need \
                `cluster.accelerator` where no preset gives it"
    )]
    #[serde(default)]
    pub set: Vec<String>,
    /// Name of the profile, which travels with its knobs; up to 100 characters.
    #[arg(
        long,
        value_name = "NAME",
        help = "Name of the profile, which travels with its knobs; up to 100 characters"
    )]
    pub name: Option<String>,
}

/// A file of runs: at a terminal its path, elsewhere what is in it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(from = "NamedText")]
#[schemars(with = "NamedText")]
pub enum RunFile {
    /// Path of a file.
    Path(PathBuf),
    /// Name and bytes of a file that was sent.
    Sent(String, Vec<u8>),
}

/// A file's name with its text.
#[derive(Deserialize, JsonSchema)]
struct NamedText {
    /// Its name, by which the answer names the run.
    name: String,
    text: String,
}

impl From<NamedText> for RunFile {
    fn from(NamedText { name, text }: NamedText) -> Self {
        Self::Sent(name, text.into_bytes())
    }
}

/// Profile of one's software.
pub struct Answer {
    /// The profile with what it rests on.
    pub found: Calibration,
    today: String,
}

impl Operation for Calibrate {
    const NAME: &'static str = "calibrate";
    const SUMMARY: &'static str =
        "Fit the state of your software to runs of your own: a profile of a few knobs";
    const TITLE: &'static str = "Calibrate on runs of your own";
    const DESCRIPTION: &'static str = "Fits the state of the software to logs, tables or profiles \
        of your own runs: a few knobs to `set` in any design on these machines, the range of each, \
        and how well the runs are predicted before and with them. Says what the runs don't tell.";
    const IS_SEARCH: bool = true;
    const HAS_ROUTE: bool = false;
    type Input = Input;
    type Answer = Answer;
    type Output = WithProvenance<Calibration>;
    type Brief = Data<WithProvenance<Calibration>>;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        if input.files.len() > MAX_FILES {
            let detail = format!("at most {MAX_FILES} files are read");
            return Err(Refusal::new("too_many_files", "files", detail));
        }
        let asked = input.asked(caller)?;
        if input.files.is_empty() {
            let detail = "there is no file: choose tables of runs or logs, or paste one";
            return Err(Refusal::new("missing_files", "files", detail));
        }
        let (mut files, mut errors) = (vec![], vec![]);
        for file in &input.files {
            match file.read(caller) {
                Ok(content) => files.push((file.name(), content)),
                Err(lines) => errors.extend(lines),
            }
        }
        if !errors.is_empty() {
            return Err(unusable(errors));
        }
        let found = validation::own::calibrate(files, &asked).map_err(unusable)?;
        Ok(Answer { found, today: caller.today() })
    }

    fn output(answer: &Answer) -> Written<Self::Output> {
        Written::stored(tree(&answer.dated()))
    }

    fn text(answer: &Answer) -> String {
        text::text(&answer.found)
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Self::Brief, String) {
        let mut dated = answer.dated();
        dated.report.link = caller.link(&dated.report.link);
        let text = format!("{}{}\n", text::text(&answer.found), dated.report.link);
        (Data(dated), text)
    }
}

impl Answer {
    /// The profile with where it comes from.
    fn dated(&self) -> WithProvenance<Calibration> {
        let from = Provenance { design: self.found.link.clone(), date: self.today.clone() };
        WithProvenance::new(self.found.clone(), &from)
    }
}

impl Input {
    /// Terms of the calibration beside its files.
    fn asked(&self, caller: &dyn Caller) -> Result<CalibrationInput, Refusal> {
        let base = match self.preset.as_deref() {
            None => None,
            Some(id) if caller.has_file(Path::new(id)) => {
                Some(input::read_file(Path::new(id), caller)??)
            }
            Some(id) => Some(Design::from_preset(id)?),
        };
        if self.set.len() > MAX_SETTINGS {
            let detail = format!("at most {MAX_SETTINGS} knobs are set");
            return Err(Refusal::new("too_many_settings", "set", detail));
        }
        let mut settings = vec![];
        for setting in &self.set {
            let (knob, value) = input::setting_of(setting, Names::Training)?;
            settings.push((knob, value.trim().to_owned()));
        }
        Ok(CalibrationInput { base, settings, name: self.name.clone() })
    }
}

impl RunFile {
    /// Name of the file, without its folders.
    fn name(&self) -> String {
        match self {
            Self::Path(path) => {
                path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into())
            }
            Self::Sent(name, _) => name.clone(),
        }
    }

    /// Content of the file; lines of what is wrong with it.
    fn read(&self, caller: &dyn Caller) -> Result<Content, Vec<String>> {
        let (shown, content) = match self {
            Self::Path(path) => {
                let said = |refusal: Refusal| refusal.errors.iter().map(Wrong::line).collect();
                let file = caller.open(path).map_err(|refusal| -> Vec<String> { said(refusal) })?;
                (path.display().to_string(), read::read(file))
            }
            Self::Sent(name, bytes) => {
                (name.clone(), read::read_within(bytes.as_slice(), MAX_SENT_BYTES))
            }
        };
        content.map_err(|lines| lines.iter().map(|line| format!("{shown}: {line}")).collect())
    }
}

/// Refusal of files that make no profile.
fn unusable(lines: Vec<String>) -> Refusal {
    let wrong = |line| Wrong::new("unusable_files", "files", line);
    Refusal::of(lines.into_iter().map(wrong)).of_kind(Kind::Unanswerable)
}
