//! The chapter on knobs, written from the registry, the rules, and trials: what a knob touches is
//! found by moving it.

use std::collections::BTreeSet;

use model::design::{Design, KnobId};
use model::ground::knob::{Kind, MAX_ARGUMENTS, MAX_NAME, Section, Value};
use model::metric::{MetricId, Regime};
use model::rules::rules;
use model::training::estimate::Metrics;
use model::{Plan, estimate, legal_values};
use server::registry::Takes;
use testing::design::from_preset;

use crate::{keep_part, source};

#[path = "budget.rs"]
mod budget;
#[path = "serving.rs"]
mod serving;

/// Designs from which each knob is moved: together they use what knobs are about.
const STARTS: &[(&str, &[(&str, &str)])] = &[
    ("pangu-ultra-moe-6k", &[]),
    ("pangu-ultra-moe-6k", &[("balance", "uniform"), ("framework", "megatron"), ("ep", "64")]),
    ("pangu-ultra-moe-6k", &[("planner_trigger", "threshold"), ("overlap_p2p_comm", "false")]),
    ("deepseek-v3-2k-h800", &[]),
    ("deepseek-v3-2k-h800", &[("moe_token_dispatcher_type", "alltoall")]),
    ("deepseek-v3", &[("recompute_granularity", "none"), ("recompute_modules", "none")]),
    ("pangu-pro-moe-4k", &[]),
    ("qwen3-8b", &[]),
    ("qwen3-30b-a3b", &[("moe_expert_capacity_factor", "1"), ("balance", "skewed")]),
    ("llama-3-70b", &[("recompute_granularity", "full"), ("recompute_num_layers", "4")]),
    ("llama-3-70b", &[("sequence_parallel", "false")]),
    ("mixtral-8x7b", &[("data_parallel_sharding_strategy", "optim_grads_params")]),
];

/// Values of a knob that are tried from each start, at most.
const TRIES: usize = 6;

#[test]
fn every_knob_is_in_the_guide_as_the_registry_has_it() {
    let starts: Vec<(Design, Metrics)> = STARTS.iter().map(start).collect();
    assert!(starts.iter().all(|(_, metrics)| metrics.mfu > 0.0));
    let mut text = String::new();
    for section in Section::ALL {
        text.push_str(&format!("## {}: `{}`\n\n", title(section), section.name()));
        for id in KnobId::in_section(section) {
            text.push_str(&describe(id, &starts));
        }
    }
    keep_part("docs/guide/knobs.md", "knobs", &text);
}

const fn title(section: Section) -> &'static str {
    match section {
        Section::Transformer => "The shape of the model",
        Section::Cluster => "The machine",
        Section::Parallel => "How the model is cut",
        Section::Schedule => "Order and overlap",
        Section::Training => "Batch and number format",
        Section::Memory => "What is kept, computed again or parked",
        Section::Routing => "Where tokens go",
        Section::Kernel => "How operators run",
        Section::Serving => "How the model answers",
        Section::Run => "How long, at what price, and what fails",
    }
}

fn start((preset, settings): &(&str, &[(&str, &str)])) -> (Design, Metrics) {
    let design = from_preset(preset, &*settings);
    let plan = Plan::new(&design).unwrap_or_else(|wrong| panic!("{preset}: {wrong:?}"));
    let metrics = estimate(&plan).metrics;
    (design, metrics)
}

fn describe(id: KnobId, starts: &[(Design, Metrics)]) -> String {
    let knob = id.knob();
    let mut text = format!("### {}\n\n**{}.** {}.\n\n", knob.name, knob.label, id.words().meaning);
    let unit = if knob.unit.is_empty() { String::new() } else { format!(", in {}", knob.unit) };
    text.push_str(&format!("- Takes: {}{unit}\n", takes(id)));
    let aliases: Vec<String> = knob.aliases.iter().map(|alias| format!("`{alias}`")).collect();
    if !aliases.is_empty() {
        text.push_str(&format!("- Short: {}\n", aliases.join(", ")));
    }
    match knob.not_offered {
        Some(reason) => text.push_str(&format!("- Not offered: {reason}\n")),
        None if knob.section == Section::Serving => {
            text.push_str(&format!("- Touches: {}\n", serving::touches(id)));
        }
        None if knob.section == Section::Run => {
            text.push_str(&format!("- Touches: {}\n", budget::touches(id)));
        }
        None => text.push_str(&format!("- Touches: {}\n", touches(id, starts))),
    }
    let of_serving = model::serving::rules::rules().map(|(rule, _)| rule);
    let known = rules().iter().map(|rule| rule.name).collect::<BTreeSet<_>>();
    let rules: Vec<String> = rules()
        .iter()
        .chain(of_serving.filter(|rule| !known.contains(rule.name)))
        .filter(|rule| rule.knobs.contains(&id) && rule.knobs.len() > 1)
        .map(|rule| format!("`{}`", rule.name))
        .collect();
    if !rules.is_empty() {
        text.push_str(&format!("- Rules: {}\n", rules.join(", ")));
    }
    text.push_str(&format!("- Source: {}\n\n", source(id.words().source)));
    text
}

fn takes(id: KnobId) -> String {
    let kind = id.knob().kind;
    let takes = Takes::for_knob(id.knob());
    let or_none = if takes.optional { ", or none" } else { "" };
    match kind {
        Kind::Integer(low, high) | Kind::OptionalInteger(low, high) => {
            let [low, high] = [low, high].map(|bound| present::format::whole(bound).to_string());
            format!("whole numbers from {low} to {high}{or_none}")
        }
        Kind::Real(low, high) | Kind::OptionalReal(low, high) => {
            format!("numbers from {low} to {high}{or_none}")
        }
        Kind::Flag => "on or off".to_owned(),
        Kind::Choice(names) => {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        }
        Kind::Subset(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("any of {}, or none", names.join(", "))
        }
        Kind::LayerFreq => "a number or a pattern such as `([0]*3+[1]*58)`".to_owned(),
        Kind::PerStage(high) => {
            format!("a whole number up to {high}, or one for each stage, or none")
        }
        Kind::PositionList(high) => format!("positions up to {high}, or none"),
        Kind::LayerPattern(text) => format!("a pattern such as `{}`, or none", text.example()),
        Kind::Layout => "a layout such as `Et*3|(tt|)*29mL`, or none".to_owned(),
        Kind::Hash => "the hash of an uploaded trace, or none".to_owned(),
        Kind::Name => format!("a name of up to {MAX_NAME} characters, or none"),
        Kind::Arguments => {
            format!("arguments such as `rotary-base 10000`, up to {MAX_ARGUMENTS} bytes, or none")
        }
    }
}

/// The numbers that a single step moves in at least one of the starts.
fn touches(id: KnobId, starts: &[(Design, Metrics)]) -> String {
    let mut moved = BTreeSet::new();
    for (design, before) in starts {
        for value in values(id, design) {
            let mut other = design.clone();
            if other.set(id, &value).is_err() {
                continue;
            }
            let Ok(plan) = Plan::new(&other) else { continue };
            let after = estimate(&plan).metrics;
            let all = MetricId::of(Regime::Training);
            moved.extend(all.filter(|metric| before.get(*metric) != after.get(*metric)));
        }
    }
    let has = |metric: MetricId| moved.contains(&metric);
    let parts = [
        (has(MetricId::params_total) || has(MetricId::params_active), "parameters"),
        (has(MetricId::flops_per_token), "FLOPs per token"),
        (has(MetricId::step_time_seconds), "speed"),
        (!has(MetricId::step_time_seconds) && has(MetricId::mfu), "MFU as it is counted"),
        (has(MetricId::memory_peak_bytes), "peak memory"),
        (has(MetricId::memory_limit_bytes), "memory limit"),
        (
            has(MetricId::fits)
                && !has(MetricId::memory_peak_bytes)
                && !has(MetricId::memory_limit_bytes),
            "whether swapped tensors fit the host",
        ),
        (has(MetricId::bubble_ratio), "bubble"),
        (has(MetricId::comm_volume_bytes), "communication volume"),
        (has(MetricId::comm_exposed_seconds), "exposed communication"),
        (has(MetricId::imbalance_ratio), "expert imbalance"),
        (has(MetricId::token_drop_ratio), "dropped tokens"),
    ];
    let parts: Vec<&str> = parts.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    if parts.is_empty() { "nothing alone".to_owned() } else { parts.join(", ") }
}

/// Other values that a knob is moved to: those next to its own, and of names all.
fn values(id: KnobId, design: &Design) -> Vec<Value> {
    let now = design.get(id);
    let row = design.cluster.accelerator.row();
    match id.knob().kind {
        Kind::Real(low, high) | Kind::OptionalReal(low, high) => {
            let usual = match id {
                KnobId::hbm_usable_gib => row.hbm_usable_gib,
                KnobId::peak_bf16_tflops | KnobId::peak_for_mfu => row.bf16_tflops.unwrap_or(low),
                KnobId::intra_node_gb_per_sec => row.intra_node_gb_per_sec,
                KnobId::inter_node_gb_per_sec => row.inter_node_gb_per_sec,
                KnobId::host_gb_per_sec => row.host_gb_per_sec,
                KnobId::host_memory_gib => row.host_memory_gib,
                KnobId::dispatch_microseconds => 60.0,
                KnobId::straggler_sigma => 0.01,
                _ => 1.5,
            };
            let now = if let Value::Real(now) = now { now } else { usual };
            [0.1, 0.8, 1.3].map(|factor| Value::Real((now * factor).clamp(low, high))).to_vec()
        }
        Kind::Subset(names) => names
            .iter()
            .map(|name| Value::List(vec![Value::Text((*name).to_owned())]))
            .chain([Value::List(vec![])])
            .collect(),
        Kind::PerStage(_) => [1, 2].map(Value::Integer).to_vec(),
        Kind::LayerFreq => [1, 2].map(Value::Integer).to_vec(),
        Kind::LayerPattern(_) => [Value::None].to_vec(),
        Kind::Layout => uneven_layouts(design).into_iter().map(Value::Text).collect(),
        // The first of them in front of all layers.
        Kind::PositionList(_) => match now {
            Value::List(mut places) if !places.is_empty() => {
                places[0] = Value::Integer(0);
                vec![Value::List(places)]
            }
            _ => vec![],
        },
        Kind::Hash | Kind::Name | Kind::Arguments => vec![],
        Kind::Integer(..) | Kind::OptionalInteger(..) | Kind::Flag | Kind::Choice(_) => {
            nearest(legal_values(design, id), &now)
        }
    }
}

/// A layer of the first chunk moved to the second one, and one of the last chunk to the first one,
/// where layers are spread evenly.
fn uneven_layouts(design: &Design) -> Vec<String> {
    let (parallel, transformer) = (&design.parallel, &design.transformer);
    let chunks =
        parallel.pipeline_model_parallel_size * parallel.virtual_pipeline_model_parallel_size;
    let is_even = transformer.num_layers.is_multiple_of(chunks) && transformer.mtp_num_layers == 0;
    if chunks < 3 || !is_even {
        return vec![];
    }
    let (chunks, each) = (chunks as usize, (transformer.num_layers / chunks) as usize);
    let moved = |from: usize, to: usize| {
        let layers = |chunk| each + usize::from(chunk == to) - usize::from(chunk == from);
        let parts: Vec<String> = (0..chunks).map(|chunk| "t".repeat(layers(chunk))).collect();
        format!("E{}L", parts.join("|"))
    };
    vec![moved(0, 1), moved(chunks - 1, 0)]
}

/// Values next to the present one.
fn nearest(values: Vec<Value>, now: &Value) -> Vec<Value> {
    let place = values.iter().position(|value| value == now).unwrap_or(0);
    let first = place.saturating_sub(TRIES / 2);
    let all_names = values.iter().all(|value| matches!(value, Value::Text(_) | Value::Flag(_)));
    let near = values.into_iter().enumerate();
    near.filter(|(at, _)| all_names || (first..=first + TRIES).contains(at))
        .map(|(_, value)| value)
        .collect()
}
