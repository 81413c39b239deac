//! The states of the software: what they hold, and what they change.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use model::catalogue::calibration::ASCEND;
use model::catalogue::rates::{ASCEND_2026, LARGE_MATMUL_DEPTH, Rate, Rates};
use model::design::Design;
use model::design::software;
use model::ground::choice::{Choice, Framework, Software};
use model::{Plan, estimate};
use testing::design::{estimated, from_preset};

/// The entries of a state in the order of its fields, as `[least, value, most]`.
fn entries(rates: &Rates) -> [[f64; 3]; 7] {
    [
        rates.gemm_efficiency,
        rates.grouped_gemm_relative_efficiency,
        rates.attention_forward_efficiency,
        rates.attention_backward_efficiency,
        rates.vector_bandwidth_share,
        rates.sync_microseconds,
        rates.syncs_per_layer,
    ]
    .map(|Rate { value, range: [least, most], .. }| [least, value, most])
}

const fn one(value: f64) -> [f64; 3] {
    [value, value, value]
}

const SYNCS: [f64; 3] = [3.0, 3.0, 4.3];

/// The published entries, as they were written down before any prediction was made with them:
/// MindFormers' rows and torch_npu's kernels of 2024, Huawei's report on operators and host of June
/// 2025, public kernels of 2026.
#[test]
#[expect(clippy::float_cmp, reason = "constants, not results")]
fn every_entry_of_a_state_is_the_published_one() {
    let states = [
        (
            Software::Ascend202411,
            [one(0.70), one(0.78), one(0.28), one(0.26), one(0.39), one(2_100.0), SYNCS],
        ),
        (
            Software::Ascend202505,
            [one(0.70), [0.78, 0.84, 0.90], one(0.30), one(0.28), one(0.39), one(2_100.0), SYNCS],
        ),
        (
            Software::Ascend202506,
            [
                one(0.77),
                [0.90, 0.95, 1.00],
                one(0.45),
                one(0.36),
                [0.78, 0.78, 1.00],
                one(600.0),
                SYNCS,
            ],
        ),
        (
            Software::Ascend2026,
            [
                [0.79, 0.83, 0.87],
                one(1.00),
                [0.45, 0.475, 0.50],
                [0.34, 0.365, 0.39],
                [0.60, 0.75, 0.90],
                one(600.0),
                SYNCS,
            ],
        ),
    ];
    for (state, published) in states {
        for (entry, wanted) in entries(state.rates().unwrap()).iter().zip(published) {
            let close = entry.iter().zip(wanted).all(|(one, other)| (one - other).abs() < 1e-12);
            assert!(close, "{}: {entry:?} is not {wanted:?}", state.name());
        }
    }
    assert!(Software::Calibrated.rates().is_none());
    // A matmul of this depth reaches the entry, tiles and waves aside.
    let reached = LARGE_MATMUL_DEPTH / (LARGE_MATMUL_DEPTH + ASCEND.half_depth_bytes / 2.0);
    assert!((ASCEND.gemm * reached - ASCEND_2026.gemm_efficiency.value).abs() < 1e-12);
    assert_eq!(ASCEND.attention_backward, ASCEND_2026.attention_backward_efficiency.value);
}

fn step(settings: &[(&str, &str)]) -> f64 {
    estimated(&from_preset("pangu-ultra-moe-6k", settings)).metrics.step_time.get()
}

#[test]
#[expect(clippy::float_cmp, reason = "the same constants give the same bits")]
fn the_calibrated_state_of_ascend_is_that_of_2026() {
    assert_eq!(step(&[]), step(&[("software", "ascend-2026")]));
}

#[test]
fn an_entry_that_is_set_replaces_the_states_own() {
    let may = step(&[("software", "ascend-2025-05")]);
    let by_hand = [
        ("gemm_efficiency", "0.70"),
        ("grouped_gemm_relative_efficiency", "0.84"),
        ("attention_forward_efficiency", "0.30"),
        ("attention_backward_efficiency", "0.28"),
        ("vector_bandwidth_share", "0.39"),
        ("sync_microseconds", "2100"),
        ("syncs_per_layer", "3"),
    ];
    assert!((step(&by_hand) / may - 1.0).abs() < 1e-12);
    // One entry of another state is that entry alone: nothing multiplies.
    let june = [("software", "ascend-2025-06"), ("gemm_efficiency", "0.70")];
    let mixed = [("software", "ascend-2025-05"), ("gemm_efficiency", "0.77")];
    assert!(step(&june) > step(&[("software", "ascend-2025-06")]));
    assert!(step(&mixed) < may);
}

#[test]
fn states_are_faster_the_later_they_are() {
    let dated = ["ascend-2024-11", "ascend-2025-05", "ascend-2025-06"];
    let steps = dated.map(|state| step(&[("software", state)]));
    assert!(steps[0] > steps[1] && steps[1] > steps[2], "{steps:?}");
}

#[test]
fn a_state_of_another_family_is_refused_and_the_calibrated_one_named() {
    let mut design = Design::from_preset("deepseek-v3-2k-h800").unwrap();
    let id = model::design::KnobId::find("software").unwrap();
    design.set_text(id, "ascend-2025-05").unwrap();
    let violations = Plan::new(&design).unwrap_err();
    let [violation] = violations.as_slice() else { panic!("{violations:?}") };
    assert_eq!(violation.rule, "software_is_of_the_accelerator");
    let nearest = violation.nearest.iter().any(|way| way.value.to_string() == "calibrated");
    assert!(nearest, "{violation:?}");
}

/// A stall is waited for by both micro-batches of a pair: it lengthens the step by all of itself.
#[test]
fn read_backs_lengthen_the_step_by_what_they_take() {
    let with = |micros: &str| step(&[("sync_microseconds", micros)]);
    // 4 layers a stage, 64 micro-batches, three read-backs.
    let all = 4.0 * 64.0 * 3.0 * 1.5e-3;
    let longer = with("2100") - with("600");
    assert!((0.95..1.35).contains(&(longer / all)), "{longer} of {all}");
}

/// The busiest rank's attention is waited for, and nothing else grows.
#[test]
fn data_imbalance_lengthens_attention_alone() {
    let even = step(&[]);
    let uneven = step(&[("data_imbalance", "1.5")]);
    assert!(uneven > even);
    let no_attention =
        [("attention_forward_efficiency", "1"), ("attention_backward_efficiency", "1")];
    let less = step(&[&no_attention[..], &[("data_imbalance", "1.5")]].concat());
    assert!(less - step(&no_attention) < uneven - even);
}

fn metrics(preset: &str) -> model::training::estimate::Metrics {
    estimate(&Plan::new(&Design::from_preset(preset).unwrap()).unwrap()).metrics
}

/// Published: 237.6 tokens/s per NPU and 30.0 % in May 2025, 41 % in June. No entry of a state was
/// chosen by them.
#[test]
fn both_published_states_of_pangu_ultra_moe_are_met_within_a_tenth() {
    let (may, june) = (metrics("pangu-ultra-moe-6k@2"), metrics("pangu-ultra-moe-6k-followup"));
    let off = |predicted: f64, published: f64| (predicted / published - 1.0).abs();
    assert!(off(may.tokens_per_second_per_device, 237.6) < 0.10, "{may:?}");
    assert!(off(may.mfu, 0.300) < 0.10, "{may:?}");
    assert!(off(june.mfu, 0.41) < 0.10, "{june:?}");
}

/// Rates that the sources leave open span a range around the prediction.
#[test]
fn a_dated_state_lies_between_its_slowest_and_its_fastest_rates() {
    let speed = |design: &Design| {
        estimate(&Plan::new(design).unwrap()).metrics.tokens_per_second_per_device
    };
    let design = Design::from_preset("pangu-ultra-moe-6k@2").unwrap();
    let [slow, fast] = software::ends(&design).unwrap();
    assert!(speed(&slow) < speed(&design) && speed(&design) < speed(&fast));
    assert!(software::ends(&Design::from_preset("pangu-ultra-moe-6k").unwrap()).is_none());
    let mut ideal = design;
    ideal.kernel.framework = Framework::Ideal;
    assert!(software::ends(&ideal).is_none());
}

/// Published: of the operators that the report names, matmul, attention and element-wise kernels,
/// 15 %, and with the host 20 %; grouped products got faster by another source.
#[test]
fn faster_operators_bring_what_is_published() {
    let may = [("software", "ascend-2025-05")];
    let june = [("software", "ascend-2025-06"), ("grouped_gemm_relative_efficiency", "0.84")];
    let operators = step(&may) / step(&[&june[..], &[("sync_microseconds", "2100")]].concat());
    assert!((operators - 1.15).abs() < 0.05, "{operators}");
    let both = step(&may) / step(&june);
    assert!((both - 1.20).abs() < 0.05, "{both}");
}

/// Published: a host that reads back in 0.6 ms instead of 2.1 brings 4 to 5 %.
#[test]
fn a_faster_host_alone_brings_what_is_published() {
    let host = step(&[("software", "ascend-2025-05")])
        / step(&[("software", "ascend-2025-05"), ("sync_microseconds", "600")]);
    assert!((host - 1.045).abs() < 0.02, "{host}");
}

/// Rates in effect can be set: a design with the values of its plan's rates is estimated as one
/// without. Copies by an index have no knob of their own, so that the element-wise rate is left.
#[test]
fn rates_in_effect_are_those_of_the_knobs() {
    for preset in ["llama-3-70b", "pangu-ultra-moe-6k@2", "qwen3-30b-a3b"] {
        let design = Design::from_preset(preset).unwrap();
        let plan = Plan::new(&design).unwrap();
        let rates = plan.rates_in_effect();
        let mut own = design.clone();
        let kernel = &mut own.kernel;
        kernel.gemm_efficiency = Some(rates.gemm_efficiency);
        kernel.grouped_gemm_relative_efficiency = Some(rates.grouped_gemm_relative_efficiency);
        kernel.attention_forward_efficiency = Some(rates.attention_forward_efficiency);
        kernel.attention_backward_efficiency = Some(rates.attention_backward_efficiency);
        kernel.sync_microseconds = Some(rates.sync_microseconds);
        kernel.syncs_per_layer = Some(rates.syncs_per_layer);
        let time = |plan: &Plan| estimate(plan).metrics.step_time.get();
        let [before, after] = [time(&plan), time(&Plan::new(&own).unwrap())];
        assert!((after / before - 1.0).abs() < 1e-9, "{preset}: {before} {after}");
        let in_run = design.kernel.software.rates().map_or(rates.in_run_rate, |_| 1.0);
        own = design;
        own.kernel.in_run_rate = Some(in_run);
        let after = time(&Plan::new(&own).unwrap());
        assert!((after / before - 1.0).abs() < 1e-12, "{preset}: {before} {after}");
    }
}

/// Attention takes over as sequences grow, and is at its best there: FlashAttention-3, 2407.08608,
/// figures 5 and 6. Not so on A100, whose best is 172 of 312 TFLOPS backward, less than products
/// have: FlashAttention-2, 2307.08691, figure 6.
#[test]
fn longer_sequences_never_lower_what_matrix_units_do_under_fsdp() {
    for accelerator in ["h100-sxm-80gb", "h200-sxm-141gb", "b200", "b300"] {
        let hfu = |seq: &str| {
            estimated(&from_preset(
                "qwen3-8b",
                &[
                    ("accelerator", accelerator),
                    ("num_devices", "8"),
                    ("tensor_model_parallel_size", "1"),
                    ("sequence_parallel", "false"),
                    ("seq_length", seq),
                    ("global_batch_size", "8"),
                    ("micro_batch_size", "1"),
                    ("recompute_granularity", "full"),
                    ("data_parallel_sharding_strategy", "optim_grads_params"),
                    ("framework", "fsdp"),
                ],
            ))
            .metrics
            .hfu
        };
        let lengths = ["4096", "8192", "16384", "32768", "65536", "131072"];
        let found = lengths.map(hfu);
        // Attention and products differ by a few percent at their best.
        assert!(found[1..].iter().all(|one| *one >= 0.95 * found[1]), "{accelerator}: {found:?}");
        assert!(found[3] > found[0], "{accelerator}: {found:?}");
    }
}

#[test]
fn an_earlier_generation_of_attention_takes_longer_where_a_later_one_is_written() {
    let of = |accelerator: &str, version: &str| {
        let design = from_preset(
            "llama-3-8b",
            &[("accelerator", accelerator), ("seq", "32768"), ("flash_attention_version", version)],
        );
        Plan::new(&design).map(|plan| estimate(&plan).metrics.step_time.get())
    };
    let time = |accelerator, version| of(accelerator, version).unwrap();
    assert!(time("h100-sxm-80gb", "2") > 1.3 * time("h100-sxm-80gb", "3"));
    assert!((time("h100-sxm-80gb", "3") - time("h100-sxm-80gb", "none")).abs() < 1e-12);
    assert!((time("b200", "4") - time("b200", "none")).abs() < 1e-12);
    for (accelerator, version) in [("a100-sxm-80gb", "3"), ("b200", "3"), ("ascend-910b3", "2")] {
        let broken = of(accelerator, version).unwrap_err();
        let names = broken.iter().map(|violation| violation.rule);
        assert!(names.into_iter().any(|it| it == "flash_attention_is_written_for_the_accelerator"));
    }
}

/// PyTorch's `fully_shard` gathers ahead and reduces behind by itself.
#[test]
fn fsdp_overlaps_its_exchanges_whatever_the_switches_say() {
    let of = |framework: &str, overlap: &str| {
        estimated(&from_preset(
            "llama-3-8b",
            &[
                ("num_devices", "64"),
                ("data_parallel_sharding_strategy", "optim_grads_params"),
                ("overlap_grad_reduce", overlap),
                ("overlap_param_gather", overlap),
                ("framework", framework),
            ],
        ))
        .metrics
        .step_time
        .get()
    };
    assert!((of("fsdp", "false") - of("fsdp", "true")).abs() < 1e-12);
    assert!(of("megatron", "false") > of("megatron", "true"));
}

#[test]
fn torchtitan_cuts_experts_as_the_layer_or_spreads_them_whole() {
    for (tp, ep, etp, is_kept) in [
        ("8", "1", "8", true),
        ("8", "1", "1", false),
        ("8", "8", "1", true),
        ("8", "8", "8", false),
        ("1", "1", "1", true),
    ] {
        let design = from_preset(
            "deepseek-v3",
            &[
                ("framework", "fsdp"),
                ("tensor_model_parallel_size", tp),
                ("expert_model_parallel_size", ep),
                ("expert_tensor_parallel_size", etp),
            ],
        );
        let broken = Plan::new(&design).err().unwrap_or_default();
        let is_broken = broken.iter().any(|it| it.rule == "experts_are_cut_or_spread");
        assert_eq!(is_broken, !is_kept, "TP {tp} EP {ep} ETP {etp}");
    }
}
