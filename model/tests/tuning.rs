//! Adapters of low rank and frozen parts, against hand calculations and published conventions.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use model::design::Design;
use model::ground::axis::Axis;
use model::metric::{MetricAddress, MetricId};
use model::training::estimate::{Estimate, StepPart};
use model::{Plan, estimate, explain_at};
use testing::design::{estimated, from_preset};

fn near(found: f64, wanted: f64, tolerance: f64) {
    assert!((found / wanted - 1.0).abs() <= tolerance, "{found} is not {wanted}");
}

/// Llama-3-70B whole on each of eight devices.
const WHOLE: &[(&str, &str)] = &[
    ("num_devices", "8"),
    ("tp", "1"),
    ("pp", "1"),
    ("sequence_parallel", "false"),
    ("vpp", "1"),
    ("method", "1f1b"),
    ("seq_length", "4096"),
    ("global_batch_size", "32"),
];

/// h 8192, 64 heads of 128, 8 groups, MLP of 28672, 80 layers: adapters of rank 16 beside queries,
/// keys and values are 16 x (8192 + 10240) parameters a layer.
const QKV: f64 = 80.0 * 16.0 * (8_192.0 + 10_240.0);

fn with(base: &[(&'static str, &'static str)], more: &[(&'static str, &'static str)]) -> Design {
    from_preset("llama-3-70b", &[base, more].concat())
}

#[test]
fn frozen_weights_have_no_gradients_and_no_states() {
    let lora =
        estimated(&with(WHOLE, &[("lora_rank", "16"), ("lora_target_modules", "linear_qkv")]));
    let full = estimated(&with(WHOLE, &[]));
    let (memory, whole) = (&lora.stages[0].memory, &full.stages[0].memory);
    near(memory.weights.get() - whole.weights.get(), 2.0 * QKV, 1e-6);
    // FP32 gradients, whole on each rank under ZeRO-1; main copy and two moments over eight ranks.
    near(memory.gradients.get(), 4.0 * QKV, 1e-12);
    near(memory.optimizer.get(), 12.0 * QKV / 8.0, 1e-12);
}

#[test]
fn data_parallel_ranks_exchange_adapters_alone() {
    let volume = |estimate: &Estimate| -> f64 {
        let rows = estimate.communication.iter().filter(|row| row.axis == Axis::Dp);
        rows.map(|row| row.bytes.get()).sum()
    };
    let lora =
        estimated(&with(WHOLE, &[("lora_rank", "16"), ("lora_target_modules", "linear_qkv")]));
    // Reduce-scatter of FP32 gradients and all-gather of BF16 weights: 7/8 of each goes out.
    near(volume(&lora), 7.0 / 8.0 * 6.0 * QKV, 1e-9);
}

#[test]
fn every_linear_layer_has_an_adapter_of_its_inputs_and_outputs() {
    let all = estimated(&with(WHOLE, &[("lora_rank", "16")]));
    let fc = 3.0 * 28_672.0 + 2.0 * 8_192.0;
    let params = QKV + 80.0 * 16.0 * (2.0 * 8_192.0 + fc);
    near(all.stages[0].memory.gradients.get(), 4.0 * params, 1e-12);
    // TP cuts each of them in as many parts.
    let cut = [("lora_rank", "16"), ("tp", "8"), ("sequence_parallel", "true")];
    let cut = estimated(&with(WHOLE, &cut));
    near(cut.stages[0].memory.gradients.get(), 4.0 * params / 8.0, 1e-12);
}

#[test]
fn model_flops_are_two_thirds_of_the_matrices_and_all_of_the_scores() {
    let flops = |settings: &[(&'static str, &'static str)]| {
        estimated(&with(WHOLE, settings)).metrics.flops_per_token.get()
    };
    let settings = [("lora_rank", "16"), ("lora_target_modules", "linear_qkv")];
    let lora = flops(&[&settings[..], &[("attention_flops", "full")]].concat());
    // Megatron-Bridge's `num_floating_point_operations` of a LoRA run of Llama-3-70B, whose
    // adapters it leaves out: s L h^2 (12 + 12 g/a + 18 f/h + 6 V/(L h)) x 2/3 + 12 s^2 L h.
    let (h, layers, seq) = (8_192.0, 80.0, 4_096.0);
    let matrices =
        layers * h * h * (12.0 + 12.0 / 8.0 + 18.0 * 3.5 + 6.0 * 128_256.0 / (layers * h));
    let bridge = matrices * 2.0 / 3.0 + 12.0 * seq * layers * h;
    near(lora, bridge + 6.0 * QKV, 1e-9);
    // Published rows of 6,206 tokens/s and 1,731 TFLOPS say 278.9 GFLOP a token, of sequences so
    // short that their scores are nothing.
    near(matrices * 2.0 / 3.0, 278.924e9, 0.004);
}

#[test]
fn the_explanation_of_flops_is_their_sum() {
    for settings in [
        vec![("lora_rank", "16")],
        vec![("freeze_parameters", "embedding,self_attention,output_layer")],
    ] {
        let design = from_preset("deepseek-v3", &settings);
        let plan = Plan::new(&design).unwrap();
        let estimate = estimate(&plan);
        let tree = explain_at(&plan, MetricAddress::whole(MetricId::flops_per_token)).unwrap();
        let terms: f64 = tree.children.iter().map(|term| term.value).sum();
        near(terms, estimate.metrics.flops_per_token.get(), 1e-12);
    }
}

#[test]
fn adapters_need_less_time_and_memory_than_the_whole_model() {
    // Beside fine-grained experts adapters cost more than the gradients of weights that they save.
    let attention = ("lora_target_modules", "linear_qkv,linear_proj,linear_q_up_proj,in_proj");
    for preset in ["llama-3-70b", "qwen3-30b-a3b", "deepseek-v3", "qwen3-next-80b-a3b"] {
        let [full, lora] = [vec![], vec![("lora_rank", "16"), attention]]
            .map(|it| estimated(&from_preset(preset, &it)));
        assert!(lora.metrics.step_time < full.metrics.step_time, "{preset}");
        assert!(lora.metrics.memory_peak < full.metrics.memory_peak, "{preset}");
        // What is executed falls by nearly a third.
        let executed = |e: &Estimate| e.metrics.flops_per_token.get();
        let ratio = executed(&lora) / executed(&full);
        assert!((0.6..0.85).contains(&ratio), "{preset}: {ratio}");
    }
}

#[test]
fn adapters_of_a_higher_rank_take_more_of_everything() {
    let of_rank = |rank| estimated(&from_preset("qwen3-30b-a3b", &[("lora_rank", rank)]));
    let (small, large) = (of_rank("8"), of_rank("64"));
    for quantity in [
        |e: &Estimate| e.metrics.step_time.get(),
        |e: &Estimate| e.metrics.memory_peak.get(),
        |e: &Estimate| e.metrics.flops_per_token.get(),
        |e: &Estimate| e.step.part(StepPart::Optimizer).get(),
    ] {
        assert!(quantity(&large) > quantity(&small));
    }
}

#[test]
fn targets_change_nothing_without_a_rank() {
    let plain = from_preset("qwen3-30b-a3b", &[]);
    let targeted = from_preset("qwen3-30b-a3b", &[("lora_target_modules", "router")]);
    assert_eq!(estimated(&plain), estimated(&targeted));
}

#[test]
fn frozen_experts_leave_states_to_the_rest() {
    let base = [("data_parallel_sharding_strategy", "no_shard"), ("ep", "1")];
    let states = |more: &[(&'static str, &'static str)]| {
        let estimate = estimated(&from_preset("qwen3-30b-a3b", &[&base[..], more].concat()));
        let stages = estimate.stages.iter();
        stages.map(|stage| stage.memory.optimizer.get()).sum::<f64>()
    };
    // 48 layers of 128 experts of three matrices of 2048 x 768, 12 bytes each.
    let experts = 48.0 * 128.0 * 3.0 * 2_048.0 * 768.0 * 12.0;
    let tp = estimated(&from_preset("qwen3-30b-a3b", &base));
    assert!(tp.stages.len() == 1);
    near(states(&[]) - states(&[("freeze_parameters", "experts")]), experts, 1e-9);
}

#[test]
fn a_frozen_embedding_is_neither_reduced_nor_updated() {
    let plain = estimated(&with(WHOLE, &[]));
    let frozen = estimated(&with(WHOLE, &[("freeze_parameters", "embedding")]));
    let table = 128_256.0 * 8_192.0;
    let less = |of: fn(&Estimate) -> f64| of(&plain) - of(&frozen);
    near(less(|e| e.stages[0].memory.gradients.get()), 4.0 * table, 1e-9);
    near(less(|e| e.stages[0].memory.optimizer.get()), 12.0 * table / 8.0, 1e-9);
    assert!(less(|e| e.metrics.step_time.get()) > 0.0);
    // It is no matrix product: model FLOPs are as before.
    assert!(less(|e| e.metrics.flops_per_token.get()).abs() < 1.0);
}

#[test]
fn adapters_beside_nothing_are_refused() {
    let broken = |settings: &[(&str, &str)]| -> Vec<&'static str> {
        let violations = Plan::new(&from_preset("llama-3-70b", settings)).unwrap_err();
        violations.iter().map(|violation| violation.rule).collect()
    };
    let none = [("lora_rank", "16"), ("lora_target_modules", "none")];
    assert_eq!(broken(&none), ["adapters_stand_beside_layers"]);
    let absent = [("lora_rank", "16"), ("lora_target_modules", "linear_kv_up_proj,router")];
    assert_eq!(broken(&absent), ["adapters_stand_beside_layers"]);
    let muon = [("lora_rank", "16"), ("optimizer", "muon")];
    assert_eq!(broken(&muon), ["muon_trains_the_whole_model"]);
}
