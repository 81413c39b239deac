//! `moescape routing` and `moescape predict --trace`, run as a person runs them.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use std::path::{Path, PathBuf};
use std::process::Command;

use model::routing::{Generator, Size, Trace, text};
use serde_json::Value;
use tempfile::TempDir;

/// Status, stdout and stderr.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_moescape")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let (status, stdout, stderr) = run(arguments);
    assert_eq!(status, 0, "{stderr}");
    stdout
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&succeeds(arguments)).unwrap()
}

fn recorded() -> Trace {
    let size = Size { steps: 3, stride: 1, layers: 4, experts: 256, tokens: 1 << 16, topk: 8 };
    Generator { skew: 0.5, ..Generator::default() }.trace(&size).unwrap()
}

fn file(directory: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_recipe_s_planner_removes_most_of_what_its_steps_have() {
    let report = json(&["routing", "--json"]);
    let removed = report["loads"]["steps"]["removed"].as_f64().unwrap();
    assert!((0.8..1.0).contains(&removed), "{removed}");
    let layers = report["layers"].as_array().unwrap();
    assert_eq!((layers.len(), &report["ranks"]), (58, &32.into()));
    for layer in layers {
        let of = |name: &str| layer[name].as_f64().unwrap();
        assert!(of("imbalance_before") >= of("imbalance_after"), "{layer}");
        assert!(of("imbalance_after") >= of("imbalance_bound") - 1e-9, "{layer}");
    }
    let cadences = report["cadences"].as_array().unwrap();
    assert_eq!(cadences.iter().filter(|one| one["shortest"] == true).count(), 1);
    let drops = report["drops"].as_array().unwrap();
    let ratio = |at: usize| drops[at]["token_drop_ratio"].as_f64().unwrap();
    assert!((1..drops.len()).all(|at| ratio(at) <= ratio(at - 1)));
    assert!(!report["migrations"].as_array().unwrap().is_empty());
}

#[test]
fn tables_say_what_they_show() {
    let text = succeeds(&["routing"]);
    for part in [
        "256 experts over 32 ranks",
        "imbalance of",
        "\nLayers\n",
        "\nMoves\n",
        "\nPlanner interval\n",
        "\nDropped under a capacity\n",
        "shortest",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let without = succeeds(&["routing", "--set", "planner=none"]);
    assert!(!without.contains("\nMoves\n") && !without.contains("\nPlanner interval\n"));
}

#[test]
fn a_trace_names_itself_in_the_prediction_whatever_its_format() {
    let directory = tempfile::tempdir().unwrap();
    let trace = recorded();
    let counts: Vec<Vec<Vec<u32>>> = (0..trace.steps())
        .map(|step| (0..trace.layers()).map(|layer| trace.row(step, layer).to_vec()).collect())
        .collect();
    let nested = serde_json::json!({ "tokens": counts }).to_string();
    let csv = file(&directory, "loads.csv", &text::write(&trace));
    let nested = file(&directory, "loads", &nested);
    for path in [&csv, &nested] {
        let report = json(&["predict", "--trace", shown(path), "--json"]);
        assert_eq!(report["design"]["routing"]["balance"], "trace");
        assert_eq!(report["design"]["routing"]["trace"], trace.content_hash());
        let routing = &report["routing"];
        assert_eq!(routing["trace"]["steps"], 3);
        assert!(routing["steps"]["imbalance_before"].as_f64().unwrap() > 1.1);
        assert!(report["metrics"]["imbalance_ratio"].as_f64().unwrap() > 1.1);
    }
    let said = succeeds(&["predict", "--trace", shown(&csv)]);
    let expected = format!("trace {}: 3 steps, 4 layers, 256 experts", trace.content_hash());
    assert!(said.contains(&expected), "{said}");
    let layers = json(&["routing", "--trace", shown(&csv), "--json"]);
    assert_eq!(layers["layers"].as_array().unwrap().len(), 4);
}

#[test]
fn a_bad_trace_is_named_line_by_line_and_is_the_user_s() {
    let directory = tempfile::tempdir().unwrap();
    let bad = file(&directory, "bad.csv", "step,layer,expert,tokens\n0,0,0,-3\n0,0,1.5,4\n");
    for command in ["predict", "routing"] {
        let (status, stdout, stderr) = run(&[command, "--trace", shown(&bad)]);
        assert_eq!((status, stdout.as_str()), (2, ""), "{command}");
        assert!(stderr.contains("bad.csv: line 2, column 7: "), "{stderr}");
        assert!(stderr.contains("bad.csv: line 3, column 5: "), "{stderr}");
        let missing = directory.path().join("missing.csv");
        let (status, _, stderr) = run(&[command, "--trace", shown(&missing)]);
        assert_eq!(status, 2);
        assert!(stderr.contains("can't read"), "{stderr}");
    }
    let few = file(&directory, "few.csv", "step,layer,expert,tokens\n0,0,0,3\n");
    let (status, _, stderr) = run(&["predict", "--trace", shown(&few)]);
    assert_eq!(status, 2);
    assert!(stderr.contains("1 experts, the model has 256"), "{stderr}");
}

#[test]
fn even_loads_have_nothing_to_place() {
    let even = ["--set", "balance=uniform", "--set", "planner=none"];
    let (status, _, stderr) = run(&[&["routing"], &even[..]].concat());
    assert_eq!(status, 2);
    assert!(stderr.contains("routing.balance=skewed"), "{stderr}");
    assert!(!succeeds(&[&["predict"], &even[..]].concat()).contains("Expert loads"));
}
