//! Runs beside their predictions, for agents.

use model::MODEL_VERSION;
use present::format;
use present::site::Page;
use schemars::JsonSchema;
use serde::Serialize;
use validation::report;
use validation::report::serving::ServingRowReport;
use validation::score_of;

use super::answer::Validated;
use crate::caller::Caller;
use crate::provenance::WithProvenance;

/// A measured run beside its prediction.
#[derive(Serialize, JsonSchema)]
struct Row {
    id: String,
    source_id: String,
    /// A: metric exact and layout complete; B: something missing; C: weak.
    tier: String,
    model: String,
    hardware: String,
    num_devices: Option<u64>,
    metric: Option<String>,
    measured: Option<f64>,
    predicted: Option<f64>,
    /// predicted / measured - 1.
    error: Option<f64>,
    /// Is the measured value inside the range of 90 % that other sources give?
    inside_90: Option<bool>,
    /// What the source leaves open and was taken from one table.
    assumed: Vec<String>,
    /// Why it isn't predicted.
    refused: Option<String>,
    /// Opens its design.
    link: Option<String>,
    /// Where it was published.
    source: String,
    locator: String,
}

/// How far predictions are off, as shares of the measured value.
#[derive(Serialize, JsonSchema)]
struct Score {
    rows: usize,
    median: f64,
    p90: f64,
    /// Median of the step time's error: positive is too slow.
    bias: f64,
}

/// Runs beside their predictions, for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
    /// Every published run on a page.
    link: String,
    /// Runs that match, and of them those with a prediction that is scored.
    runs: usize,
    score: Score,
    /// Why runs aren't predicted, and how many.
    refused: Vec<String>,
    rows: Vec<Row>,
    model_version: String,
}

impl Brief {
    /// The brief of a report, with that many of its rows.
    pub(super) fn new(report: &Validated, max_rows: usize, caller: &dyn Caller) -> Self {
        let (runs, score, refusals, rows) = match report {
            Validated::Training(WithProvenance { report, .. }) => {
                let rows = report.rows.iter().take(max_rows);
                let rows: Vec<Row> = rows.map(|row| Row::of_training(row, caller)).collect();
                let summary = &report.summary;
                (report.rows.len(), summary.all.clone(), summary.refusals.as_slice(), rows)
            }
            Validated::Serving(WithProvenance { report, .. }) => {
                let rows = report.rows.iter().take(max_rows);
                let rows: Vec<Row> = rows.map(|row| Row::of_serving(row, caller)).collect();
                let (errors, times): (Vec<f64>, Vec<f64>) = report
                    .rows
                    .iter()
                    .filter(|row| row.scored)
                    .filter_map(|row| error(row).zip(row.time_error))
                    .unzip();
                (report.rows.len(), score_of(&errors, &times), report.refusals.as_slice(), rows)
            }
            // No agent asks for kernels.
            Validated::Kernels(_) => (0, report::Score::default(), &[][..], vec![]),
        };
        Self {
            link: caller.link(Page::Trust.path()),
            runs,
            score: Score {
                rows: score.rows,
                median: score.median,
                p90: score.p90,
                bias: score.bias,
            },
            refused: refusals.iter().map(|it| format!("{}: {}", it.rows, it.reason)).collect(),
            rows,
            model_version: MODEL_VERSION.to_owned(),
        }
    }

    /// The brief in words.
    pub(super) fn text(&self) -> String {
        let share = |share: f64| format::percent(share, 1).to_string();
        let line = |row: &Row| match (&row.metric, row.measured, row.predicted, row.error) {
            (Some(metric), Some(measured), Some(predicted), Some(error)) => format!(
                "{}: {metric} measured {}, predicted {} ({:+.1} %)\n",
                row.id,
                format::significant(measured, 4),
                format::significant(predicted, 4),
                error * 100.0
            ),
            _ => {
                let why = row.refused.as_deref().unwrap_or("nothing that is compared is published");
                format!("{}: not predicted: {why}\n", row.id)
            }
        };
        let score = match self.score.rows {
            0 => "none of them is scored\n".to_owned(),
            rows => format!(
                "{rows} scored: median error {}, 90th percentile {}, bias {}\n",
                share(self.score.median),
                share(self.score.p90),
                share(self.score.bias)
            ),
        };
        let lines: String = self.rows.iter().map(line).collect();
        format!("{} runs; {score}{lines}{}\n", self.runs, self.link)
    }
}

/// predicted / measured - 1 of a run of serving.
fn error(row: &ServingRowReport) -> Option<f64> {
    Some(row.predicted? / row.measured? - 1.0)
}

impl Row {
    fn of_training(row: &report::Row, caller: &dyn Caller) -> Self {
        let row = row.clone();
        Self {
            id: row.id,
            source_id: row.source_id,
            tier: row.tier,
            model: row.model,
            hardware: row.hardware,
            num_devices: row.num_devices,
            metric: row.metric,
            measured: row.measured,
            predicted: row.predicted,
            error: row.error,
            inside_90: row.inside_90,
            assumed: row.assumed,
            refused: row.refused,
            link: row.design.map(|query| caller.design(&query)),
            source: row.source,
            locator: row.locator,
        }
    }

    fn of_serving(row: &ServingRowReport, caller: &dyn Caller) -> Self {
        let error = error(row);
        let row = row.clone();
        Self {
            id: row.id,
            source_id: row.source_id,
            tier: row.tier,
            model: row.model,
            hardware: row.accelerator,
            num_devices: None,
            metric: row.metric,
            measured: row.measured,
            predicted: row.predicted,
            error,
            inside_90: None,
            assumed: vec![],
            refused: row.refused,
            link: row.design.map(|query| caller.design(&query)),
            source: String::new(),
            locator: String::new(),
        }
    }
}
