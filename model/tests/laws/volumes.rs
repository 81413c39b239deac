//! What is sent is received: volumes of exchanges that mirror each other, and of dispatchers that
//! bring the same tokens to the same experts.

use model::catalogue::accelerator::AcceleratorId;
use model::design::{Design, KnobId};
use model::estimate;
use model::ground::axis::{Axis, Collective, LinkLevel};
use model::ground::choice::{
    Choice, Dispatcher, Method, Precision, RecomputeGranularity, ShardingStrategy,
};
use model::training::estimate::Communication;
use proptest::prelude::*;

use super::{legal_design, plan, with};

fn rows(design: &Design) -> Vec<Communication> {
    estimate(&plan(design)).communication
}

fn find(
    rows: &[Communication],
    axis: Axis,
    link: LinkLevel,
    collective: Collective,
) -> Option<&Communication> {
    rows.iter().find(|row| (row.axis, row.link, row.collective) == (axis, link, collective))
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * left.abs().max(right.abs())
}

const LINKS: [LinkLevel; 2] = [LinkLevel::IntraNode, LinkLevel::InterNode];

/// The design with nothing computed again: recomputation repeats exchanges on one side only.
fn without_recomputation(design: &Design) -> Design {
    let mut design = with(design, "recompute_modules", "none");
    design.memory.recompute_granularity = RecomputeGranularity::None;
    with(&design, "moe_zero_memory", "disable")
}

/// The design with every dispatcher that its rules allow.
fn dispatchers(design: &Design) -> Vec<Design> {
    let flat = with(design, "moe_hierarchical_alltoallv", "false");
    let alltoall = with(&flat, "moe_token_dispatcher_type", "alltoall");
    let all = [
        with(&alltoall, "moe_hierarchical_alltoallv", "true"),
        with(&flat, "moe_token_dispatcher_type", "flex"),
        with(&flat, "moe_token_dispatcher_type", "allgather"),
        alltoall,
    ];
    all.into_iter().filter(|design| model::Plan::new(design).is_ok()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Combine takes dispatch's way back, and each pass backward the way of its forward.
    #[test]
    fn experts_send_back_what_they_got(design in legal_design()) {
        let design = without_recomputation(&design);
        let Ok(plan) = model::Plan::new(&design) else { return Ok(()) };
        let all = estimate(&plan).communication;
        let mixed = design.training.precision == Precision::Fp8Blockwise
            && design.schedule.moe_token_dispatcher_type == Dispatcher::Flex;
        for link in LINKS {
            let gathers = find(&all, Axis::Ep, link, Collective::AllGather);
            let scatters = find(&all, Axis::Ep, link, Collective::ReduceScatter);
            let bytes = |row: Option<&Communication>| row.map_or(0.0, |row| row.bytes.get());
            prop_assert!(near(bytes(gathers), bytes(scatters)), "{gathers:?} {scatters:?}");
            let exchange = find(&all, Axis::Ep, link, Collective::AllToAll);
            // Dispatch in 8 bits is smaller than combine in 16.
            if let Some(row) = exchange.filter(|_| !mixed) {
                let stages = design.parallel.pipeline_model_parallel_size as f64;
                let calls = row.bytes / row.bytes_per_call * stages;
                let passes = calls / plan.num_microbatches() as f64 / 4.0;
                prop_assert!((passes - passes.round()).abs() < 1e-6, "{row:?} {passes}");
            }
        }
    }

    /// A gradient is scattered where its parameter is gathered: the same elements, each in its own
    /// number format. A call of a micro-batch is about one direction of `DualPipe`, one of a step
    /// about both.
    #[test]
    fn data_parallel_ranks_gather_what_they_scattered(design in legal_design()) {
        let elements = |rows: &[Communication], axis, link, collective, bytes: f64| {
            find(rows, axis, link, collective).map_or(0.0, |row| row.bytes_per_call.get() / bytes)
        };
        let strategy = design.parallel.data_parallel_sharding_strategy;
        let directions = if design.schedule.method == Method::DualPipe { 2.0 } else { 1.0 };
        let of_call = |least| if strategy as u8 >= least as u8 { directions } else { 1.0 };
        let all = rows(&design);
        let gradient = design.memory.gradient_dtype.bytes();
        let weight = if design.training.precision == Precision::Fp32 { 4.0 } else { 2.0 };
        for axis in [Axis::Dp, Axis::Edp] {
            for link in LINKS {
                let scattered = elements(&all, axis, link, Collective::ReduceScatter, gradient);
                let gathered = elements(&all, axis, link, Collective::AllGather, weight);
                let scattered = scattered * of_call(ShardingStrategy::OptimGrads);
                let gathered = gathered * of_call(ShardingStrategy::OptimGradsParams);
                prop_assert!(near(scattered, gathered), "{axis:?} {scattered} {gathered}");
            }
        }
    }

    /// Every chunk's output goes to the next chunk, and its gradient comes back.
    #[test]
    fn stages_receive_what_their_neighbours_send(design in legal_design()) {
        let plan = plan(&design);
        let all = estimate(&plan).communication;
        for row in all.iter().filter(|row| row.axis == Axis::Pp) {
            let stages = design.parallel.pipeline_model_parallel_size as f64;
            let sends = row.bytes / row.bytes_per_call * stages / plan.num_microbatches() as f64;
            prop_assert!((sends / 2.0 - (sends / 2.0).round()).abs() < 1e-6, "{row:?} {sends}");
        }
    }

    /// A TP-th of the whole goes to the next stage, whose TP ranks bring the rest to each other.
    #[test]
    fn scattered_sends_deliver_the_whole(design in legal_design()) {
        let mut whole = design;
        whole.schedule.scatter_gather_tensors_in_pipeline = false;
        let mut scattered = whole.clone();
        scattered.schedule.scatter_gather_tensors_in_pipeline = true;
        let moved = |design: &Design| -> f64 {
            let found = rows(design);
            found.iter().filter(|row| row.axis == Axis::Pp).map(|row| row.bytes.get()).sum()
        };
        // One TP-th is sent and (t - 1) / t are gathered, or the whole is sent.
        prop_assert!(near(moved(&whole), moved(&scattered)));
        let calls = |design: &Design| {
            let mut found = rows(design);
            found.retain(|row| row.axis == Axis::Pp && row.collective == Collective::P2p);
            found.iter().map(|row| row.bytes_per_call.get()).sum::<f64>()
        };
        let scatters = scattered.parallel.tensor_model_parallel_size > 1
            && !scattered.parallel.sequence_parallel;
        let ranks = if scatters { scattered.parallel.tensor_model_parallel_size } else { 1 };
        prop_assert!(near(calls(&whole), calls(&scattered) * ranks as f64));
    }

    /// However tokens travel, each expert computes on the same ones.
    #[test]
    fn every_dispatcher_delivers_the_same_tokens(design in legal_design()) {
        let executed = |design: &Design| {
            let metrics = estimate(&plan(design)).metrics;
            metrics.hfu * metrics.step_time.get()
        };
        let all = dispatchers(&without_recomputation(&design));
        for other in all.iter().skip(1) {
            prop_assert!(near(executed(&all[0]), executed(other)), "{:?}", other.schedule);
        }
    }

    /// Flat, a rank sends (n - g) / n of its copies out of the domain and (g - 1) / n to its peers.
    /// In two levels it brings the tokens of all d = n / g domains together first, and then hands
    /// out inside the domain what d ranks sent there: d times as much.
    #[test]
    fn hierarchical_and_flat_exchanges_hand_out_the_same_copies(design in legal_design()) {
        let mut flat = without_recomputation(&design);
        flat.schedule.moe_token_dispatcher_type = Dispatcher::Alltoall;
        flat.schedule.moe_hierarchical_alltoallv = false;
        let levels = with(&flat, "moe_hierarchical_alltoallv", "true");
        if model::Plan::new(&flat).is_err() || model::Plan::new(&levels).is_err() {
            return Ok(());
        }
        let (flat_rows, level_rows) = (rows(&flat), rows(&levels));
        let of = |rows: &[Communication], link| {
            find(rows, Axis::Ep, link, Collective::AllToAll).map(|row| row.bytes.get())
        };
        let inside = of(&flat_rows, LinkLevel::IntraNode);
        let across = of(&flat_rows, LinkLevel::InterNode);
        if let (Some(inside), Some(across)) = (inside, across) {
            // across / inside = (n - g) / (g - 1).
            let n = flat.parallel.expert_model_parallel_size as f64;
            let ratio = across / inside;
            let domains = n * (1.0 + ratio) / (n + ratio);
            prop_assert!((domains - domains.round()).abs() < 1e-6, "{domains}");
            let handed_out = of(&level_rows, LinkLevel::IntraNode).unwrap_or_default();
            prop_assert!(near(handed_out, inside * domains), "{handed_out} {inside} {domains}");
            prop_assert!(of(&level_rows, LinkLevel::InterNode).is_none());
        }
    }

    /// Copies to the host fall: what is computed again needn't be kept.
    #[test]
    fn recomputing_the_permutation_repeats_its_dispatch_only(design in legal_design()) {
        let before = without_recomputation(&design);
        let mut after = before.clone();
        after.memory.recompute_granularity = RecomputeGranularity::Selective;
        after = with(&after, "recompute_modules", "moe_permute");
        if model::Plan::new(&before).is_err() || model::Plan::new(&after).is_err() {
            return Ok(());
        }
        let (before, after) = (rows(&before), rows(&after));
        prop_assume!(before.len() == after.len());
        let pairs = before.iter().zip(&after);
        for (before, after) in pairs.filter(|(row, _)| row.axis != Axis::Host) {
            let again = after.bytes.get() - before.bytes.get();
            let is_combine = before.collective == Collective::ReduceScatter;
            let is_dispatch = before.axis == Axis::Ep && !is_combine;
            prop_assert!(again >= 0.0 && (is_dispatch || again <= 0.0), "{before:?} {after:?}");
        }
    }
}

/// Devices of a node copy at once: together no faster than the memory of its processors, one by one
/// no faster than their link. Source: nominal bandwidths, `model::catalogue::processors`.
#[test]
fn copies_of_a_node_are_within_the_bandwidth_of_its_memory_and_of_each_link() {
    for id in AcceleratorId::ALL.iter().copied().filter(|id| id.row().bf16_tflops.is_some()) {
        for (link, devices) in [(None, None), (Some("5000"), None), (None, Some("16"))] {
            let mut design = Design::from_preset("llama-3-8b").unwrap();
            let devices_per_node = id.row().devices_per_node.to_string();
            for (knob, value) in [
                ("accelerator", id.name()),
                ("num_devices", "64"),
                ("devices_per_node", devices.unwrap_or(&devices_per_node)),
                ("tensor_model_parallel_size", "1"),
                ("sequence_parallel", "false"),
                ("tp_comm_overlap", "false"),
                ("pipeline_model_parallel_size", "1"),
                ("virtual_pipeline_model_parallel_size", "1"),
                ("method", "1f1b"),
                ("context_parallel_size", "1"),
                ("recompute_granularity", "none"),
                ("cpu_offloading_num_layers", "8"),
                ("host_gb_per_sec", link.unwrap_or("none")),
            ] {
                design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
            }
            let estimate = estimate(&plan(&design));
            let mut rows = estimate.communication.iter();
            let host = rows.find(|row| row.axis == Axis::Host).unwrap();
            let rate = host.bytes.get() / host.time.get();
            let node = devices.map_or(id.row().devices_per_node, |text| text.parse().unwrap());
            let memory = id.row().processors.memory_gb_per_sec * 1e9 / node as f64;
            let own = link.map_or(id.row().host_gb_per_sec, |text| text.parse().unwrap()) * 1e9;
            let most = memory.min(own);
            assert!((rate / most - 1.0).abs() < 1e-9, "{id:?} {link:?}: {rate} {memory} {own}");
        }
    }
}
