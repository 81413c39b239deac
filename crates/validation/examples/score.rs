//! Scores the published runs: `cargo run -p validation --features runs --example score`.
//!
//! `--source S` keeps one source, `--runs FILE` reads another file, `--worst N` shows the N worst
//! runs (40), `--rows` shows every run, `--refused` the refused steps, `--pairs` the pairs.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::process::ExitCode;

use validation::report::{Group, Row, Score, Validation};
use validation::runs::{self, Run};
use validation::validate;

/// Options of the command line.
#[derive(Default)]
struct Options {
    source: Option<String>,
    file: Option<String>,
    worst: usize,
    rows: bool,
    refused: bool,
    pairs: bool,
}

fn main() -> ExitCode {
    match options().and_then(|options| Ok((read(&options)?, options))) {
        Ok((runs, options)) => {
            show(&validate(&runs), &options);
            ExitCode::SUCCESS
        }
        Err(message) => {
            println!("{message}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options { worst: 40, ..Options::default() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--source" => options.source = Some(value()?),
            "--runs" => options.file = Some(value()?),
            "--worst" => options.worst = value()?.parse().map_err(|_| "--worst takes a number")?,
            "--rows" => options.rows = true,
            "--refused" => options.refused = true,
            "--pairs" => options.pairs = true,
            _ => {
                return Err(format!(
                    "{word} is none of --source --runs --worst --rows --refused --pairs"
                ));
            }
        }
    }
    Ok(options)
}

fn read(options: &Options) -> Result<Vec<Run>, String> {
    let runs = match &options.file {
        None => runs::published().to_vec(),
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
            runs::read(&text).map_err(|errors| {
                errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            })?
        }
    };
    let keeps = |run: &Run| options.source.as_ref().is_none_or(|source| *source == run.source_id);
    Ok(runs.into_iter().filter(keeps).collect())
}

fn show(validation: &Validation, options: &Options) {
    let summary = &validation.summary;
    println!(
        "{} rows, {} candidates, {} expressible, {} expressed",
        summary.rows, summary.candidates, summary.expressible, summary.expressed
    );
    println!("{}", header());
    println!("{:<44}{}", "all", score(&summary.all));
    if let Some(memory) = &summary.memory {
        println!("{:<44}{}", "memory", score(memory));
    }
    for Group { by, name, score: of } in &summary.groups {
        println!("{:<44}{}", format!("{by} {name}"), score(of));
    }
    println!("\nsweeps");
    for sweep in &summary.sweeps {
        println!("{:>6.3} {:>4}  {}", sweep.rank_correlation, sweep.rows, sweep.name);
    }
    if options.pairs {
        println!("\npairs: measured, predicted");
        for pair in &summary.pairs {
            let [first, second] = &pair.ids;
            println!(
                "{:>7.3} {:>7.3}  {first} {second}: {}",
                pair.measured_ratio, pair.predicted_ratio, pair.what
            );
        }
    }
    println!("\nrefusals");
    for refusal in &summary.refusals {
        println!("{:>5}  {}", refusal.rows, refusal.reason);
    }
    if options.refused {
        let steps = |row: &&Row| matches!(row.kind.as_str(), "train_step" | "pipeline");
        for row in validation.rows.iter().filter(steps).filter(|row| row.refused.is_some()) {
            let reason = row.refused.as_deref().unwrap_or_default();
            println!("{} {} {} | {} | {reason}", row.tier, row.id, row.kind, row.model);
        }
    }
    println!("\ntargets");
    for target in &summary.targets {
        let verdict = if target.met { "met" } else { "missed" };
        println!(
            "{:>8.4} of {:>6.3} {verdict:<7} {}: {}",
            target.reached, target.limit, target.name, target.asked
        );
    }
    rows(validation, options);
}

fn header() -> String {
    format!("{:<44}{:>5} {:>8} {:>8} {:>8} {:>8}", "", "rows", "median", "p90", "bias", "in 10 %")
}

fn score(score: &Score) -> String {
    format!(
        "{:>5} {:>7.1}% {:>7.1}% {:>+7.1}% {:>7.0}%",
        score.rows,
        100.0 * score.median,
        100.0 * score.p90,
        100.0 * score.bias,
        100.0 * score.within_tenth
    )
}

fn rows(validation: &Validation, options: &Options) {
    let compares_memory =
        |row: &Row| row.memory_measured_gib.is_some() && row.memory_predicted_gib.is_some();
    let mut rows: Vec<&Row> = validation.rows.iter().collect();
    rows.retain(|row| row.error.is_some() || compares_memory(row));
    if !options.rows {
        rows.retain(|row| row.scored);
        let size = |row: &Row| row.time_error.unwrap_or_default().abs();
        rows.sort_by(|left, right| size(right).total_cmp(&size(left)));
        rows.truncate(options.worst);
    }
    println!(
        "\n{:<20}{:>10}{:>10}{:>8}{:>15}  design",
        "id", "measured", "predicted", "time", "memory GiB"
    );
    for row in rows {
        let gib = |value: Option<f64>| value.map_or(String::from("-"), |gib| format!("{gib:.1}"));
        println!(
            "{:<20}{:>10.4}{:>10.4}{:>+7.1}%{:>8}{:>7}  {} {}",
            row.id,
            row.measured.unwrap_or_default(),
            row.predicted.unwrap_or_default(),
            100.0 * row.time_error.unwrap_or_default(),
            gib(row.memory_predicted_gib),
            gib(row.memory_measured_gib),
            row.model,
            layout(row),
        );
        if let Some([least, most]) = row.predicted_range {
            println!("{:<20}{:>10}{least:>10.4} to {most:.4} by other readings", "", "");
        }
    }
}

/// The layout in short: what a link says of cluster, parallelism, schedule and memory.
fn layout(row: &Row) -> String {
    let link = row.design.as_deref().unwrap_or_default();
    let keep = |pair: &&str| {
        ["cluster.", "parallel.", "schedule.", "training.", "memory."]
            .iter()
            .any(|section| pair.starts_with(section))
            && !pair.contains("layout")
            && !pair.contains("_flops")
    };
    let short = |pair: &str| {
        let (knob, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = knob.split_once('.').map_or(knob, |(_, name)| name);
        let letters: String = name.split('_').filter_map(|word| word.chars().next()).collect();
        format!("{letters}={value}")
    };
    link.split('&').filter(keep).map(short).collect::<Vec<_>>().join(" ")
}
