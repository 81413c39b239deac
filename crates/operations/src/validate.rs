//! `validate`: published runs beside what the model predicts for them.

mod answer;
mod brief;
mod text;

mod kernels;
mod serving;

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use present::format;
use present::site::Page;
use present::words::provenance::Provenance;
use reports::typed::Written;
use schemars::JsonSchema;
use serde::Deserialize;
use validation::runs::{self, LineError};

pub use answer::Validated;
pub use brief::Brief;

use crate::caller::Caller;
use crate::files;
use crate::numbers::tree;
use crate::operation::{Example, Operation};
use crate::provenance::WithProvenance;
use crate::refusal::{Kind, Refusal, Wrong};

/// Maximum number of bytes of a file of runs.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Maximum number of bytes of a text of runs.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Maximum number of errors of a file that are told.
const MAX_ERRORS: usize = 20;

/// Rows that an agent is answered, unless it asks for more.
const DEFAULT_ROWS: usize = 20;

/// Maximum number of rows that an agent is answered.
const MAX_ROWS: usize = 200;

/// The verb.
pub struct Validate;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "ValidateInput")]
pub struct Input {
    /// A file of runs of your own, CSV with the columns of `published_runs.csv`, in place of the
    /// published ones.
    #[arg(
        long,
        value_name = "FILE.csv",
        value_parser = PathBufValueParser::new().map(RunsInput::File),
        help = "File of runs, CSV with the columns of the published ones, of training or of \
                serving [default: the published ones of training]"
    )]
    runs: Option<RunsInput>,
    /// Only runs of this source's id.
    #[arg(long, value_name = "SOURCE", help = "Only runs of this source")]
    source: Option<String>,
    /// Only runs whose model's published name has this in it.
    #[arg(
        long,
        value_name = "NAME",
        help = "Only runs whose model's published name has this in it"
    )]
    model: Option<String>,
    /// Only runs whose published hardware has this in it, such as H100 or 910B.
    #[arg(
        long,
        value_name = "NAME",
        help = "Only runs whose published hardware has this in it, such as H100 or 910B"
    )]
    hardware: Option<String>,
    /// Kernels in place of runs, at a terminal.
    #[arg(
        long,
        conflicts_with_all = ["runs", "source", "model", "hardware"],
        help = "Measured kernels instead of runs"
    )]
    #[serde(skip)]
    kernels: bool,
    /// Rows to answer, from 1 to 200; 20 unless said.
    #[arg(skip)]
    rows: Option<usize>,
    /// Check of the targets, at a terminal.
    #[arg(long, help = "End with status 3 when a target is missed")]
    #[serde(skip)]
    check: bool,
}

/// Runs of one's own: at a terminal a file, elsewhere its text.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(from = "String")]
#[schemars(with = "String")]
enum RunsInput {
    File(PathBuf),
    Text(String),
}

impl From<String> for RunsInput {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Runs, or kernels, beside their predictions.
pub struct Answer {
    report: Validated,
    /// Maximum number of rows for agents.
    max_rows: usize,
    is_check: bool,
}

impl Operation for Validate {
    const NAME: &'static str = "validate";
    const SUMMARY: &'static str = "Compare published runs with what the model predicts for them";
    const TITLE: &'static str = "Compare with published runs";
    const DESCRIPTION: &'static str = "Compares published runs, or runs of your own, with what the \
        model predicts for them: measured, predicted and error of each, its source, and why others \
        aren't predicted. Ask it how far to trust a number on a machine or model.";
    const IS_SEARCH: bool = true;
    const EXAMPLES: &'static [Example] = &[Example {
        name: "source",
        summary: "The runs of one source",
        arguments: r#"{"source": "zero_bubble"}"#,
    }];
    type Input = Input;
    type Answer = Answer;
    type Output = Validated;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let max_rows = input.rows.unwrap_or(DEFAULT_ROWS);
        if !(1..=MAX_ROWS).contains(&max_rows) {
            let detail = format!("`rows` is from 1 to {MAX_ROWS}");
            return Err(Refusal::new("out_of_range", "rows", detail));
        }
        let report = input.report(&provenance(caller.today()), caller)?;
        Ok(Answer { report, max_rows, is_check: input.check })
    }

    fn output(answer: &Answer) -> Written<Validated> {
        Written::stored(tree(&answer.report))
    }

    fn text(answer: &Answer) -> String {
        match &answer.report {
            Validated::Training(it) => text::text(&it.report),
            Validated::Serving(it) => serving::text(&it.report),
            Validated::Kernels(it) => kernels::text(&it.report),
        }
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let brief = Brief::new(&answer.report, answer.max_rows, caller);
        let text = brief.text();
        (brief, text)
    }

    fn failure(answer: &Answer) -> Option<Refusal> {
        let missed = answer.report.targets().iter().filter(|target| !target.met);
        let wrong = |target| Wrong::new("target_missed", "check", text::missed_line(target));
        let missed = Refusal::of(missed.map(wrong)).of_kind(Kind::Missed);
        (answer.is_check && !missed.is_empty()).then_some(missed)
    }
}

/// Provenance of a report of this day: each of its rows has a design of its own.
#[must_use]
pub fn provenance(today: String) -> Provenance {
    Provenance { design: Page::Trust.path().to_owned(), date: today }
}

impl Input {
    /// The report on what is asked for.
    fn report(&self, from: &Provenance, caller: &dyn Caller) -> Result<Validated, Refusal> {
        if self.kernels {
            let report = validation::kernels::validate();
            return Ok(Validated::Kernels(WithProvenance::new(report, from)));
        }
        let text = self.runs.as_ref().map(|runs| runs.read(caller)).transpose()?;
        let shown = self.runs.as_ref().map_or_else(String::new, RunsInput::shown);
        if let Some(text) = text.as_ref().filter(|text| validation::serving::is_of_serving(text)) {
            let before = if shown.is_empty() { String::new() } else { format!("{shown}: ") };
            let rows = validation::serving::read(text);
            let unreadable = |error| Refusal::of([unreadable(format!("{before}{error}"))]);
            let mut rows = rows.map_err(unreadable)?;
            self.check_source(rows.iter().map(|row| row.source_id.as_str()))?;
            rows.retain(|row| self.matches(&row.source_id, &row.model, &row.accelerator));
            self.check_count(rows.len())?;
            let report = validation::serving::score::validate(&rows);
            return Ok(Validated::Serving(WithProvenance::new(report, from)));
        }
        let mut all = match text {
            Some(text) => runs::read(&text).map_err(|errors| of_lines(&errors, &shown))?,
            None => runs::published().to_vec(),
        };
        self.check_source(all.iter().map(|run| run.source_id.as_str()))?;
        all.retain(|run| self.matches(&run.source_id, &run.model, &run.hardware));
        self.check_count(all.len())?;
        Ok(Validated::Training(WithProvenance::new(validation::validate(&all), from)))
    }

    /// Whether a run is one of those that are asked for.
    fn matches(&self, source: &str, model: &str, hardware: &str) -> bool {
        let has = |text: &str, part: &Option<String>| {
            part.as_ref().is_none_or(|part| text.to_lowercase().contains(&part.to_lowercase()))
        };
        self.source.as_ref().is_none_or(|it| source == it)
            && has(model, &self.model)
            && has(hardware, &self.hardware)
    }

    /// Refuses a source that no run has.
    fn check_source<'a>(&self, sources: impl Iterator<Item = &'a str>) -> Result<(), Refusal> {
        let Some(source) = self.source.as_deref() else { return Ok(()) };
        let mut known: Vec<&str> = sources.collect();
        known.sort_unstable();
        known.dedup();
        if known.contains(&source) {
            return Ok(());
        }
        let mut near: Vec<(f64, &str)> =
            known.iter().map(|name| (strsim::jaro_winkler(name, source), *name)).collect();
        near.sort_by(|left, right| right.0.total_cmp(&left.0));
        let near: Vec<&str> = near.iter().take(3).map(|(_, name)| *name).collect();
        let shown: String = source.chars().take(80).collect();
        let detail = format!("no run has the source `{shown}`; nearest: {}", near.join(", "));
        Err(Refusal::new(NO_RUNS, "source", detail))
    }

    /// Refuses what no run is left of.
    fn check_count(&self, count: usize) -> Result<(), Refusal> {
        if count > 0 {
            return Ok(());
        }
        let detail = "no run matches; /trust lists every published one with its source";
        Err(Refusal::new(NO_RUNS, "source", detail))
    }
}

/// Rule of a choice of runs that none is left of.
const NO_RUNS: &str = "no_runs";

impl RunsInput {
    /// The text of the runs.
    fn read(&self, caller: &dyn Caller) -> Result<String, Refusal> {
        match self {
            Self::File(path) => files::utf_8(path, caller.bytes(path, MAX_FILE_BYTES)?),
            Self::Text(text) if text.len() > MAX_TEXT_BYTES => {
                let bytes = text.len();
                let detail = format!("`runs` has {bytes} bytes; at most {MAX_TEXT_BYTES} are read");
                Err(Refusal::new("too_long", "runs", detail))
            }
            Self::Text(text) => Ok(text.clone()),
        }
    }

    /// Name of the file, where it is one.
    fn shown(&self) -> String {
        match self {
            Self::File(path) => files::shown(path),
            Self::Text(_) => String::new(),
        }
    }
}

fn unreadable(detail: String) -> Wrong {
    Wrong::new("unreadable_runs", "runs", detail)
}

/// Refusal of runs with these errors: the first of them, where they are a file's.
fn of_lines(errors: &[LineError], shown: &str) -> Refusal {
    if shown.is_empty() {
        return Refusal::of(errors.iter().map(|error| unreadable(error.to_string())));
    }
    let lines = errors.iter().take(MAX_ERRORS).map(|error| format!("{shown}, {error}"));
    let count = errors.len();
    let more =
        (count > MAX_ERRORS).then(|| format!("{shown} has {} errors", format::whole(count as u64)));
    Refusal::of(lines.chain(more).map(unreadable))
}
