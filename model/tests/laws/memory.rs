//! What memory must do: recomputation needs no more than its working set and touches no other
//! stage, more in flight needs no less, and the ranks of a replica hold the model once.

use model::design::KnobId;
use model::ground::choice::{Choice, RecomputeGranularity, RecomputeModule};
use model::{contents, ledger};

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
        prop_assume!(design.memory.recompute_granularity != RecomputeGranularity::Full);
        let mut modules = design.memory.recompute_modules.with(module).text();
        if design.memory.recompute_granularity == RecomputeGranularity::None {
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

    /// More micro-batches: none of the stages holds fewer of them at once, or needs less.
    ///
    /// In whole groups of interleaved chunks: a last group that isn't full fills up earlier or
    /// later in a longer step, and what a stage holds then is of other chunks.
    #[test]
    fn more_in_flight_never_needs_less_memory(design in legal_design()) {
        let few = plan(&design);
        let group = design.schedule.microbatch_group_size_per_vp_stage
            .unwrap_or(design.parallel.pipeline_model_parallel_size);
        prop_assume!(few.num_microbatches().is_multiple_of(group.max(1)));
        let mut more = design.clone();
        more.training.global_batch_size *= 2;
        let Ok(more) = Plan::new(&more) else { return Ok(()) };
        let (after, before) = (estimate(&more), estimate(&few));
        for (after, before) in after.stages.iter().zip(&before.stages) {
            prop_assert!(after.peak_in_flight >= before.peak_in_flight * (1.0 - SLACK));
            let [now, then] = [after, before].map(|stage| stage.memory.peak().get());
            prop_assert!(now >= then * (1.0 - SLACK), "{now} {then}");
        }
    }

    /// Whatever a stage holds has a name: the parts of each stage sum to its peak.
    #[test]
    fn contents_of_a_stage_sum_to_its_peak(design in legal_design()) {
        let plan = plan(&design);
        for stage in &estimate(&plan).stages {
            let parts = contents(&plan, stage);
            let sum: f64 = parts.iter().map(|part| part.bytes.get()).sum();
            let peak = stage.memory.peak().get();
            prop_assert!((sum - peak).abs() <= SLACK * peak, "{sum} {peak}");
        }
    }

    /// Weights over all ranks of a replica, those that each rank has counted once, sum to the
    /// parameters: what a rank holds falls with TP by t (1 - 1/TP) and with EP x ETP by
    /// x (1 - 1/(EP x ETP)); the rest of it is on every rank.
    #[test]
    fn weights_of_a_replica_sum_to_what_one_rank_alone_would_hold(design in legal_design()) {
        let held = |design: &Design| -> Option<Vec<f64>> {
            let plan = Plan::new(design).ok()?;
            Some(estimate(&plan).stages.iter().map(|stage| stage.params as f64).collect())
        };
        let set = |design: &Design, settings: &[(&str, &str)]| {
            settings.iter().fold(design.clone(), |design, (knob, value)| with(&design, knob, value))
        };
        let unsplit = |design: &Design| set(design, &[("tp", "1"), ("sequence_parallel", "false")]);
        let gathered = |design: &Design| set(design, &[("ep", "1"), ("etp", "1")]);
        let all = [
            held(&design),
            held(&unsplit(&design)),
            held(&gathered(&design)),
            held(&gathered(&unsplit(&design))),
        ];
        let [Some(ranks), Some(one_tp), Some(one_ep), Some(alone)] = all else { return Ok(()) };
        let parallel = &design.parallel;
        let tp = parallel.tensor_model_parallel_size as f64;
        let [ep, etp] =
            [parallel.expert_model_parallel_size, parallel.expert_tensor_parallel_size];
        let ep = (ep * etp) as f64;
        for stage in 0..ranks.len() {
            let split = |fell: f64, ranks: f64| {
                if ranks > 1.0 { fell / (1.0 - 1.0 / ranks) } else { 0.0 }
            };
            let tensor = split(one_tp[stage] - ranks[stage], tp);
            let expert = split(one_ep[stage] - ranks[stage], ep);
            // Of the parts that aren't split here, everything is on every rank.
            let everywhere = ranks[stage] - tensor / tp - expert / ep;
            prop_assert!(everywhere >= -64.0, "{everywhere}");
            let sum = everywhere + tensor + expert;
            // A stage of no-op layers holds nothing.
            prop_assert!((sum - alone[stage]).abs() <= 1e-6 * alone[stage], "{sum} {stage}");
        }
    }
}

/// A stage for each of the 64 slots: of no-op layers one has nothing beside it, one the head.
#[test]
fn a_stage_of_no_op_layers_holds_nothing() {
    let baseline = model::design::ladder::designs().unwrap()[0].clone();
    let stages = estimate(&plan(&with(&baseline, "pp", "64"))).stages;
    assert_eq!(stages.iter().filter(|stage| stage.params == 0).count(), 1);
}

/// A last group that isn't full: 17 micro-batches a group hold other chunks than whole groups do.
#[test]
fn whole_groups_need_no_less_memory_in_a_longer_step() {
    let llama = model::design::Design::from_preset("llama-3-70b").unwrap();
    let peak = |group: &str, batch: u64| {
        let mut design = with(&llama, "microbatch_group_size_per_vp_stage", group);
        design.training.global_batch_size *= batch;
        estimate(&plan(&design)).metrics.memory_peak.get()
    };
    let group = llama.parallel.pipeline_model_parallel_size.to_string();
    assert!(peak(&group, 2) >= peak(&group, 1) * (1.0 - SLACK));
    // Not so with the group of 17; within a percent all the same.
    assert!(peak("17", 2) >= peak("17", 1) * 0.99);
}
