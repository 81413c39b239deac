//! A design as files for other programs: launch scripts, design files, its numbers as tables, its
//! timeline. Each says inside where it comes from.
//!
//! What the sheet `/export` hands out and what `moescape export` prints are the same bytes.

pub(crate) mod parquet;
mod table;

use interchange::{Launcher, Target, export_for};
use model::design::Design;
use model::design::file::{self, Extent, json};
use model::serving::ServingPlan;
use model::{MODEL_VERSION, Plan, design::link};
use operations::Wrong;
use present::insight::numbers::Numbers;
use present::timeline::of_plan;
use present::words::name;
use present::words::provenance::Provenance;

use crate::{designs, ground::calendar, report};

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Export {
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
    Parquet,
    /// The pipeline's timeline, a Chrome trace
    Trace,
}

/// Name, title and type of every kind, in the order of the sheet.
const KINDS: [(Export, &str, &str, &str); 14] = [
    (Export::Megatron, "megatron.sh", "Megatron-LM script", SCRIPT),
    (Export::Mindspeed, "mindspeed.sh", "MindSpeed-LLM script", SCRIPT),
    (Export::MegatronBridge, "bridge.py", "Megatron-Bridge recipe", PYTHON),
    (Export::Mindformers, "mindformers.yaml", "MindFormers configuration", YAML),
    (Export::Torchtitan, "torchtitan.toml", "torchtitan job", TOML),
    (Export::Deepspeed, "deepspeed.json", "DeepSpeed configuration", JSON),
    (Export::Accelerate, "accelerate.yaml", "Accelerate configuration", YAML),
    (Export::Serving, "engine.txt", "Launch command of the engine", TEXT),
    (Export::Json, "design.json", "Design file, JSON", JSON),
    (Export::Toml, "design.toml", "Design file, TOML", TOML),
    (Export::Csv, "metrics.csv", "Metrics, CSV", "text/csv; charset=utf-8"),
    (Export::Metrics, "metrics.json", "Metrics, JSON", JSON),
    (Export::Parquet, "metrics.parquet", "Metrics, Parquet", "application/vnd.apache.parquet"),
    (Export::Trace, "timeline.json", "Timeline, Chrome trace", JSON),
];
const SCRIPT: &str = "text/x-shellscript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const PYTHON: &str = "text/x-python; charset=utf-8";
const YAML: &str = "application/yaml";
const TOML: &str = "application/toml";
const JSON: &str = "application/json";

impl Export {
    /// Every kind, in the order of the sheet.
    pub(crate) fn all() -> [Self; 14] {
        KINDS.map(|kind| kind.0)
    }

    fn kind(self) -> (Self, &'static str, &'static str, &'static str) {
        KINDS.into_iter().find(|kind| kind.0 == self).unwrap_or(KINDS[0])
    }

    /// The last part of its address and of its file's name.
    pub(crate) fn name(self) -> &'static str {
        self.kind().1
    }

    /// The kind of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        KINDS.iter().find(|kind| kind.1 == name).map(|kind| kind.0)
    }

    /// Title for people.
    pub(crate) fn title(self) -> &'static str {
        self.kind().2
    }

    /// Framework whose words a training run's file has.
    pub(crate) const fn target(self) -> Option<Target> {
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
    pub(crate) const fn is_script(self) -> bool {
        matches!(self, Self::Megatron | Self::Mindspeed)
    }

    /// Media type, for HTTP.
    pub(crate) fn media_type(self) -> &'static str {
        self.kind().3
    }

    /// Whether it is a text that can be pasted somewhere.
    pub(crate) const fn is_text(self) -> bool {
        !matches!(self, Self::Parquet)
    }

    /// The file's name: the design's, a mark of all that differs from the preset, and what it is.
    pub(crate) fn file_name(self, design: &Design) -> String {
        let mut name = format!("moescape-{}", name::slug(design));
        if !design.changed().is_empty() {
            let id = designs::id(&link::encode(design), MODEL_VERSION);
            name.push('-');
            name.extend(id.chars().take(6));
        }
        format!("{name}-{}", self.name())
    }
}

/// Provenance of a design that is exported now.
pub(crate) fn provenance(design: &Design) -> Provenance {
    Provenance::of_link(&link::encode(design), calendar::today())
}

/// The bytes of a file, or why there are none; a launch script is one for `torchrun`.
pub(crate) fn file(export: Export, design: &Design, extent: Extent) -> Result<Vec<u8>, String> {
    if let Some(made) = started(export, Launcher::Torchrun, design) {
        return Ok(made?.text.into_bytes());
    }
    let from = provenance(design);
    let text = match export {
        Export::Megatron
        | Export::Mindspeed
        | Export::MegatronBridge
        | Export::Mindformers
        | Export::Torchtitan
        | Export::Deepspeed
        | Export::Accelerate
        | Export::Serving => String::new(),
        Export::Json => json::print(&from.in_tree(file::write(design, extent))),
        Export::Toml => {
            let text = operations::files::toml(design, extent, &from);
            text.map_err(|why| why.errors.iter().map(Wrong::line).collect::<String>())?
        }
        Export::Csv => table::csv(&numbers(design)?, &from),
        Export::Metrics => {
            // Refuses what can't run, as the other numbers do.
            let numbers = numbers(design)?;
            json::print(&from.in_tree(report::whole(&numbers.plan, None)))
        }
        Export::Parquet => return table::parquet(&numbers(design)?, &from),
        Export::Trace => of_plan::trace(&numbers(design)?, &from)?,
    };
    Ok(text.into_bytes())
}

/// A file in the words of what starts a run elsewhere; `None` for a file that starts nothing.
pub(crate) fn started(
    export: Export,
    launcher: Launcher,
    design: &Design,
) -> Option<Result<interchange::Export, String>> {
    match export.target() {
        Some(target) => Some(Ok(elsewhere(target, launcher, design))),
        None => (export == Export::Serving).then(|| command(design)),
    }
}

/// A design in the words of what starts it elsewhere, and what those can't say.
pub(crate) fn elsewhere(
    target: Target,
    launcher: Launcher,
    design: &Design,
) -> interchange::Export {
    let date = provenance(design).date;
    export_for(target, launcher, design, &interchange::Provenance { date: &date })
}

/// The command that starts an engine with a design, and what no flag of it says.
pub(crate) fn command(design: &Design) -> Result<interchange::Export, String> {
    let date = provenance(design).date;
    let plan = ServingPlan::new(design).map_err(|violations| {
        let first = violations.first().map_or("", |violation| violation.message.as_str());
        format!("This design can't serve, so that no engine starts with it: {first}")
    })?;
    Ok(interchange::export_command(&plan, &interchange::Provenance { date: &date }))
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

    fn text(export: Export, query: &str) -> Result<String, String> {
        let design = link::decode(query).unwrap();
        let bytes = file(export, &design, Extent::Changed)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn every_file_says_where_it_comes_from() {
        let query = "v=1&preset=llama-3-8b&training.micro_batch_size=2";
        for export in Export::all() {
            let text = text(export, query).unwrap();
            for part in [query, MODEL_VERSION, &calendar::today()] {
                assert!(text.contains(part), "{export:?} lacks {part}");
            }
        }
    }

    #[test]
    fn a_design_file_with_its_origin_is_still_a_design_file() {
        let design = link::decode("preset=deepseek-v3&mbs=2").unwrap();
        for extent in [Extent::Changed, Extent::Full] {
            let text = file(Export::Json, &design, extent).unwrap();
            assert_eq!(json::read(std::str::from_utf8(&text).unwrap()), Ok(design.clone()));
        }
    }

    #[test]
    fn a_design_that_breaks_rules_has_its_files_and_no_numbers() {
        let of_numbers = [Export::Csv, Export::Metrics, Export::Parquet, Export::Trace];
        for export in Export::all().into_iter().filter(|export| *export != Export::Serving) {
            let made = text(export, "pp=12");
            assert_eq!(made.is_err(), of_numbers.contains(&export), "{export:?}");
            assert!(made.is_ok() || made.is_err_and(|why| why.contains("can't run")));
        }
        let made = text(Export::Serving, "preset=llama-3-8b&serving.tensor_parallel_size=3");
        assert!(made.is_err_and(|why| why.contains("can't serve")));
    }

    #[test]
    fn a_name_tells_designs_apart() {
        let name = |query| Export::Csv.file_name(&link::decode(query).unwrap());
        assert_eq!(name("preset=deepseek-v3"), "moescape-deepseek-v3-metrics.csv");
        let (one, other) = (name("preset=deepseek-v3&mbs=2"), name("preset=deepseek-v3&mbs=4"));
        assert!(one != other && one.ends_with("-metrics.csv"), "{one} {other}");
        for export in Export::all() {
            assert_eq!(Export::from_name(export.name()), Some(export));
        }
    }
}
