//! Peaks that PyTorch's allocator measured on one node of B200, beside ours.
//!
//! The runs train a few layers of a model with Megatron-Core and Transformer Engine, a fused loss
//! and a distributed optimizer, and keep routing balanced.
//! Source: SimuMax, `docs/b200/b200_release_v1.2_summary.json`, the fields of the real runs.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::design::{Design, KnobId};
use model::training::estimate::Estimate;
use model::{MemoryState, Plan, estimate, verdict};
use testing::design::{estimated, from_preset, plan};

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

/// Settings that turn DeepSeek-V3 into DeepSeek-V2.
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

/// 34 s b h + 5 a s^2 b bytes a layer over TP with its sequence, two of them dropout's masks and
/// a of the scores' (Korthikanti et al. 2022, arXiv 2205.05198, equations 2 and 4).
#[test]
fn dropout_masks_make_a_layer_what_korthikanti_counts() {
    let activations = |dropout: &str| {
        let design = from_preset(
            "gpt3-175b",
            &[
                ("num_devices", "8"),
                ("pipeline_model_parallel_size", "1"),
                ("virtual_pipeline_model_parallel_size", "1"),
                ("method", "1f1b"),
                ("num_layers", "4"),
                ("tensor_model_parallel_size", "8"),
                ("sequence_parallel", "true"),
                ("tp_comm_overlap", "false"),
                ("seq_length", "2048"),
                ("micro_batch_size", "1"),
                ("global_batch_size", "8"),
                ("precision", "fp16"),
                ("flash_attention", "false"),
                ("recompute_granularity", "none"),
                ("hidden_dropout", dropout),
                ("attention_dropout", dropout),
            ],
        );
        let estimate = estimated(&design);
        estimate.stages[0].memory.activations.get()
    };
    let [s, h, a] = [2048.0, 12_288.0, 96.0];
    let layer = |tokens: f64, scores: f64| s * h * (tokens + scores * a * s / h) / 8.0;
    let head = 2.0 * s * h * 2.0 / 8.0;
    for (dropout, tokens, scores) in [("0", 32.0, 4.0), ("0.1", 34.0, 5.0)] {
        let wanted = 4.0 * layer(tokens, scores) + head;
        let found = activations(dropout);
        assert!((found / wanted - 1.0).abs() < 1e-9, "{dropout}: {found} {wanted}");
    }
}

/// A dense model on eight ranks, FSDP's ZeRO-2 over four of them with two stages.
fn on(framework: &str, settings: &[(&str, &str)]) -> Estimate {
    let mut design = Design::from_preset("llama-3-8b").unwrap();
    for (knob, value) in [
        ("num_devices", "8"),
        ("tensor_model_parallel_size", "1"),
        ("sequence_parallel", "false"),
        ("tp_comm_overlap", "false"),
        ("pipeline_model_parallel_size", "2"),
        ("virtual_pipeline_model_parallel_size", "1"),
        ("method", "1f1b"),
        ("context_parallel_size", "1"),
        ("global_batch_size", "64"),
        ("framework", framework),
    ]
    .iter()
    .chain(settings)
    {
        design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
    }
    estimated(&design)
}

#[test]
fn deepspeed_keeps_16_bit_gradients_beside_those_in_fp32() {
    let stage = on("deepspeed", &[]).stages[0];
    let per_param = stage.memory.gradients.get() / stage.params as f64;
    assert!((per_param - 6.0).abs() < 1e-9, "{per_param}");
    // In 16 bits they are the parameters' own; the rank's quarter is flattened and cast.
    let stage = on("deepspeed", &[("gradient_dtype", "bf16")]).stages[0];
    let per_param = stage.memory.gradients.get() / stage.params as f64;
    assert!((per_param - (2.0 + 6.0 / 4.0)).abs() < 1e-9, "{per_param}");
}

/// DeepSpeed's own estimate of ZeRO-3, 18 bytes a parameter shared out over all ranks, and the
/// gradients alone for ZeRO-2; ZeRO-1 keeps both kinds whole.
/// Source: DeepSpeed, `stage3.py`, `estimate_zero3_model_states_mem_needs`.
#[test]
fn deepspeed_shares_out_gradients_from_zero_2_on_whatever_the_number_of_ranks() {
    for devices in ["8", "16", "64", "256"] {
        let ranks: f64 = devices.parse().unwrap();
        let per_param = |strategy: &str| {
            let estimate = on(
                "deepspeed",
                &[
                    ("pipeline_model_parallel_size", "1"),
                    ("num_devices", devices),
                    ("global_batch_size", "256"),
                    ("data_parallel_sharding_strategy", strategy),
                ],
            );
            let stage = estimate.stages[0];
            let params = stage.params as f64;
            let parts = [stage.memory.weights, stage.memory.gradients, stage.memory.optimizer];
            parts.map(|bytes| bytes.get() / params)
        };
        let close = |found: f64, wanted: f64| {
            assert!((found / wanted - 1.0).abs() < 1e-9, "{devices}: {found}, {wanted}");
        };
        let [_, gradients, _] = per_param("optim");
        close(gradients, 6.0);
        let [weights, gradients, optimizer] = per_param("optim_grads");
        close(weights, 2.0);
        close(gradients + optimizer, 16.0 / ranks);
        close(per_param("optim_grads_params").iter().sum(), 18.0 / ranks);
    }
}

#[test]
fn a_pipeline_on_fsdp_adds_up_whole_gradients() {
    let sharding = [("data_parallel_sharding_strategy", "optim_grads")];
    let stage = on("fsdp", &sharding).stages[0];
    let per_param = stage.memory.gradients.get() / stage.params as f64;
    assert!((per_param - (4.0 + 4.0 / 4.0)).abs() < 1e-9, "{per_param}");
}

/// A forward fills the layers that the other micro-batch's backward empties: Qwen3-30B-A3B on 16
/// H100 peaked at 62.17 with and 61.35 GiB without the overlap (Megatron-Bridge, `skills`).
#[test]
fn a_pair_without_a_pipeline_holds_two_layers_more_than_one_micro_batch() {
    let run = |overlap: &str| {
        let design = from_preset(
            "qwen3-30b-a3b",
            &[
                ("num_devices", "16"),
                ("tensor_model_parallel_size", "1"),
                ("sequence_parallel", "false"),
                ("tp_comm_overlap", "false"),
                ("pipeline_model_parallel_size", "1"),
                ("virtual_pipeline_model_parallel_size", "1"),
                ("expert_model_parallel_size", "16"),
                ("method", "1f1b"),
                ("recompute_granularity", "none"),
                ("delay_wgrad_compute", "false"),
                ("overlap_moe_expert_parallel_comm", overlap),
            ],
        );
        let run = |timing: &str| {
            let mut design = design.clone();
            design.set_text(KnobId::find("timing").unwrap(), timing).unwrap();
            let plan = plan(&design);
            estimate(&plan).stages[0].memory.activations.get()
        };
        ["simulated", "closed_form"].map(run)
    };
    for (with, without) in run("true").into_iter().zip(run("false")) {
        let more = with / without - 1.0;
        assert!((more - 2.0 / 48.0).abs() < 1e-9, "{more}");
    }
}

/// DeepSeek-V3-16B on eight devices with FSDP and EP 8, nothing computed again.
fn deepseek_16b(accelerator: &str, micro_batch: &str, batch: &str) -> (Plan, Estimate) {
    let mut design = Design::from_preset("deepseek-v3").unwrap();
    for (knob, value) in [
        ("accelerator", accelerator),
        ("num_devices", "8"),
        ("num_layers", "27"),
        ("hidden_size", "2048"),
        ("ffn_hidden_size", "10944"),
        ("num_attention_heads", "16"),
        ("q_lora_rank", "none"),
        ("num_moe_experts", "64"),
        ("moe_router_topk", "6"),
        ("moe_ffn_hidden_size", "1408"),
        ("moe_shared_expert_intermediate_size", "2816"),
        ("moe_layer_freq", "([0]*1+[1]*26)"),
        ("moe_router_num_groups", "none"),
        ("moe_router_group_topk", "none"),
        ("mtp_num_layers", "0"),
        ("vocab_size", "102400"),
        ("noop_layers", "none"),
        ("pipeline_model_parallel_size", "1"),
        ("expert_model_parallel_size", "8"),
        ("data_parallel_sharding_strategy", "optim_grads_params"),
        ("framework", "fsdp"),
        ("cross_entropy_loss_fusion", "true"),
        ("recompute_granularity", "none"),
        ("micro_batch_size", micro_batch),
        ("global_batch_size", batch),
    ] {
        design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
    }
    let plan = plan(&design);
    let estimate = estimate(&plan);
    (plan, estimate)
}

/// torchtitan issue 1789: the default local batch of 8 ran out of memory on eight H100.
#[test]
fn a_published_run_that_ran_out_of_memory_is_not_said_to_fit() {
    let (_, estimate) = deepseek_16b("h100-sxm-80gb", "8", "64");
    assert_eq!(estimate.metrics.memory_state(), MemoryState::DoesNotFit);
    let (_, estimate) = deepseek_16b("h100-sxm-80gb", "2", "16");
    assert_eq!(estimate.metrics.memory_state(), MemoryState::Fits);
}

/// On eight B200 the recipes that need 176 of 178 GiB ran out of memory: the allocator holds more
/// than tensors need.
#[test]
fn a_peak_within_what_the_allocator_keeps_of_the_limit_is_nearly_full() {
    let (plan, estimate) = deepseek_16b("b200", "10", "80");
    let mut design = plan.design().clone();
    let peak = estimate.metrics.memory_peak.to_gib();
    for (room, nearly) in [(178.0 / 176.0, true), (1.04, true), (1.2, false), (0.98, false)] {
        design.cluster.hbm_usable_gib = Some(peak * room);
        let plan = Plan::new(&design).unwrap();
        let verdict = verdict(&plan, &model::estimate(&plan));
        assert_eq!(verdict.is_nearly_full(), nearly, "{room}");
        assert!(!nearly || verdict.state() != MemoryState::Fits, "{room}");
        assert!(verdict.held > verdict.peak && verdict.held.get() < 1.06 * verdict.peak.get());
    }
}

/// NousResearch/torchtitan, pull request 19: Qwen3-30B-A3B with EP 8 and FSDP over all devices
/// peaked at 167.93 GiB on 8 B200 and at 114.78 on 128, 16 bytes a parameter shared out.
#[test]
fn sharded_states_fall_with_more_devices_as_measured() {
    let peak = |devices: u64| {
        let design = from_preset(
            "qwen3-30b-a3b",
            &[
                ("accelerator", "b200"),
                ("num_devices", &devices.to_string()),
                ("tensor_model_parallel_size", "1"),
                ("sequence_parallel", "false"),
                ("tp_comm_overlap", "false"),
                ("pipeline_model_parallel_size", "1"),
                ("virtual_pipeline_model_parallel_size", "1"),
                ("method", "1f1b"),
                ("expert_model_parallel_size", "8"),
                ("data_parallel_sharding_strategy", "optim_grads_params"),
                ("framework", "fsdp"),
                ("micro_batch_size", "8"),
                ("global_batch_size", &(8 * devices).to_string()),
            ],
        );
        let plan = plan(&design);
        estimate(&plan).metrics.memory_peak.to_gib()
    };
    let fall = peak(8) - peak(128);
    assert!((fall - (167.93 - 114.78)).abs() < 0.5, "{fall}");
}
