//! `export`: a design as a file, a launch script, or its numbers as a table.

mod answer;

#[cfg(feature = "parquet")]
pub mod parquet;

mod table;

mod file;

use interchange::{Export as Made, Launcher, Reading};
use model::MODEL_VERSION;
use model::design::file::Extent;
use model::design::{Design, link};
use reports::typed::Written;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use answer::{Exported, report};
pub use file::{Format, command, elsewhere, file, started};

use crate::caller::Caller;
use crate::input::DesignInput;
use crate::names::Names;
use crate::numbers::Data;
use crate::operation::Operation;
use crate::refusal::{Kind, Origin, Refusal, Wrong};

/// Maximum number of bytes of a file that an agent is given; a longer one is behind its link.
const MAX_BRIEF_BYTES: usize = 24 << 10;

/// The verb.
pub struct Export;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "ExportInput")]
pub struct Input {
    /// Format of the file.
    format: Format,
    /// Design.
    #[command(flatten)]
    #[serde(flatten)]
    of: DesignInput,
    /// Write every knob, not only those that differ from the preset; JSON and TOML only.
    #[arg(long)]
    #[serde(default)]
    full: bool,
    /// What starts the processes of a launch script; megatron and mindspeed only.
    #[arg(long, value_name = "LAUNCHER")]
    launcher: Option<Start>,
}

/// What starts the processes.
#[derive(Clone, Copy, Debug, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Start {
    /// torchrun, by hand on each node
    Torchrun,
    /// A batch job of Slurm
    Slurm,
}

/// A file of a design.
pub struct Answer {
    format: Format,
    launcher: Launcher,
    design: Design,
    content: Content,
}

/// Content of a file.
enum Content {
    /// What starts a run elsewhere, with all that there is to say about it.
    Started(Made),
    /// A file that starts nothing.
    Bytes(Vec<u8>),
}

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
    /// The file.
    link: String,
    /// Null where the file is longer than 24 KiB: then it is behind the link alone.
    export: Option<Data<Exported>>,
    model_version: String,
}

impl Operation for Export {
    const NAME: &'static str = "export";
    const SUMMARY: &'static str = "Write a design as a file or as a launch script";
    const TITLE: &'static str = "Export a design";
    const DESCRIPTION: &'static str = "Writes a design as a file: a launch script of Megatron-LM \
        or MindSpeed-LLM, a recipe of another framework, an engine's command, a design file, or \
        its numbers. Of a file that starts a run it tells what the file has no word for, what it \
        really predicts, and what to check before the run: pass that on.";
    type Input = Input;
    type Answer = Answer;
    type Output = Exported;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let (design, _) = input.of.read(Names::Training, caller)?;
        let format = input.format;
        if input.full && !matches!(format, Format::Json | Format::Toml) {
            let detail =
                "`full` is for json and toml: other files hold every knob, or none, anyway";
            return Err(misplaced("full", detail));
        }
        if input.launcher.is_some() && !format.is_script() {
            let detail = "`launcher` is for megatron and mindspeed: other files start no processes";
            return Err(misplaced("launcher", detail));
        }
        let launcher = match input.launcher {
            None | Some(Start::Torchrun) => Launcher::Torchrun,
            Some(Start::Slurm) => Launcher::Slurm,
        };
        let extent = if input.full { Extent::Full } else { Extent::Changed };
        let refused = |why: String| Refusal::new("no_file", "", why).of_kind(Kind::Unanswerable);
        let today = caller.today();
        let content = match started(format, launcher, &design, &today) {
            Some(made) => Content::Started(made.map_err(refused)?),
            None => Content::Bytes(file(format, &design, extent, &today).map_err(refused)?),
        };
        Ok(Answer { format, launcher, design, content })
    }

    fn output(answer: &Answer) -> Written<Exported> {
        Written::of(answer.exported())
    }

    fn text(answer: &Answer) -> String {
        String::from_utf8_lossy(&Self::bytes(answer)).into_owned()
    }

    fn bytes(answer: &Answer) -> Vec<u8> {
        match &answer.content {
            Content::Started(made) => made.text.clone().into_bytes(),
            Content::Bytes(bytes) => bytes.clone(),
        }
    }

    fn remarks(answer: &Answer) -> Vec<String> {
        let reading = match &answer.content {
            Content::Started(made) => made.reading.as_ref(),
            Content::Bytes(_) => None,
        };
        reading.filter(|it| it.differs()).map(Reading::sentences).unwrap_or_default()
    }

    fn command(command: clap::Command) -> clap::Command {
        let help = "Print JSON: the file, what its own words come to beside the design, and what \
                    to check; for files that start a run";
        command.mut_arg("json", |json| json.help(help))
    }

    fn check_json(answer: &Answer) -> Result<(), Refusal> {
        let detail =
            "`json` is for files that start a run; metrics and json are JSON by themselves";
        match answer.content {
            Content::Started(_) => Ok(()),
            Content::Bytes(_) => Err(misplaced("json", detail)),
        }
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let link = caller.link(&answer.address());
        let export = Some(answer.exported()).filter(|it| it.text.len() <= MAX_BRIEF_BYTES);
        let mut text = match &export {
            Some(export) => export.text.clone(),
            None => "The file is long; its link has it.\n".to_owned(),
        };
        for line in export.iter().flat_map(|it| it.says.iter().chain(&it.checks)) {
            text += &format!("{line}\n");
        }
        text += &format!("{link}\n");
        let model_version = MODEL_VERSION.to_owned();
        (Brief { link, export: export.map(Data), model_version }, text)
    }
}

/// Refusal of an argument that a format doesn't have.
fn misplaced(name: &str, detail: &str) -> Refusal {
    let wrong = Wrong::new("misplaced_argument", name, detail);
    Refusal::of([Wrong { origin: Origin::Option, ..wrong }])
}

impl Answer {
    /// The file with all that there is to say about it.
    fn exported(&self) -> Exported {
        match &self.content {
            Content::Started(made) => report(made),
            Content::Bytes(bytes) => answer::of_file(String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// Address of the file on a server.
    fn address(&self) -> String {
        let launcher = match self.launcher {
            Launcher::Torchrun => String::new(),
            Launcher::Slurm => format!("&launcher={}", self.launcher.name()),
        };
        format!("/export/{}?{}{launcher}", self.format.name(), link::encode(&self.design))
    }
}
