//! Runs of serving beside their predictions, for people.

use model::metric::Unit;
use present::format;
use present::page::trust::words;
use validation::report::serving::{ServingRowReport, ServingValidation};

use super::text;
use crate::columns::{table, table_below};

/// Rows, scores by group, refusals and targets, as tables.
pub(super) fn text(report: &ServingValidation) -> String {
    let mut said = rows(&report.rows);
    for (by, title) in [
        ("metric", "By metric"),
        ("engine", "By engine, tokens and throughput"),
        ("accelerator", "By accelerator, tokens and throughput"),
        ("source", "By source, tokens and throughput"),
        ("model", "By model, tokens and throughput"),
    ] {
        let of = report.groups.iter().filter(|group| group.by == by);
        said.push_str(&text::groups(title, of));
    }
    let refusals = report.refusals.iter();
    let lines: Vec<_> =
        refusals.map(|it| vec![format::whole(it.rows as u64), it.reason.clone()]).collect();
    if !lines.is_empty() {
        said.push_str(&format!("\nRefused\n{}", table("rl", &lines)));
    }
    said.push_str(&text::targets(&report.targets));
    said
}

fn rows(rows: &[ServingRowReport]) -> String {
    let line = |row: &ServingRowReport| {
        let unit = match row.metric.as_deref() {
            Some("output" | "total" | "input") => Unit::TokensPerSecond,
            _ => Unit::Seconds,
        };
        let shown = |value: Option<f64>| {
            value.map_or_else(String::new, |it| format::in_unit(it, unit).to_string())
        };
        vec![
            row.id.clone(),
            row.metric.clone().unwrap_or_default(),
            shown(row.measured),
            shown(row.predicted),
            row.time_error.map_or_else(String::new, words::error),
            row.refused.as_ref().map_or_else(String::new, |reason| format!("refused: {reason}")),
        ]
    };
    let header = ["run", "metric", "measured", "predicted", "time error", ""];
    format!("Runs of serving\n{}", table_below(header, "llrrrl", rows.iter().map(line)))
}
