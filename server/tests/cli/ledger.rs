//! `moescape predict --ledger`.

use std::collections::BTreeSet;

use model::design::Design;
use model::{Plan, ledger};
use serde_json::Value;
use testing::text::{assert_text, expect};

use crate::{has_line, refused, succeeds};

fn json(arguments: &[&str]) -> Value {
    let arguments = [&["predict", "--json"], arguments].concat();
    serde_json::from_str(&succeeds(&arguments)).unwrap()
}

#[test]
fn the_ledger_follows_the_summary_and_names_every_tensor() {
    let plain = succeeds(&["predict"]);
    let text = succeeds(&["predict", "--ledger"]);
    let section = text.strip_prefix(&plain).expect("the summary stays as it is");
    let plan = Plan::new(&Design::from_preset("pangu-ultra-moe-6k").unwrap()).unwrap();
    for layer in ledger(&plan) {
        for saved in &layer.tensors {
            assert!(section.contains(saved.tensor.label()), "{:?}", saved.tensor);
        }
    }
    let fates: BTreeSet<&str> = section.split_whitespace().collect();
    for fate in ["recomputed", "swapped", "kept"] {
        assert!(fates.contains(fate), "no {fate} in {section}");
    }
    let titles = section.lines().filter(|line| line.starts_with("Saved tensors"));
    assert_text(
        &titles.collect::<Vec<_>>().join("\n"),
        expect![[r#"
            Saved tensors of a layer, per micro-batch and device: Dense, 3 layers
            Saved tensors of a layer, per micro-batch and device: MoE, 59 layers
        "#]],
    );
}

#[test]
fn json_has_the_ledger_when_asked_and_its_bytes_are_the_models() {
    assert!(json(&[]).get("ledger").is_none());
    let report = json(&["--ledger", "--preset", "deepseek-v3-2k-h800"]);
    let plan = Plan::new(&Design::from_preset("deepseek-v3-2k-h800").unwrap()).unwrap();
    let layers = ledger(&plan);
    assert_eq!(report["ledger"].as_array().unwrap().len(), layers.len());
    for (entry, layer) in report["ledger"].as_array().unwrap().iter().zip(&layers) {
        let sum: f64 = layer.tensors.iter().map(|saved| saved.bytes.get()).sum();
        let tensors = entry["tensors"].as_array().unwrap();
        let bytes = tensors.iter().map(|tensor| tensor["bytes"].as_f64().unwrap());
        assert!((bytes.sum::<f64>() - sum).abs() <= 1e-9 * sum);
        assert_eq!(entry["num_layers"].as_u64(), Some(layer.num_layers));
        assert_eq!(entry["recompute"].as_array().unwrap().len(), layer.recompute.len());
    }
}

#[test]
fn whole_layer_recomputation_is_told() {
    let full = ["memory.recompute_granularity=full", "memory.recompute_modules=none"];
    let text = succeeds(&["predict", "--ledger", "--set", full[0], "--set", full[1]]);
    assert!(has_line(&text, "Whole layers are computed again"), "{text}");
}

#[test]
fn the_ledger_and_an_explanation_are_two_questions() {
    refused(&["predict", "--ledger", "--explain", "mfu"]);
}
