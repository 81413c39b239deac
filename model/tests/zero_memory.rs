//! MindSpeed's zero-memory levels: what they free, what they cost, and where they work.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::answer::ledger::{Fate, LayerLedger, Tensor};
use model::design::Design;
use model::ground::axis::Axis;
use model::training::estimate::{Estimate, StepPart};
use model::{Plan, estimate, ledger};
use testing::design::{self, from_preset};

/// The paper's recipe with nothing freed and its exchange of experts overlapped inside the layer.
const IN_LAYER: &[(&str, &str)] = &[
    ("recompute_granularity", "none"),
    ("recompute_modules", "none"),
    ("swap_modules", "none"),
    ("delay_wgrad_compute", "false"),
    ("method", "interleaved"),
    ("moe_alltoall_overlap_comm", "true"),
];

/// The paper's recipe with nothing freed, in pairs of micro-batches.
const IN_PAIRS: &[(&str, &str)] =
    &[("recompute_granularity", "none"), ("recompute_modules", "none"), ("swap_modules", "none")];

fn design(base: &[(&str, &str)], more: &[(&str, &str)]) -> Design {
    from_preset("pangu-ultra-moe-6k", &[base, more].concat())
}

fn plan(base: &[(&str, &str)], more: &[(&str, &str)]) -> Plan {
    design::plan(&design(base, more))
}

fn at(base: &[(&str, &str)], level: &str) -> Estimate {
    estimate(&plan(base, &[("moe_zero_memory", level)]))
}

fn sent(estimate: &Estimate) -> f64 {
    let rows = estimate.communication.iter().filter(|row| row.axis == Axis::Ep);
    rows.map(|row| row.bytes.get()).sum()
}

#[test]
fn each_level_frees_more_and_takes_longer() {
    for (base, levels) in
        [(IN_LAYER, &["disable", "level0", "level1"][..]), (IN_PAIRS, &["disable", "level0"])]
    {
        for pair in levels.windows(2) {
            let [less, more] = [at(base, pair[0]), at(base, pair[1])];
            assert!(more.metrics.memory_peak < less.metrics.memory_peak, "{pair:?}");
            for (after, before) in more.stages.iter().zip(&less.stages) {
                assert!(after.memory.activations < before.memory.activations, "{pair:?}");
            }
            let again = |estimate: &Estimate| estimate.step.part(StepPart::Recompute);
            assert!(again(&more) > again(&less), "{pair:?}");
            assert!(more.metrics.step_time > less.metrics.step_time, "{pair:?}");
        }
        // Tokens are sent to the experts once more: by either level.
        assert!(sent(&at(base, levels[1])) > sent(&at(base, "disable")) * 1.1);
    }
    let [level0, level1] = ["level0", "level1"].map(|level| sent(&at(IN_LAYER, level)));
    assert!((level0 / level1 - 1.0).abs() < 1e-12);
}

#[test]
fn level0_is_the_permutation_and_the_activation_function() {
    let modules =
        [("recompute_granularity", "selective"), ("recompute_modules", "moe_permute,moe_act")];
    for base in [IN_LAYER, IN_PAIRS] {
        let alone = estimate(&plan(base, &modules));
        assert_eq!(at(base, "level0"), alone);
        // Both together cost nothing more.
        let both = [&modules[..], &[("moe_zero_memory", "level0")]].concat();
        assert_eq!(estimate(&plan(base, &both)), alone);
    }
}

/// MindSpeed, `megatron-moe-zero-memory.md`: the levels save more than 70 % and more than 90 % of
/// what recomputing the MLP saves, shared experts included.
///
/// Its layer keeps one tensor more than Megatron-Core's: the rows that come back to the tokens'
/// ranks, R h, for the gradient of the probabilities. Both levels drop it as well.
#[test]
fn levels_save_the_published_shares_of_what_recomputing_the_mlp_saves() {
    let freed = |settings: &[(&str, &str)]| {
        let layers = ledger(&plan(IN_LAYER, settings));
        let layer: &LayerLedger = layers.iter().find(|layer| layer.has_experts).unwrap();
        let returned = layer.tensors.iter().find(|saved| saved.tensor == Tensor::Permuted);
        layer.bytes(Fate::Recomputed).get() + returned.unwrap().bytes.get()
    };
    let whole = freed(&[("recompute_granularity", "selective"), ("recompute_modules", "moe")]);
    let level0 = freed(&[("moe_zero_memory", "level0")]) / whole;
    let level1 = freed(&[("moe_zero_memory", "level1")]) / whole;
    assert!((0.7..0.8).contains(&level0), "{level0}");
    assert!((0.9..1.0).contains(&level1), "{level1}");
}

#[test]
fn levels_need_an_exchange_that_is_overlapped() {
    let rules = |base: &[(&str, &str)], more: &[(&str, &str)]| -> Vec<&str> {
        let violations = Plan::new(&design(base, more)).err().unwrap_or_default();
        violations.iter().map(|violation| violation.rule).collect()
    };
    let level0 = ("moe_zero_memory", "level0");
    let level1 = ("moe_zero_memory", "level1");
    let apart = ("moe_alltoall_overlap_comm", "false");
    assert!(rules(IN_LAYER, &[level1]).is_empty());
    assert!(rules(IN_PAIRS, &[level0]).is_empty());
    assert_eq!(rules(IN_LAYER, &[level0, apart]), ["zero_memory_has_an_overlapped_all_to_all"]);
    assert_eq!(rules(IN_PAIRS, &[level1]), ["zero_memory_of_pairs_is_level0"]);
    let whole = ("recompute_granularity", "full");
    assert_eq!(rules(IN_PAIRS, &[level0, whole]), ["zero_memory_is_finer_than_whole_layers"]);
}
