//! What must hold for every design that serves, and what is published.

use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::ground::choice::Choice;
use model::ground::knob::{Kind, Section, Value};
use model::ground::units::{Bytes, Seconds};
use model::metric::{MetricId as Metric, Regime};
use model::search::find::{LayoutFront, OneThread};
use model::serving::{Inference, ServingPlan, decode_step, infer, prefill_rate, rules};
use model::{Answer, legal_values};
use proptest::prelude::*;
use testing::design::{from_preset, serving_plan, with};

fn served(design: &Design) -> Inference {
    infer(&serving_plan(design))
}

/// Llama 3 70B in FP8 on two H100.
fn llama() -> Design {
    from_preset(
        "llama-3-70b",
        &[
            ("accelerator", "h100-sxm-80gb"),
            ("num_devices", "2"),
            ("serving.tensor_parallel_size", "2"),
            ("weight_dtype", "fp8"),
            ("kv_cache_dtype", "fp8"),
            ("engine", "tensorrt_llm"),
            ("input_length", "5000"),
            ("output_length", "500"),
        ],
    )
}

/// DeepSeek-R1 on 16 H200, an attention group for each.
fn deepseek() -> Design {
    from_preset(
        "deepseek-v3",
        &[
            ("accelerator", "h200-sxm-141gb"),
            ("num_devices", "16"),
            ("serving.data_parallel_size", "16"),
            ("moe_expert_parallel_size", "16"),
            ("weight_dtype", "fp8"),
            ("engine", "sglang"),
            ("concurrency", "512"),
        ],
    )
}

/// Pangu Pro MoE on four Atlas 800I A2.
fn pangu(settings: &[(&str, &str)]) -> Design {
    let design = from_preset(
        "pangu-pro-moe-72b",
        &[
            ("accelerator", "ascend-910b3"),
            ("num_devices", "4"),
            ("serving.tensor_parallel_size", "2"),
            ("serving.data_parallel_size", "2"),
            ("moe_expert_parallel_size", "4"),
            ("weight_dtype", "int8"),
            ("engine", "mindie"),
            ("input_length", "1024"),
            ("output_length", "2048"),
        ],
    );
    settings.iter().fold(design, |design, (knob, value)| with(&design, knob, value))
}

fn near(value: f64, published: f64, share: f64) {
    assert!((value / published - 1.0).abs() <= share, "{value} is not near {published}");
}

#[test]
fn two_h100_hold_as_many_requests_of_llama_as_are_published() {
    // NIM's table of Llama-3.3-70B in FP8 on two H100: 917 tokens/s x 92.9 ms.
    near(served(&llama()).metrics.kv_limited_concurrency, 85.0, 0.1);
}

#[test]
fn nims_latencies_of_llama_are_met() {
    for (concurrency, millis) in [("1", 18.58), ("25", 38.75), ("50", 59.73)] {
        let tpot = served(&with(&llama(), "concurrency", concurrency)).metrics.tpot_seconds;
        near(tpot * 1e3, millis, 0.1);
    }
}

#[test]
fn pangu_pro_moe_answers_one_request_and_many_as_published() {
    // Batch 1 is what the layers' overhead is fitted on; batch 456 is a prediction.
    // Two attention groups share the batch.
    near(decode_step(&serving_plan(&pangu(&[])), 0.5).get() * 1e3, 18.44, 0.1);
    near(decode_step(&serving_plan(&pangu(&[])), 228.0).get() * 1e3, 99.31, 0.35);
}

#[test]
fn weights_of_deepseek_are_one_byte_each_but_for_the_ends() {
    let weights = served(&deepseek()).metrics.weights_bytes;
    // A sixteenth of 653B in experts, and 18B of everything else whole.
    assert!((56e9..66e9).contains(&weights), "{weights}");
}

#[test]
fn a_tokens_cache_is_as_large_as_its_mixer_says() {
    let bytes = |design: &Design| served(design).metrics.kv_bytes_per_token;
    // 80 layers x 2 x 8 heads x 128 over two ranks, in 8 bits.
    near(bytes(&llama()), 81_920.0, 1e-9);
    // 61 layers x 576 x 2, whole on every rank.
    near(bytes(&deepseek()), 61.0 * 1_152.0, 1e-9);
    // FlashMLA's 656 bytes.
    near(bytes(&with(&deepseek(), "kv_cache_dtype", "fp8")), 61.0 * 656.0, 1e-9);
    let sparse = from_preset(
        "deepseek-v3.2",
        &[
            ("num_devices", "8"),
            ("accelerator", "h200-sxm-141gb"),
            ("serving.tensor_parallel_size", "8"),
            ("moe_expert_parallel_size", "8"),
            ("weight_dtype", "fp8"),
        ],
    );
    // With the indexer's key of 128 and its scale.
    near(bytes(&sparse), 61.0 * (1_152.0 + 132.0), 1e-9);
}

#[test]
fn a_window_bounds_the_cache() {
    let design = from_preset(
        "gpt-oss-120b",
        &[
            ("accelerator", "h200-sxm-141gb"),
            ("num_devices", "1"),
            ("weight_dtype", "mxfp4"),
            ("input_length", "8192"),
        ],
    );
    // Of 36 layers 18 have a window of 128: one more token costs the others alone.
    near(served(&design).metrics.kv_bytes_per_token, 18.0 * 2_048.0, 1e-9);
}

#[test]
fn decode_of_one_request_takes_longer_than_reading_the_weights() {
    let one = with(&llama(), "engine", "ideal");
    let weights = served(&one).metrics.weights_bytes;
    assert!(decode_step(&serving_plan(&one), 1.0).get() > (weights - 2e9) / 3.35e12);
}

#[test]
fn groups_that_every_token_visits_are_even() {
    let grouped = pangu(&[]);
    let free = with(
        &with(&grouped, "moe_router_group_balanced", "false"),
        "moe_router_num_groups",
        "none",
    );
    assert!(decode_step(&serving_plan(&free), 64.0) > decode_step(&serving_plan(&grouped), 64.0));
}

#[test]
fn a_pool_that_decodes_is_an_instance_without_prompts() {
    let apart = from_preset(
        "llama-3-70b",
        &[
            ("num_devices", "32"),
            ("serving.tensor_parallel_size", "4"),
            ("disaggregation", "prefill_decode"),
            ("prefill_devices", "24"),
            ("concurrency", "32"),
            ("input_length", "64"),
        ],
    );
    let plan = serving_plan(&apart);
    let inference = infer(&plan);
    let groups = plan.replicas().decode as f64;
    let alone = decode_step(&plan, inference.metrics.requests_in_flight / groups).get();
    let tpot = inference.metrics.tpot_seconds;
    assert!(tpot <= alone * 1.001 && tpot > 0.8 * alone, "{tpot} {alone}");
    assert!(prefill_rate(&plan) > 0.0);
}

#[test]
fn requests_in_flight_are_rate_times_latency() {
    for design in [llama(), with(&llama(), "concurrency", "8"), deepseek(), pangu(&[])] {
        let told = served(&design).metrics;
        let latency = told.e2e_latency_seconds;
        near(told.requests_per_second * latency, told.requests_in_flight, 1e-6);
        let further = (design.serving.output_length - 1) as f64 * told.tpot_seconds;
        near(told.ttft_seconds + further, latency, 1e-9);
    }
}

#[test]
fn requests_that_arrive_slowly_are_answered_as_fast_as_they_come() {
    let slow = served(&with(&llama(), "request_rate", "0.2"));
    near(slow.metrics.requests_per_second, 0.2, 0.01);
    let fast = served(&with(&llama(), "request_rate", "1000"));
    assert!(fast.warnings.iter().any(|said| said.contains("the queue grows")));
}

#[test]
fn drafts_pay_at_one_request_and_cost_a_step() {
    let base = with(&deepseek(), "concurrency", "16");
    let drafted = with(&with(&base, "num_speculative_tokens", "1"), "acceptance_length", "1.9");
    let [plain, drafted] = [served(&base), served(&drafted)];
    assert!(drafted.metrics.tpot_seconds < plain.metrics.tpot_seconds);
    assert!(drafted.metrics.itl_seconds > plain.metrics.itl_seconds);
}

#[test]
fn every_rule_says_what_mends_it() {
    let broken = [
        (llama(), "serving.tensor_parallel_size", "3", "serving_heads_are_a_multiple_of_tp"),
        (llama(), "serving.tensor_parallel_size", "4", "devices_are_whole_instances"),
        (llama(), "weight_dtype", "nvfp4", "weights_fit_the_devices_formats"),
        (llama(), "gpu_memory_utilization", "0.4", "serving_has_room"),
        (llama(), "max_num_batched_tokens", "64", "budget_holds_a_step"),
        (llama(), "acceptance_length", "3", "drafted_tokens_bound_what_is_accepted"),
        (deepseek(), "moe_expert_parallel_size", "8", "expert_grid_is_the_attention_grid"),
        (
            with(&deepseek(), "moe_tensor_parallel_size", "none"),
            "redundant_experts",
            "1",
            "serving_experts_are_a_multiple_of_ep",
        ),
        (
            with(&llama(), "disaggregation", "prefill_decode"),
            "prefill_devices",
            "2",
            "devices_are_whole_instances",
        ),
    ];
    for (design, knob, value, rule) in broken {
        let design = with(&design, knob, value);
        let design = if rule == "expert_grid_is_the_attention_grid" {
            with(&design, "moe_tensor_parallel_size", "1")
        } else {
            design
        };
        let found = rules::violations(&design);
        let violation = found.iter().find(|it| it.rule == rule);
        let violation = violation.unwrap_or_else(|| panic!("{rule}: {found:?}"));
        for nearest in &violation.nearest {
            let mut mended = design.clone();
            mended.set(nearest.knob, &nearest.value).unwrap();
            let left = rules::violations(&mended);
            assert!(left.iter().all(|it| it.rule != rule), "{rule}: {nearest:?} {left:?}");
        }
    }
}

#[test]
fn no_knob_of_serving_is_decoration() {
    let moe = with(&deepseek(), "input_length", "12000");
    let rated = with(&with(&llama(), "concurrency", "none"), "request_rate", "0.3");
    let apart = from_preset(
        "deepseek-v3",
        &[
            ("accelerator", "h200-sxm-141gb"),
            ("num_devices", "64"),
            ("serving.tensor_parallel_size", "2"),
            ("serving.data_parallel_size", "8"),
            ("moe_expert_parallel_size", "16"),
            ("weight_dtype", "fp8"),
            ("disaggregation", "prefill_decode"),
            ("prefill_devices", "32"),
            ("num_speculative_tokens", "2"),
            ("acceptance_length", "2"),
            ("input_length", "9000"),
        ],
    );
    let limited = with(&with(&llama(), "max_num_seqs", "16"), "gpu_memory_utilization", "0.85");
    let small = from_preset(
        "qwen3-8b",
        &[
            ("accelerator", "h100-sxm-80gb"),
            ("num_devices", "8"),
            ("concurrency", "64"),
            ("weight_dtype", "fp8"),
        ],
    );
    let hosted = [
        ("experts_kept", "192"),
        ("experts_on_host", "32"),
        ("expert_cache_hit_rate", "0.5"),
        ("host_memory_gb_per_sec", "700"),
        ("host_tflops", "4"),
        ("concurrency", "64"),
        ("host_gb_per_sec", "5"),
    ];
    let hosted = hosted.iter().fold(deepseek(), |design, (knob, value)| with(&design, knob, value));
    let grounds =
        [llama(), small, hosted, moe, rated, apart, limited, pangu(&[("concurrency", "64")])];
    let said = |inference: &Inference| {
        let values: Vec<u64> = Metric::of(Regime::Serving)
            .map(|metric| inference.metrics.get(metric).unwrap().to_bits())
            .collect();
        (values, inference.warnings.clone())
    };
    let values = |design: &Design, id: KnobId| match (id.knob().kind, design.get(id)) {
        (Kind::Integer(..) | Kind::OptionalInteger(..), Value::Integer(now)) => {
            [now / 2, now + 1, now * 2, now * 4].map(Value::Integer).to_vec()
        }
        (Kind::OptionalInteger(..), _) => [1, 2, 4, 16, 32, 48].map(Value::Integer).to_vec(),
        (Kind::Real(..) | Kind::OptionalReal(..), Value::Real(now)) if now > 0.0 => {
            [0.5, 0.9, 1.02, 2.0].map(|factor| Value::Real(now * factor)).to_vec()
        }
        (Kind::Real(..) | Kind::OptionalReal(..), _) => [0.5, 1.5].map(Value::Real).to_vec(),
        _ => legal_values(design, id),
    };
    let mut idle: Vec<&str> = Vec::new();
    for id in KnobId::in_section(Section::Serving) {
        let moves = grounds.iter().any(|design| {
            let before = said(&served(design));
            values(design, id).iter().any(|value| {
                let mut changed = design.clone();
                changed.set(id, value).is_ok()
                    && ServingPlan::new(&changed).is_ok_and(|plan| said(&infer(&plan)) != before)
            })
        });
        if !moves {
            idle.push(id.knob().name);
        }
    }
    // What the grid of experts ties together moves with each other alone.
    idle.retain(|name| {
        !["moe_tensor_parallel_size", "prefill_moe_tensor_parallel_size"].contains(name)
    });
    assert!(idle.is_empty(), "these knobs change nothing: {idle:?}");
}

fn presets() -> Vec<&'static Preset> {
    Preset::all().filter(|preset| preset.refused.is_none()).collect()
}

/// A preset on machines and layouts of all kinds, legal or not.
fn any_design() -> impl Strategy<Value = Design> {
    let powers = |most: u32| (0..=most).prop_map(|power| 1_u64 << power);
    (
        0..presets().len(),
        (powers(5), powers(4), powers(2), powers(7)),
        (powers(6), any::<bool>(), 0_u64..4),
        (1_u64..40_000, 1_u64..8_000, proptest::option::of(1_u64..4_000)),
        (
            0..model::ground::choice::WeightDtype::ALL.len(),
            0..model::ground::choice::Engine::ALL.len(),
        ),
        0..model::catalogue::accelerator::AcceleratorId::ALL.len(),
    )
        .prop_map(
            |(preset, (tp, dp, pp, ep), (replicas, overlap, drafts), load, kinds, part)| {
                let mut design = presets()[preset].design();
                let (input, output, concurrency) = load;
                design.cluster.accelerator =
                    model::catalogue::accelerator::AcceleratorId::ALL[part];
                design.cluster.num_devices = tp * dp * pp * replicas.min(4);
                let serving = &mut design.serving;
                (serving.tensor_parallel_size, serving.data_parallel_size) = (tp, dp);
                serving.pipeline_parallel_size = pp;
                serving.moe_expert_parallel_size = ep.min(tp * dp);
                serving.weight_dtype = model::ground::choice::WeightDtype::ALL[kinds.0];
                serving.engine = model::ground::choice::Engine::ALL[kinds.1];
                serving.two_batch_overlap = overlap;
                serving.num_speculative_tokens = drafts;
                (serving.input_length, serving.output_length) = (input, output);
                serving.concurrency = concurrency;
                design
            },
        )
}

fn legal_design() -> impl Strategy<Value = Design> {
    any_design().prop_filter("legal", |design| rules::violations(design).is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_every_number_is_finite(design in any_design()) {
        if let Ok(plan) = ServingPlan::new(&design) {
            let inference = infer(&plan);
            let answer = Answer::Serving { plan: &plan, inference: &inference };
            for metric in Metric::of(Regime::Serving) {
                let value = answer.number(metric).unwrap();
                prop_assert!(value.is_finite() && value >= 0.0, "{metric:?} {value}");
                if let Some(range) = answer.range(metric) {
                    prop_assert!(range.half[0] < range.half[1]);
                    prop_assert!(range.most[0] <= range.half[0] && range.half[1] <= range.most[1]);
                }
            }
            prop_assert!(inference.decode.iter().all(|part| part.time > Seconds::ZERO));
        }
    }

    #[test]
    fn more_requests_or_a_longer_context_take_longer(design in legal_design()) {
        let plan = serving_plan(&design);
        let [few, many] = [4.0, 8.0].map(|requests| decode_step(&plan, requests));
        prop_assert!(few <= many * (1.0 + 1e-9));
        let mut longer = design.clone();
        longer.serving.input_length *= 2;
        if let Ok(longer) = ServingPlan::new(&longer) {
            prop_assert!(decode_step(&longer, 4.0) >= few * (1.0 - 1e-9));
        }
    }

    #[test]
    fn a_cache_is_linear_in_requests_and_never_shrinks_with_tokens(design in legal_design()) {
        let inference = served(&design);
        let memory = inference.memory;
        prop_assert!(memory.token >= Bytes::ZERO);
        let mut longer = design.clone();
        longer.serving.input_length += 64;
        if let Ok(longer) = ServingPlan::new(&longer) {
            prop_assert!(infer(&longer).memory.sequence >= memory.sequence);
        }
    }

    #[test]
    fn a_looser_limit_of_requests_never_lowers_what_memory_holds(design in legal_design()) {
        let held = served(&design).metrics.kv_limited_concurrency;
        let mut loose = design.clone();
        loose.serving.gpu_memory_utilization = 0.97;
        if let Ok(loose) = ServingPlan::new(&loose) {
            prop_assert!(infer(&loose).metrics.kv_limited_concurrency >= held);
        }
    }
}

#[test]
fn the_front_is_of_layouts_that_no_other_beats() {
    let design = from_preset(
        "qwen3-235b-a22b",
        &[
            ("accelerator", "h100-sxm-80gb"),
            ("num_devices", "32"),
            ("weight_dtype", "fp8"),
            ("input_length", "2000"),
            ("output_length", "500"),
            ("ttft_limit_milliseconds", "1000"),
            ("tpot_limit_milliseconds", "50"),
        ],
    );
    let front = LayoutFront::new(&design, &OneThread);
    assert!(front.best.len() > 4 && front.tried > 100, "{} {}", front.best.len(), front.tried);
    for pair in front.best.windows(2) {
        assert!(pair[0].per_user < pair[1].per_user && pair[0].per_device > pair[1].per_device);
    }
    let chosen = front.chosen.unwrap();
    assert!(chosen.ttft.get() <= 1.0 && chosen.tpot.get() <= 0.05);
    // What is chosen is what an inference says of it.
    let mut own = chosen.design(&design);
    own.serving.concurrency = Some(chosen.concurrency);
    let inference = served(&own);
    near(inference.metrics.tpot_seconds, chosen.tpot.get(), 0.02);
    near(inference.metrics.output_tokens_per_second_per_device, chosen.per_device, 0.02);
    // Looser limits never give less.
    let loose = LayoutFront::new(&with(&design, "tpot_limit_milliseconds", "100"), &OneThread)
        .chosen
        .unwrap();
    assert!(loose.per_device >= chosen.per_device);
    assert!(front.skipped.iter().all(|skipped| !skipped.reason.is_empty()));
}

#[test]
fn a_front_has_pools_apart_whose_numbers_an_inference_repeats() {
    let design = from_preset("deepseek-r1-96-h100", &[("tpot_limit_milliseconds", "50")]);
    let front = LayoutFront::new(&design, &OneThread);
    let apart: Vec<_> = front.best.iter().filter(|served| served.prefill.is_some()).collect();
    assert!(apart.len() > 4, "{}", apart.len());
    for found in apart {
        let pool = found.prefill.unwrap();
        let all =
            pool.count * pool.layout.devices() + found.decode.count * found.decode.layout.devices();
        assert_eq!(all, 96);
        let inference = served(&found.design(&design));
        near(inference.metrics.tpot_seconds, found.tpot.get(), 0.02);
        near(inference.metrics.ttft_seconds, found.ttft.get(), 0.02);
        let per_device = inference.metrics.output_tokens_per_second_per_device;
        near(per_device, found.per_device, 0.02);
    }
}

#[test]
fn a_load_of_a_layout_gives_more_than_lighter_ones() {
    let design = from_preset("llama-3.3-70b-2-h100", &[("num_devices", "16")]);
    let front = LayoutFront::new(&design, &OneThread);
    for found in &front.best {
        for other in front.best.iter().filter(|it| it.decode == found.decode) {
            if other.prefill == found.prefill && other.concurrency > found.concurrency {
                assert!(other.per_device > found.per_device);
            }
        }
    }
}

/// Whether every node follows from those below it.
fn adds_up(node: &model::Breakdown) -> Result<(), String> {
    let values: Vec<f64> = node.children.iter().map(|child| child.value).collect();
    if let Some(value) = node.how.combine(&values)
        && (value - node.value).abs() > 1e-9 * node.value.abs().max(1e-300)
    {
        return Err(format!("{}: {} is not {value}", node.name, node.value));
    }
    node.children.iter().try_for_each(adds_up)
}

#[test]
fn every_metric_of_every_preset_is_explained_down_to_what_is_given() {
    for preset in Preset::served() {
        let plan = serving_plan(&preset.design());
        let inference = infer(&plan);
        let answer = Answer::Serving { plan: &plan, inference: &inference };
        for metric in Metric::of(Regime::Serving) {
            let tree = answer.explain(metric).unwrap();
            assert_eq!(tree.value.to_bits(), answer.number(metric).unwrap().to_bits());
            assert_eq!(adds_up(&tree), Ok(()), "{} {metric:?}", preset.id);
        }
    }
}
