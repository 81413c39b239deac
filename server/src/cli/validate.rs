//! `moescape validate`: published runs beside what the model predicts for them.

mod kernels;
mod serving;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use present::format;
use present::page::trust::words;
use validation::report::{Group, LeftOutScore, Row, Summary, Target, Validation};
use validation::runs::{self, LineError, Run};

use super::Failure;
use super::output::{self, table, table_below};
use crate::answers::validated;

/// Bytes of a file of runs, at most.
const MAX_FILE_LEN: u64 = 64 << 20;

/// Errors of a file that are printed.
const MAX_ERRORS: usize = 20;

/// What to compare and how to say it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// File of runs, CSV with the columns of the published ones, of training or of serving
    /// [default: the published ones of training]
    #[arg(long, value_name = "FILE.csv")]
    runs: Option<PathBuf>,
    /// Only runs of this source
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Measured kernels instead of runs
    #[arg(long, conflicts_with_all = ["runs", "source"])]
    kernels: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// End with status 3 when a target is missed
    #[arg(long)]
    check: bool,
}

/// Prints every run with its prediction, and how well they agree.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.kernels {
        let report = validation::kernels::validate();
        return print(arguments, &report, kernels::text, &report.targets);
    }
    if let Some(path) = &arguments.runs {
        let text = read_text(path)?;
        if validation::serving::is_of_serving(&text) {
            let mut rows = validation::serving::read(&text)
                .map_err(|error| Failure::user(format!("{}: {error}", path.display())))?;
            if let Some(source) = &arguments.source {
                check_source(rows.iter().map(|row| row.source_id.as_str()), source)?;
                rows.retain(|row| row.source_id == *source);
            }
            let report = validation::serving::validate(&rows);
            return print(arguments, &report, serving::text, &report.targets);
        }
    }
    let report = report(arguments)?;
    print(arguments, &report, text, &report.summary.targets)
}

/// Prints a report; with `--check` a missed target is a failure.
fn print<R: serde::Serialize>(
    arguments: &Arguments,
    report: &R,
    text: fn(&R) -> String,
    targets: &[Target],
) -> Result<(), Failure> {
    let text = if arguments.json {
        validated::json(report, &validated::provenance())
    } else {
        text(report)
    };
    output::result(&text)?;
    let missed = targets.iter().filter(|target| !target.met);
    let missed: Vec<String> = missed.map(missed_line).collect();
    if arguments.check && !missed.is_empty() { Err(Failure::Missed(missed)) } else { Ok(()) }
}

fn report(arguments: &Arguments) -> Result<Validation, Failure> {
    let mut all: Vec<Run> = match &arguments.runs {
        Some(path) => read(path)?,
        None => runs::published().to_vec(),
    };
    if let Some(source) = &arguments.source {
        check_source(all.iter().map(|run| run.source_id.as_str()), source)?;
        all.retain(|run| run.source_id == *source);
    }
    Ok(validation::validate(&all))
}

/// The text of a file of runs.
fn read_text(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let failed = |error| Failure::user(format!("can't read {shown}: {error}"));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_FILE_LEN + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_LEN {
        return Err(Failure::user(format!("{shown} has more than {MAX_FILE_LEN} bytes")));
    }
    String::from_utf8(bytes)
        .map_err(|error| Failure::user(format!("{shown} is not UTF-8 text: {error}")))
}

/// Reads a file of runs of training.
fn read(path: &Path) -> Result<Vec<Run>, Failure> {
    let (text, shown) = (read_text(path)?, path.display());
    runs::read(&text).map_err(|errors| {
        let line = |error: &LineError| format!("{shown}, {error}");
        let mut lines: Vec<String> = errors.iter().take(MAX_ERRORS).map(line).collect();
        if errors.len() > MAX_ERRORS {
            lines.push(format!("{shown} has {} errors", format::whole(errors.len() as u64)));
        }
        Failure::User(lines)
    })
}

/// Checks that there is a run of that source.
fn check_source<'a>(sources: impl Iterator<Item = &'a str>, source: &str) -> Result<(), Failure> {
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
    Err(Failure::user(format!("no run has the source `{shown}`; nearest: {}", near.join(", "))))
}

fn missed_line(target: &Target) -> String {
    let (limit, reached) = (words::limit(target), words::reached(target));
    format!("target missed: {}: {reached}, {limit} is asked", target.asked)
}

fn text(report: &Validation) -> String {
    let summary = &report.summary;
    let mut text = rows(&report.rows);
    text.push_str(&format!("\n{}\n", words::headline(summary)));
    if summary.all.rows > 0 {
        text.push_str(&format!("{}\n", words::fitted(summary)));
    }
    text.push_str(&format!(
        "{} runs; {} can count towards the targets, {} of them can be expressed, {} are \
         predicted\n",
        format::whole(summary.rows as u64),
        format::whole(summary.candidates as u64),
        format::whole(summary.expressible as u64),
        format::whole(summary.expressed as u64),
    ));
    text.push_str(&left_out(summary));
    for (by, title) in [
        ("accelerator", "By accelerator"),
        ("source", "By source"),
        ("metric", "By metric"),
        ("precision", "By precision"),
        ("framework", "By framework"),
        ("class", "Classes apart"),
    ] {
        text.push_str(&groups(title, summary.groups.iter().filter(|group| group.by == by)));
    }
    text.push_str(&refusals(summary));
    text.push_str(&targets(&summary.targets));
    text
}

/// One line for each run.
fn rows(rows: &[Row]) -> String {
    let header = ["run", "metric", "measured", "predicted", "error", ""];
    let line = |row: &Row| {
        vec![
            row.id.clone(),
            row.metric.clone().unwrap_or_default(),
            words::value(row, row.measured),
            words::value(row, row.predicted),
            row.error.map_or_else(String::new, words::error),
            row.refused.as_ref().map_or_else(String::new, |reason| format!("refused: {reason}")),
        ]
    };
    format!("Runs\n{}", table_below(header, "llrrrl", rows.iter().map(line)))
}

/// Errors of sources that no constant was fitted on, and whether the ranges hold for them.
fn left_out(summary: &Summary) -> String {
    let line = |score: &LeftOutScore| {
        vec![
            words::left_out(score),
            format::whole(score.rows as u64),
            format::whole(score.sources as u64),
            words::share(score.median),
            words::share(score.p90),
            words::coverage(score),
        ]
    };
    if summary.left_out.is_empty() {
        return String::new();
    }
    let header = ["", "runs", "sources", "median error", "90th percentile", "inside 50, 90 %"];
    let table = table_below(header, "lrrrrl", summary.left_out.iter().map(line));
    format!("\nSources left out of the fit\n{table}")
}

/// One line for each group, or nothing where there is none.
fn groups<'a>(title: &str, groups: impl Iterator<Item = &'a Group>) -> String {
    let lines: Vec<Vec<String>> = groups
        .map(|group| {
            let score = &group.score;
            vec![
                if group.name.is_empty() { "not said".to_owned() } else { group.name.clone() },
                format::whole(score.rows as u64),
                words::share(score.median),
                words::share(score.p90),
                words::error(score.bias),
            ]
        })
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let header = ["", "runs", "median error", "90th percentile", "bias"];
    format!("\n{title}\n{}", table_below(header, "lrrrr", lines))
}

fn refusals(summary: &Summary) -> String {
    if summary.refusals.is_empty() {
        return String::new();
    }
    let line = |rows: usize, reason: &str| vec![format::whole(rows as u64), reason.to_owned()];
    let refusals = summary.refusals.iter();
    let lines: Vec<_> = refusals.map(|refusal| line(refusal.rows, &refusal.reason)).collect();
    format!("\nRefused\n{}", table("rl", &lines))
}

fn targets(targets: &[Target]) -> String {
    let line = |target: &Target| {
        let verdict = if target.met { "met" } else { "missed" };
        vec![verdict.to_owned(), words::reached(target), words::limit(target), target.asked.clone()]
    };
    let lines: Vec<_> = targets.iter().map(line).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\nTargets\n{}", table("lrll", &lines))
}
