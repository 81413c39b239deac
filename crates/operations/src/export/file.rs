//! A design as files for other programs: launch scripts, design files, its numbers as tables, its
//! timeline. Each says inside where it comes from.

use interchange::{Launcher, Target, export_for};
use model::design::Design;
use model::design::file::{self, Extent, json};
use model::serving::ServingPlan;
use model::{Plan, design::link};
use present::insight::numbers::Numbers;
use present::timeline::of_plan;
use present::words::provenance::Provenance;
use reports::report;
use schemars::JsonSchema;
use serde::Deserialize;

use super::table;
use crate::files;
use crate::refusal::Wrong;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// The design file, JSON
    Json,
    /// The design file, TOML
    Toml,
    /// A launch script for Megatron-LM
    Megatron,
    /// A launch script for MindSpeed-LLM
    Mindspeed,
    /// A recipe of Megatron-Bridge, Python
    MegatronBridge,
    /// The configuration of MindFormers, YAML
    Mindformers,
    /// A job of torchtitan, TOML
    Torchtitan,
    /// The configuration of DeepSpeed, JSON
    Deepspeed,
    /// The configuration of Accelerate for FSDP or DeepSpeed, YAML
    Accelerate,
    /// The command that starts an engine of inference
    Serving,
    /// Headline metrics, stages and axes as a table, CSV
    Csv,
    /// All numbers, JSON
    Metrics,
    /// The table of csv, Parquet
    #[serde(skip)]
    Parquet,
    /// The pipeline's timeline, a Chrome trace
    Trace,
}

/// Name, title and type of every kind, in the order of the sheet.
const KINDS: [(Format, &str, &str, &str); 14] = [
    (Format::Megatron, "megatron.sh", "Megatron-LM script", SCRIPT),
    (Format::Mindspeed, "mindspeed.sh", "MindSpeed-LLM script", SCRIPT),
    (Format::MegatronBridge, "bridge.py", "Megatron-Bridge recipe", PYTHON),
    (Format::Mindformers, "mindformers.yaml", "MindFormers configuration", YAML),
    (Format::Torchtitan, "torchtitan.toml", "torchtitan job", TOML),
    (Format::Deepspeed, "deepspeed.json", "DeepSpeed configuration", JSON),
    (Format::Accelerate, "accelerate.yaml", "Accelerate configuration", YAML),
    (Format::Serving, "engine.txt", "Launch command of the engine", TEXT),
    (Format::Json, "design.json", "Design file, JSON", JSON),
    (Format::Toml, "design.toml", "Design file, TOML", TOML),
    (Format::Csv, "metrics.csv", "Metrics, CSV", "text/csv; charset=utf-8"),
    (Format::Metrics, "metrics.json", "Metrics, JSON", JSON),
    (Format::Parquet, "metrics.parquet", "Metrics, Parquet", "application/vnd.apache.parquet"),
    (Format::Trace, "timeline.json", "Timeline, Chrome trace", JSON),
];
const SCRIPT: &str = "text/x-shellscript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const PYTHON: &str = "text/x-python; charset=utf-8";
const YAML: &str = "application/yaml";
const TOML: &str = "application/toml";
const JSON: &str = "application/json";

impl Format {
    /// Every kind, in the order of the sheet.
    #[must_use]
    pub fn all() -> [Self; 14] {
        KINDS.map(|kind| kind.0)
    }

    fn kind(self) -> (Self, &'static str, &'static str, &'static str) {
        KINDS.into_iter().find(|kind| kind.0 == self).unwrap_or(KINDS[0])
    }

    /// The last part of its address and of its file's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.kind().1
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        KINDS.iter().find(|kind| kind.1 == name).map(|kind| kind.0)
    }

    /// Title for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.kind().2
    }

    /// Framework whose words a training run's file has.
    #[must_use]
    pub const fn target(self) -> Option<Target> {
        match self {
            Self::Megatron => Some(Target::Megatron),
            Self::Mindspeed => Some(Target::Mindspeed),
            Self::MegatronBridge => Some(Target::Bridge),
            Self::Mindformers => Some(Target::Mindformers),
            Self::Torchtitan => Some(Target::Torchtitan),
            Self::Deepspeed => Some(Target::Deepspeed),
            Self::Accelerate => Some(Target::Accelerate),
            Self::Serving
            | Self::Json
            | Self::Toml
            | Self::Csv
            | Self::Metrics
            | Self::Parquet
            | Self::Trace => None,
        }
    }

    /// Whether it is a script that starts the processes itself.
    #[must_use]
    pub const fn is_script(self) -> bool {
        matches!(self, Self::Megatron | Self::Mindspeed)
    }

    /// Media type, for HTTP.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        self.kind().3
    }

    /// Whether it is a text that can be pasted somewhere.
    #[must_use]
    pub const fn is_text(self) -> bool {
        !matches!(self, Self::Parquet)
    }
}

/// Bytes of a file on a day, or why there are none; a launch script is one for `torchrun`.
///
/// # Errors
/// The design can't run, so that it has no numbers, or can't serve.
pub fn file(
    format: Format,
    design: &Design,
    extent: Extent,
    today: &str,
) -> Result<Vec<u8>, String> {
    if let Some(made) = started(format, Launcher::Torchrun, design, today) {
        return Ok(made?.text.into_bytes());
    }
    let from = Provenance::of_link(&link::encode(design), today);
    let text = match format {
        Format::Megatron
        | Format::Mindspeed
        | Format::MegatronBridge
        | Format::Mindformers
        | Format::Torchtitan
        | Format::Deepspeed
        | Format::Accelerate
        | Format::Serving => String::new(),
        Format::Json => json::print(&from.in_tree(file::write(design, extent))),
        Format::Toml => {
            let text = files::toml(design, extent, &from);
            text.map_err(|why| why.errors.iter().map(Wrong::line).collect::<String>())?
        }
        Format::Csv => table::csv(&numbers(design)?, &from),
        Format::Metrics => {
            // Refuses what can't run, as the other numbers do.
            let numbers = numbers(design)?;
            json::print(&from.in_tree(report::whole(&numbers.plan, None)))
        }
        Format::Parquet => return packed(&numbers(design)?, &from),
        Format::Trace => of_plan::trace(&numbers(design)?, &from)?,
    };
    Ok(text.into_bytes())
}

/// A file in the words of what starts a run elsewhere; `None` for a file that starts nothing.
#[must_use]
pub fn started(
    format: Format,
    launcher: Launcher,
    design: &Design,
    today: &str,
) -> Option<Result<interchange::Export, String>> {
    match format.target() {
        Some(target) => Some(Ok(elsewhere(target, launcher, design, today))),
        None => (format == Format::Serving).then(|| command(design, today)),
    }
}

/// A design in the words of what starts it elsewhere, and what those can't say.
#[must_use]
pub fn elsewhere(
    target: Target,
    launcher: Launcher,
    design: &Design,
    today: &str,
) -> interchange::Export {
    export_for(target, launcher, design, &interchange::Provenance { date: today })
}

/// The command that starts an engine with a design, and what no flag of it says.
///
/// # Errors
/// The design can't serve.
pub fn command(design: &Design, today: &str) -> Result<interchange::Export, String> {
    let plan = ServingPlan::new(design).map_err(|violations| {
        let first = violations.first().map_or("", |violation| violation.message.as_str());
        format!("This design can't serve, so that no engine starts with it: {first}")
    })?;
    Ok(interchange::export_command(&plan, &interchange::Provenance { date: today }))
}

/// The table of numbers as Parquet.
#[cfg(feature = "parquet")]
fn packed(numbers: &Numbers, from: &Provenance) -> Result<Vec<u8>, String> {
    table::parquet(numbers, from)
}

/// The table of numbers as Parquet, which this build doesn't write.
#[cfg(not(feature = "parquet"))]
fn packed(_: &Numbers, _: &Provenance) -> Result<Vec<u8>, String> {
    Err("Parquet isn't written here".to_owned())
}

fn numbers(design: &Design) -> Result<Numbers, String> {
    Plan::new(design).map(Numbers::new).map_err(|violations| {
        let first = violations.first().map_or("", |violation| violation.message.as_str());
        format!("this design can't run, so that it has no numbers: {first}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: &str = "2026-01-31";

    fn text(format: Format, query: &str) -> Result<String, String> {
        let design = link::decode(query).unwrap();
        let bytes = file(format, &design, Extent::Changed, TODAY)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn every_file_says_where_it_comes_from() {
        let query = "v=1&preset=llama-3-8b&training.micro_batch_size=2";
        let is_written = |format: &Format| *format != Format::Parquet || cfg!(feature = "parquet");
        for format in Format::all().into_iter().filter(is_written) {
            let text = text(format, query).unwrap();
            for part in [query, model::MODEL_VERSION, TODAY] {
                assert!(text.contains(part), "{format:?} lacks {part}");
            }
        }
    }

    #[test]
    fn a_design_file_with_its_origin_is_still_a_design_file() {
        let design = link::decode("preset=deepseek-v3&mbs=2").unwrap();
        for extent in [Extent::Changed, Extent::Full] {
            let text = file(Format::Json, &design, extent, TODAY).unwrap();
            assert_eq!(json::read(std::str::from_utf8(&text).unwrap()), Ok(design.clone()));
        }
    }

    #[test]
    fn a_design_that_breaks_rules_has_its_files_and_no_numbers() {
        let of_numbers = [Format::Csv, Format::Metrics, Format::Parquet, Format::Trace];
        for format in Format::all().into_iter().filter(|format| *format != Format::Serving) {
            let made = text(format, "pp=12");
            assert_eq!(made.is_err(), of_numbers.contains(&format), "{format:?}");
            assert!(made.is_ok() || made.is_err_and(|why| why.contains("can't run")));
        }
        let made = text(Format::Serving, "preset=llama-3-8b&serving.tensor_parallel_size=3");
        assert!(made.is_err_and(|why| why.contains("can't serve")));
    }

    #[test]
    fn a_format_is_found_by_the_name_of_its_file() {
        for format in Format::all() {
            assert_eq!(Format::from_name(format.name()), Some(format));
        }
    }
}
