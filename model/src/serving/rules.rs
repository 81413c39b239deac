//! The rules of serving.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::engine;
use super::need::{host_memory, least_memory};
use super::plan::ServingPlan;
use super::ranks::{Layout, pools};
use crate::catalogue::accelerator::AcceleratorId;
use crate::design::violation::Violation;
use crate::design::{Design, KnobId, KnobSet};
use crate::ground::choice::{Choice, Disaggregation, WeightDtype};
use crate::ground::source::{
    KTRANSFORMERS, MEGATRON, NVIDIA, PANGU_PRO_MOE, PREMOE, Source, TENSORRT_LLM, VLLM,
};
use crate::rules::rule::{Checks, Rule, Words, indivisible, rules, say};
use crate::rules::{nearest, shared_rules};

/// The rules of serving, each with who demands it: those of model and machine come first.
pub fn rules() -> impl Iterator<Item = (&'static Rule, Option<Source>)> {
    let own = RULES.iter().zip(SOURCES).map(|(rule, source)| (rule, Some(*source)));
    shared_rules().map(|rule| (rule, rule.source())).chain(own)
}

/// First rule that a design's serving breaks, if any, with a sentence on how.
pub(crate) fn first_broken(design: &Design) -> Option<(&'static Rule, String)> {
    rules().find_map(|(rule, _)| Some((rule, (rule.check.words)(design)?)))
}

/// Whether a design's serving breaks no rule.
fn is_legal(design: &Design) -> bool {
    rules().all(|(rule, _)| !rule.is_broken(design))
}

/// Every rule of model, machine and serving that a design breaks, each with the nearest legal
/// values.
#[must_use]
pub fn violations(design: &Design) -> Vec<Violation> {
    let broken = rules().filter_map(|(rule, _)| Some((rule, (rule.check.words)(design)?)));
    broken
        .map(|(rule, message)| Violation {
            rule: rule.name,
            knobs: rule.knobs,
            message,
            nearest: nearest(design, rule, is_legal),
        })
        .collect()
}

impl ServingPlan {
    /// Checks a design and derives what formulas need.
    ///
    /// # Errors
    /// Every rule of its model, machine and serving that it breaks.
    pub fn new(design: &Design) -> Result<Self, Vec<Violation>> {
        let broken = violations(design);
        if !broken.is_empty() {
            return Err(broken);
        }
        let overheads = engine::overheads(design.serving.engine, design.cluster.accelerator);
        Ok(Self::with_overheads(design, overheads))
    }
}

fn is_apart(d: &Design) -> bool {
    d.serving.disaggregation == Disaggregation::PrefillDecode
}

/// Both layouts where there are two.
fn layouts(d: &Design) -> impl Iterator<Item = (&'static str, Layout)> {
    let decode = (if is_apart(d) { "a decode" } else { "an" }, Layout::decode(d));
    let prefill = is_apart(d).then(|| ("a prefill", Layout::prefill(d)));
    core::iter::once(decode).chain(prefill)
}

/// Experts of a layer that are kept.
fn kept(d: &Design) -> Option<u64> {
    let routed = d.transformer.num_moe_experts?;
    Some(d.serving.experts_kept.unwrap_or(routed).min(routed))
}

/// Experts that a token visits of them.
fn kept_topk(d: &Design) -> u64 {
    d.serving.experts_kept_topk.unwrap_or(d.transformer.moe_router_topk)
}

/// Whether an accelerator doesn't compute with weights of a format.
pub(super) fn lacks_format(accelerator: AcceleratorId, dtype: WeightDtype) -> bool {
    let row = accelerator.row();
    match dtype {
        WeightDtype::Fp8 => row.fp8_tflops.is_none(),
        WeightDtype::Bf16 => row.bf16_tflops.is_none(),
        WeightDtype::Nvfp4 => row.fp4_tflops.is_none(),
        WeightDtype::Fp16 | WeightDtype::Int8 | WeightDtype::Int4 | WeightDtype::Mxfp4 => false,
    }
}

rules! {
    devices_are_whole_instances
        [tensor_parallel_size, data_parallel_size, pipeline_parallel_size, num_devices,
         decode_devices]
        + [disaggregation, prefill_devices] VLLM,
        |d| {
            let (layout, [_, devices]) = (Layout::decode(d), pools(d));
            let part = layout.devices();
            if devices < part {
                return Some(say!(
                    "an instance of TP {} x DP {} x PP {} needs {part} devices, there are \
                     {devices}",
                    layout.tensor, layout.data, layout.pipeline));
            }
            indivisible(devices, part, || say!(
                "{devices} devices are not a multiple of TP {} x DP {} x PP {} = {part}",
                layout.tensor, layout.data, layout.pipeline))
        };
    prefill_devices_are_whole_instances
        [prefill_devices, decode_devices, prefill_tensor_parallel_size,
         prefill_data_parallel_size, prefill_pipeline_parallel_size]
        + [num_devices, disaggregation, tensor_parallel_size, data_parallel_size,
           pipeline_parallel_size] VLLM,
        |d| {
            if !is_apart(d) {
                return None;
            }
            let (layout, [devices, _]) = (Layout::prefill(d), pools(d));
            let part = layout.devices();
            if devices < part {
                return Some(say!(
                    "a prefill instance of TP {} x DP {} x PP {} needs {part} devices, there are \
                     {devices}", layout.tensor, layout.data, layout.pipeline));
            }
            indivisible(devices, part, || say!(
                "{devices} prefill devices are not a multiple of TP {} x DP {} x PP {} = {part}",
                layout.tensor, layout.data, layout.pipeline))
        };
    pools_are_within_the_cluster [prefill_devices, decode_devices, num_devices]
        + [disaggregation] VLLM,
        |d| {
            let [prefill, decode] = pools(d);
            (is_apart(d) && prefill + decode > d.cluster.num_devices).then(|| say!(
                "{prefill} devices for prefill and {decode} for decode are more than {}",
                d.cluster.num_devices))
        };
    expert_grid_is_the_attention_grid
        [moe_expert_parallel_size, moe_tensor_parallel_size, tensor_parallel_size,
         data_parallel_size, prefill_moe_expert_parallel_size, prefill_moe_tensor_parallel_size]
        + [disaggregation, num_moe_experts, prefill_tensor_parallel_size,
           prefill_data_parallel_size] TENSORRT_LLM,
        |d| {
            d.transformer.num_moe_experts?;
            let (which, layout) = layouts(d).find(|(_, it)| {
                it.expert * it.expert_tensor != it.tensor * it.data
            })?;
            Some(say!(
                "EP {} x expert TP {} of {which} instance is not its TP {} x DP {} = {}",
                layout.expert, layout.expert_tensor, layout.tensor, layout.data,
                layout.tensor * layout.data))
        };
    serving_experts_are_a_multiple_of_ep
        [moe_expert_parallel_size, redundant_experts, prefill_moe_expert_parallel_size,
         experts_kept, experts_on_host]
        + [num_moe_experts, disaggregation, moe_tensor_parallel_size, tensor_parallel_size,
           data_parallel_size, prefill_tensor_parallel_size, prefill_data_parallel_size] VLLM,
        |d| {
            let kept = kept(d)?;
            let experts =
                kept.saturating_sub(d.serving.experts_on_host) + d.routing.redundant_experts;
            let (_, layout) = layouts(d).find(|(_, it)| !experts.is_multiple_of(it.expert))?;
            Some(say!("{experts} experts can't be spread over EP {} evenly", layout.expert))
        };
    kept_experts_are_of_the_model [experts_kept, experts_on_host, experts_kept_topk]
        + [num_moe_experts] PREMOE,
        |d| {
            let serving = &d.serving;
            let routed = d.transformer.num_moe_experts.unwrap_or(0);
            let most = serving.experts_kept.unwrap_or(routed).max(serving.experts_on_host);
            if routed == 0 && (most > 0 || serving.experts_kept_topk.is_some()) {
                return Some(say!("the model has no experts to keep or to put on the host"));
            }
            (most > routed).then(|| say!("{most} experts are more than the {routed} of a layer"))
        };
    kept_experts_hold_a_tokens_choice [experts_kept, experts_kept_topk, moe_router_topk]
        + [num_moe_experts] PREMOE,
        |d| {
            let (kept, topk) = (kept(d)?, kept_topk(d));
            let is_chosen =
                d.serving.experts_kept.is_some() || d.serving.experts_kept_topk.is_some();
            (is_chosen && topk > kept).then(|| {
                say!("a token visits {topk} experts, only {kept} are kept")
            })
        };
    kept_experts_fill_balanced_groups
        [experts_kept, experts_kept_topk, moe_router_num_groups]
        + [num_moe_experts, moe_router_topk, moe_router_group_balanced] PANGU_PRO_MOE,
        |d| {
            let (kept, topk) = (kept(d)?, kept_topk(d));
            let own = &d.transformer;
            let groups = own.moe_router_num_groups.filter(|_| own.moe_router_group_balanced)?;
            let is_chosen =
                d.serving.experts_kept.is_some() || d.serving.experts_kept_topk.is_some();
            let is_even = kept.is_multiple_of(groups) && topk.is_multiple_of(groups);
            (is_chosen && !is_even).then(|| say!(
                "{kept} experts, {topk} a token, are not as many in each of {groups} groups"))
        };
    host_experts_are_of_those_kept [experts_on_host, experts_kept] + [num_moe_experts]
        KTRANSFORMERS,
        |d| {
            let (kept, on_host) = (kept(d)?, d.serving.experts_on_host);
            (on_host > kept).then(|| {
                say!("{on_host} experts on the host are more than {kept} kept")
            })
        };
    host_memory_holds_its_experts [experts_on_host, host_memory_gib, experts_kept, weight_dtype]
        + [num_moe_experts, num_devices, devices_per_node, accelerator, tensor_parallel_size,
           data_parallel_size, pipeline_parallel_size, num_layers, hidden_size,
           moe_ffn_hidden_size, moe_layer_freq, moe_latent_size, ffn_hidden_size,
           gated_linear_unit] KTRANSFORMERS,
        |d| {
            let need = host_memory(d)?;
            (!need.is_met()).then(|| say!(
                "experts on the host need {:.0} GiB of a node, its host has {:.0}",
                need.needed.to_gib(), need.limit.to_gib()))
        };
    serving_heads_are_a_multiple_of_tp
        [tensor_parallel_size, num_attention_heads, prefill_tensor_parallel_size]
        + [disaggregation, data_parallel_size, pipeline_parallel_size] VLLM,
        |d| {
            let heads = d.transformer.num_attention_heads;
            let (_, layout) = layouts(d).find(|(_, it)| !heads.is_multiple_of(it.tensor))?;
            Some(say!("{heads} attention heads can't be split over TP {}", layout.tensor))
        };
    serving_stages_have_layers
        [pipeline_parallel_size, num_layers, prefill_pipeline_parallel_size]
        + [disaggregation] VLLM,
        |d| {
            let layers = d.transformer.num_layers;
            let (_, layout) = layouts(d).find(|(_, it)| it.pipeline > layers)?;
            Some(say!("PP {} is more than the {layers} layers", layout.pipeline))
        };
    budget_holds_a_step [max_num_batched_tokens, max_num_seqs]
        + [num_speculative_tokens] VLLM,
        |d| {
            let tokens = d.serving.max_num_seqs * (1 + d.serving.num_speculative_tokens);
            (tokens > d.serving.max_num_batched_tokens).then(|| say!(
                "a step of {tokens} tokens is more than the budget of {}",
                d.serving.max_num_batched_tokens))
        };
    weights_fit_the_devices_formats [weight_dtype, accelerator] NVIDIA,
        |d| {
            let (accelerator, dtype) = (d.cluster.accelerator, d.serving.weight_dtype);
            lacks_format(accelerator, dtype).then(|| say!(
                "{} does not compute in {}", accelerator.row().title, dtype.name()))
        };
    drafted_tokens_bound_what_is_accepted [acceptance_length, num_speculative_tokens] VLLM,
        |d| {
            let (accepted, drafts) =
                (d.serving.acceptance_length?, d.serving.num_speculative_tokens);
            (accepted > (drafts + 1) as f64).then(|| say!(
                "a step with {drafts} drafted tokens yields at most {}, not {accepted}",
                drafts + 1))
        };
    serving_has_room [gpu_memory_utilization, tensor_parallel_size, weight_dtype,
        moe_expert_parallel_size, pipeline_parallel_size, max_num_batched_tokens, experts_kept,
        experts_on_host]
        + [num_devices, accelerator, disaggregation, data_parallel_size, num_layers, hidden_size,
           input_length, output_length, kv_cache_dtype] MEGATRON,
        |d| {
            let need = least_memory(d)?;
            (!need.is_met()).then(|| say!(
                "weights, activations and one request need {:.1} GiB of a device, the engine takes \
                 {:.1}", need.needed.to_gib(), need.limit.to_gib()))
        };
}
