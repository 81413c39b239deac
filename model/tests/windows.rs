//! Windows in some layers: each layer counts and costs what its own window makes of it.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::training::estimate::Metrics;
use model::{Plan, estimate, ledger};
use testing::design::from_preset;

fn metrics(knobs: &[(&str, &str)]) -> Metrics {
    estimate(&plan(knobs)).metrics
}

fn plan(knobs: &[(&str, &str)]) -> Plan {
    let design = from_preset("qwen3-30b-a3b", knobs);
    Plan::new(&design).unwrap()
}

#[test]
fn a_window_as_long_as_the_sequence_is_full_attention_in_whichever_layers() {
    let full = metrics(&[]);
    for skip in ["none", "1", "2", "5"] {
        let window = [("window_size", "1048576"), ("window_attn_skip_freq", skip)];
        let windowed = metrics(&window);
        assert!((windowed.step_time.get() / full.step_time.get() - 1.0).abs() < 1e-12, "{skip}");
        assert_eq!(windowed.flops_per_token, full.flops_per_token, "{skip}");
    }
}

#[test]
fn every_nth_layer_without_a_window_has_an_nth_of_what_the_window_saves() {
    let flops = |knobs: &[(&str, &str)]| metrics(knobs).flops_per_token.get();
    let (full, all) = (flops(&[]), flops(&[("window_size", "256")]));
    // 48 layers.
    for (skip, without) in [("1", 48.0), ("2", 24.0), ("6", 8.0), ("5", 9.0)] {
        let some = flops(&[("window_size", "256"), ("window_attn_skip_freq", skip)]);
        let expected = all + (full - all) * without / 48.0;
        assert!((some / expected - 1.0).abs() < 1e-12, "{skip}: {some} {expected}");
    }
}

#[test]
fn a_step_lies_between_those_of_all_layers_with_and_without_a_window() {
    for overlap in ["false", "true"] {
        // An overlap of experts recomputes no whole layers.
        let base = [
            ("overlap_moe_expert_parallel_comm", overlap),
            ("recompute_granularity", "none"),
            ("timing", "simulated"),
        ];
        let step = |more: &[(&str, &str)]| metrics(&[&base[..], more].concat()).step_time.get();
        let window = ("window_size", "256");
        let (full, all) = (step(&[]), step(&[window]));
        let some = step(&[window, ("window_attn_skip_freq", "2")]);
        assert!(all < some && some < full, "{all} {some} {full}");
    }
}

#[test]
fn layers_with_and_without_a_window_are_kinds_of_their_own() {
    let knobs = [("window_size", "256"), ("window_attn_skip_freq", "4")];
    let kinds: Vec<_> =
        ledger(&plan(&knobs)).into_iter().map(|layer| (layer.name, layer.num_layers)).collect();
    assert_eq!(kinds, [("MoE, window 256".to_owned(), 36), ("MoE".to_owned(), 12)]);
}
