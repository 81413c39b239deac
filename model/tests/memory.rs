//! Peaks that PyTorch's allocator measured on one node of B200, beside ours.
//!
//! The runs train a few layers of a model with Megatron-Core and Transformer Engine, a fused loss
//! and a distributed optimizer, and keep routing balanced.
//! Source: SimuMax, `docs/b200/b200_release_v1.2_summary.json`, the fields of the real runs.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::design::{Design, KnobId};
use model::estimate::Estimate;
use model::{Plan, estimate};

/// A node of B200 with 4,096 tokens in a sequence.
const NODE: &[(&str, &str)] = &[
    ("accelerator", "b200"),
    ("num_devices", "8"),
    ("seq_length", "4096"),
    ("virtual_pipeline_model_parallel_size", "1"),
    ("method", "1f1b"),
    ("recompute_granularity", "none"),
    ("cross_entropy_loss_fusion", "true"),
    ("reserved_gib", "0"),
];

/// Twelve layers of Llama 3 70B.
const LLAMA_70B: &[(&str, &str)] = &[("num_layers", "12")];

/// Four layers as wide as Llama 3 405B, with 16 groups of keys.
const LLAMA_405B: &[(&str, &str)] = &[
    ("num_layers", "4"),
    ("hidden_size", "16384"),
    ("ffn_hidden_size", "53248"),
    ("num_attention_heads", "128"),
    ("num_query_groups", "16"),
];

/// One dense and three MoE layers of DeepSeek-V3.
const DEEPSEEK_V3: &[(&str, &str)] = &[
    ("num_layers", "4"),
    ("moe_layer_freq", "([0]*1+[1]*3)"),
    ("mtp_num_layers", "0"),
    ("noop_layers", "none"),
    ("moe_token_dispatcher_type", "alltoall"),
];

/// What makes DeepSeek-V2 of it.
const DEEPSEEK_V2: &[(&str, &str)] = &[
    ("hidden_size", "5120"),
    ("ffn_hidden_size", "12288"),
    ("vocab_size", "102400"),
    ("moe_router_num_groups", "none"),
    ("moe_router_group_topk", "none"),
    ("num_moe_experts", "160"),
    ("moe_router_topk", "6"),
    ("moe_ffn_hidden_size", "1536"),
    ("moe_shared_expert_intermediate_size", "3072"),
];

/// TP, SP with it, PP, CP by Ulysses, EP and the batch that leaves four micro-batches.
fn layout([tp, pp, cp, ep]: [u64; 4]) -> Vec<(&'static str, String)> {
    let dp = 8 / (tp * pp * cp);
    vec![
        ("tensor_model_parallel_size", tp.to_string()),
        ("sequence_parallel", (tp > 1).to_string()),
        ("pipeline_model_parallel_size", pp.to_string()),
        ("context_parallel_size", cp.to_string()),
        ("context_parallel_algo", "a2a".to_owned()),
        ("expert_model_parallel_size", ep.to_string()),
        ("global_batch_size", (4 * dp).to_string()),
    ]
}

fn run(preset: &str, settings: &[&[(&str, &str)]], sizes: [u64; 4]) -> Estimate {
    let mut design = Design::from_preset(preset).unwrap();
    let mut set = |knob: &str, value: &str| {
        design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
    };
    NODE.iter()
        .chain(settings.iter().copied().flatten())
        .for_each(|(knob, value)| set(knob, value));
    layout(sizes).iter().for_each(|(knob, value)| set(knob, value));
    estimate(&Plan::new(&design).unwrap_or_else(|broken| panic!("{preset}: {broken:#?}")))
}

/// Every stage's peak is the measured one within 3 per mille.
#[track_caller]
fn peaks(estimate: &Estimate, measured: &[f64]) {
    assert_eq!(estimate.stages.len(), measured.len());
    for (stage, measured) in estimate.stages.iter().zip(measured) {
        let ours = stage.memory.peak().to_gib();
        assert!((ours / measured - 1.0).abs() < 0.003, "ours {ours}, measured {measured} GiB");
    }
}

#[test]
fn dense_layers_need_the_measured_peak_on_every_rank() {
    for (sizes, measured) in [
        ([1, 2, 1, 1], &[66.55, 62.97][..]),
        ([2, 1, 1, 1], &[60.68]),
        ([4, 1, 1, 1], &[39.07]),
        ([8, 1, 1, 1], &[28.29]),
    ] {
        peaks(&run("llama-3-70b", &[LLAMA_70B], sizes), measured);
    }
    for (sizes, measured) in [
        ([1, 2, 1, 1], &[86.61, 87.08][..]),
        ([2, 1, 1, 1], &[81.59]),
        ([4, 1, 1, 1], &[52.89]),
        ([8, 1, 1, 1], &[38.57]),
    ] {
        peaks(&run("llama-3-8b", &[LLAMA_405B], sizes), measured);
    }
}

#[test]
fn long_sequences_need_the_measured_peak() {
    let long = |tokens| [("seq_length", tokens)];
    for (tokens, sizes, measured) in [
        ("32768", [2, 1, 4, 1], 68.43),
        ("32768", [1, 1, 8, 1], 104.51),
        ("131072", [2, 1, 4, 1], 112.67),
        ("131072", [1, 1, 8, 1], 147.99),
    ] {
        peaks(&run("llama-3-70b", &[LLAMA_70B, &long(tokens)], sizes), &[measured]);
    }
    for (tokens, sizes, measured) in [
        ("32768", [2, 1, 4, 1], 87.03),
        ("32768", [1, 1, 8, 1], 139.22),
        ("131072", [2, 1, 4, 1], 118.13),
    ] {
        peaks(&run("llama-3-8b", &[LLAMA_405B, &long(tokens)], sizes), &[measured]);
    }
}

#[test]
fn moe_layers_need_the_measured_peak_on_every_rank() {
    let deepseek = |more, sizes| run("deepseek-v3", &[DEEPSEEK_V3, more], sizes);
    peaks(&deepseek(&[], [1, 1, 1, 8]), &[104.30]);
    peaks(&deepseek(&[], [1, 2, 1, 4]), &[71.24, 114.00]);
    peaks(&deepseek(DEEPSEEK_V2, [1, 1, 1, 8]), &[45.63]);
    peaks(&deepseek(DEEPSEEK_V2, [1, 2, 1, 4]), &[31.58, 44.70]);
}

/// Without a pipeline their peaks are 50 MiB a layer above the reading: the one tensor that
/// router and shared experts read: SimuMax, and this model with it, counts it for both.
#[test]
fn the_input_of_router_and_shared_experts_is_counted_twice() {
    for (more, width, measured) in [(&[][..], 7_168.0, 104.30), (DEEPSEEK_V2, 5_120.0, 45.63)] {
        let estimate = run("deepseek-v3", &[DEEPSEEK_V3, more], [1, 1, 1, 8]);
        let second_copies = 3.0 * 4_096.0 * width * 2.0 / f64::from(1 << 30);
        let ours = estimate.metrics.memory_peak.to_gib() - second_copies;
        assert!((ours - measured).abs() < 0.01, "ours {ours}, measured {measured} GiB");
    }
}
