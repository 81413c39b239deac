//! The numbers that papers print, from the model's own counts.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::ground::axis::{Axis, Collective, LinkLevel};
use model::training::estimate::Estimate;
use model::{Plan, estimate};
use testing::design::{estimated, from_preset, plan};

fn plan_of(preset: &str, settings: &[(&str, &str)]) -> Plan {
    let design = from_preset(preset, settings);
    Plan::new(&design).unwrap_or_else(|violations| panic!("{preset}: {violations:#?}"))
}

#[track_caller]
fn close(found: f64, published: f64, tolerance: f64) {
    assert!(
        (found - published).abs() <= tolerance,
        "found {found}, published {published} within {tolerance}"
    );
}

/// Megabytes that one call of this kind sends.
#[track_caller]
fn call_mb(estimate: &Estimate, axis: Axis, link: LinkLevel, collective: Collective) -> f64 {
    let row = estimate
        .communication
        .iter()
        .find(|row| (row.axis, row.link, row.collective) == (axis, link, collective))
        .unwrap_or_else(|| panic!("no {axis:?} {link:?} {collective:?}"));
    row.bytes_per_call.get() / 1e6
}

const PAPER: &str = "pangu-ultra-moe-6k@2";

#[test]
fn pangu_ultra_moe_has_the_published_parameters() {
    let metrics = estimate(&plan_of(PAPER, &[])).metrics;
    close(metrics.params_total as f64 / 1e9, 719.09, 0.005);
    close(metrics.params_active as f64 / 1e9, 40.37, 0.005);
    close(metrics.params_total_no_input_embedding as f64 / 1e9, 717.91, 0.005);
    close(metrics.params_active_no_input_embedding as f64 / 1e9, 39.19, 0.005);
    close(plan_of(PAPER, &[]).params_mtp() as f64 / 1e9, 12.44, 0.005);
}

/// Totals in billions by this tool's convention (both embeddings, no MTP), beside what an
/// independent recount of each configuration gives.
const TOTALS: &[(&str, f64, f64)] = &[
    ("deepseek-v3", 671.03, 0.005),
    ("deepseek-v3.1", 671.03, 0.005),
    ("qwen3-235b-a22b", 235.09, 0.005),
    ("qwen3-30b-a3b", 30.53, 0.005),
    ("qwen3-8b", 8.19, 0.005),
    ("qwen3-32b", 32.76, 0.005),
    ("mixtral-8x7b", 46.70, 0.005),
    ("mixtral-8x22b", 140.62, 0.01),
    ("llama-3-8b", 8.03, 0.005),
    ("llama-3-70b", 70.55, 0.005),
    ("llama-3.1-405b", 405.85, 0.005),
    ("kimi-k2", 1026.4, 0.05),
    ("glm-4.5", 352.8, 0.05),
    ("glm-4.5-air", 106.85, 0.005),
    ("llama4-maverick", 400.71, 0.005),
    ("gpt3-175b", 174.6, 0.05),
    ("minimax-m2", 228.7, 0.05),
    ("pangu-pro-moe-72b", 71.99, 0.005),
    ("pangu-ultra-135b", 133.9, 0.05),
    ("telechat3-105b-a4.7b", 104.5, 0.05),
    ("gpt-oss-120b", 116.83, 0.005),
    ("gpt-oss-20b", 20.91, 0.005),
    ("gemma-3-27b", 27.01, 0.005),
    ("qwen3-next-80b-a3b", 79.67, 0.005),
    ("kimi-linear-48b-a3b", 49.12, 0.005),
    ("minimax-m1", 456.09, 0.005),
    ("deepseek-v3.2", 671.88, 0.005),
    ("glm-5", 743.91, 0.005),
    ("deepseek-v4-flash", 284.33, 0.005),
    ("deepseek-v4-pro", 1573.0, 0.005),
    ("longcat-flash", 560.66, 0.005),
    ("kimi-k3", 2779.48, 0.005),
    ("qwen3.5-35b-a3b", 34.66, 0.005),
    ("qwen3.5-27b", 26.90, 0.005),
    ("mimo-v2-flash", 308.78, 0.005),
    ("llama4-scout", 107.77, 0.005),
    ("minimax-m3", 426.17, 0.005),
    ("nemotron-h-8b", 8.10, 0.005),
    ("nemotron-h-56b", 56.32, 0.005),
    ("nemotron-3-nano-30b-a3b", 31.58, 0.005),
    ("nemotron-3-super-120b-a12b", 120.67, 0.005),
    ("nemotron-3-ultra-550b-a55b", 549.31, 0.005),
];

#[test]
fn every_model_has_its_recounted_parameters() {
    for (preset, billions, tolerance) in TOTALS {
        let found = plan_of(preset, &[]).params_total() as f64 / 1e9;
        assert!((found - billions).abs() <= *tolerance, "{preset}: {found} against {billions}");
    }
}

#[test]
fn every_openable_model_is_in_the_recount() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        let is_model = preset.kind == model::catalogue::preset::PresetKind::Model;
        let counted = TOTALS.iter().any(|(id, _, _)| *id == preset.id);
        assert!(!is_model || counted || preset.id == "pangu-ultra-moe-718b", "{}", preset.id);
    }
}

#[test]
fn pangu_pro_moe_activates_the_published_parameters() {
    close(plan_of("pangu-pro-moe-72b", &[]).params_active() as f64 / 1e9, 16.50, 0.005);
}

#[test]
fn flops_per_token_follow_the_convention() {
    let gflop = |settings: &[(&str, &str)]| plan_of(PAPER, settings).flops_per_token().get() / 1e9;
    close(gflop(&[]), 371.5, 0.05);
    close(gflop(&[("count_mtp_flops", "false")]), 357.9, 0.05);
    close(gflop(&[("attention_flops", "causal")]), 309.1, 0.05);
    close(gflop(&[("attention_flops", "causal"), ("count_mtp_flops", "false")]), 296.5, 0.05);
    close(gflop(&[("seq_length", "4096")]), 309.1, 0.05);
}

#[test]
fn bubbles_are_the_published_ones() {
    let bubble = |preset, settings: &[(&str, &str)]| {
        100.0 * plan_of(preset, settings).bubble_ratio_closed_form()
    };
    close(bubble(PAPER, &[]), 10.490, 0.0005);
    // MindSpeed's pairs have several chunks on a stage.
    close(bubble(PAPER, &[("vpp", "1"), ("framework", "ideal")]), 18.987, 0.0005);
    // Pangu Ultra: p = 8, n = 16 and v = 6; 1,024 NPUs at TP 8 have DP 16.
    let dense = [("gbs", "256"), ("method", "1f1b"), ("vpp", "1")];
    close(bubble("pangu-ultra-135b", &dense), 30.43, 0.005);
    close(bubble("pangu-ultra-135b", &[("gbs", "256")]), 6.80, 0.005);
}

/// p = 8, m = 32 with F = dX = dW = 1: step 96 + bubble, as three public simulators agree.
#[test]
fn bubbles_of_all_schedules_are_those_of_public_simulators() {
    let base = [("pp", "8"), ("gbs", "3072"), ("delay_wgrad_compute", "false")];
    for (method, vpp, step) in [
        ("1f1b", "1", 117.0),
        ("interleaved", "2", 106.5),
        ("interleaved", "4", 101.25),
        ("zb_h1", "1", 103.0),
        ("zb_2p", "1", 96.0),
        ("zb_v", "2", 99.5),
        ("dualpipe", "1", 102.0),
        ("dualpipev", "2", 103.0),
    ] {
        let mut settings = base.to_vec();
        settings.extend([("method", method), ("vpp", vpp), ("mbs", "1"), ("noop_layers", "61,62")]);
        let plan = plan_of(PAPER, &settings);
        assert_eq!(plan.num_microbatches(), 32);
        let found = 96.0 / (1.0 - plan.bubble_ratio_closed_form());
        assert!((found - step).abs() < 1e-9 * step, "{method} v={vpp}: {found} against {step}");
    }
}

#[test]
fn exchanges_of_one_layer_have_the_derived_volumes() {
    let hierarchical = estimate(&plan_of(PAPER, &[]));
    let flat = estimate(&plan_of(PAPER, &[("moe_hierarchical_alltoallv", "false")]));
    let (intra, inter) = (LinkLevel::IntraNode, LinkLevel::InterNode);
    close(call_mb(&flat, Axis::Ep, inter, Collective::AllToAll), 188.7, 0.05);
    close(call_mb(&flat, Axis::Ep, intra, Collective::AllToAll), 55.1, 0.05);
    close(call_mb(&hierarchical, Axis::Ep, inter, Collective::AllGather), 94.4, 0.05);
    close(call_mb(&hierarchical, Axis::Ep, intra, Collective::AllToAll), 220.2, 0.05);
    close(call_mb(&hierarchical, Axis::Tp, intra, Collective::AllGather), 220.2, 0.05);
    close(call_mb(&hierarchical, Axis::Pp, inter, Collective::P2p), 31.5, 0.05);
}

#[test]
fn static_memory_of_four_moe_layers_is_the_derived_one() {
    let memory = estimate(&plan_of(PAPER, &[])).stages[4].memory;
    close(memory.weights.to_gib(), 3.16, 0.005);
    close(memory.gradients.to_gib(), 6.32, 0.005);
    close(memory.optimizer.to_gib(), 1.45, 0.005);
}

#[test]
fn the_paper_fits_with_its_recompute_and_swap_and_not_without() {
    let fits = |settings: &[(&str, &str)]| estimate(&plan_of(PAPER, settings)).metrics.fits;
    assert!(fits(&[]));
    assert!(!fits(&[
        ("recompute_granularity", "none"),
        ("recompute_modules", "none"),
        ("swap_modules", "none"),
    ]));
}

#[test]
fn in_flight_micro_batches_are_the_published_ones() {
    let first =
        |settings: &[(&str, &str)]| estimate(&plan_of(PAPER, settings)).stages[0].peak_in_flight;
    let undelayed = ("delay_wgrad_compute", "false");
    close(first(&[("method", "interleaved"), undelayed]), 23.5, 1e-12);
    close(first(&[]), 24.0, 1e-12);
    close(first(&[("method", "1f1b"), ("vpp", "1"), undelayed]), 16.0, 1e-12);
    close(first(&[("method", "dualpipe"), ("vpp", "1")]), 17.0, 1e-12);
    let small = [("pp", "8"), ("gbs", "3072"), ("mbs", "1"), ("method", "interleaved"), undelayed];
    let with_vpp = |vpp: &'static str| {
        let mut settings = small.to_vec();
        settings.push(("vpp", vpp));
        first(&settings)
    };
    close(with_vpp("2"), 11.5, 1e-12);
    close(with_vpp("4"), 9.75, 1e-12);
}

/// Korthikanti et al. 2022, table 2, sequence parallel: s b h 34 / t, of which 2 s b h / t are the
/// masks of two dropouts and, per layer, one byte each; attention here is flash attention.
#[test]
fn a_dense_layer_without_gate_keeps_the_published_activations() {
    let gpt = |tp: &'static str| {
        let settings = [
            ("tp", tp),
            ("num_devices", "128"),
            ("recompute_granularity", "selective"),
            ("recompute_modules", "core_attn"),
        ];
        let estimate = estimate(&plan_of("gpt3-175b", &settings));
        let stage = &estimate.stages[1];
        let layers = f64::from(stage.num_layers);
        stage.memory.activations.get() / stage.peak_in_flight / layers
    };
    let (s, b, h) = (2_048.0, 1.0, 12_288.0);
    close(gpt("8"), s * b * h * 32.0 / 8.0, 1.0);
}

/// Saved activations of 4,096 tokens, verified against measured memory elsewhere: 1,329.0 MiB in a
/// dense layer and 1,841.0 MiB in a MoE layer of DeepSeek-V3.
#[test]
fn deepseek_v3_layers_keep_the_verified_activations() {
    let settings = [
        ("num_devices", "8"),
        ("pp", "1"),
        ("ep", "8"),
        ("noop_layers", "none"),
        ("gbs", "64"),
        ("recompute_granularity", "none"),
        ("mtp_num_layers", "0"),
        ("num_layers", "1"),
    ];
    let activations = |pattern: &'static str| {
        let mut settings = settings.to_vec();
        settings.push(("moe_layer_freq", pattern));
        let stage = estimate(&plan_of("deepseek-v3", &settings)).stages[0];
        // The head's own two tensors of the hidden state are not a layer's.
        let head = 2.0 * 4_096.0 * 7_168.0 * 2.0;
        (stage.memory.activations.get() - head) / 1_048_576.0
    };
    close(activations("([0]*1)"), 1_329.0, 3.0);
    close(activations("([1]*1)"), 1_841.0, 3.0);
}

/// Activation memory of one layer of Korthikanti et al. 2022, table 3's models, in bytes over s b
/// h: none, sequence parallel, selective with it, and full with it.
///
/// The paper's own terms are 10 + 24 / t + 5 a s / (h t), (34 + 5 a s / h) / t, 34 / t and 2 / t.
/// The masks of three dropouts aren't kept here: 2 of the 10 and of the 34, and 1 of the 5.
#[test]
fn layers_keep_what_korthikanti_et_al_publish_but_for_dropout() {
    let models = [
        ("22B", 64.0, 6_144.0, 4.0),
        ("175B", 96.0, 12_288.0, 1.0),
        ("530B", 128.0, 20_480.0, 1.0),
        ("1T", 160.0, 25_600.0, 1.0),
    ];
    let (s, t) = (2_048.0, 8.0);
    for (name, heads, hidden, micro_batch) in models {
        let kept = |sequence_parallel: bool, granularity: &'static str| {
            let numbers = [
                ("num_attention_heads", heads),
                ("num_query_groups", heads),
                ("hidden_size", hidden),
                ("ffn_hidden_size", 4.0 * hidden),
                ("kv_channels", hidden / heads),
                ("micro_batch_size", micro_batch),
                ("num_layers", 8.0),
                ("num_devices", 8.0),
                ("pp", 1.0),
                ("vpp", 1.0),
                ("gbs", micro_batch),
            ];
            let mut design = Design::from_preset("gpt3-175b").unwrap();
            let mut set = |knob: &str, value: &str| {
                design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
            };
            for (knob, value) in numbers {
                set(knob, &value.to_string());
            }
            set("method", "1f1b");
            set("sequence_parallel", if sequence_parallel { "true" } else { "false" });
            set("flash_attention", "false");
            set("recompute_granularity", granularity);
            set("recompute_modules", if granularity == "selective" { "core_attn" } else { "none" });
            let plan = Plan::new(&design).unwrap_or_else(|broken| panic!("{name}: {broken:#?}"));
            let of = |layers: &str| {
                let mut design = design.clone();
                design.set_text(KnobId::num_layers, layers).unwrap();
                let stage = estimated(&design).stages[0];
                stage.memory.activations.get()
            };
            let layer = model::ledger(&plan)[0].bytes(model::answer::ledger::Fate::Kept).get();
            // Eight layers keep seven more than one does, whatever the ends keep.
            let held = (of("8") - of("1")) / 7.0;
            if granularity != "full" {
                close(held, layer, 1.0);
            }
            held / (s * micro_batch * hidden)
        };
        let scores = heads * s / hidden;
        close(kept(false, "none"), 8.0 + 24.0 / t + 4.0 * scores / t, 0.02);
        close(kept(true, "none"), (32.0 + 4.0 * scores) / t, 0.02);
        close(kept(true, "selective"), 32.0 / t, 0.02);
        close(kept(true, "full"), 2.0 / t, 1e-9);
    }
}

/// MindSpeed prints what recomputing the activation function saves for Llama 2 7B, in GiB: s b ffn
/// two bytes a layer. Its ratios follow sequence and micro-batch; the run of 16,384 does not.
#[test]
fn recomputed_activations_save_what_mindspeed_prints() {
    let saves = |seq: &str, micro_batch: &str| {
        let settings = [
            ("num_layers", "32"),
            ("ffn_hidden_size", "11008"),
            ("tp", "2"),
            ("pp", "1"),
            ("num_devices", "8"),
            ("seq_length", seq),
            ("micro_batch_size", micro_batch),
            ("gbs", "32"),
        ];
        let design = from_preset("llama-3-8b", &settings);
        let plan = plan(&design);
        let layers = &model::ledger(&plan)[0];
        let output = layers
            .tensors
            .iter()
            .find(|saved| saved.tensor == model::answer::ledger::Tensor::ActivationOutput)
            .unwrap();
        output.bytes.to_gib() * 32.0
    };
    for (seq, micro_batch, printed) in
        [("12288", "2", 8.05), ("8096", "2", 5.31), ("12288", "1", 4.04)]
    {
        close(saves(seq, micro_batch), printed, 0.03);
    }
}
