//! `validate`: published runs beside what the model predicts for them.

use model::MODEL_VERSION;
use present::format;
use present::site::Page;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use validation::report;
use validation::runs::{self, Run};

use operations::{Refusal, Wrong};
use crate::mcp::tool::{Answer, Tool};
use operations::Caller;

/// Bytes of a file of runs, at most.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Rows that are answered, unless more are asked for, and at most.
const USUAL_ROWS: usize = 20;
const MAX_ROWS: usize = 200;

pub(in crate::mcp) struct Validate;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    /// Only runs of this source's id.
    source: Option<String>,
    /// Only runs whose model's published name has this in it.
    model: Option<String>,
    /// Only runs whose published hardware has this in it, such as H100 or 910B.
    hardware: Option<String>,
    /// A file of runs of your own, CSV with the columns of `published_runs.csv`, in place of the
    /// published ones.
    runs: Option<String>,
    /// Rows to answer, from 1 to 200; 20 unless said.
    rows: Option<usize>,
}

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

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
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

impl Tool for Validate {
    const NAME: &'static str = "validate";
    const TITLE: &'static str = "Compare with published runs";
    const DESCRIPTION: &'static str = "Compares published runs, or runs of your own, with what the \
        model predicts for them: measured, predicted and error of each, its source, and why others \
        aren't predicted. Ask it how far to trust a number on a machine or model.";
    const IS_SEARCH: bool = true;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &dyn Caller) -> Answer<Output> {
        let most = input.rows.unwrap_or(USUAL_ROWS);
        if !(1..=MAX_ROWS).contains(&most) {
            let detail = format!("`rows` is from 1 to {MAX_ROWS}");
            return Err(Refusal::new("out_of_range", "rows", detail));
        }
        let chosen = chosen(&input)?;
        let report = validation::validate(&chosen);
        let summary = &report.summary;
        let score = Score {
            rows: summary.all.rows,
            median: summary.all.median,
            p90: summary.all.p90,
            bias: summary.all.bias,
        };
        let refused = summary.refusals.iter().map(|it| format!("{}: {}", it.rows, it.reason));
        let output = Output {
            link: call.link(Page::Trust.path()),
            runs: chosen.len(),
            refused: refused.collect(),
            rows: report.rows.into_iter().take(most).map(|row| Row::new(row, call)).collect(),
            score,
            model_version: MODEL_VERSION.to_owned(),
        };
        let text = output.text();
        Ok((output, text))
    }
}

/// The runs that are asked for.
fn chosen(input: &Input) -> Result<Vec<Run>, Refusal> {
    let mut all = match &input.runs {
        None => runs::published().to_vec(),
        Some(text) if text.len() > MAX_TEXT_BYTES => {
            let detail =
                format!("`runs` has {} bytes; at most {MAX_TEXT_BYTES} are read", text.len());
            return Err(Refusal::new("too_long", "runs", detail));
        }
        Some(text) => runs::read(text).map_err(|errors| {
            Refusal::of(errors.iter().map(|error| Wrong::new("unreadable_runs", "runs", error.to_string())))
        })?,
    };
    let has = |text: &str, part: &Option<String>| {
        part.as_ref().is_none_or(|part| text.to_lowercase().contains(&part.to_lowercase()))
    };
    all.retain(|run| {
        input.source.as_ref().is_none_or(|source| run.source_id == *source)
            && has(&run.model, &input.model)
            && has(&run.hardware, &input.hardware)
    });
    if all.is_empty() {
        let detail = "no run matches; /trust lists every published one with its source";
        return Err(Refusal::new("no_runs", "source", detail));
    }
    Ok(all)
}

impl Row {
    fn new(row: report::Row, call: &dyn Caller) -> Self {
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
            link: row.design.map(|query| call.design(&query)),
            source: row.source,
            locator: row.locator,
        }
    }
}

impl Output {
    fn text(&self) -> String {
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
