//! Saved tensors, what frees them, and the set of recomputation and swapping that fits.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::choice::{Choice, RecomputeModule, SwapModule};
use model::design::{Design, KnobId};
use model::ledger::{Fate, Tensor};
use model::{Plan, estimate, ledger, make_it_fit};

const RECIPE: &str = "pangu-ultra-moe-6k";

fn with(preset: &str, settings: &[(&str, &str)]) -> Design {
    let mut design = Design::from_preset(preset).unwrap();
    for (knob, value) in settings {
        design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
    }
    design
}

fn plan(design: &Design) -> Plan {
    Plan::new(design).unwrap_or_else(|broken| panic!("{broken:#?}"))
}

const PLAIN: [(&str, &str); 3] =
    [("recompute_granularity", "none"), ("recompute_modules", "none"), ("swap_modules", "none")];

/// The paper fits by recomputing parts of a layer and swapping probabilities; without it does not;
/// whole layers fit too, and cost more.
#[test]
fn the_recipe_fits_by_what_the_paper_does_and_whole_layers_cost_more() {
    let of = |settings: &[(&str, &str)]| estimate(&plan(&with(RECIPE, settings))).metrics;
    let recipe = of(&[]);
    assert!(recipe.fits);
    assert!(!of(&PLAIN).fits);
    let full = of(&[
        ("recompute_granularity", "full"),
        ("recompute_modules", "none"),
        ("swap_modules", "none"),
    ]);
    assert!(full.fits);
    assert!(full.mfu < recipe.mfu * 0.95, "{} {}", full.mfu, recipe.mfu);
}

#[test]
fn what_fits_is_within_a_percent_of_the_best_of_all_sets() {
    // Few enough to simulate all of them: MLA, permutation, activation and two swaps.
    let plain = with(RECIPE, &PLAIN);
    let found = make_it_fit(&plan(&plain)).unwrap();
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
                let metrics = estimate(&plan(&with(RECIPE, &settings))).metrics;
                if metrics.fits {
                    best = best.max(metrics.mfu);
                }
            }
        }
    }
    assert!(best > 0.0);
    assert!(found.estimate.metrics.mfu >= best * 0.99, "{} {best}", found.estimate.metrics.mfu);
    // The recipe's own set is one of those that were tried.
    let recipe = estimate(&plan(&with(RECIPE, &[]))).metrics.mfu;
    assert!(found.estimate.metrics.mfu >= recipe * (1.0 - 1e-9));
}

#[test]
fn what_fits_changes_nothing_but_recomputation_and_swapping() {
    let plain = with(RECIPE, &PLAIN);
    let found = make_it_fit(&plan(&plain)).unwrap().design;
    for id in KnobId::ALL {
        let memory = id.id().starts_with("memory.recompute") || *id == KnobId::swap_modules;
        assert!(memory || found.get(*id) == plain.get(*id), "{}", id.id());
    }
}

#[test]
fn what_can_never_fit_is_not_promised() {
    let huge = with(RECIPE, &[("hbm_usable_gib", "8")]);
    assert!(make_it_fit(&plan(&huge)).is_none());
}

#[test]
fn tensors_sum_to_what_a_layer_keeps_and_each_has_one_fate() {
    for settings in [&[][..], &PLAIN] {
        let plan = plan(&with(RECIPE, settings));
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

/// What the ledger says a module frees is what the device keeps less of, layer by layer.
#[test]
fn each_module_frees_what_its_price_says() {
    let plain = with("deepseek-v3", &PLAIN);
    for layer in ledger(&plan(&plain)) {
        let kept = |design: &Design| {
            let all = ledger(&plan(design));
            let same = all.into_iter().find(|other| other.is_moe == layer.is_moe);
            same.unwrap().bytes(Fate::Kept).get()
        };
        for price in &layer.recompute {
            let mut design = plain.clone();
            for (knob, value) in
                [("recompute_granularity", "selective"), ("recompute_modules", price.module.name())]
            {
                design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
            }
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
    for module in RecomputeModule::ALL {
        assert!(
            [false, true].iter().any(|is_moe| Tensor::ALL
                .iter()
                .any(|tensor| tensor.recomputed_by(*is_moe).contains(module))),
            "{}",
            module.name()
        );
    }
    for module in SwapModule::ALL {
        let frees = Tensor::ALL.iter().any(|tensor| tensor.swapped_by(true) == Some(*module));
        assert_eq!(frees, *module != SwapModule::Optimizer, "{}", module.name());
    }
}
