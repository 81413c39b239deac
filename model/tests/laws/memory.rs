//! What recomputation can't do: need more than its working set, or touch another stage.

use model::choice::{Choice, RecomputeModule};
use model::design::KnobId;
use model::ledger;

use super::*;

const SLACK: f64 = 1e-9;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// A module that is computed again frees tensors of every micro-batch in flight, and needs at
    /// most what one layer saves while that layer's backward runs.
    #[test]
    fn recomputation_needs_at_most_its_working_set(
        design in legal_design(), chosen in any::<prop::sample::Index>(),
    ) {
        let module = RecomputeModule::ALL[chosen.index(RecomputeModule::ALL.len())];
        prop_assume!(!design.memory.recompute_modules.has(module));
        prop_assume!(
            design.memory.recompute_granularity != model::choice::RecomputeGranularity::Full
        );
        let mut modules = design.memory.recompute_modules.with(module).text();
        if design.memory.recompute_granularity == model::choice::RecomputeGranularity::None {
            modules = module.name().into();
        }
        let mut more = with(&design, "recompute_granularity", "selective");
        more.set_text(KnobId::recompute_modules, &modules).unwrap();
        let Ok(more) = Plan::new(&more) else { return Ok(()) };
        let less = plan(&design);
        let working_set = ledger(&less)
            .iter()
            .map(|layer| layer.tensors.iter().map(|saved| saved.bytes.get()).sum::<f64>())
            .fold(0.0, f64::max);
        for (after, before) in estimate(&more).stages.iter().zip(&estimate(&less).stages) {
            let [now, then] = [after, before].map(|stage| stage.memory);
            prop_assert!(now.activations.get() <= then.activations.get() * (1.0 + SLACK));
            prop_assert!(now.peak().get() <= then.peak().get() + working_set * (1.0 + SLACK));
        }
    }

    /// Whole layers recomputed on one stage leave the memory of the others as it is.
    #[test]
    fn recomputation_on_one_stage_leaves_the_others(
        design in legal_design(), chosen in any::<prop::sample::Index>(),
    ) {
        let stages = design.parallel.pipeline_model_parallel_size as usize;
        let list = |changed: Option<usize>| -> String {
            let counts = (0..stages).map(|stage| if Some(stage) == changed { "0" } else { "1" });
            counts.collect::<Vec<_>>().join(",")
        };
        let stage = chosen.index(stages);
        let mut block = with(&design, "recompute_granularity", "full");
        block.set_text(KnobId::recompute_modules, "none").unwrap();
        block.set_text(KnobId::recompute_method, "block").unwrap();
        let of = |list: &str| {
            let mut design = block.clone();
            design.set_text(KnobId::recompute_num_layers, list).ok()?;
            Some(estimate(&Plan::new(&design).ok()?))
        };
        let (Some(all), Some(but_one)) = (of(&list(None)), of(&list(Some(stage)))) else {
            return Ok(());
        };
        for (index, (one, other)) in all.stages.iter().zip(&but_one.stages).enumerate() {
            let same = (one.memory.peak().get() - other.memory.peak().get()).abs() < 1.0;
            prop_assert!(same || index == stage, "{index} {stage}");
        }
    }
}
