//! What validation says of runs of serving: each beside its prediction, and how well they agree.

use serde::{Deserialize, Serialize};

use super::{Group, Refusal, Target};

/// Every run of serving with its prediction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServingValidation {
    /// One row for each run, in the file's order.
    pub rows: Vec<ServingRowReport>,
    /// By what is measured, engine, accelerator, source and kind of model; of tokens' times and
    /// rates but for the first group.
    pub groups: Vec<Group>,
    /// Why rows are refused, and how many.
    pub refusals: Vec<Refusal>,
    /// Targets, and the values that were reached.
    pub targets: Vec<Target>,
    /// The version of the model that predicted.
    pub model_version: String,
}

/// One run of serving.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "PublishedServingRun"))]
pub struct ServingRowReport {
    /// The run's id in its file.
    pub id: String,
    /// The source that published it.
    pub source_id: String,
    /// `A`: metric exact and layout complete; `B`: something missing; `C`: weak, not scored.
    pub tier: String,
    /// The engine with its version, as published.
    pub framework: String,
    /// The engine whose overheads count.
    pub engine: Option<String>,
    /// The model's name as published.
    pub model: String,
    /// The hardware as published.
    pub accelerator: String,
    /// Field that the source measured.
    pub measured_field: String,
    /// `tpot`, `itl`, `ttft`, `prefill`, `latency`, `output`, `total` or `input`: the metric that
    /// is compared.
    pub metric: Option<String>,
    /// The published value, in seconds or tokens a second of all devices.
    pub measured: Option<f64>,
    /// The predicted value.
    pub predicted: Option<f64>,
    /// Error of the time: positive is too slow.
    pub time_error: Option<f64>,
    /// Does it count towards the targets?
    pub scored: bool,
    /// Why it is not expressed.
    pub refused: Option<String>,
    /// The design as a link's query.
    pub design: Option<String>,
    /// Does the target of Pangu Pro MoE and its rivals count it?
    #[serde(skip)]
    pub is_seed: bool,
}
