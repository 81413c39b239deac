//! What must hold for every design, tried on random ones.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::answer::explain::{Breakdown, How};
use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::ground::knob::{Kind, Value};
use model::metric::{MetricId, Regime};
use model::training::estimate::Estimate;
use model::{Answer, Plan, estimate, legal_values};
use proptest::prelude::*;
use testing::design::{estimated, plan, with};

#[path = "laws/blocking.rs"]
mod blocking;
#[path = "laws/constants.rs"]
mod constants;
#[path = "laws/decoration.rs"]
mod decoration;
#[path = "laws/fitting.rs"]
mod fitting;
#[path = "laws/memory.rs"]
mod memory;
#[path = "laws/placement.rs"]
mod placement;
#[path = "laws/routing.rs"]
mod routing;
#[path = "laws/scaling.rs"]
mod scaling;
#[path = "laws/volumes.rs"]
mod volumes;

fn presets() -> Vec<&'static Preset> {
    Preset::all().filter(|preset| preset.refused.is_none()).collect()
}

/// A preset, and a few legal steps away from it.
fn legal_design() -> impl Strategy<Value = Design> {
    let knobs = KnobId::ALL.len();
    let steps = prop::collection::vec((0..knobs, any::<prop::sample::Index>()), 0..6);
    (0..presets().len(), steps).prop_map(|(preset, steps)| {
        let mut design = presets()[preset].design();
        for (knob, choice) in steps {
            let id = KnobId::ALL[knob];
            if id.knob().not_offered.is_some() {
                continue;
            }
            let values = legal_values(&design, id);
            let before = design.get(id);
            let value = &values[choice.index(values.len())];
            design.set(id, value).unwrap();
            if Plan::new(&design).is_err() {
                design.set(id, &before).unwrap();
            }
        }
        design
    })
}

/// Do forwards run beside backwards, so that list scheduling orders their operators?
fn runs_pairs(design: &Design) -> bool {
    use model::ground::choice::Method;
    let schedule = &design.schedule;
    schedule.overlap_moe_expert_parallel_comm
        || matches!(
            schedule.method,
            Method::OneForwardOneBackwardOverlap | Method::DualPipe | Method::DualPipeV
        )
}

fn numbers(estimate: &Estimate) -> Vec<f64> {
    let metrics = MetricId::of(Regime::Training);
    let mut numbers: Vec<f64> =
        metrics.map(|id| estimate.metrics.number(id).expect("a metric of training")).collect();
    numbers.extend(estimate.step.parts().map(|(_, time)| time.get()));
    for stage in &estimate.stages {
        numbers.extend(stage.memory.parts().map(|bytes| bytes.get()));
        numbers.extend([stage.forward.get(), stage.backward.get(), stage.idle.get()]);
        numbers.extend([stage.host_memory.get(), stage.peak_in_flight, stage.exposed.get()]);
    }
    for row in &estimate.communication {
        numbers.extend([row.bytes.get(), row.time.get(), row.exposed.get()]);
    }
    numbers
}

fn check_sums(node: &Breakdown) {
    let values: Vec<f64> = node.children.iter().map(|child| child.value).collect();
    let expected = node.how.combine(&values).unwrap_or(node.value);
    // What is left of large terms that cancel out has their rounding.
    let most = values.iter().fold(node.value.abs(), |most, value| most.max(value.abs()));
    let slack = 1e-9 * most.max(1e-9);
    assert!((node.value - expected).abs() <= slack, "{}: {} {expected}", node.name, node.value);
    // Only what has no formula of its terms may be given.
    assert!(node.how != How::Given || node.children.len() < 4, "{}", node.name);
    node.children.iter().for_each(check_sums);
}

#[test]
fn every_number_of_every_preset_follows_from_its_terms() {
    for preset in presets() {
        let plan = plan(&preset.design());
        let estimate = estimate(&plan);
        let answer = Answer::Training { plan: &plan, estimate: &estimate };
        for id in MetricId::of(answer.regime()) {
            let (tree, number) = (answer.explain(id).unwrap(), answer.number(id).unwrap());
            check_sums(&tree);
            assert_eq!(tree.value.to_bits(), number.to_bits(), "{} {id:?}", preset.id);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_number_of_an_estimate_is_finite(design in legal_design()) {
        for number in numbers(&estimated(&design)) {
            prop_assert!(number.is_finite());
        }
    }

    #[test]
    fn efficiencies_are_shares(design in legal_design()) {
        let metrics = estimated(&design).metrics;
        prop_assert!(metrics.mfu > 0.0 && metrics.hfu > 0.0);
        let convention = design.training.attention_flops;
        // Of Mamba-2's scan the convention counts 7 D n, whatever its kernels run.
        let counts_what_runs = convention == model::ground::choice::AttentionFlops::Causal
            && design.training.moe_expert_capacity_factor.is_none()
            && design.transformer.hybrid_layer_pattern.is_none();
        prop_assert!(!counts_what_runs || metrics.hfu >= metrics.mfu * (1.0 - 1e-9));
        prop_assert!((0.0..=1.0).contains(&metrics.bubble_ratio));
        prop_assert!((0.0..1.0).contains(&metrics.bubble_ratio_closed_form));
        prop_assert!((0.0..=1.0).contains(&metrics.overlap_ratio));
    }

    #[test]
    fn the_parts_of_a_step_sum_to_it_and_each_is_spent(design in legal_design()) {
        let estimate = estimated(&design);
        let sum: f64 = estimate.step.parts().map(|(_, time)| time.get()).sum();
        prop_assert_eq!(sum.to_bits(), estimate.metrics.step_time.get().to_bits());
        for (part, time) in estimate.step.parts() {
            let may_be_negative = part == model::training::estimate::StepPart::Kernels;
            prop_assert!(may_be_negative || time.get() >= -1e-9, "{:?} {:?}", part, time);
        }
    }

    #[test]
    fn no_exchange_is_exposed_for_longer_than_it_takes(design in legal_design()) {
        for row in estimated(&design).communication {
            prop_assert!(row.exposed.get() <= row.time.get() * (1.0 + 1e-9), "{:?}", row);
        }
    }

    #[test]
    fn chunks_exchange_their_parameters_no_longer_than_their_stage(
        design in legal_design(),
        strategy in prop::sample::select(vec!["optim_grads", "optim_grads_params"]),
        depth in any::<prop::sample::Index>(),
    ) {
        let mut design = with(&design, "data_parallel_sharding_strategy", strategy);
        design.schedule.method = model::ground::choice::Method::Interleaved;
        design.schedule.timing = model::ground::choice::Timing::Simulated;
        // Chunks with MTP each have tables of their own, which are counted once for a stage.
        design.transformer.mtp_num_layers = 0;
        let vpp = KnobId::find("vpp").unwrap();
        let depths = legal_values(&design, vpp);
        if !depths.is_empty() {
            design.set(vpp, &depths[depth.index(depths.len())]).unwrap();
        }
        let Ok(plan) = Plan::new(&design) else { return Ok(()) };
        for row in estimate(&plan).communication {
            prop_assert!(row.exposed.get() <= row.time.get() * (1.0 + 1e-9), "{:?}", row);
        }
    }

    #[test]
    fn explanations_sum_to_the_number_that_they_explain(design in legal_design()) {
        let plan = plan(&design);
        let estimate = estimate(&plan);
        let answer = Answer::Training { plan: &plan, estimate: &estimate };
        for id in MetricId::of(answer.regime()) {
            let (tree, number) = (answer.explain(id).unwrap(), answer.number(id).unwrap());
            check_sums(&tree);
            prop_assert_eq!(tree.value.to_bits(), number.to_bits());
        }
    }

    #[test]
    fn parameters_of_all_ranks_count_each_split_one_once(design in legal_design()) {
        // With TP 1 and EP 1 nothing is replicated or split within a stage.
        let mut whole = design;
        let undivided = [
            ("tp", "1"),
            ("sequence_parallel", "false"),
            ("ep", "1"),
            ("etp", "1"),
            ("redundant_experts", "0"),
            // Adapters are no parameters of the model.
            ("lora_rank", "none"),
        ];
        for (knob, value) in undivided {
            whole = with(&whole, knob, value);
        }
        if let Ok(plan) = Plan::new(&whole) {
            let estimate = estimate(&plan);
            let both_ways = whole.schedule.method == model::ground::choice::Method::DualPipe;
            let directions = if both_ways { 2 } else { 1 };
            let held = estimate.stages.iter().map(|stage| stage.params).sum::<u128>() / directions;
            let all = plan.params_total() + plan.params_mtp();
            // A tied head on another stage, or an MTP head there, is a further copy of the table.
            let transformer = &whole.transformer;
            let table = u128::from(transformer.vocab_size) * u128::from(transformer.hidden_size);
            let copies = (held + table / 2).saturating_sub(all) / table;
            prop_assert!(copies <= 1 + 2 * u128::from(whole.transformer.mtp_num_layers));
            let slack = all / 1_000_000 + 64;
            prop_assert!((held - copies * table).abs_diff(all) <= slack, "{held} {all} {copies}");
        }
    }

    #[test]
    fn a_slower_link_never_makes_a_step_faster(design in legal_design(), factor in 0.05_f64..1.0) {
        let cluster = &design.cluster;
        let row = cluster.accelerator.row();
        let before = estimated(&design).metrics.step_time;
        // List scheduling may order a pair a little better when one of its operators takes longer
        // (Graham 1969); where operators follow each other in a fixed order there is no slack.
        let slack = if runs_pairs(&design) { 0.05 } else { 1e-9 };
        let links = [
            ("inter_node_gb_per_sec", cluster.inter_node_gb_per_sec, row.inter_node_gb_per_sec),
            ("intra_node_gb_per_sec", cluster.intra_node_gb_per_sec, row.intra_node_gb_per_sec),
            ("host_gb_per_sec", cluster.host_gb_per_sec, row.host_gb_per_sec),
        ];
        for (knob, own, usual) in links {
            let slower = with(&design, knob, &(own.unwrap_or(usual) * factor).max(0.1).to_string());
            let after = estimated(&slower).metrics.step_time;
            prop_assert!(after.get() >= before.get() * (1.0 - slack), "{knob} {after:?}");
        }
    }

    #[test]
    fn a_larger_micro_batch_never_needs_less_memory(design in legal_design()) {
        let mut larger = design.clone();
        larger.training.micro_batch_size *= 2;
        larger.training.global_batch_size *= 2;
        if let Ok(larger) = Plan::new(&larger) {
            let before = estimated(&design).metrics.memory_peak;
            prop_assert!(estimate(&larger).metrics.memory_peak >= before);
        }
    }

    #[test]
    fn a_bubble_shrinks_as_micro_batches_grow(design in legal_design()) {
        let mut more = design.clone();
        more.training.global_batch_size *= 2;
        if let Ok(more) = Plan::new(&more) {
            let before = plan(&design).bubble_ratio_closed_form();
            prop_assert!(more.bubble_ratio_closed_form() <= before);
        }
    }

    #[test]
    fn nearest_values_mend_the_rule_that_they_answer(
        design in legal_design(),
        knob in 0..KnobId::ALL.len(),
        text in prop::sample::select(
            vec!["1", "3", "7", "12", "48", "100", "true", "false", "full"]
        ),
    ) {
        let mut illegal = design;
        if illegal.set_text(KnobId::ALL[knob], text).is_err() {
            return Ok(());
        }
        let Err(violations) = Plan::new(&illegal) else { return Ok(()) };
        for violation in violations {
            prop_assert!(!violation.message.is_empty());
            for near in violation.nearest {
                let mut mended = illegal.clone();
                mended.set(near.knob, &near.value).unwrap();
                let left = Plan::new(&mended).err().unwrap_or_default();
                prop_assert!(left.iter().all(|other| other.rule != violation.rule), "{:?}", near);
            }
        }
    }
}

#[test]
fn every_preset_is_legal_and_every_value_in_bounds() {
    for preset in presets() {
        let design = preset.design();
        plan(&design);
        for id in KnobId::ALL.iter().copied() {
            let mut again = design.clone();
            again.set(id, &design.get(id)).unwrap();
            assert_eq!(again, design, "{} {id:?}", preset.id);
        }
    }
}

#[test]
fn preset_ids_and_knob_names_are_used_once() {
    let mut ids: Vec<&str> = Preset::all().map(|preset| preset.id).collect();
    let mut names: Vec<&str> = KnobId::ALL.iter().map(|id| id.knob().name).collect();
    for list in [&mut ids, &mut names] {
        let count = list.len();
        list.sort_unstable();
        list.dedup();
        assert_eq!(list.len(), count);
    }
}

#[test]
fn the_bounds_of_every_knob_give_violations_or_finite_numbers() {
    for preset in ["pangu-ultra-moe-6k", "qwen3-30b-a3b", "llama-3-8b", "mixtral-8x22b"] {
        let design = Design::from_preset(preset).unwrap();
        for id in KnobId::ALL.iter().copied() {
            let (low, high) = match id.knob().kind {
                Kind::Integer(low, high) | Kind::OptionalInteger(low, high) => {
                    (Value::Integer(low), Value::Integer(high))
                }
                Kind::Real(low, high) | Kind::OptionalReal(low, high) => {
                    (Value::Real(low), Value::Real(high))
                }
                Kind::Flag
                | Kind::Choice(_)
                | Kind::Subset(_)
                | Kind::LayerFreq
                | Kind::PerStage(_)
                | Kind::PositionList(_)
                | Kind::Layout
                | Kind::LayerPattern(_)
                | Kind::Hash
                | Kind::Name
                | Kind::Arguments => continue,
            };
            for value in [low, high] {
                let mut extreme = design.clone();
                extreme.set(id, &value).unwrap();
                for grouped in ["true", "false"] {
                    let extreme = with(&extreme, "moe_grouped_gemm", grouped);
                    if let Ok(plan) = Plan::new(&extreme) {
                        let found = numbers(&estimate(&plan));
                        assert!(found.iter().all(|number| number.is_finite()), "{preset} {id:?}");
                    }
                }
            }
        }
    }
}

/// Less than one row per expert once made a matrix product ask for itself for ever.
#[test]
fn fewer_rows_than_experts_are_estimated() {
    let tiny =
        [("seq_length", "1"), ("moe_router_topk", "1"), ("moe_expert_capacity_factor", "0.5")];
    let many = [("num_moe_experts", "65536"), ("moe_grouped_gemm", "false")];
    for (preset, settings) in [("qwen3-30b-a3b", &tiny[..]), ("mixtral-8x22b", &many[..])] {
        let design =
            settings.iter().fold(Design::from_preset(preset).unwrap(), |design, (knob, value)| {
                with(&design, knob, value)
            });
        assert!(estimated(&design).metrics.step_time.get().is_finite());
    }
}

#[test]
fn interleaving_one_chunk_is_1f1b() {
    let design = with(&Design::from_preset("llama-3.1-405b").unwrap(), "method", "1f1b");
    let interleaved = with(&design, "method", "interleaved");
    let (one, other) = (estimated(&design), estimated(&interleaved));
    assert_eq!(one.metrics, other.metrics);
    assert_eq!(one.stages, other.stages);
}

#[test]
fn layers_that_cannot_be_split_say_how_many_an_unchecked_megatron_trains() {
    let llama = Design::from_preset("llama-3-8b").unwrap();
    let said = |layers: &str, pp: &str, vpp: &str| {
        let mut design = llama.clone();
        for (knob, value) in [("num_layers", layers), ("num_devices", "64"), ("pp", pp)] {
            design = with(&design, knob, value);
        }
        design = with(&design, "method", if vpp == "1" { "1f1b" } else { "interleaved" });
        let violations = Plan::new(&with(&design, "vpp", vpp)).unwrap_err();
        violations.iter().map(|it| it.message.clone()).collect::<Vec<_>>().join("; ")
    };
    assert!(said("30", "4", "1").ends_with("doesn't check it trains 28 layers"));
    assert!(said("80", "16", "2").ends_with("doesn't check it trains 64 layers"));
}

#[test]
fn pp_12_names_its_rule_and_its_three_ways_out() {
    let paper = Design::from_preset(Preset::DEFAULT_ID).unwrap();
    let violations = Plan::new(&with(&paper, "pp", "12")).unwrap_err();
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].rule, "layer_slots_are_a_multiple_of_pp_vpp");
    let nearest: Vec<String> = violations[0]
        .nearest
        .iter()
        .map(|near| format!("{:?}={}", near.knob, near.value))
        .collect();
    assert_eq!(
        nearest,
        [
            "pipeline_model_parallel_size=8",
            "pipeline_model_parallel_size=16",
            "noop_layers=61,63,64,65,66,67,68,69,70,71",
        ]
    );
}

#[test]
fn a_knob_that_is_not_offered_names_its_neutral_value() {
    let paper = Design::from_preset(Preset::DEFAULT_ID).unwrap();
    let neutral = Design::neutral(paper.preset);
    for id in KnobId::ALL.iter().filter(|id| id.knob().not_offered.is_some()) {
        let value = neutral.get(*id).to_string();
        // All but choices are switches so far.
        let names =
            if let Kind::Choice(names) = id.knob().kind { names } else { &["true", "false"] };
        let other = names.iter().find(|name| **name != value).expect("another value");
        let violations = Plan::new(&with(&paper, id.knob().name, other)).unwrap_err();
        let found = violations.iter().find(|it| it.rule == "design_uses_what_is_modelled");
        let nearest = &found.unwrap_or_else(|| panic!("{} is offered", id.id())).nearest;
        assert_eq!(nearest.len(), 1, "{}", id.id());
        assert_eq!(nearest[0].value, neutral.get(*id), "{}", id.id());
    }
}
