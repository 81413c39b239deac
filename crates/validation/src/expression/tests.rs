//! Rows and the designs that they become.

use model::ground::choice::{Framework, Method, Precision, ShardingStrategy, StateDtype};

use super::*;
use crate::runs;

fn find(id: &str) -> &'static Run {
    runs::published().iter().find(|run| run.id == id).unwrap_or_else(|| panic!("no run {id}"))
}

fn expressed(id: &str) -> Expressed {
    for_run(find(id)).unwrap_or_else(|refusal| panic!("{id}: {refusal}"))
}

#[test]
fn korthikanti_s_runs_are_early_megatron() {
    let Expressed { plan, assumed, .. } = expressed("korthikanti-004");
    let design = plan.design();
    assert_eq!(design.kernel.framework, Framework::Megatron);
    assert!(!design.kernel.flash_attention && design.parallel.sequence_parallel);
    assert_eq!(design.parallel.virtual_pipeline_model_parallel_size, 3);
    assert_eq!(design.schedule.method, Method::Interleaved);
    assert_eq!(design.training.precision, Precision::Fp16);
    assert_eq!(design.parallel.data_parallel_sharding_strategy, ShardingStrategy::NoShard);
    assert!(assumed.iter().any(|words| words.contains("FlashAttention")), "{assumed:?}");
    assert_eq!((plan.data_parallel_size(), plan.num_microbatches()), (1, 64));
}

#[test]
fn a_recipe_s_flags_are_knobs() {
    let Expressed { plan, .. } = expressed("bridge_perf-025");
    let design = plan.design();
    let schedule = &design.schedule;
    assert!(schedule.overlap_moe_expert_parallel_comm && schedule.delay_wgrad_compute);
    assert_eq!(schedule.moe_token_dispatcher_type, model::ground::choice::Dispatcher::Flex);
    assert_eq!(design.training.precision, Precision::Mxfp8);
    assert_eq!(design.transformer.num_layers, 94);
    // 94 layers, embedding and loss: 96 slots on 48 chunks.
    let layout = design.parallel.pipeline_model_parallel_layout.as_ref().unwrap();
    assert_eq!((layout.chunks[0].as_str(), layout.chunks[47].as_str()), ("Et", "tL"));
}

#[test]
fn fully_sharded_runs_are_fsdp_s_but_for_megatron_s_own() {
    let foundry = expressed("llm_foundry-004").plan;
    assert_eq!(foundry.design().kernel.framework, Framework::Fsdp);
    let strategy = |plan: &Plan| plan.design().parallel.data_parallel_sharding_strategy;
    assert_eq!(strategy(&foundry), ShardingStrategy::OptimGradsParams);
    let bridge = expressed("bridge_perf-074").plan;
    assert_eq!(bridge.design().kernel.framework, Framework::Megatron);
    assert_eq!(bridge.design().memory.cpu_offloading_num_layers, 20);
    assert_eq!(strategy(&bridge), ShardingStrategy::OptimGradsParams);
}

#[test]
fn zero_bubble_s_schedules_are_told_apart() {
    let method = |id: &str| expressed(id).plan.design().schedule.method;
    assert_eq!(method("zero_bubble-001"), Method::Zb2p);
    assert_eq!(method("zero_bubble-004"), Method::ZbH1);
    assert_eq!(method("zero_bubble-007"), Method::OneForwardOneBackward);
    assert_eq!(method("zero_bubble-010"), Method::Interleaved);
    let parallel = expressed("zero_bubble-010").plan.design().parallel.clone();
    assert_eq!(parallel.virtual_pipeline_model_parallel_size, 3);
}

#[test]
fn the_published_memory_of_an_allocator_has_no_reserve() {
    let plan = expressed("simumax_b200-001").plan;
    assert!(plan.design().memory.reserved_gib.abs() < 1e-12);
    assert!(!plan.design().schedule.overlap_grad_reduce);
}

#[test]
fn a_reading_of_the_device_has_context_and_communication_library() {
    let reserve = |id: &str| expressed(id).plan.design().memory.reserved_gib;
    // `nvidia-smi` against what PyTorch held at its peak.
    assert!(reserve("bigscience-124") > 4.0 && reserve("torchtitan-013") > 2.0);
    assert!(reserve("bigscience-124") > reserve("torchtitan-013"));
}

#[test]
fn what_early_runs_keep_is_read_off_their_precision_and_engine() {
    let of = |id: &str| expressed(id).plan.design().clone();
    for (id, framework, gradients) in [
        ("zero_bubble-001", Framework::Megatron, StateDtype::Fp16),
        ("bigscience-032", Framework::Deepspeed, StateDtype::Fp16),
        ("bigscience-124", Framework::Deepspeed, StateDtype::Fp32),
    ] {
        let design = of(id);
        assert_eq!(design.kernel.framework, framework, "{id}");
        assert_eq!(design.memory.gradient_dtype, gradients, "{id}");
        assert!(design.training.hidden_dropout > 0.0, "{id}");
    }
    assert!(of("simumax_b200-001").training.hidden_dropout <= 0.0);
}

#[test]
fn torchtitan_cuts_a_local_batch_into_as_many_micro_batches_as_chunks() {
    let size = |id: &str| expressed(id).plan.design().training.micro_batch_size;
    assert_eq!([size("torchtitan-013"), size("torchtitan-014")], [4, 2]);
    assert_eq!(size("torchtitan-018"), 1);
    assert!(expressed("torchtitan-044").plan.design().memory.cross_entropy_loss_fusion);
}

#[test]
fn what_is_open_and_cannot_be_assumed_is_refused() {
    for (id, reason) in [
        ("mindspeed_rc3-022", "the global batch isn't printed"),
        ("mindspeed_mfu-001", "the layout isn't printed"),
        ("dsv3_gb200_ladder-002", "a step of a ladder whose parts aren't all named"),
        ("torchtitan-050", "its hardware is one of several parts"),
        ("M1", "the same run stands in another row"),
    ] {
        let refusal = for_run(find(id)).err().unwrap_or_else(|| panic!("{id} is expressed"));
        assert_eq!(refusal.reason, reason, "{id}");
    }
}

#[test]
fn open_recomputation_is_the_least_that_fits() {
    let Expressed { plan, assumed, .. } = expressed("bridge_perf-167");
    let layers = plan.design().memory.recompute_num_layers.clone().unwrap();
    let model::design::PerStage::Same(count) = layers else { panic!("{layers:?}") };
    assert!((1..80).contains(&count), "{count}");
    assert!(assumed.iter().any(|words| words.contains("as few layers")), "{assumed:?}");
}

/// Megatron-Core refuses both: an overlap that was assumed beside two MTP layers, and beside layers
/// that have to be computed again for the run to fit.
#[test]
fn an_overlap_of_experts_is_assumed_where_it_can_be_started() {
    let overlaps = |plan: &Plan| plan.design().schedule.overlap_moe_expert_parallel_comm;
    let two_depths = expressed("bridge_perf-015").plan;
    assert!(two_depths.design().transformer.mtp_num_layers == 2 && !overlaps(&two_depths));
    let Expressed { plan, assumed, .. } = expressed("bridge_perf-018");
    assert!(plan.design().memory.recompute_num_layers.is_some() && !overlaps(&plan));
    assert!(!assumed.iter().any(|words| words.starts_with("EP overlapped")), "{assumed:?}");
}

#[test]
fn early_megatron_interleaves_on_more_than_two_stages() {
    let chunks = |id: &str| {
        let plan = expressed(id).plan;
        let parallel = &plan.design().parallel;
        (parallel.pipeline_model_parallel_size, parallel.virtual_pipeline_model_parallel_size)
    };
    assert_eq!(chunks("megatron21-005"), (2, 1));
    let (stages, each) = chunks("megatron21-006");
    assert!(stages > 2 && each > 1, "{stages} {each}");
}

#[test]
fn a_design_is_its_link() {
    for run in runs::published().iter().step_by(7) {
        if let Ok(Expressed { plan, .. }) = for_run(run) {
            let link = model::design::link::encode(plan.design());
            let found =
                model::design::link::decode(&link).unwrap_or_else(|errors| panic!("{errors:?}"));
            assert_eq!(&found, plan.design(), "{}", run.id);
        }
    }
}

#[test]
fn a_rule_that_a_layout_breaks_is_the_reason() {
    let mut run = find("korthikanti-004").clone();
    run.tensor_parallel = Some(7);
    let refusal = for_run(&run).err().unwrap();
    assert_eq!(refusal.reason, "the layout breaks a rule");
    assert!(refusal.detail.contains("TP"), "{}", refusal.detail);
    run.tensor_parallel = Some(1 << 40);
    assert_eq!(for_run(&run).err().unwrap().reason, "a value is out of a knob's range");
}

#[test]
fn both_runs_of_pangu_ultra_moe_are_expressed() {
    use model::ground::choice::Software;

    let ids = ["P1", "P2", "P3", "pangu_ultra_moe-002"];
    let report = crate::validate(&ids.map(find).map(Run::clone));
    let row = |id: &str| report.rows.iter().find(|row| row.id == id).unwrap();
    let (run, later, baseline) = (row("P1"), row("P3"), row("pangu_ultra_moe-002"));
    // Whole runs are shown beside the rest, not scored with it.
    assert!(!run.scored && !later.scored && !baseline.scored);
    assert!(run.predicted_range.is_none(), "{:?}", run.predicted_range);
    let software = |id: &str| expressed(id).plan.design().kernel.software;
    assert_eq!(software("P1"), Software::Ascend202505);
    assert_eq!(software("P3"), Software::Ascend202506);
    assert_eq!(expressed("P1").plan.design().parallel.expert_model_parallel_size, 32);
    // Their largest error is a target of its own.
    let targets = &report.summary.targets;
    let target = targets.iter().find(|target| target.name == "whole runs").unwrap();
    let largest = [run, later].map(|row| row.time_error.unwrap().abs()).into_iter();
    assert!((largest.fold(0.0, f64::max) - target.reached).abs() < 1e-12, "{target:?}");
    // The baseline's layout isn't published: what it reached lies among those that it may have had.
    let [least, most] = baseline.predicted_range.unwrap();
    let measured = baseline.measured.unwrap();
    assert!(least < measured && measured < most, "{measured} of {least} to {most}");
    assert!(expressed("pangu_ultra_moe-002").others.len() > 20);
    let assumed = &baseline.assumed;
    assert!(assumed.iter().any(|words| words.contains("8192 tokens")), "{assumed:?}");
    assert!(assumed.iter().any(|words| words.contains("layout isn't published")), "{assumed:?}");
    // The same figures stand in a second file.
    assert!(row("P2").refused.as_deref().unwrap().contains("stands in another row"));
}

#[test]
fn an_open_convention_has_the_band_of_both() {
    let mut run = find("bridge_perf-025").clone();
    run.measured_fields = vec!["TFLOPs_per_device".to_owned()];
    let others =
        |run: &Run| for_run(run).unwrap_or_else(|refusal| panic!("{refusal}")).others.len();
    assert_eq!(others(&run), 0);
    run.flops_convention = "causal treatment not stated".to_owned();
    assert_eq!(others(&run), 1);
    let report = crate::validate(std::slice::from_ref(&run));
    let [least, most] = report.rows[0].predicted_range.unwrap();
    assert!(least < most && report.rows[0].predicted.unwrap() >= most, "{least} to {most}");
    assert!(report.rows[0].assumed.iter().any(|words| words.contains("whole score matrix")));
}

#[test]
fn an_open_micro_batch_is_the_largest_that_fits_and_is_no_slower() {
    let size = |run: &Run| for_run(run).unwrap_or_else(|error| panic!("{error}")).plan;
    let mut run = find("llm_foundry-004").clone();
    run.micro_batch_size = None;
    let plan = size(&run);
    let found = plan.design().training.micro_batch_size;
    assert!(found.is_power_of_two() && found > 1, "{found}");
    let metrics = model::estimate(&plan).metrics;
    assert!(metrics.memory_peak <= metrics.memory_limit);
    // The batch allows no more than a rank's share of it.
    run.global_batch_size = run.num_devices.map(|devices| 2 * devices);
    assert_eq!(size(&run).design().training.micro_batch_size, 2);
    // Accumulation steps say it.
    run.global_batch_size = run.num_devices.map(|devices| 8 * devices);
    run.other_metric = "time-to-train min 4.01; GA 8; x".to_owned();
    assert_eq!(size(&run).design().training.micro_batch_size, 1);
}

#[test]
fn words_of_overlap_set_the_schedule() {
    let schedule = |overlap: &str| {
        let mut run = find("bridge_perf-025").clone();
        overlap.clone_into(&mut run.overlap);
        for_run(&run).unwrap_or_else(|error| panic!("{error}")).plan.design().schedule.clone()
    };
    for (overlap, flex, hidden) in [
        ("overlap_moe_expert_parallel_comm", true, true),
        ("--overlap-moe-expert-parallel-comm, DeepEP", true, true),
        ("HybridEP", true, true),
        ("HybridEP, EP overlap off", true, false),
        ("dispatcher=hybridep", true, false),
        ("baseline, without our overlap", true, false),
        ("all-to-all dispatcher, no DeepEP", false, false),
    ] {
        let schedule = schedule(overlap);
        let dispatcher =
            schedule.moe_token_dispatcher_type == model::ground::choice::Dispatcher::Flex;
        assert_eq!(dispatcher, flex, "{overlap}");
        assert_eq!(schedule.overlap_moe_expert_parallel_comm, hidden, "{overlap}");
    }
    assert!(!schedule("baseline, without our overlap").overlap_grad_reduce);
    assert!(schedule("HybridEP").overlap_grad_reduce);
}

#[test]
fn graphs_are_of_parts_of_the_whole_step_or_absent() {
    let graph = |overlap: &str| {
        let mut run = find("bridge_perf-025").clone();
        overlap.clone_into(&mut run.overlap);
        let plan = for_run(&run).unwrap_or_else(|error| panic!("{error}")).plan;
        plan.design().kernel.cuda_graph_impl
    };
    use model::ground::choice::CudaGraph::{Local, None, TransformerEngine};
    for (overlap, wanted) in [
        ("dispatcher=hybridep;cudagraph=transformer_engine:['attn']", TransformerEngine),
        ("cudagraph=local:full_iteration", Local),
        ("moe_a2a_overlap;cudagraph=full_iteration:[]", Local),
        ("cudagraph=none:full_iteration", None),
        ("+CUDA graphs", TransformerEngine),
        ("no CUDA graphs", None),
        ("HybridEP", None),
    ] {
        assert_eq!(graph(overlap), wanted, "{overlap}");
    }
}

#[test]
fn natural_routing_is_uneven_and_says_so() {
    let balance = |id: &str| expressed(id).plan.design().routing.balance;
    assert_eq!(balance("moe_modelzoo-008"), model::ground::choice::Balance::Skewed);
    assert_eq!(balance("moe_modelzoo-007"), model::ground::choice::Balance::Uniform);
    let assumed = expressed("moe_modelzoo-008").assumed;
    assert!(assumed.iter().any(|words| words.contains("natural routing")), "{assumed:?}");
}
