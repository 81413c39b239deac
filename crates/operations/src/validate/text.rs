//! Runs of training beside their predictions, for people.

use present::format;
use present::page::trust::words;
use validation::report::{Group, LeftOutScore, Row, Summary, Target, Validation};

use crate::columns::{table, table_below};

/// A target that is missed, in a line.
pub(super) fn missed_line(target: &Target) -> String {
    let (limit, reached) = (words::limit(target), words::reached(target));
    format!("target missed: {}: {reached}, {limit} is asked", target.asked)
}

/// Runs, scores by group, refusals and targets, as tables.
pub(super) fn text(report: &Validation) -> String {
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
pub(super) fn groups<'a>(title: &str, groups: impl Iterator<Item = &'a Group>) -> String {
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

/// One line for each target, or nothing where there is none.
pub(super) fn targets(targets: &[Target]) -> String {
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
