//! Effects of the knobs of serving, found by moving them.

use std::collections::BTreeSet;

use model::design::{Design, KnobId};
use model::ground::knob::{Kind, Value};
use model::legal_values;
use model::metric::MetricId;
use model::metric::Regime;
use model::serving::ServingPlan;
use model::serving::infer;
use testing::design::from_preset;

/// Designs from which each knob is moved.
const STARTS: &[(&str, &[(&str, &str)])] = &[
    ("llama-3-70b", &[("num_devices", "8"), ("tensor_parallel_size", "4"), ("max_num_seqs", "64")]),
    (
        "qwen3-235b-a22b",
        &[
            ("num_devices", "16"),
            ("tensor_parallel_size", "2"),
            ("data_parallel_size", "4"),
            ("moe_expert_parallel_size", "8"),
            ("weight_dtype", "fp8"),
            ("concurrency", "256"),
            ("request_rate", "4"),
            ("input_length", "12000"),
        ],
    ),
    (
        "deepseek-v3",
        &[
            ("accelerator", "h200-sxm-141gb"),
            ("num_devices", "32"),
            ("tensor_parallel_size", "2"),
            ("data_parallel_size", "8"),
            ("moe_expert_parallel_size", "16"),
            ("weight_dtype", "fp8"),
            ("disaggregation", "prefill_decode"),
            ("prefill_devices", "16"),
            ("num_speculative_tokens", "2"),
            ("acceptance_length", "2"),
        ],
    ),
    (
        "deepseek-v3",
        &[
            ("accelerator", "h200-sxm-141gb"),
            ("num_devices", "16"),
            ("data_parallel_size", "16"),
            ("moe_expert_parallel_size", "16"),
            ("weight_dtype", "fp8"),
            ("concurrency", "64"),
            ("experts_kept", "192"),
            ("experts_on_host", "32"),
            ("expert_cache_hit_rate", "0.5"),
            ("host_tflops", "4"),
            ("host_memory_gb_per_sec", "400"),
        ],
    ),
];

/// Values to move a knob to: half and twice of a number, all names.
fn values(id: KnobId, design: &Design) -> Vec<Value> {
    let around = |now: u64| [now / 2, now + 1, now * 2, now * 4].map(Value::Integer).to_vec();
    match (id.knob().kind, design.get(id)) {
        (Kind::Integer(..) | Kind::OptionalInteger(..), Value::Integer(now)) => around(now),
        (Kind::OptionalInteger(..), _) => around(4),
        (Kind::Real(..) | Kind::OptionalReal(..), Value::Real(now)) if now > 0.0 => {
            [0.5, 0.8, 2.0].map(|factor| Value::Real(now * factor)).to_vec()
        }
        (Kind::Real(..) | Kind::OptionalReal(..), _) => [0.5, 2.0].map(Value::Real).to_vec(),
        _ => legal_values(design, id),
    }
}

/// The numbers that a single step moves in at least one of the starts.
pub(super) fn touches(id: KnobId) -> String {
    let mut moved = BTreeSet::new();
    for (preset, settings) in STARTS {
        let design = from_preset(preset, &*settings);
        let plan = ServingPlan::new(&design).unwrap_or_else(|wrong| panic!("{preset}: {wrong:?}"));
        let before = infer(&plan);
        for value in values(id, &design) {
            let mut other = design.clone();
            if other.set(id, &value).is_err() {
                continue;
            }
            let Ok(plan) = ServingPlan::new(&other) else { continue };
            let after = infer(&plan);
            let all = MetricId::of(Regime::Serving);
            let differs = |metric: &MetricId| {
                let [before, after] = [&before, &after].map(|it| it.metrics.get(*metric));
                before.map(|it| it.to_bits()) != after.map(|it| it.to_bits())
            };
            moved.extend(all.filter(differs));
        }
    }
    let is_limit = matches!(id, KnobId::ttft_limit_milliseconds | KnobId::tpot_limit_milliseconds);
    let has = |metric: MetricId| moved.contains(&metric);
    let parts = [
        (has(MetricId::tpot_seconds), "time per token"),
        (has(MetricId::ttft_unloaded_seconds), "time of a prompt"),
        (has(MetricId::ttft_seconds), "time to the first token"),
        (has(MetricId::output_tokens_per_second_per_device), "throughput"),
        (has(MetricId::weights_bytes), "weights"),
        (has(MetricId::kv_cache_bytes), "room for the cache"),
        (has(MetricId::kv_bytes_per_token), "cache per token"),
        (is_limit, "whether the design is said to be good enough"),
    ];
    let parts: Vec<&str> = parts.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    if parts.is_empty() { "nothing alone".to_owned() } else { parts.join(", ") }
}
