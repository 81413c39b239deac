//! What validation says: one row for each run, and a summary.

pub mod kernels;
pub mod serving;

use serde::{Deserialize, Serialize};

/// Every run with its prediction, and how well they agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Validation {
    /// One row for each run, in the file's order.
    pub rows: Vec<Row>,
    /// The scores.
    pub summary: Summary,
    /// The version of the model that predicted.
    pub model_version: String,
}

/// One published run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "PublishedRun"))]
pub struct Row {
    /// The run's id in its file.
    pub id: String,
    /// The source that published it.
    pub source_id: String,
    /// `A`: metric exact and layout complete; `B`: something missing; `C`: weak.
    pub tier: String,
    /// Kind of measurement: `train_step`, `pipeline`, `memory`, `comm_micro`, ...
    pub kind: String,
    /// The model's name as published.
    pub model: String,
    /// The hardware as published.
    pub hardware: String,
    /// The accelerator that it is taken for.
    pub accelerator: Option<String>,
    /// The framework whose overheads count.
    pub framework: Option<String>,
    /// Devices of the run.
    pub num_devices: Option<u64>,
    /// The precision of its matrix products.
    pub precision: String,
    /// The metric that is compared: `step_time_seconds`, `tokens_per_second_per_device`,
    /// `model_tflops_per_device`, `mfu` or `hfu`; none when the source prints none of them.
    pub metric: Option<String>,
    /// The published value.
    pub measured: Option<f64>,
    /// The predicted value, in the source's own convention.
    pub predicted: Option<f64>,
    /// The least and the greatest prediction over what the source leaves open: how it counts FLOPs,
    /// which layout it had. None where it leaves open neither.
    #[serde(default)]
    pub predicted_range: Option<[f64; 2]>,
    /// predicted / measured - 1.
    pub error: Option<f64>,
    /// Error of the step time, whichever metric is compared: positive is too slow.
    pub time_error: Option<f64>,
    /// Error of the step time under constants that were fitted without the run's source; of a
    /// source that no constant was fitted on, that of the model as it is.
    pub left_out_error: Option<f64>,
    /// Whether the measured value is inside the range of 50 % that sources other than its own give.
    pub inside_50: Option<bool>,
    /// Whether it is inside the range of 90 %.
    pub inside_90: Option<bool>,
    /// Published peak memory of a device, in GiB.
    pub memory_measured_gib: Option<f64>,
    /// Predicted peak memory of a device, in GiB.
    pub memory_predicted_gib: Option<f64>,
    /// Does it count towards the targets: tier A or B, a training step, NVIDIA or Ascend?
    pub scored: bool,
    /// Assumptions of the imputation table for what the row leaves open.
    pub assumed: Vec<String>,
    /// Was the model's memory derived from its peak?
    #[serde(skip)]
    pub is_derived_memory: bool,
    /// Do the targets of single nodes count it?
    #[serde(skip)]
    pub is_single_node: bool,
    /// Why it is not expressed.
    pub refused: Option<String>,
    /// The design as a link's query, `?v=1&preset=...`.
    pub design: Option<String>,
    /// Where it was published.
    pub source: String,
    /// Where in the source.
    pub locator: String,
}

/// The scores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ValidationSummary"))]
pub struct Summary {
    /// Rows of the file.
    pub rows: usize,
    /// Rows that can count: tier A or B, a training step, NVIDIA or Ascend.
    pub candidates: usize,
    /// Rows of these whose architecture the knobs express.
    pub expressible: usize,
    /// Rows of these with a prediction.
    pub expressed: usize,
    /// The scores of all expressed rows, but for those whose devices' clock is an input.
    pub all: Score,
    /// By metric, accelerator, source and precision; rows whose devices' clock is an input have a
    /// group of their source alone.
    pub groups: Vec<Group>,
    /// Rank correlations of published sweeps of eight rows or more.
    pub sweeps: Vec<Sweep>,
    /// Runs that differ in one thing.
    pub pairs: Vec<Pair>,
    /// Errors of sources that were left out of the fit, by family of accelerators and kind of
    /// model, all families together last.
    pub left_out: Vec<LeftOutScore>,
    /// Peak memory.
    pub memory: Option<Score>,
    /// Why rows are refused, and how many.
    pub refusals: Vec<Refusal>,
    /// Targets, and the values that were reached.
    pub targets: Vec<Target>,
}

/// Errors of predictions, as shares of the measured value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ValidationScore"))]
pub struct Score {
    /// Rows compared.
    pub rows: usize,
    /// Median of the absolute error.
    pub median: f64,
    /// 90th percentile of the absolute error.
    pub p90: f64,
    /// Median of the step time's error: positive is too slow.
    pub bias: f64,
    /// Share of rows within 10 %.
    pub within_tenth: f64,
}

/// The score of rows that share something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ValidationGroup"))]
pub struct Group {
    /// Column that they share: `metric`, `accelerator`, `source` or `precision`.
    pub by: String,
    /// Its value.
    pub name: String,
    /// Their score.
    pub score: Score,
}

/// A published sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "PublishedSweep"))]
pub struct Sweep {
    /// Source, model and hardware that its rows share.
    pub name: String,
    /// Designs compared; runs that several releases repeat count once.
    pub rows: usize,
    /// Spearman's rank correlation of predicted and measured values.
    pub rank_correlation: f64,
    /// Pairs of its designs whose measured values differ by more than 3 %.
    pub pairs: usize,
    /// Pairs of these in the right order.
    pub pairs_in_order: usize,
}

/// Errors of predictions for sources that no constant was fitted on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutScore {
    /// The family of accelerators; empty for all together.
    pub family: String,
    /// The kind of models, by its name in the calibration; none for dense ones and those with
    /// experts together.
    pub kind: Option<String>,
    /// Runs compared.
    pub rows: usize,
    /// Sources that they come from.
    pub sources: usize,
    /// Median of the absolute error of the step time.
    pub median: f64,
    /// 90th percentile of the same.
    pub p90: f64,
    /// Shares of runs inside the ranges of 50 and 90 % that were made without their source, each
    /// source with the same weight; none where fewer than four sources are.
    pub coverage: Option<[f64; 2]>,
}

/// Two runs that differ in one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "PublishedPair"))]
pub struct Pair {
    /// Difference between the two, such as `recompute full / selective`.
    pub what: String,
    /// The runs' ids.
    pub ids: [String; 2],
    /// Second over first, published step times.
    pub measured_ratio: f64,
    /// Second over first, predicted step times.
    pub predicted_ratio: f64,
}

/// A reason for refusing rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RefusedRuns"))]
pub struct Refusal {
    /// The reason, without what is particular to one row.
    pub reason: String,
    /// Rows refused for it.
    pub rows: usize,
}

/// A target and what was reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ValidationTarget"))]
pub struct Target {
    /// A short name.
    pub name: String,
    /// The target, in words.
    pub asked: String,
    /// Value that was reached.
    pub reached: f64,
    /// The limit.
    pub limit: f64,
    /// Whether it is met.
    pub met: bool,
}
