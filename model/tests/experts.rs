//! Experts that are kept, dropped, or live on the host: by hand, as published, and what always
//! holds.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::design::{Design, KnobId};
use model::ground::knob::Value;
use model::ground::units::Seconds;
use model::metric::{MetricId, Regime};
use model::serving::capacity::capacities;
use model::serving::experts::{Experts, published, touched_experts};
use model::serving::runs::comparisons;
use model::serving::{Inference, ServingPlan, decode_step, infer, prefill_time, rules};
use proptest::prelude::*;
use testing::design::{serving_plan, with};

fn of(preset: &str, settings: &[(&str, &str)]) -> Design {
    let design = Design::from_preset(preset).unwrap();
    settings.iter().fold(design, |design, (knob, value)| with(&design, knob, value))
}

fn served(design: &Design) -> Inference {
    infer(&serving_plan(design))
}

fn experts(design: &Design) -> Experts {
    Experts::new(&serving_plan(design)).unwrap()
}

/// Pangu Ultra MoE on 32 NPUs, experts whole on each.
fn pangu(settings: &[(&str, &str)]) -> Design {
    let design = of(
        "pangu-ultra-moe-718b",
        &[
            ("accelerator", "ascend-910b3"),
            ("num_devices", "32"),
            ("serving.tensor_parallel_size", "32"),
            ("moe_expert_parallel_size", "32"),
            ("engine", "mindie"),
        ],
    );
    settings.iter().fold(design, |design, (knob, value)| with(&design, knob, value))
}

/// DeepSeek-R1 on 16 H200.
fn r1(settings: &[(&str, &str)]) -> Design {
    let design = of(
        "deepseek-v3",
        &[
            ("accelerator", "h200-sxm-141gb"),
            ("num_devices", "16"),
            ("serving.data_parallel_size", "16"),
            ("moe_expert_parallel_size", "16"),
            ("engine", "sglang"),
        ],
    );
    settings.iter().fold(design, |design, (knob, value)| with(&design, knob, value))
}

fn near(value: f64, published: f64, share: f64) {
    assert!((value / published - 1.0).abs() <= share, "{value} is not near {published}");
}

#[test]
fn pangu_ultra_moe_with_64_experts_weighs_what_is_published() {
    let kept = experts(&pangu(&[("experts_kept", "64"), ("experts_kept_topk", "4")]));
    // 58 layers x 64 x 3 x 7680 x 2048 in 16 bits; the rest of 718B without 58 x 256 experts.
    near(kept.expert_bytes.get(), 2.0 * 3.0 * 7_680.0 * 2_048.0, 1e-12);
    near(kept.model_bytes.get(), 387e9, 0.005);
    near(kept.model_bytes_with_mtp.get(), 394e9, 0.005);
    assert_eq!(kept.topk.to_bits(), 4.0_f64.to_bits());
}

#[test]
fn weights_of_128_and_32_experts_are_those_by_hand() {
    // Pangu: 16 bits of 719.09B less 58 layers x 128 experts, and their rows of the router.
    let pangu_128 = experts(&pangu(&[("experts_kept", "128")])).model_bytes.get();
    near(pangu_128, 2.0 * (719.09e9 - 58.0 * 128.0 * 3.0 * 7_680.0 * 2_048.0), 0.002);
    // DeepSeek: 671.03B less 58 layers x 128 or 224 experts of 7168 x 2048.
    for (kept, dropped) in [("128", 128.0), ("32", 224.0)] {
        let bytes = experts(&r1(&[("experts_kept", kept)])).model_bytes.get();
        near(bytes, 2.0 * (671.03e9 - 58.0 * dropped * 3.0 * 7_168.0 * 2_048.0), 0.002);
    }
}

#[test]
fn all_experts_kept_are_the_model_bit_for_bit() {
    let (bare, all) = (served(&r1(&[])), served(&r1(&[("experts_kept", "256")])));
    for metric in MetricId::of(Regime::Serving) {
        let [bare, all] = [&bare, &all].map(|it| it.metrics.get(metric).copied().map(f64::to_bits));
        assert_eq!(bare, all, "{metric:?}");
    }
}

#[test]
fn fewer_experts_leave_room_for_requests_and_touch_fewer() {
    let [whole, half] = ["256", "128"].map(|kept| r1(&[("experts_kept", kept)]));
    let [all, some] = [served(&whole), served(&half)];
    assert!(some.metrics.weights_bytes < all.metrics.weights_bytes);
    assert!(some.metrics.kv_limited_concurrency > all.metrics.kv_limited_concurrency);
    // Eight of 128 by one token, and nearly all by many.
    near(touched_experts(128.0, 8.0, 1.0), 8.0, 1e-12);
    near(touched_experts(256.0, 8.0, 4.0), 256.0 * (1.0 - (31.0_f64 / 32.0).powi(4)), 1e-12);
    let touched = |design: &Design| {
        let plan = serving_plan(design);
        Experts::new(&plan).unwrap().touched(&plan, &infer(&plan))
    };
    assert!(touched(&half) <= 128.0 && touched(&half) < touched(&whole));
    // Half the experts of a token are half the products.
    let four = with(&with(&half, "experts_kept_topk", "4"), "concurrency", "4096");
    let eight = with(&half, "concurrency", "4096");
    assert!(decode_step(&serving_plan(&four), 256.0) < decode_step(&serving_plan(&eight), 256.0));
    assert!(prefill_time(&serving_plan(&four), 1.0) < prefill_time(&serving_plan(&eight), 1.0));
}

#[test]
fn broken_rules_of_kept_experts_come_with_the_nearest_legal_values() {
    for (settings, rule) in [
        (&[("experts_kept", "512")][..], "kept_experts_are_of_the_model"),
        (&[("experts_kept", "4")], "kept_experts_hold_a_tokens_choice"),
        (&[("experts_on_host", "144"), ("experts_kept", "128")], "host_experts_are_of_those_kept"),
        (&[("experts_kept", "100")], "serving_experts_are_a_multiple_of_ep"),
        (
            &[("experts_on_host", "256"), ("host_memory_gib", "100")],
            "host_memory_holds_its_experts",
        ),
    ] {
        let broken = ServingPlan::new(&r1(settings)).unwrap_err();
        let broken = broken.iter().find(|it| it.rule == rule).unwrap_or_else(|| panic!("{rule}"));
        assert!(!broken.nearest.is_empty(), "{rule}: {}", broken.message);
    }
    let dense = with(&Design::from_preset("llama-3-70b").unwrap(), "experts_kept", "8");
    assert!(rules::violations(&dense).iter().any(|it| it.rule == "kept_experts_are_of_the_model"));
    // MoGE: as many in each group.
    let moge =
        of("pangu-pro-moe-72b", &[("experts_kept", "60"), ("accelerator", "h200-sxm-141gb")]);
    let broken = rules::violations(&moge);
    let groups = broken.iter().find(|it| it.rule == "kept_experts_fill_balanced_groups").unwrap();
    let is_even = |it: &model::design::violation::Nearest| {
        it.knob == KnobId::experts_kept
            && matches!(it.value, Value::Integer(kept) if kept.is_multiple_of(8))
    };
    assert!(groups.nearest.iter().any(is_even), "{groups:?}");
}

#[test]
fn what_fits_where_grows_with_memory_and_with_narrow_weights() {
    let rows = capacities(&Design::from_preset("pangu-ultra-moe-718b").unwrap());
    let most = |title: &str, format: &str| {
        let row =
            rows.iter().find(|row| row.machine.title.starts_with(title) && row.format() == format);
        row.unwrap_or_else(|| panic!("{title} {format}")).most_kept.unwrap_or(0)
    };
    // Published: 390 GB serve with 64 experts. Eight NPUs have 8 x 60.3 GiB x 0.9 = 466 GB.
    assert!(most("8 x 64 GiB", "bf16") >= 64);
    assert!(most("8 x 64 GiB", "bf16") < 128);
    assert!(most("16 x 64 GiB", "bf16") >= 128);
    assert_eq!(most("16 x 64 GiB", "bf16"), most("8 x 910C", "bf16"));
    assert!(most("8 x 64 GiB", "int8") >= 128);
    assert_eq!(most("8 x H200", "fp8"), 256);
    assert!(rows.iter().all(|row| row.is_fitting == (row.most_kept == Some(256))));
}

#[test]
fn accuracy_is_as_published_and_of_no_other_share() {
    let rows: Vec<_> =
        published(&Design::from_preset("deepseek-v3").unwrap()).map(|row| row.kept).collect();
    assert_eq!(rows, [128, 32]);
    assert_eq!(published(&Design::from_preset("llama-3-70b").unwrap()).count(), 0);
}

#[test]
fn published_runs_with_experts_on_the_host_are_met_within_a_tenth_in_the_median() {
    let rows = comparisons();
    let median = |is_fitted: bool| {
        let rows = rows.iter().filter(|row| row.run.is_fitted == is_fitted);
        let mut errors: Vec<f64> = rows.map(|row| row.error().abs()).collect();
        errors.sort_by(f64::total_cmp);
        errors[errors.len() / 2]
    };
    assert!(median(true) <= 0.05 && median(false) <= 0.1);
}

/// DeepSeek-R1 on eight H100 with most experts on the host.
fn hosted(settings: &[(&str, &str)]) -> Design {
    let design = of(
        "deepseek-v3",
        &[
            ("accelerator", "h100-sxm-80gb"),
            ("num_devices", "8"),
            ("serving.tensor_parallel_size", "8"),
            ("moe_expert_parallel_size", "8"),
            ("weight_dtype", "fp8"),
            ("experts_on_host", "192"),
            ("engine", "sglang"),
            ("concurrency", "4"),
        ],
    );
    settings.iter().fold(design, |design, (knob, value)| with(&design, knob, value))
}

#[test]
fn experts_on_the_host_leave_memory_and_cost_time() {
    let (with_host, without) = (served(&hosted(&[])), r1(&[("weight_dtype", "fp8")]));
    let part = |inference: &Inference| {
        inference
            .decode
            .iter()
            .find(|part| part.name == "Experts on the host")
            .map(|it| it.time.get())
    };
    assert!(part(&with_host).unwrap() > 0.0);
    assert!(part(&served(&without)).is_none());
    let broken = ServingPlan::new(&hosted(&[("experts_on_host", "0")])).unwrap_err();
    assert!(broken.iter().all(|it| it.rule == "serving_has_room"), "{broken:?}");
}

#[test]
fn the_hosts_time_is_linear_in_the_misses_of_one_token() {
    // As measured of DeepSeek-V4-Flash on an A3 die: TPOT = t + 24.8 (1 - H) ms.
    let step =
        |hits: &str| decode_step(&serving_plan(&hosted(&[("expert_cache_hit_rate", hits)])), 1.0);
    let [none, half, most] = ["0.2", "0.5", "0.8"].map(step);
    near((none - half) / (half - most), 1.0, 0.15);
}

fn any_hosted() -> impl Strategy<Value = Design> {
    (1_u64..=31, 1_u64..=64, 0.0_f64..=1.0, 50.0_f64..=2_000.0).prop_map(
        |(shares, concurrency, hits, bandwidth)| {
            let mut design = hosted(&[]);
            design.serving.experts_on_host = shares * 8;
            design.serving.concurrency = Some(concurrency);
            design.serving.expert_cache_hit_rate = Some(hits);
            design.serving.host_memory_gb_per_sec = Some(bandwidth);
            design
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn more_hits_and_faster_memory_never_make_a_step_longer(design in any_hosted()) {
        prop_assume!(ServingPlan::new(&design).is_ok());
        let step = |design: &Design| decode_step(&serving_plan(design), 2.0);
        let now = step(&design);
        let mut other = design.clone();
        other.serving.host_memory_gb_per_sec =
            design.serving.host_memory_gb_per_sec.map(|it| it * 2.0);
        prop_assert!(step(&other) <= now * (1.0 + 1e-12));
        let mut fast = design.clone();
        fast.cluster.host_gb_per_sec = Some(1_000.0);
        prop_assert!(step(&fast) <= now * (1.0 + 1e-12));
        prop_assert!(now.get().is_finite() && now > Seconds::ZERO);
    }

    #[test]
    fn kept_experts_never_weigh_more_than_all(kept in 1_u64..=16, topk in 1_u64..=8) {
        let design = r1(&[]);
        let mut fewer = design.clone();
        fewer.serving.experts_kept = Some(kept * 16);
        fewer.serving.experts_kept_topk = Some(topk);
        let [all, some] = [served(&design), served(&fewer)];
        prop_assert!(some.metrics.weights_bytes <= all.metrics.weights_bytes);
        prop_assert!(some.metrics.kv_cache_bytes >= all.metrics.kv_cache_bytes);
        let one = experts(&fewer);
        prop_assert_eq!(one.kept, kept * 16);
        prop_assert!(one.model_bytes <= one.model_bytes_with_mtp);
    }
}
