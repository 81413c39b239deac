//! A design as files for other programs: launch scripts, design files, its numbers as tables, its
//! timeline. Each says inside where it comes from.
//!
//! What the sheet `/export` hands out and what `moescape export` prints are the same bytes.

mod table;

use app::insight::numbers::Numbers;
use app::panel::timeline;
use app::present::name;
use app::present::provenance::Provenance;
use interchange::Format as Launcher;
use model::design::Design;
use model::file::{self, Extent, json};
use model::{MODEL_VERSION, Plan, link};

use crate::{calendar, designs, report};

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Export {
    /// A launch script for Megatron-LM.
    Megatron,
    /// A launch script for MindSpeed-LLM.
    Mindspeed,
    /// The design file, JSON.
    Json,
    /// The design file, TOML.
    Toml,
    /// The numbers as a table, CSV.
    Csv,
    /// All numbers, JSON.
    Metrics,
    /// The numbers as a table, Parquet.
    Parquet,
    /// The pipeline's timeline as a Chrome trace.
    Trace,
}

impl Export {
    /// Every kind, in the order of the sheet.
    pub(crate) const ALL: [Self; 8] = [
        Self::Megatron,
        Self::Mindspeed,
        Self::Json,
        Self::Toml,
        Self::Csv,
        Self::Metrics,
        Self::Parquet,
        Self::Trace,
    ];

    /// The last part of its address and of its file's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Megatron => "megatron.sh",
            Self::Mindspeed => "mindspeed.sh",
            Self::Json => "design.json",
            Self::Toml => "design.toml",
            Self::Csv => "metrics.csv",
            Self::Metrics => "metrics.json",
            Self::Parquet => "metrics.parquet",
            Self::Trace => "timeline.json",
        }
    }

    /// The kind of that name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|export| export.name() == name)
    }

    /// What people call it.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Megatron => "Megatron-Core arguments",
            Self::Mindspeed => "MindSpeed-LLM arguments",
            Self::Json => "Design file, JSON",
            Self::Toml => "Design file, TOML",
            Self::Csv => "Metrics, CSV",
            Self::Metrics => "Metrics, JSON",
            Self::Parquet => "Metrics, Parquet",
            Self::Trace => "Timeline, Chrome trace",
        }
    }

    /// What it is, for HTTP.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Megatron | Self::Mindspeed => "text/x-shellscript; charset=utf-8",
            Self::Json | Self::Metrics | Self::Trace => "application/json",
            Self::Toml => "application/toml",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }

    /// Is it a text that can be pasted somewhere?
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

/// Where a design that is exported now comes from.
pub(crate) fn provenance(design: &Design) -> Provenance {
    Provenance::of_link(&link::encode(design), calendar::today())
}

/// The bytes of a file, or why there are none.
pub(crate) fn file(export: Export, design: &Design, extent: Extent) -> Result<Vec<u8>, String> {
    let from = provenance(design);
    let text = match export {
        Export::Megatron => script(Launcher::Megatron, design, &from)?,
        Export::Mindspeed => script(Launcher::Mindspeed, design, &from)?,
        Export::Json => json::print(&from.in_tree(file::write(design, extent))),
        Export::Toml => toml(design, extent, &from)?,
        Export::Csv => table::csv(&numbers(design)?, &from),
        Export::Metrics => {
            // Refuses what can't run, as the other numbers do.
            let numbers = numbers(design)?;
            json::print(&from.in_tree(report::whole(&numbers.plan, None)))
        }
        Export::Parquet => return table::parquet(&numbers(design)?, &from),
        Export::Trace => timeline::trace(&numbers(design)?, &from)?,
    };
    Ok(text.into_bytes())
}

/// A launch script for an export.
fn script(launcher: Launcher, design: &Design, from: &Provenance) -> Result<String, String> {
    interchange::export(launcher, design, &interchange::Provenance { date: &from.date })
        .ok_or_else(|| "no script is written for this launcher".to_owned())
}

/// The TOML file of a design.
pub(crate) fn toml(design: &Design, extent: Extent, from: &Provenance) -> Result<String, String> {
    let text = toml::to_string(&file::write(design, extent));
    let text = text.map_err(|error| format!("can't write TOML: {error}"))?;
    Ok(format!("{}{text}", from.comment()))
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
        let query = "v=1&preset=deepseek-v3&training.micro_batch_size=2";
        for export in Export::ALL {
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
        let of_design = [Export::Megatron, Export::Mindspeed, Export::Json, Export::Toml];
        for export in Export::ALL {
            let made = text(export, "pp=12");
            assert_eq!(made.is_ok(), of_design.contains(&export), "{export:?}");
            assert!(made.is_ok() || made.is_err_and(|why| why.contains("can't run")));
        }
    }

    #[test]
    fn a_name_tells_designs_apart() {
        let name = |query| Export::Csv.file_name(&link::decode(query).unwrap());
        assert_eq!(name("preset=deepseek-v3"), "moescape-deepseek-v3-metrics.csv");
        let (one, other) = (name("preset=deepseek-v3&mbs=2"), name("preset=deepseek-v3&mbs=4"));
        assert!(one != other && one.ends_with("-metrics.csv"), "{one} {other}");
        for export in Export::ALL {
            assert_eq!(Export::of(export.name()), Some(export));
        }
    }
}
