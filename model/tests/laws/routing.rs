//! Limits of load imbalance: no one gets faster by it, and even loads cost nothing.

use std::sync::Arc;

use model::answer::loads::{Replay, Report, cadences};
use model::catalogue::preset::Preset;
use model::design::Design;
use model::ground::choice::Balance;
use model::routing::{Effect, Generator, Size, Trace};
use model::training::estimate::{Estimate, StepPart};
use model::{Plan, estimate};
use proptest::prelude::*;
use testing::design::estimated;

use super::{legal_design, numbers, plan, with};

/// The paper's run with even loads and without what evens them out.
fn paper(settings: &[(&str, &str)]) -> Design {
    let paper = Design::from_preset(Preset::DEFAULT_ID).unwrap();
    let even = [("balance", "uniform"), ("planner", "none"), ("aux_loss", "none")];
    let trigger = [("planner_trigger", "threshold")];
    let paper =
        even.iter().chain(&trigger).fold(paper, |design, (knob, value)| with(&design, knob, value));
    settings.iter().fold(paper, |design, (knob, value)| with(&design, knob, value))
}

/// The paper's run with load imbalance, in micro-batches that a loss keeps like their steps.
fn skewed(settings: &[(&str, &str)]) -> Design {
    let skewed = with(&paper(settings), "balance", "skewed");
    let skewed = with(&skewed, "aux_loss", "ep_group");
    settings.iter().fold(skewed, |design, (knob, value)| with(&design, knob, value))
}

fn step(design: &Design) -> f64 {
    estimated(design).metrics.step_time.get()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn uneven_loads_never_make_a_step_faster_or_smaller(
        design in legal_design(), skew in 0.0..3.0_f64,
    ) {
        prop_assume!(design.transformer.num_moe_experts.is_some());
        prop_assume!(design.training.moe_expert_capacity_factor.is_none());
        // Copies of experts need a planner.
        let design = with(&design, "redundant_experts", "0");
        let even = estimated(&with(&with(&design, "balance", "uniform"), "planner", "none"));
        let uneven = with(&with(&design, "balance", "skewed"), "skew", &skew.to_string());
        if let Ok(plan) = Plan::new(&uneven) {
            let uneven = estimate(&plan);
            prop_assert!(uneven.metrics.step_time >= even.metrics.step_time);
            prop_assert!(uneven.metrics.imbalance_ratio >= 1.0 - 1e-12);
            prop_assert!(uneven.metrics.memory_peak >= even.metrics.memory_peak);
        }
    }

    #[test]
    fn the_effect_of_a_sample_is_that_of_a_long_run(skew in 0.05..0.5_f64) {
        let design = skewed(&[("skew", &skew.to_string())]);
        let sample = Effect::of(&design);
        let size = Size { steps: 1, stride: 1, layers: 58, experts: 256, tokens: 1 << 20, topk: 8 };
        let trace = Generator { seed: 77, skew, ..Generator::default() }.trace(&size).unwrap();
        let long = Effect::traced(&design, &trace);
        let (found, expected) = (sample.imbalance - 1.0, long.imbalance - 1.0);
        prop_assert!((found / expected - 1.0).abs() < 0.25, "{found} {expected}");
    }
}

#[test]
fn no_skew_has_the_numbers_of_even_loads() {
    let even = estimated(&paper(&[("aux_loss", "ep_group")]));
    assert_eq!(numbers(&estimated(&skewed(&[("skew", "0")]))), numbers(&even));
    assert!(even.step.part(StepPart::Imbalance).get().abs() < 1e-15);
    assert!((even.metrics.imbalance_ratio - 1.0).abs() < 1e-15);
    assert_eq!(*plan(&paper(&[("planner", "ema")])).effect(), Effect::UNIFORM);
}

#[test]
fn a_more_skewed_load_is_never_faster() {
    let steps: Vec<f64> = ["0", "0.02", "0.05", "0.1", "0.2", "0.4", "0.8", "1.6"]
        .into_iter()
        .map(|skew| step(&skewed(&[("skew", skew)])))
        .collect();
    // Pairs are put together by list scheduling, which may order them a little better when an
    // operator takes longer (Graham 1969): 1.1 % was seen.
    assert!(steps.windows(2).all(|pair| pair[0] <= 1.015 * pair[1]), "{steps:?}");
    assert!(steps[0] < steps[3] && steps[3] < steps[7], "{steps:?}");
}

#[test]
fn balanced_groups_on_ranks_have_no_imbalance() {
    let groups = [
        ("moe_router_num_groups", "32"),
        ("moe_router_topk", "32"),
        ("moe_router_group_topk", "none"),
        ("moe_router_group_balanced", "true"),
        ("skew", "1"),
    ];
    let found = plan(&skewed(&groups));
    assert_eq!(found.effect().imbalance.to_bits(), 1.0_f64.to_bits());
    assert_eq!(found.effect().fullest.to_bits(), 1.0_f64.to_bits());
    let mut even = groups.to_vec();
    even.push(("aux_loss", "ep_group"));
    assert_eq!(numbers(&estimate(&found)), numbers(&estimated(&paper(&even))));
    // Groups that several ranks share leave some.
    let shared = [("moe_router_num_groups", "8"), ("moe_router_topk", "8")];
    let mut all = groups.to_vec();
    all.extend(shared);
    assert!(plan(&skewed(&all)).effect().imbalance > 1.0);
}

#[test]
fn a_planner_takes_most_of_the_imbalance_away_and_its_moves_cost_time() {
    let without = estimated(&skewed(&[]));
    for planner in ["sliding_window", "ema"] {
        let with = skewed(&[("planner", planner), ("planner_trigger", "on_increase")]);
        let with = estimated(&with);
        assert!(with.metrics.step_time < without.metrics.step_time, "{planner}");
        let [before, after] =
            [&without, &with].map(|estimate| estimate.metrics.imbalance_ratio - 1.0);
        assert!(after < 0.3 * before, "{planner}: {before} to {after}");
        assert!(with.step.part(StepPart::Migration).get() > 0.0, "{planner}");
    }
    // Loads that hardly change are planned once, and then nothing moves.
    let still = estimated(&skewed(&[("planner", "ema")]));
    assert!(still.step.part(StepPart::Migration).get().abs() < 1e-15);
}

#[test]
fn memory_holds_the_fullest_rank() {
    let (even, uneven) = (estimated(&paper(&[])), estimated(&skewed(&[("skew", "0.5")])));
    let activations = |estimate: &Estimate| estimate.stages[3].memory.activations.get();
    let weights = |estimate: &Estimate| estimate.stages[3].memory.weights.get();
    assert!(
        activations(&uneven) > activations(&even)
            || uneven.stages[3].memory.buffers > even.stages[3].memory.buffers
    );
    assert_eq!(weights(&uneven).to_bits(), weights(&even).to_bits());
}

#[test]
fn a_capacity_drops_what_is_uneven_and_padding_fixes_the_time() {
    // MindSpeed's fused permutation has no capacity, or pads to it.
    let sorted = ("moe_permute_fusion", "false");
    let capped = [sorted, ("moe_expert_capacity_factor", "1.2"), ("skew", "0.4")];
    let (even, uneven) = (estimated(&paper(&capped)), estimated(&skewed(&capped)));
    assert!(even.metrics.token_drop_ratio.abs() < 1e-15);
    assert!((0.02..0.5).contains(&uneven.metrics.token_drop_ratio));
    let free = estimated(&skewed(&[sorted, ("skew", "0.4")]));
    assert!(uneven.metrics.imbalance_ratio < free.metrics.imbalance_ratio);
    assert!(uneven.metrics.step_time < free.metrics.step_time);
    let mut padded = capped.to_vec();
    padded.push(("moe_pad_expert_input_to_capacity", "true"));
    let with_loss = [&padded[..], &[("aux_loss", "ep_group")]].concat();
    let (even, uneven) = (estimated(&paper(&with_loss)), estimated(&skewed(&padded)));
    assert_eq!(even.metrics.step_time, uneven.metrics.step_time);
    assert!(uneven.metrics.token_drop_ratio > 0.02);
}

#[test]
fn copies_of_busy_experts_cost_memory() {
    let planned = [("planner", "ema"), ("skew", "1")];
    let mut copied = planned.to_vec();
    copied.push(("redundant_experts", "32"));
    let (without, with) = (estimated(&skewed(&planned)), estimated(&skewed(&copied)));
    assert!(with.stages[3].memory.weights > without.stages[3].memory.weights);
    assert!(with.metrics.imbalance_ratio < without.metrics.imbalance_ratio);
}

#[test]
fn an_auxiliary_loss_costs_its_exchange() {
    // A list scheduler may find a better order with it.
    let fixed = ("timing", "closed_form");
    let even = estimated(&paper(&[fixed]));
    for loss in ["sequence", "micro_batch", "ep_group", "dp_group"] {
        let design = paper(&[fixed, ("aux_loss", loss)]);
        let found = estimated(&design);
        assert!(found.metrics.step_time > even.metrics.step_time, "{loss}");
        assert!(plan(&design).aux_loss_scope().tokens >= 8_192.0, "{loss}");
    }
}

#[test]
fn a_planner_leaves_what_changes_between_micro_batches() {
    let planned = [("planner", "sliding_window"), ("planner_trigger", "on_increase")];
    let effect = |loss| *plan(&with(&skewed(&planned), "aux_loss", loss)).effect();
    let [none, data, group] = ["none", "dp_group", "ep_group"].map(effect);
    assert!(none.noise > data.noise && data.noise > group.noise);
    for found in [none, data] {
        assert!(found.steps.removed() > 0.8, "{found:?}");
        assert!(found.removed() < 0.2 * found.steps.removed(), "{found:?}");
        assert!(found.imbalance > 1.0 + found.noise);
    }
    assert_eq!(group.removed().to_bits(), group.steps.removed().to_bits());
}

fn recorded() -> Trace {
    let size = Size { steps: 3, stride: 1, layers: 58, experts: 256, tokens: 1 << 20, topk: 8 };
    Generator::default().trace(&size).unwrap()
}

#[test]
fn traced_loads_need_their_trace() {
    let traced = paper(&[("balance", "trace")]);
    let violations = Plan::new(&traced).unwrap_err();
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].rule, "trace_is_at_hand");
    let trace = recorded();
    let found = Plan::with_trace(&traced, &trace).unwrap();
    assert!(found.effect().imbalance > 1.0);
    assert!(estimate(&found).metrics.step_time > estimated(&paper(&[])).metrics.step_time);
    let named = with(&traced, "trace", &trace.content_hash());
    assert_eq!(Plan::with_trace(&named, &trace).unwrap().effect(), found.effect());
    let other = with(&traced, "trace", "0123456789abcdef0123456789abcdef");
    assert_eq!(Plan::with_trace(&other, &trace).unwrap_err()[0].rule, "trace_is_at_hand");
    let fewer = Trace::new([1, 1, 8], vec![1; 8]).unwrap();
    let message = &Plan::with_trace(&traced, &fewer).unwrap_err()[0].message;
    assert!(message.contains("8 experts"), "{message}");
    let illegal = with(&traced, "pp", "12");
    assert!(Plan::with_trace(&illegal, &trace).is_err());
}

#[test]
fn a_variant_keeps_the_loads_that_it_does_not_change() {
    let traced = Plan::with_trace(&paper(&[("balance", "trace")]), &recorded()).unwrap();
    let variant = traced.variant(&with(traced.design(), "mbs", "1")).unwrap();
    assert_eq!(variant.effect().steps, traced.effect().steps);
    // Fewer tokens in an exchange vary more.
    assert!(variant.effect().noise > traced.effect().noise);
    assert!(traced.variant(&with(traced.design(), "ep", "16")).is_err());
    let skewed = plan(&skewed(&[]));
    assert_eq!(
        skewed.variant(&with(skewed.design(), "mbs", "1")).unwrap().effect(),
        skewed.effect()
    );
    let other = skewed.variant(&with(skewed.design(), "ep", "16")).unwrap();
    assert_ne!(other.effect(), skewed.effect());
}

#[test]
fn a_design_with_traced_loads_can_be_made_to_fit() {
    let bare = [
        ("balance", "trace"),
        ("recompute_granularity", "none"),
        ("recompute_modules", "none"),
        ("swap_modules", "none"),
    ];
    let plan = Plan::with_trace(&paper(&bare), &recorded()).unwrap();
    assert!(!estimate(&plan).metrics.fits);
    let fitted = model::make_it_fit(&plan).best.expect("recomputation and swapping free enough");
    assert!(fitted.estimate.metrics.imbalance_ratio > 1.0);
    assert!(!model::verdict(&plan, &estimate(&plan)).changes.is_empty());
}

#[test]
fn a_replay_says_of_each_design_what_a_trace_read_anew_says() {
    let size = Size { steps: 45, stride: 1, layers: 9, experts: 256, tokens: 1 << 20, topk: 8 };
    let trace = Arc::new(Generator { skew: 0.6, ..Generator::default() }.trace(&size).unwrap());
    let planned = [
        ("balance", "trace"),
        ("planner", "sliding_window"),
        ("planner_interval", "10"),
        // MindSpeed's fused permutation has no capacity, or pads to it.
        ("moe_permute_fusion", "false"),
    ];
    let base = paper(&planned);
    let mut replay = Replay::new(Arc::clone(&trace));
    // Each differs from the one before in something that is kept, or comes back to it.
    let changes: [&[(&str, &str)]; 10] = [
        &[],
        &[],
        &[("planner_interval", "20")],
        &[("planner_trigger", "on_increase")],
        &[("ep", "16")],
        &[("ep", "16"), ("moe_expert_capacity_factor", "1.2")],
        &[("moe_expert_capacity_factor", "1.5")],
        &[("planner", "none")],
        &[("mbs", "1")],
        &[("balance", "skewed")],
    ];
    for change in changes {
        let design = change.iter().fold(base.clone(), |design, (knob, to)| with(&design, knob, to));
        let fresh = Plan::with_trace(&design, &trace).unwrap();
        let kept = replay.plan(&design).unwrap();
        assert_eq!(kept, fresh, "{change:?}");
        assert_eq!(replay.report(&kept), Report::of(&fresh, Some(&trace)), "{change:?}");
        let traced = design.routing.balance == Balance::Trace;
        let all = cadences(&fresh, traced.then_some(&trace));
        assert_eq!(replay.cadences(&kept), all, "{change:?}");
        assert_eq!(all.is_empty(), change.first() == Some(&("planner", "none")));
    }
    let fewer = with(&base, "num_moe_experts", "128");
    assert_eq!(replay.plan(&fewer).unwrap_err()[0].rule, "trace_is_at_hand");
}
