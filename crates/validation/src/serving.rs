//! Published runs of serving: rows of a file with the columns of `serving_runs.csv`, each as a
//! design that serves, and what the model predicts for its measured field.

mod known;
pub mod expression;
pub mod overheads;
pub mod points;
pub mod score;

use std::sync::LazyLock;

use model::design::Design;
use model::ground::choice::Engine;
use model::serving::{self, Inference, Overheads, ServingPlan};
use serde::Deserialize;

/// Every published run of serving, as the file that comes with the program has it.
#[must_use]
pub fn published() -> &'static [ServingRow] {
    static ROWS: LazyLock<Vec<ServingRow>> = LazyLock::new(|| {
        // A test reads it.
        read(include_str!("../runs/serving_runs.csv")).unwrap_or_default()
    });
    &ROWS
}

/// One row of the file, as it is printed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ServingRow {
    /// Its id.
    pub id: String,
    /// The source's short name.
    pub source_id: String,
    /// Engine and version.
    pub framework: String,
    /// The model's name.
    pub model: String,
    /// `prefill`, `decode` or `end_to_end`.
    pub phase: String,
    /// The accelerator.
    pub accelerator: String,
    /// Devices; cards where a card has two dies.
    pub num_devices: String,
    /// `no`, `yes`, `prefill pool only`, `decode pool only`.
    pub disaggregated: String,
    /// Format of weights.
    pub precision_weights: String,
    /// Format of the cache.
    pub precision_kv: String,
    /// Attention TP.
    pub attention_tp: String,
    /// Attention DP.
    pub attention_dp: String,
    /// EP.
    pub expert_parallel: String,
    /// TP of experts.
    pub expert_tp: String,
    /// PP.
    pub pipeline: String,
    /// Requests of a device.
    pub batch_per_device: String,
    /// Requests in flight.
    pub concurrency: String,
    /// Tokens of a prompt.
    pub input_len: String,
    /// Tokens of an answer.
    pub output_len: String,
    /// Cached tokens of a request.
    pub context_len: String,
    /// Speculation.
    pub mtp_or_spec: String,
    /// Quantity of `value`.
    pub measured_field: String,
    /// The measured value.
    pub value: String,
    /// `A`, `B` or `C`.
    pub tier: String,
    /// Notes of the source's reader.
    pub notes: String,
    /// Knobs that the source sets beyond the other columns: `name=value`, with spaces between.
    pub settings: String,
    /// `data_parallel` where the source ran attention so and prints neither degree.
    pub attention_layout: String,
    /// Mean tokens of prompts and answers, over those that are printed.
    pub length_share: String,
    /// Uses of the row, with spaces between: `held_out` counts to the ranges and is fitted on by
    /// no constant, `seed` to the target of Pangu Pro MoE and its rivals; the steps of a row with
    /// `mixed_steps` prefill beside their decoding.
    pub role: String,
}

impl ServingRow {
    /// Whether the row has this role.
    #[must_use]
    pub fn is(&self, role: &str) -> bool {
        self.role.split_whitespace().any(|word| word == role)
    }
}

/// Quantity that a row measures, in seconds or tokens a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measured {
    /// Time of each output token, or step of decode.
    Tpot,
    /// Gap between two parts of an answer.
    Itl,
    /// Time to the first token at this load.
    Ttft,
    /// Time of a prompt alone.
    Prefill,
    /// Time from sending to the last token.
    Latency,
    /// Output tokens a second.
    Output,
    /// Input and output tokens a second.
    Total,
    /// Input tokens a second of a pool that prefills.
    Input,
}

/// A row that the model predicts.
#[derive(Clone, Debug)]
pub struct ServingRun {
    /// The row.
    pub row: ServingRow,
    /// Its engine.
    pub engine: Engine,
    /// The family of its accelerator.
    pub family: &'static str,
    /// The design.
    pub design: Design,
    /// The measured quantity.
    pub measured: Measured,
    /// The value, in seconds or tokens a second of all devices.
    pub value: f64,
    /// Requests of each attention group, where a step of decode alone is measured.
    pub decode_alone: Option<f64>,
}

impl ServingRun {
    /// Prediction of its value, with these overheads in place of the engine's.
    ///
    /// # Errors
    /// Rules that the design breaks.
    pub fn predicted(&self, overheads: Option<Overheads>) -> Result<f64, String> {
        let plan = ServingPlan::new(&self.design).map_err(|broken| {
            broken.iter().map(|it| it.message.clone()).collect::<Vec<_>>().join("; ")
        })?;
        let plan = match overheads {
            Some(own) => ServingPlan::with_overheads(plan.design(), own),
            None => plan,
        };
        if let Some(requests) = self.decode_alone {
            return Ok(self.of_step(&plan, requests));
        }
        let inference = serving::infer(&plan);
        Ok(self.measure(&plan, &inference))
    }

    fn of_step(&self, plan: &ServingPlan, requests: f64) -> f64 {
        let step = serving::decode_step(plan, requests).get();
        let groups = (plan.replicas().decode * plan.layout().data) as f64;
        let accepted = serving::accepted_tokens(plan);
        match self.measured {
            Measured::Output | Measured::Total => groups * requests * accepted / step,
            Measured::Itl => step,
            Measured::Tpot
            | Measured::Ttft
            | Measured::Prefill
            | Measured::Latency
            | Measured::Input => step / accepted,
        }
    }

    fn measure(&self, plan: &ServingPlan, inference: &Inference) -> f64 {
        let devices = plan.devices() as f64;
        let told = &inference.metrics;
        match self.measured {
            Measured::Tpot => told.tpot_seconds,
            Measured::Itl => told.itl_seconds,
            Measured::Ttft => told.ttft_seconds,
            Measured::Prefill => {
                let prompts = real(&self.row.concurrency).unwrap_or(1.0);
                let groups = (plan.replicas().decode * plan.layout().data) as f64;
                serving::prefill_time(plan, prompts / groups).get()
            }
            Measured::Latency => told.e2e_latency_seconds,
            Measured::Output => told.output_tokens_per_second_per_device * devices,
            Measured::Total => told.total_tokens_per_second_per_device * devices,
            Measured::Input => match real(&self.row.concurrency) {
                Some(prompts) => {
                    let groups = (plan.replicas().decode * plan.layout().data) as f64;
                    let tokens = prompts * self.design.serving.input_length as f64;
                    tokens / serving::prefill_time(plan, prompts / groups).get()
                }
                None => serving::prefill_rate(plan),
            },
        }
    }
}

/// Whether a file's first line has the columns of runs of serving.
#[must_use]
pub fn is_of_serving(text: &str) -> bool {
    let head = text.lines().next().unwrap_or_default();
    head.split(',').any(|column| column.trim() == "measured_field") && head.contains("framework")
}

/// Reads a file's rows.
///
/// # Errors
/// What is wrong with the file, by line.
pub fn read(text: &str) -> Result<Vec<ServingRow>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().map_err(|error| error.to_string())
}

fn real(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}
