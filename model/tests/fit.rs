//! Saved tensors, what frees them, and the set of recomputation and swapping that fits.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::answer::ledger::{Fate, Tensor};
use model::design::{Design, KnobId, PerStage};
use model::ground::choice::{Choice, RecomputeModule, SwapModule};
use model::{Plan, ledger, make_it_fit};
use testing::design::{changed, estimated, from_preset, plan};

const RECIPE: &str = "pangu-ultra-moe-6k@2";

/// No framework, whose arguments couldn't say each set and list.
const IDEAL: (&str, &str) = ("framework", "ideal");

const PLAIN: [(&str, &str); 3] =
    [("recompute_granularity", "none"), ("recompute_modules", "none"), ("swap_modules", "none")];

/// The paper fits by recomputing parts of a layer and swapping probabilities; without it does not;
/// whole layers fit too, and cost a quarter of the MFU. Peaks are in GiB, 60.3 GiB can be used.
#[test]
fn the_recipe_fits_by_what_the_paper_does_and_whole_layers_cost_more() {
    let of = |settings: &[(&str, &str)]| estimated(&from_preset(RECIPE, settings)).metrics;
    let near = |value: f64, known: f64| assert!((value / known - 1.0).abs() < 0.02, "{value}");
    let recipe = of(&[]);
    assert!(recipe.fits);
    near(recipe.memory_peak.to_gib(), 58.3);
    near(recipe.mfu, 0.303);
    let nothing = of(&PLAIN);
    assert!(!nothing.fits);
    near(nothing.memory_peak.to_gib(), 122.1);
    near(nothing.mfu, 0.331);
    let full = of(&[
        ("recompute_granularity", "full"),
        ("recompute_modules", "none"),
        ("swap_modules", "none"),
    ]);
    assert!(full.fits);
    near(full.memory_peak.to_gib(), 17.4);
    near(full.mfu, 0.238);
}

#[test]
fn what_fits_is_within_a_percent_of_the_best_of_all_sets() {
    // Few enough to simulate all of them: MLA, permutation, activation and two swaps.
    let plain = from_preset(RECIPE, &PLAIN);
    let found = make_it_fit(&plan(&plain)).best.unwrap();
    assert!(found.estimate.metrics.fits);
    let mut best = 0.0_f64;
    for mla in ["", "mla_qkv", "mla_kv"] {
        for others in 0..8_u32 {
            for swap in ["none", "probs", "probs,activations"] {
                let named = [(1, "moe_permute"), (2, "moe_act"), (4, "layernorm")];
                let mut modules: Vec<&str> = named
                    .iter()
                    .filter(|(bit, _)| others & bit != 0)
                    .map(|(_, module)| *module)
                    .collect();
                modules.extend(Some(mla).filter(|mla| !mla.is_empty()));
                let granularity = if modules.is_empty() { "none" } else { "selective" };
                let list = if modules.is_empty() { "none".into() } else { modules.join(",") };
                let settings = [
                    ("recompute_granularity", granularity),
                    ("recompute_modules", list.as_str()),
                    ("swap_modules", swap),
                ];
                let metrics = estimated(&from_preset(RECIPE, &settings)).metrics;
                if metrics.fits {
                    best = best.max(metrics.mfu);
                }
            }
        }
    }
    assert!(best > 0.0);
    assert!(found.estimate.metrics.mfu >= best * 0.99, "{} {best}", found.estimate.metrics.mfu);
    // The recipe's own set is one of those that were tried.
    let recipe = estimated(&from_preset(RECIPE, &[])).metrics.mfu;
    assert!(found.estimate.metrics.mfu >= recipe * (1.0 - 1e-9));
}

#[test]
fn what_fits_changes_nothing_but_recomputation_and_swapping() {
    let plain = from_preset(RECIPE, &PLAIN);
    let found = make_it_fit(&plan(&plain)).best.unwrap().design;
    for id in KnobId::ALL {
        let memory = id.id().starts_with("memory.recompute") || *id == KnobId::swap_modules;
        assert!(memory || found.get(*id) == plain.get(*id), "{}", id.id());
    }
}

#[test]
fn what_can_never_fit_is_not_promised_and_says_what_was_tried() {
    let huge = from_preset(RECIPE, &[IDEAL, ("hbm_usable_gib", "8")]);
    let fit = make_it_fit(&plan(&huge));
    assert!(fit.best.is_none());
    assert!(fit.tried > 4_000, "{}", fit.tried);
}

/// Four stages of three layers, each a little larger than it may be.
const FOUR_STAGES: [(&str, &str); 8] = [
    IDEAL,
    ("num_layers", "12"),
    ("pipeline_model_parallel_size", "4"),
    ("virtual_pipeline_model_parallel_size", "1"),
    ("method", "1f1b"),
    ("global_batch_size", "64"),
    ("recompute_granularity", "none"),
    ("recompute_modules", "none"),
];

/// The fastest of all numbers of recomputed layers per stage that fits, with every set of swaps.
fn best_of_all_lists(base: &Design) -> f64 {
    let mut best = 0.0_f64;
    for swap in ["none", "attention_output", "optimizer", "attention_output,optimizer"] {
        for number in 0..256_u32 {
            let list: Vec<String> =
                (0..4).map(|stage| ((number >> (2 * stage)) & 3).to_string()).collect();
            let design = changed(
                &base,
                &[
                    ("recompute_granularity", "full"),
                    ("recompute_method", "block"),
                    ("recompute_num_layers", &list.join(",")),
                    ("swap_modules", swap),
                ],
            );
            let metrics = estimated(&design).metrics;
            if metrics.fits {
                best = best.max(metrics.mfu);
            }
        }
    }
    best
}

#[test]
fn whole_layers_are_recomputed_on_the_stages_that_need_it_and_on_no_other() {
    let mut uneven = 0;
    for limit in ["15", "12", "11"] {
        let mut base = from_preset("llama-3-70b", &FOUR_STAGES);
        base.set_text(KnobId::hbm_usable_gib, limit).unwrap();
        let best = best_of_all_lists(&base);
        let found = make_it_fit(&plan(&base)).best.unwrap();
        assert!(best > 0.0);
        let mfu = found.estimate.metrics.mfu;
        assert!(mfu >= best * 0.99, "{limit} GiB: {mfu}, of all lists {best}");
        uneven +=
            u32::from(matches!(found.design.memory.recompute_num_layers, Some(PerStage::Each(_))));
        // One layer fewer on any stage, and it doesn't fit.
        let Some(PerStage::Each(counts)) = &found.design.memory.recompute_num_layers else {
            continue;
        };
        for stage in (0..counts.len()).filter(|stage| counts[*stage] > 0) {
            let mut fewer = counts.clone();
            fewer[stage] -= 1;
            let mut design = found.design.clone();
            design.memory.recompute_num_layers = Some(PerStage::Each(fewer));
            assert!(!estimated(&design).metrics.fits, "{limit} GiB, stage {stage}");
        }
    }
    assert!(uneven >= 2, "{uneven}");
}

#[test]
fn tensors_sum_to_what_a_layer_keeps_and_each_has_one_fate() {
    for settings in [&[][..], &PLAIN] {
        let plan = plan(&from_preset(RECIPE, settings));
        for layer in ledger(&plan) {
            let names: Vec<Tensor> = layer.tensors.iter().map(|saved| saved.tensor).collect();
            assert!(
                names.iter().all(|name| names.iter().filter(|other| *other == name).count() == 1)
            );
            let all: f64 = [Fate::Kept, Fate::Swapped, Fate::Recomputed]
                .map(|fate| layer.bytes(fate).get())
                .iter()
                .sum();
            let sum: f64 = layer.tensors.iter().map(|saved| saved.bytes.get()).sum();
            assert!((all - sum).abs() <= 1e-9 * sum);
            assert_eq!(settings.is_empty(), layer.bytes(Fate::Kept).get() < sum);
        }
    }
}

/// The device keeps less by what the ledger says that a module frees, layer by layer.
#[test]
fn each_module_frees_what_its_price_says() {
    let plain = from_preset("deepseek-v3", &PLAIN);
    for layer in ledger(&plan(&plain)) {
        let kept = |design: &Design| {
            let all = ledger(&plan(design));
            let same = all.into_iter().find(|other| other.name == layer.name);
            same.unwrap().bytes(Fate::Kept).get()
        };
        for price in &layer.recompute {
            let design = changed(
                &plain,
                &[
                    ("recompute_granularity", "selective"),
                    ("recompute_modules", price.module.name()),
                ],
            );
            if Plan::new(&design).is_err() {
                continue;
            }
            let freed = kept(&plain) - kept(&design);
            assert!((freed - price.frees.get()).abs() < 1.0, "{:?} {freed}", price.module);
        }
        for price in &layer.swap {
            let mut design = plain.clone();
            design.set_text(KnobId::swap_modules, price.module.name()).unwrap();
            let freed = kept(&plain) - kept(&design);
            assert!((freed - price.frees.get()).abs() < 1.0, "{:?} {freed}", price.module);
        }
    }
}

#[test]
fn every_module_frees_some_tensor() {
    let layers = ledger(&plan(&from_preset("deepseek-v3", &PLAIN)));
    let tensors = || layers.iter().flat_map(|layer| &layer.tensors);
    for module in RecomputeModule::ALL {
        let frees = tensors().any(|saved| saved.recomputed_by.contains(module));
        assert!(frees, "{}", module.name());
    }
    for module in SwapModule::ALL {
        let frees = tensors().any(|saved| saved.swapped_by == Some(*module));
        assert_eq!(frees, *module != SwapModule::Optimizer, "{}", module.name());
    }
}
