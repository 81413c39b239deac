//! Where ranks are and what they hold: the order of ranks moves no exchange that it doesn't
//! concern, a direction moves its own parameters, and what comes back takes room.

use model::catalogue::accelerator::AcceleratorId;
use model::ground::axis::{Axis, Collective, LinkLevel};
use model::ground::choice::Choice;
use testing::design::from_preset;

use super::*;

fn of(preset: &str, settings: &[(&str, &str)]) -> Estimate {
    let design = from_preset(preset, settings);
    estimate(&plan(&design))
}

fn sent(estimate: &Estimate, axis: Axis, link: Option<LinkLevel>) -> f64 {
    let rows = estimate.communication.iter().filter(|row| row.axis == axis);
    rows.filter(|row| link.is_none_or(|link| row.link == link)).map(|row| row.bytes.get()).sum()
}

/// The pipeline's place among the axes says nothing where there is none.
#[test]
fn the_orders_of_ranks_are_one_without_a_pipeline() {
    let of = |order| of("qwen3-30b-a3b", &[("rank_order", order)]);
    assert_eq!(numbers(&of("tp-cp-ep-dp-pp")), numbers(&of("tp-cp-ep-pp-dp")));
}

/// CP 8 fills a node in both orders, so that gradients meet there first.
#[test]
fn context_ranks_are_neighbours_in_both_orders_of_ranks() {
    let of = |order| {
        of(
            "llama-3-8b",
            &[
                ("num_devices", "128"),
                ("tp", "1"),
                ("sequence_parallel", "false"),
                ("pp", "8"),
                ("cp", "8"),
                ("seq_length", "65536"),
                ("gbs", "64"),
                ("recompute_granularity", "full"),
                ("rank_order", order),
            ],
        )
    };
    let [inner, outer] = ["tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"].map(of);
    for link in [LinkLevel::IntraNode, LinkLevel::InterNode] {
        let [inner, outer] = [&inner, &outer].map(|it| sent(it, Axis::Dp, Some(link)));
        assert!(inner > 0.0 && (inner - outer).abs() <= 1e-9 * inner, "{inner} {outer}");
    }
}

/// A device of `DualPipe` holds two stages' parameters, of which a micro-batch meets one.
#[test]
fn a_micro_batch_moves_the_parameters_of_its_own_direction() {
    for strategy in ["optim_grads", "optim_grads_params"] {
        let of = |method| {
            of(
                "llama-3-70b",
                &[
                    ("num_devices", "256"),
                    ("tp", "8"),
                    ("sequence_parallel", "true"),
                    ("pp", "4"),
                    ("vpp", "1"),
                    ("gbs", "256"),
                    ("recompute_granularity", "full"),
                    ("data_parallel_sharding_strategy", strategy),
                    ("method", method),
                ],
            )
        };
        let [one, both] = ["1f1b", "dualpipe"].map(|method| sent(&of(method), Axis::Dp, None));
        // What goes once a step, such as gathered parameters, is twice as much.
        let most = if strategy == "optim_grads" { 1.05 } else { 1.0 + 1e-9 };
        assert!(one > 0.0 && both >= one * (1.0 - 1e-9) && both <= one * most, "{one} {both}");
    }
}

/// Under ZeRO-3, of 32 layers, embedding and head, the first part that is gathered and the last one
/// that is scattered have nothing beside them; the other calls are hidden as far as there is room.
/// All take longer the more ranks a ring passes.
#[test]
fn under_zero_3_a_layer_s_calls_are_waited_for_longer_among_more_ranks() {
    let waited = |devices: &str, interconnect: &str| {
        let settings = [
            ("num_devices", devices),
            ("tp", "1"),
            ("sequence_parallel", "false"),
            ("gbs", devices),
            ("data_parallel_sharding_strategy", "optim_grads_params"),
            ("overlap_grad_reduce", "true"),
            ("overlap_param_gather", "true"),
            ("inter_node_gb_per_sec", interconnect),
        ];
        let estimate = of("llama-3-8b", &settings);
        let rows = estimate.communication.iter().filter(|row| row.axis == Axis::Dp);
        rows.fold([0.0; 2], |sum, row| [sum[0] + row.time.get(), sum[1] + row.exposed.get()])
    };
    let mut before = 0.0;
    for devices in ["16", "64", "256", "1024"] {
        let [all, exposed] = waited(devices, "1000");
        assert!((exposed - all / 34.0).abs() <= 1e-9 * all, "{devices}: {exposed} of {all}");
        assert!(exposed > before, "{devices}: {exposed} {before}");
        before = exposed;
    }
    let [all, exposed] = waited("1024", "1");
    assert!(exposed > all / 2.0 && exposed < all, "{exposed} of {all}");
}

/// PyTorch's recomputation ends once all is there that the backward needs; the output of a dense
/// MLP's last product isn't.
#[test]
fn recomputation_that_stops_early_leaves_the_last_product_of_each_layer_out() {
    let peak = model::peak_flops(&Design::from_preset("llama-3-8b").unwrap()).unwrap().get();
    // One sequence a device, on one rank or spread over two.
    for tp in ["1", "2"] {
        let [whole, early] = ["megatron", "fsdp"].map(|framework| {
            let settings = [
                ("num_devices", "64"),
                ("tp", tp),
                ("sequence_parallel", if tp == "1" { "false" } else { "true" }),
                ("gbs", "64"),
                ("data_parallel_sharding_strategy", "optim_grads_params"),
                ("recompute_granularity", "full"),
                ("framework", framework),
            ];
            of("llama-3-8b", &settings)
        });
        let executed = |it: &Estimate| it.metrics.hfu * peak * it.metrics.step_time.get();
        let last_products = 2.0 * 14_336.0 * 4_096.0 * 8_192.0 * 32.0;
        let spared = executed(&whole) - executed(&early);
        assert!((spared - last_products).abs() <= 1e-9 * executed(&whole), "{tp}: {spared}");
        // Nor is that output scattered: half of 8,192 x 4,096 elements of two bytes, for each layer
        // and each of the two sequences.
        let scatters = if tp == "1" { 0.0 } else { 8_192.0 * 4_096.0 * 32.0 * 2.0 };
        let unsent = sent(&whole, Axis::Tp, None) - sent(&early, Axis::Tp, None);
        assert!((unsent - scatters).abs() <= 1e-9 * scatters, "{tp}: {unsent}");
    }
}

/// Trees are for all-reduces: each doubling of the nodes adds the same. A gather passes every rank.
#[test]
fn an_all_reduce_over_data_parallel_ranks_takes_a_step_more_for_each_doubling() {
    let latency = |devices: &str, strategy: &str| {
        let settings = [
            ("num_devices", devices),
            ("tp", "1"),
            ("sequence_parallel", "false"),
            ("gbs", "4096"),
            ("data_parallel_sharding_strategy", strategy),
        ];
        let estimate = of("llama-3-8b", &settings);
        let far = |row: &&model::training::estimate::Communication| {
            row.axis == Axis::Dp && row.link == LinkLevel::InterNode
        };
        let row = estimate.communication.iter().find(far).unwrap();
        // What is sent grows with (d - 1) / d; the rest is latency.
        let domains = devices.parse::<f64>().unwrap() / 8.0;
        [row.time.get(), (domains - 1.0) / domains]
    };
    let per_doubling = |strategy| {
        let [[t2, s2], [t4, s4], [t8, s8]] = ["16", "32", "64"].map(|n| latency(n, strategy));
        // Two unknowns, a rate and a set-up, leave one equation: what a doubling adds.
        let [first, second] = [(t4 - t2) / (s4 - s2), (t8 - t4) / (s8 - s4)];
        second - first
    };
    let [tree, ring] = ["no_shard", "optim"].map(per_doubling);
    // Slope changes by L (1 / 0.125 - 1 / 0.25) = 4 L for a tree of L a doubling, twice a call.
    assert!((tree - 4.0 * 2.0 * 45e-6).abs() < 1e-9, "{tree}");
    // A ring of d nodes has d - 1 hops of 4 us: 8 us more at first, then 16.
    assert!((ring - (16e-6 / 0.125 - 8e-6 / 0.25)).abs() < 1e-9, "{ring}");
}

/// Bytes and time of a call of this axis inside the node.
fn call_in_a_node(preset: &str, axis: Axis, settings: &[(&str, &str)]) -> [f64; 2] {
    let single = [("tp", "1"), ("sequence_parallel", "false"), ("pp", "1"), ("gbs", "64")];
    let estimate = of(preset, &[&single, settings].concat());
    let near = |row: &&model::training::estimate::Communication| {
        row.axis == axis && row.link == LinkLevel::IntraNode
    };
    let row = estimate.communication.iter().find(near).unwrap();
    let bytes = row.bytes_per_call.get();
    [bytes, row.time.get() * bytes / row.bytes.get()]
}

/// The estimate's all-reduce is the measured one: start, hops, bytes and ramp, or the switch.
#[test]
fn an_all_reduce_in_a_node_takes_what_its_links_take() {
    for accelerator in [AcceleratorId::A100Sxm80gb, AcceleratorId::H100Sxm80gb, AcceleratorId::B200]
    {
        for ranks in [2_u64, 4, 8] {
            let settings = [
                ("accelerator", accelerator.name()),
                ("data_parallel_sharding_strategy", "no_shard"),
                ("num_devices", &ranks.to_string()),
            ];
            let [bytes, seconds] = call_in_a_node("llama-3-8b", Axis::Dp, &settings);
            let whole = bytes / 2.0 * ranks as f64 / (ranks - 1) as f64;
            let expected = accelerator.row().collective(Collective::AllReduce, ranks, whole).get();
            let error = seconds / expected - 1.0;
            assert!(error.abs() < 1e-12, "{accelerator:?}, {ranks}: {seconds} {expected}");
        }
    }
}

/// The estimate's all-to-all is the measured one, whose ranks send to all others at once.
#[test]
fn an_all_to_all_in_a_node_takes_what_its_links_take() {
    for accelerator in [AcceleratorId::A100Sxm80gb, AcceleratorId::H100Sxm80gb, AcceleratorId::B200]
    {
        for ranks in [2_u64, 4, 8] {
            let settings = [
                ("accelerator", accelerator.name()),
                ("num_devices", "8"),
                ("moe_token_dispatcher_type", "alltoall"),
                ("ep", &ranks.to_string()),
            ];
            let [bytes, seconds] = call_in_a_node("qwen3-30b-a3b", Axis::Ep, &settings);
            let whole = bytes * ranks as f64 / (ranks - 1) as f64;
            let expected = accelerator.row().collective(Collective::AllToAll, ranks, whole).get();
            let error = seconds / expected - 1.0;
            assert!(error.abs() < 1e-12, "{accelerator:?}, {ranks}: {seconds} {expected}");
        }
    }
}

/// In a rack of 72, a group of 64 takes 64 and one of 128 two such parts; what doesn't fit goes
/// over the network.
#[test]
fn an_exchange_leaves_a_rack_only_where_its_group_is_larger() {
    let links = |ep: &str, pp: &str| {
        let settings = [
            ("accelerator", "gb200"),
            ("num_devices", "256"),
            ("tp", "1"),
            ("sequence_parallel", "false"),
            ("pp", pp),
            ("ep", ep),
            ("gbs", "4096"),
            ("moe_token_dispatcher_type", "alltoall"),
        ];
        let estimate = of("qwen3-30b-a3b", &settings);
        let on = |axis| {
            [LinkLevel::IntraNode, LinkLevel::InterNode]
                .map(|link| sent(&estimate, axis, Some(link)))
        };
        [on(Axis::Ep), on(Axis::Pp)]
    };
    let [[inside, between], _] = links("64", "1");
    assert!(inside > 0.0 && between.abs() < 1e-9, "{inside} {between}");
    let [[inside, between], _] = links("128", "1");
    // Of 128 ranks 63 are others of the rack, and 64 are not.
    assert!((between / inside - 64.0 / 63.0).abs() < 1e-12, "{inside} {between}");
    // Stages of 32 ranks lie two to a rack; those of 64 in one each.
    let [_, [inside, between]] = links("32", "8");
    assert!(inside > 0.0 && between.abs() < 1e-9, "{inside} {between}");
    let [_, [inside, between]] = links("64", "4");
    assert!(inside.abs() < 1e-9 && between > 0.0, "{inside} {between}");
}

/// DeepEP and HybridEP send the same bytes through other kernels: on Blackwell, whose links
/// DeepEP's few multiprocessors don't fill, HybridEP is faster.
#[test]
fn backends_of_the_flex_dispatcher_differ_in_time_and_not_in_bytes() {
    let of = |backend: &str| {
        let settings = [
            ("accelerator", "b200"),
            ("num_devices", "8"),
            ("ep", "8"),
            ("moe_token_dispatcher_type", "flex"),
            ("moe_flex_dispatcher_backend", backend),
        ];
        call_in_a_node("qwen3-30b-a3b", Axis::Ep, &settings)
    };
    let [[deep_bytes, deep], [hybrid_bytes, hybrid]] = ["deepep", "hybridep"].map(of);
    assert!((deep_bytes - hybrid_bytes).abs() < 1e-6, "{deep_bytes} {hybrid_bytes}");
    assert!(hybrid < 0.7 * deep, "{hybrid} {deep}");
}

#[test]
fn each_recomputed_layer_frees_as_much_as_the_one_before() {
    let held = |layers: u32| {
        let settings = [
            ("num_devices", "32"),
            ("tp", "8"),
            ("sequence_parallel", "true"),
            ("pp", "4"),
            ("vpp", "8"),
            ("method", "interleaved"),
            ("gbs", "64"),
            ("recompute_granularity", "full"),
            ("recompute_method", "block"),
            ("recompute_num_layers", &layers.to_string()),
        ];
        of("llama-3-8b", &settings).stages[0].memory.activations.get()
    };
    let first = held(0) - held(1);
    for layers in 1..8 {
        let freed = held(layers) - held(layers + 1);
        assert!((freed - first).abs() <= 1e-9 * first, "{layers}: {freed} {first}");
    }
}

/// An offloaded layer is on the device while it runs backward, and the next one on its way.
#[test]
fn offloaded_layers_come_back_to_run() {
    let of = |layers: &str, prefetch: &str| {
        let settings = [
            ("hbm_usable_gib", "56"),
            ("num_devices", "8"),
            ("tp", "1"),
            ("sequence_parallel", "false"),
            ("pp", "1"),
            ("recompute_granularity", "none"),
            ("seq_length", "32768"),
            // The head's moment is less full than a layer's.
            ("vocab_size", "8192"),
            ("cross_entropy_loss_fusion", "true"),
            ("cpu_offloading_num_layers", layers),
            ("swap_prefetch", prefetch),
        ];
        of("llama-3-8b", &settings).stages[0].memory
    };
    let layer = of("30", "false").activations.get() - of("31", "false").activations.get();
    let buffers = |layers, prefetch| of(layers, prefetch).buffers.get();
    assert!(buffers("31", "false") >= buffers("0", "false") + 0.5 * layer);
    let ahead = buffers("31", "true") - buffers("31", "false");
    assert!((ahead - layer).abs() <= 1e-9 * layer, "{ahead} {layer}");
    // There is no next one.
    assert!((buffers("1", "true") - buffers("1", "false")).abs() < 1.0);
}
