//! Models whose layers differ by their mixers: published counts, and what one layer changes.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::design::{Design, KnobId};
use model::estimate::Metrics;
use model::{Plan, estimate};

fn design(preset: &str, knobs: &[(&str, &str)]) -> Design {
    let mut design = Design::from_preset(preset).unwrap();
    for (knob, value) in knobs {
        design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
    }
    design
}

fn metrics(preset: &str, knobs: &[(&str, &str)]) -> Metrics {
    estimate(&Plan::new(&design(preset, knobs)).unwrap()).metrics
}

/// Preset, and its published parameters in billions: all, and those of a token without the input
/// embedding, where they are published.
const PUBLISHED: [(&str, f64, Option<f64>); 3] = [
    ("gpt-oss-120b", 116.83, Some(5.13)),
    ("gpt-oss-20b", 20.91, Some(3.61)),
    ("gemma-3-27b", 27.01, None),
];

#[test]
fn parameters_are_those_that_are_published() {
    for (preset, total, active) in PUBLISHED {
        let metrics = metrics(preset, &[]);
        let found = metrics.params_total as f64 / 1e9;
        assert!((found / total - 1.0).abs() < 0.005, "{preset}: {found} of {total}");
        if let Some(active) = active {
            let found = metrics.params_active_no_input_embedding as f64 / 1e9;
            assert!((found / active - 1.0).abs() < 0.005, "{preset}: {found} of {active}");
        }
    }
}

/// Preset, sequence length, and GFLOP of a token as its trainer prints them. Routers are counted
/// here and not there: 0.1 to 0.3 %.
const PRINTED: [(&str, &str, f64); 1] = [("gpt-oss-120b", "4096", 32.61)];

#[test]
fn flops_of_a_token_are_those_that_are_printed() {
    for (preset, seq, printed) in PRINTED {
        let found = metrics(preset, &[("seq_length", seq)]).flops_per_token.get() / 1e9;
        assert!((found / printed - 1.0).abs() < 0.005, "{preset}: {found} of {printed}");
    }
}

#[test]
fn sinks_are_one_parameter_for_each_head_and_no_flops() {
    let plain = metrics("gpt-oss-20b", &[("softmax_type", "off-by-one")]);
    let sinks = metrics("gpt-oss-20b", &[]);
    assert_eq!(sinks.params_total - plain.params_total, 24 * 64);
    assert_eq!(sinks.flops_per_token, plain.flops_per_token);
}
