//! Runs of serving beside their predictions.

use maud::{Markup, html};
use model::metric::Unit;
use validation::report::serving::{ServingRowReport, ServingValidation};
use validation::report::{Group, Score};

use super::super::SERVING_JSON_PATH;
use super::super::sheet::{Cell, card, table};
use super::super::words;
use super::{TARGET_COLUMNS, target_row};
use crate::draw::text::sentence;
use crate::format;
use crate::site::Page;
use crate::words::name::value;

/// The seeds: Pangu Pro MoE and the dense models that it was compared with.
const SEEDS: &str = "pangu_pro";

const SCORE_COLUMNS: [&str; 5] = ["", "Runs", "Median error", "90th percentile", "Bias"];

/// Validation of serving; empty if there are no runs.
pub(super) fn html(report: &ServingValidation) -> Markup {
    let predicted = report.rows.iter().filter(|row| row.predicted.is_some()).count();
    if predicted == 0 {
        return Markup::default();
    }
    let intro = format!(
        "{} of {} measured latencies and throughputs of served models are predicted, by one set \
         of overheads for each engine and family of accelerators. The error is that of the time: \
         positive is too slow.",
        format::whole(predicted as u64),
        format::whole(report.rows.len() as u64),
    );
    let content = html! {
        (table("Targets of serving", &TARGET_COLUMNS, report.targets.iter().map(target_row)))
        details {
            summary { "Pangu Pro MoE and its rivals" }
            p.muted {
                "The overhead of MindIE on 800I A2 is fitted on the rows of one request alone; all \
                 others are predictions. Speculative rows have no prediction: their drafts aren't \
                 printed."
            }
            (table("Pangu Pro MoE, served", &SEED_COLUMNS, seeds(report)))
        }
        @for (by, title) in GROUPS {
            details {
                summary { (title) }
                (table(title, &SCORE_COLUMNS, groups(report, by)))
            }
        }
        details {
            summary { "Not predicted, and why" }
            (table("Reasons for refusing runs of serving", &["Reason", "Runs"], refusals(report)))
        }
        p {
            a href=(SERVING_JSON_PATH) download="moescape-serving-validation.json" {
                "All rows as JSON"
            }
        }
    };
    card("Serving", &intro, &content)
}

const GROUPS: [(&str, &str); 5] = [
    ("metric", "By what is measured"),
    ("engine", "By engine"),
    ("accelerator", "By the accelerator's name"),
    ("model", "By the model's name"),
    ("source", "By source"),
];

/// Name of a metric by its id, as engines' own reports call it.
fn metric_label(id: &str) -> Option<&'static str> {
    Some(match id {
        "tpot" => "TPOT",
        "itl" => "ITL",
        "ttft" => "TTFT",
        "prefill" => "TTFT, unloaded",
        "latency" => "Request latency",
        "output" => "Output tokens/s",
        "input" => "Input tokens/s",
        "total" => "Input and output tokens/s",
        _ => return None,
    })
}

/// Name of a group: a metric's or an engine's label, any other name as it is.
fn group_label(by: &str, name: &str) -> String {
    let label = match by {
        "metric" => metric_label(name).map(str::to_owned),
        "engine" => value(name),
        _ => None,
    };
    label.unwrap_or_else(|| if name.is_empty() { "not said" } else { name }.to_owned())
}

fn groups<'a>(report: &'a ServingValidation, by: &'a str) -> impl Iterator<Item = Vec<Cell>> + 'a {
    let row = move |Group { name, score, .. }: &Group| {
        let Score { rows, median, p90, bias, .. } = score;
        vec![
            Cell::text(&group_label(by, name)),
            Cell::text(&format::whole(*rows as u64)),
            Cell::text(&words::share(*median)),
            Cell::text(&words::share(*p90)),
            Cell::text(&words::error(*bias)),
        ]
    };
    report.groups.iter().filter(move |group| group.by == by).map(row)
}

const SEED_COLUMNS: [&str; 5] = ["Run", "Measured", "Published", "Predicted", "Error of the time"];

fn seeds(report: &ServingValidation) -> impl Iterator<Item = Vec<Cell>> + '_ {
    let row = |row: &ServingRowReport| {
        let (measured, predicted) = (row.measured?, row.predicted?);
        let is_rate = row.metric.as_deref().is_some_and(is_rate);
        let unit = if is_rate { Unit::TokensPerSecond } else { Unit::Seconds };
        let shown = |value: f64| format::in_unit(value, unit).to_string();
        let link = row.design.as_ref().map(|query| format!("{}?{query}", Page::Serving.path()));
        Some(vec![
            Cell { link, ..Cell::text(&format!("{}, {}", row.model, row.accelerator)) },
            Cell::text(row.metric.as_deref().and_then(metric_label).unwrap_or(&row.measured_field)),
            Cell::text(&shown(measured)),
            Cell::text(&shown(predicted)),
            Cell::text(&row.time_error.map_or_else(String::new, words::error)),
        ])
    };
    report.rows.iter().filter(|row| row.source_id == SEEDS).filter_map(row)
}

fn is_rate(metric: &str) -> bool {
    ["output", "total", "input"].contains(&metric)
}

fn refusals(report: &ServingValidation) -> impl Iterator<Item = Vec<Cell>> + '_ {
    report.refusals.iter().map(|refusal| {
        vec![
            Cell::text(&sentence(&refusal.reason)),
            Cell::text(&format::whole(refusal.rows as u64)),
        ]
    })
}
