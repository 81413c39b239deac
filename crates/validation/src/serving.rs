//! Published runs of serving: rows of a file with the columns of `serving_runs.csv`, each as a
//! design that serves, and what the model predicts for its measured field.

mod known;
pub mod overheads;
pub mod points;
mod score;

use std::sync::LazyLock;

use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::ground::choice::{Disaggregation, Engine, KvDtype, WeightDtype};
use model::ground::knob::Value;
use model::serving::{self, Inference, Overheads, ServingPlan};
use serde::Deserialize;

pub use score::validate;

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
        Ok(self.of(&plan, &inference))
    }

    fn of_step(&self, plan: &ServingPlan, requests: f64) -> f64 {
        let step = serving::decode_step(plan, requests);
        let groups = (plan.replicas()[1] * plan.layout().data) as f64;
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

    fn of(&self, plan: &ServingPlan, inference: &Inference) -> f64 {
        let devices = plan.devices() as f64;
        let told = &inference.metrics;
        match self.measured {
            Measured::Tpot => told.tpot_seconds,
            Measured::Itl => told.itl_seconds,
            Measured::Ttft => told.ttft_seconds,
            Measured::Prefill => {
                let prompts = real(&self.row.concurrency).unwrap_or(1.0);
                let groups = (plan.replicas()[1] * plan.layout().data) as f64;
                serving::prefill_seconds(plan, prompts / groups)
            }
            Measured::Latency => told.e2e_latency_seconds,
            Measured::Output => told.output_tokens_per_second_per_device * devices,
            Measured::Total => told.total_tokens_per_second_per_device * devices,
            Measured::Input => match real(&self.row.concurrency) {
                Some(prompts) => {
                    let groups = (plan.replicas()[1] * plan.layout().data) as f64;
                    let tokens = prompts * self.design.serving.input_length as f64;
                    tokens / serving::prefill_seconds(plan, prompts / groups)
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

/// The whole number that a text begins with; what a source adds in words is its own.
fn whole(text: &str) -> Option<u64> {
    let number: f64 = text.split_whitespace().next()?.parse().ok()?;
    (number >= 1.0 && number.fract() < 1e-9).then_some(number as u64)
}

fn real(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// The engine of a framework's name.
fn engine(framework: &str) -> Option<Engine> {
    let name = framework.to_lowercase();
    let has = |word: &str| name.contains(word);
    Some(if has("vllm") && (has("ascend") || has("omni-infer")) {
        Engine::VllmAscend
    } else if has("vllm") {
        Engine::Vllm
    } else if has("sglang") {
        Engine::Sglang
    } else if has("tensorrt") || has("trtllm") {
        Engine::TensorrtLlm
    } else if has("mindie") || has("cloudmatrix") || has("cann-recipes") {
        // Graphs of CANN without a server of another kind.
        Engine::Mindie
    } else {
        return None;
    })
}

fn weights(text: &str) -> Option<WeightDtype> {
    let name = text.to_lowercase();
    let has = |word: &str| name.contains(word);
    Some(if has("mxfp4") {
        WeightDtype::Mxfp4
    } else if has("fp4") {
        WeightDtype::Nvfp4
    } else if has("fp8") || has("hif8") {
        WeightDtype::Fp8
    } else if has("w8a8") || has("int8") {
        WeightDtype::Int8
    } else if has("w4a") || has("int4") {
        WeightDtype::Int4
    } else if has("fp16") {
        WeightDtype::Fp16
    } else if has("bf16") || name.is_empty() {
        WeightDtype::Bf16
    } else {
        return None;
    })
}

/// The row as a design that serves.
///
/// # Errors
/// Reason why it can't be one.
pub fn express(row: &ServingRow) -> Result<ServingRun, String> {
    let engine = engine(&row.framework).ok_or("its engine has no constants")?;
    let part = known::part(&row.accelerator).ok_or("its accelerator has no row")?;
    let (preset, sizes) = known::model(&row.model).ok_or("its model has no sizes here")?;
    let mut design = Preset::find(preset).map_err(|error| error.to_string())?.design();
    for (knob, value) in sizes {
        let id = KnobId::find(knob).map_err(|error| error.to_string())?;
        design.set_text(id, value).map_err(|error| error.to_string())?;
    }
    let mut dtype = weights(&row.precision_weights).ok_or("its weights' format isn't told")?;
    if row.model.to_lowercase().contains("gpt-oss") {
        dtype = WeightDtype::Mxfp4;
    }
    let is_apart = row.disaggregated.starts_with("yes");
    if is_apart || row.disaggregated.starts_with("no (hybrid") {
        return Err("its pools' layouts stand in words".into());
    }
    let devices = whole(&row.num_devices).ok_or("no number of devices")? * part.dies;
    let is_moe = design.transformer.has_experts();
    let pipeline = whole(&row.pipeline).unwrap_or(1);
    let data = whole(&row.attention_dp);
    let tensor = whole(&row.attention_tp);
    let (tensor, data) = match (tensor, data) {
        (Some(tensor), Some(data)) => (tensor, data),
        // Where experts lie on all devices, groups share them.
        (Some(tensor), None) if is_moe && whole(&row.expert_parallel) == Some(devices) => {
            (tensor, (devices / tensor / pipeline).max(1))
        }
        (Some(tensor), None) => (tensor, 1),
        (None, Some(data)) => ((devices / data / pipeline).max(1), data),
        // Latents are not split over heads, and a pool that decodes has one group for each device;
        // NVIDIA's tables of offline load ran attention data parallel.
        (None, None)
            if is_moe && (row.phase != "end_to_end" || row.source_id == "trt_perf_v10") =>
        {
            (1, devices / pipeline)
        }
        (None, None) => (devices / pipeline, 1),
    };
    let ranks = tensor * data;
    if ranks * pipeline > devices {
        return Err("its degrees are more than its devices".into());
    }
    // Groups of experts lie on devices of their own where every token visits all of them.
    let is_grouped = design.transformer.moe_router_group_balanced;
    let spread = if data > 1 || is_grouped { ranks } else { 1 };
    let expert = whole(&row.expert_parallel).unwrap_or(spread);
    let expert_tensor = whole(&row.expert_tp).unwrap_or(ranks / expert.max(1));
    if is_moe && expert * expert_tensor != ranks {
        return Err("attention and expert degrees do not multiply to the same count".into());
    }
    let max_load = row.concurrency.contains("max load");
    let batch = real(&row.batch_per_device);
    // Of a pool alone, requests of each part that the source counts as one.
    let of_parts = batch.map(|each| each * whole(&row.num_devices).unwrap_or(1) as f64);
    let is_pool = row.disaggregated.ends_with("pool only");
    let concurrency = whole(&row.concurrency)
        .or_else(|| of_parts.filter(|_| is_pool && row.phase == "decode").map(|all| all as u64));
    if !max_load && concurrency.is_none() && row.phase != "prefill" {
        return Err("its load isn't told as requests in flight".into());
    }
    let shorter =
        if row.source_id == "silicon" && row.notes.contains("InferenceX") { 0.9 } else { 1.0 };
    let length = |text: &str| real(text).map(|tokens| ((tokens * shorter) as u64).max(1));
    let context = length(&row.context_len);
    let (input, output) = match (length(&row.input_len), length(&row.output_len)) {
        (Some(input), output) => (input, output.unwrap_or(1)),
        (None, _) => (context.ok_or("its lengths aren't told")?, 1),
    };
    let is_decode_alone = row.phase == "decode" && !row.notes.contains("ordinary");
    let set = &mut design.serving;
    set.engine = engine;
    set.weight_dtype = dtype;
    set.tensor_parallel_size = tensor;
    set.pipeline_parallel_size = pipeline;
    set.data_parallel_size = data;
    set.moe_expert_parallel_size = if is_moe { expert } else { 1 };
    set.moe_tensor_parallel_size = is_moe.then_some(expert_tensor);
    set.disaggregation = Disaggregation::None;
    let kv = row.precision_kv.to_lowercase();
    let is_fp8 = kv.contains("fp8")
        || (engine == Engine::TensorrtLlm
            && !kv.contains("bf16")
            && !matches!(dtype, WeightDtype::Bf16 | WeightDtype::Fp16 | WeightDtype::Mxfp4));
    set.kv_cache_dtype = if is_fp8 {
        KvDtype::Fp8
    } else if kv.contains("int8") {
        KvDtype::Int8
    } else {
        KvDtype::Bf16
    };
    set.input_length = if is_decode_alone { context.unwrap_or(input + output / 2) } else { input };
    set.output_length = if is_decode_alone { 1 } else { output };
    set.two_batch_overlap = row.notes.contains("two-batch overlap");
    set.concurrency = concurrency.map(|all| all.max(1));
    if max_load {
        set.max_num_seqs = 2_048;
    }
    let [drafts, accepted] = speculation(&row.mtp_or_spec)?;
    set.num_speculative_tokens = drafts as u64;
    set.acceptance_length = (accepted > 0.0).then_some(accepted);
    if engine == Engine::Sglang || engine == Engine::TensorrtLlm {
        set.enable_chunked_prefill = true;
    }
    if let Some(tokens) = row.batch_per_device.strip_suffix(" tokens").and_then(whole) {
        set.max_num_batched_tokens = (tokens / part.dies).max(input);
    }
    let accelerator = Value::Text(part.accelerator.into());
    design.set(KnobId::accelerator, &accelerator).map_err(|error| error.to_string())?;
    design.cluster.num_devices = ranks * pipeline;
    // More ranks than experts hold copies of busy ones.
    let experts = design.transformer.num_moe_experts.unwrap_or(expert);
    design.routing.redundant_experts = expert.saturating_sub(experts);
    let (mut measured, value) = measured(row, devices)?;
    if measured == Measured::Tpot && row.mtp_or_spec.contains("assumed") {
        // The source prints the step beside tokens that it multiplies by what it assumes.
        measured = Measured::Itl;
    }
    let decode_alone = is_decode_alone.then(|| {
        let batch = concurrency.map(|all| all as f64 / data as f64);
        batch.or_else(|| real(&row.batch_per_device)).unwrap_or(1.0)
    });
    Ok(ServingRun {
        engine,
        family: serving::family(design.cluster.accelerator),
        measured,
        value,
        decode_alone,
        row: row.clone(),
        design,
    })
}

/// Drafts, and the tokens that a step yields where the text gives them.
fn speculation(text: &str) -> Result<[f64; 2], String> {
    let name = text.to_lowercase();
    if name.is_empty() || name.starts_with("none") || name.starts_with("not recorded") {
        return Ok([0.0; 2]);
    }
    let after = |mark: &str| {
        let tail = &name[name.find(mark)? + mark.len()..];
        let tail = tail.trim_start_matches([' ', ':', '(']);
        let number: String =
            tail.chars().take_while(|it| it.is_ascii_digit() || *it == '.').collect();
        number.parse::<f64>().ok()
    };
    let told = after("al ").or_else(|| {
        let tokens = name.find(" tokens/step")?;
        name[..tokens].rsplit([' ', '(']).next()?.parse().ok()
    });
    let drafts = after("mtp").or(after("eagle")).ok_or("its drafts aren't told")?;
    let drafts = if name.contains("eagle") { 3.0 } else { drafts };
    match told {
        Some(accepted) => Ok([drafts.max((accepted - 1.0).ceil()), accepted]),
        None if name.contains("acceptance not printed") || name.contains("not printed") => {
            Err("its acceptance isn't printed".into())
        }
        None => Ok([drafts, 0.0]),
    }
}

fn measured(row: &ServingRow, devices: u64) -> Result<(Measured, f64), String> {
    let value = real(&row.value).ok_or("its value is no number")?;
    let cards = whole(&row.num_devices).unwrap_or(devices) as f64;
    let field = row.measured_field.as_str();
    let millis = value * 1e-3;
    Ok(match field {
        "tpot_ms" | "tpot_ms_median" | "tpot_ms_mean" | "decode_step_ms" => {
            (Measured::Tpot, millis)
        }
        "itl_ms" | "itl_ms_mean" => (Measured::Itl, millis),
        "prefill_latency_ms" => (Measured::Prefill, millis),
        "ttft_ms" | "ttft_ms_median" | "ttft_ms_mean" if row.phase == "prefill" => {
            (Measured::Prefill, millis)
        }
        "ttft_ms" | "ttft_ms_median" | "ttft_ms_mean" => (Measured::Ttft, millis),
        "e2e_latency_ms_mean" => (Measured::Latency, millis),
        "output_tokens_per_s_total" | "tokens_per_s_total" => (Measured::Output, value),
        "output_tokens_per_s_per_device" | "tokens_per_s_per_device" => {
            (Measured::Output, value * cards)
        }
        "output_tokens_per_s_per_node" => (Measured::Output, value * cards / 8.0),
        "total_tokens_per_s_total" => (Measured::Total, value),
        "total_tokens_per_s_per_device" => (Measured::Total, value * cards),
        "tokens_per_s_per_user" => (Measured::Tpot, 1.0 / value),
        "input_tokens_per_s_total" => (Measured::Input, value),
        "input_tokens_per_s_per_device" => (Measured::Input, value * cards),
        "input_tokens_per_s_per_node" => (Measured::Input, value * cards / 8.0),
        _ => return Err(format!("`{field}` isn't predicted")),
    })
}
