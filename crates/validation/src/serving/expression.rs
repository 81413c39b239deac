//! A row of published runs of serving as a design that serves.

use model::design::{Design, KnobId};
use model::ground::choice::{Choice, Disaggregation, Engine, KvDtype, WeightDtype};
use model::serving;

use super::known::{self, Part};
use super::{Measured, ServingRow, ServingRun, real};

/// Requests of a batch of which a source only says that it is as large as it gets.
const MAX_LOAD: u64 = 2_048;

/// The row as a design that serves.
///
/// # Errors
/// Reason why it can't be one.
pub fn express(row: &ServingRow) -> Result<ServingRun, String> {
    let engine = Engine::named_in(&row.framework).ok_or("its engine has no constants")?;
    let part = known::part(&row.accelerator).ok_or("its accelerator has no row")?;
    let mut design = known::design(&row.model)?;
    let weights = weights(row).ok_or("its weights' format isn't told")?;
    if row.disaggregated.starts_with("yes") || row.disaggregated.starts_with("no (hybrid") {
        return Err("its pools' layouts stand in words".into());
    }
    let devices = whole(&row.num_devices).ok_or("no number of devices")? * part.dies;
    let layout = Layout::read(row, &design, devices)?;
    let load = Load::read(row)?;
    layout.set(&mut design);
    load.set(&mut design);
    let set = &mut design.serving;
    set.engine = engine;
    set.weight_dtype = weights;
    set.disaggregation = Disaggregation::None;
    set.kv_cache_dtype = kv_cache(row, engine, weights);
    let [drafts, accepted] = speculation(&row.mtp_or_spec)?;
    set.num_speculative_tokens = drafts as u64;
    set.acceptance_length = (accepted > 0.0).then_some(accepted);
    if engine == Engine::Sglang || engine == Engine::TensorrtLlm {
        set.enable_chunked_prefill = true;
    }
    if let Some(tokens) = row.batch_per_device.strip_suffix(" tokens").and_then(whole) {
        set.max_num_batched_tokens = (tokens / part.dies).max(load.input);
    }
    set_part(&mut design, part)?;
    settings(&mut design, row)?;
    let (mut measured, value) = measured(row, devices)?;
    if measured == Measured::Tpot && row.mtp_or_spec.contains("assumed") {
        // The source prints the step beside tokens that it multiplies by what it assumes.
        measured = Measured::Itl;
    }
    Ok(ServingRun {
        engine,
        family: serving::family(design.cluster.accelerator),
        measured,
        value,
        decode_alone: load.is_decode_alone.then(|| load.requests(row, layout.data)),
        row: row.clone(),
        design,
    })
}

fn set_part(design: &mut Design, part: Part) -> Result<(), String> {
    let name = part.accelerator.name();
    design.set_text(KnobId::accelerator, name).map_err(|error| error.to_string())
}

/// Knobs of the row's own column.
fn settings(design: &mut Design, row: &ServingRow) -> Result<(), String> {
    for setting in row.settings.split_whitespace() {
        let (name, value) = setting.split_once('=').ok_or("its settings are no `name=value`")?;
        let knob = KnobId::find(name).map_err(|error| error.to_string())?;
        design.set_text(knob, value).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Degrees of a row.
#[derive(Clone, Copy, Debug)]
struct Layout {
    tensor: u64,
    data: u64,
    pipeline: u64,
    expert: u64,
    /// TP of experts, of a model that has any.
    expert_tensor: Option<u64>,
}

impl Layout {
    fn read(row: &ServingRow, design: &Design, devices: u64) -> Result<Self, String> {
        let is_moe = design.transformer.has_experts();
        let pipeline = whole(&row.pipeline).unwrap_or(1);
        let (tensor, data) = Self::attention(row, is_moe, devices, pipeline);
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
        Ok(Self { tensor, data, pipeline, expert, expert_tensor: is_moe.then_some(expert_tensor) })
    }

    /// TP and DP of attention.
    fn attention(row: &ServingRow, is_moe: bool, devices: u64, pipeline: u64) -> (u64, u64) {
        match (whole(&row.attention_tp), whole(&row.attention_dp)) {
            (Some(tensor), Some(data)) => (tensor, data),
            // Where experts lie on all devices, groups share them.
            (Some(tensor), None) if is_moe && whole(&row.expert_parallel) == Some(devices) => {
                (tensor, (devices / tensor / pipeline).max(1))
            }
            (Some(tensor), None) => (tensor, 1),
            (None, Some(data)) => ((devices / data / pipeline).max(1), data),
            (None, None) if row.attention_layout == "data_parallel" => (1, devices / pipeline),
            // Latents are not split over heads, and a pool that decodes has one group for each
            // device.
            (None, None) if is_moe && row.phase != "end_to_end" => (1, devices / pipeline),
            (None, None) => (devices / pipeline, 1),
        }
    }

    fn set(&self, design: &mut Design) {
        let set = &mut design.serving;
        set.tensor_parallel_size = self.tensor;
        set.pipeline_parallel_size = self.pipeline;
        set.data_parallel_size = self.data;
        set.moe_expert_parallel_size = if self.expert_tensor.is_some() { self.expert } else { 1 };
        set.moe_tensor_parallel_size = self.expert_tensor;
        design.cluster.num_devices = self.tensor * self.data * self.pipeline;
        // More ranks than experts hold copies of busy ones.
        let experts = design.transformer.num_moe_experts.unwrap_or(self.expert);
        design.routing.redundant_experts = self.expert.saturating_sub(experts);
    }
}

/// Requests of a row and their lengths.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Requests in flight; `None` as many as get in.
    concurrency: Option<u64>,
    /// Whether a source says no more than that the load was as large as it gets.
    is_max: bool,
    input: u64,
    output: u64,
    /// Cached tokens of a request.
    context: Option<u64>,
    /// Whether a step of decode alone is measured.
    is_decode_alone: bool,
}

impl Load {
    fn read(row: &ServingRow) -> Result<Self, String> {
        let is_max = row.concurrency.contains("max load");
        // Of a pool alone, requests of each part that the source counts as one.
        let each = real(&row.batch_per_device);
        let of_parts = each.map(|each| each * whole(&row.num_devices).unwrap_or(1) as f64);
        let is_pool = row.disaggregated.ends_with("pool only") && row.phase == "decode";
        let concurrency =
            whole(&row.concurrency).or_else(|| of_parts.filter(|_| is_pool).map(|all| all as u64));
        if !is_max && concurrency.is_none() && row.phase != "prefill" {
            return Err("its load isn't told as requests in flight".into());
        }
        let share = real(&row.length_share).unwrap_or(1.0);
        let length = |text: &str| real(text).map(|tokens| ((tokens * share) as u64).max(1));
        let context = length(&row.context_len);
        let (input, output) = match (length(&row.input_len), length(&row.output_len)) {
            (Some(input), output) => (input, output.unwrap_or(1)),
            (None, _) => (context.ok_or("its lengths aren't told")?, 1),
        };
        let is_decode_alone = row.phase == "decode" && !row.is("mixed_steps");
        Ok(Self { concurrency, is_max, input, output, context, is_decode_alone })
    }

    fn set(&self, design: &mut Design) {
        let set = &mut design.serving;
        set.input_length = self.input;
        set.output_length = self.output;
        if self.is_decode_alone {
            set.input_length = self.context.unwrap_or(self.input + self.output / 2);
            set.output_length = 1;
        }
        set.concurrency = self.concurrency.map(|all| all.max(1));
        if self.is_max {
            set.max_num_seqs = MAX_LOAD;
        }
    }

    /// Requests of each attention group in a step of decode.
    fn requests(&self, row: &ServingRow, groups: u64) -> f64 {
        let batch = self.concurrency.map(|all| all as f64 / groups as f64);
        batch.or_else(|| real(&row.batch_per_device)).unwrap_or(1.0)
    }
}

/// The whole number that a text begins with; what a source adds in words is its own.
fn whole(text: &str) -> Option<u64> {
    let number: f64 = text.split_whitespace().next()?.parse().ok()?;
    (number >= 1.0 && number.fract() < 1e-9).then_some(number as u64)
}

/// Formats of weights by words of their names; the first that a name holds counts.
const WEIGHTS: [(&str, WeightDtype); 11] = [
    ("mxfp4", WeightDtype::Mxfp4),
    ("fp4", WeightDtype::Nvfp4),
    ("fp8", WeightDtype::Fp8),
    ("hif8", WeightDtype::Fp8),
    ("w8a8", WeightDtype::Int8),
    ("int8", WeightDtype::Int8),
    ("w4a", WeightDtype::Int4),
    ("int4", WeightDtype::Int4),
    ("fp16", WeightDtype::Fp16),
    ("bf16", WeightDtype::Bf16),
    ("", WeightDtype::Bf16),
];

fn weights(row: &ServingRow) -> Option<WeightDtype> {
    let name = row.precision_weights.to_lowercase();
    let is_one = |word: &str| if word.is_empty() { name.is_empty() } else { name.contains(word) };
    let (_, format) = WEIGHTS.iter().find(|(word, _)| is_one(word))?;
    // Whatever else a source says of them, its weights are published so.
    let is_gpt_oss = row.model.to_lowercase().contains("gpt-oss");
    Some(if is_gpt_oss { WeightDtype::Mxfp4 } else { *format })
}

/// Format of the cache: TensorRT-LLM's follows that of the weights.
fn kv_cache(row: &ServingRow, engine: Engine, weights: WeightDtype) -> KvDtype {
    let name = row.precision_kv.to_lowercase();
    let is_narrow = !matches!(weights, WeightDtype::Bf16 | WeightDtype::Fp16 | WeightDtype::Mxfp4);
    let follows = engine == Engine::TensorrtLlm && !name.contains("bf16") && is_narrow;
    if name.contains("fp8") || follows {
        KvDtype::Fp8
    } else if name.contains("int8") {
        KvDtype::Int8
    } else {
        KvDtype::Bf16
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serving::published;

    #[test]
    fn a_sources_exceptions_are_columns_of_its_rows() {
        let silicon = published().iter().find(|row| row.length_share == "0.9").cloned().unwrap();
        let printed = ServingRow { length_share: String::new(), ..silicon.clone() };
        let length = |row: &ServingRow| express(row).unwrap().design.serving.input_length;
        assert_eq!(length(&silicon), (length(&printed) as f64 * 0.9) as u64);
        let is_data = |row: &&ServingRow| row.attention_layout == "data_parallel";
        let offline = published().iter().find(is_data).cloned().unwrap();
        let tensor = |row: &ServingRow| express(row).unwrap().design.serving.tensor_parallel_size;
        assert_eq!(tensor(&offline), 1);
        let unsaid = ServingRow { attention_layout: String::new(), ..offline };
        assert_eq!(tensor(&unsaid), unsaid.num_devices.parse::<u64>().unwrap());
    }

    #[test]
    fn settings_are_knobs() {
        let reason = |row: &ServingRow| express(row).err().unwrap_or_default();
        let usual = published().iter().find(|row| express(row).is_ok()).cloned().unwrap();
        let set = ServingRow { settings: "two_batch_overlap=true".into(), ..usual.clone() };
        assert!(express(&set).unwrap().design.serving.two_batch_overlap);
        let unknown = ServingRow { settings: "overlap=true".into(), ..usual.clone() };
        assert!(reason(&unknown).contains("overlap"), "{}", reason(&unknown));
        let broken = ServingRow { settings: "two_batch_overlap".into(), ..usual };
        assert_eq!(reason(&broken), "its settings are no `name=value`");
    }

    #[test]
    fn every_role_of_the_published_rows_is_known() {
        let roles = ["held_out", "seed", "mixed_steps"];
        for role in roles {
            assert!(published().iter().any(|row| row.is(role)), "{role}");
        }
        for row in published() {
            assert!(row.role.split_whitespace().all(|role| roles.contains(&role)), "{}", row.id);
        }
    }
}
