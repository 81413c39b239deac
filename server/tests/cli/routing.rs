//! `moescape routing` and `moescape predict --trace`.

use std::path::{Path, PathBuf};

use model::routing::{Generator, Size, Trace, text};
use serde_json::Value;
use tempfile::TempDir;
use testing::text::{assert_text, expect};

use crate::{refused, succeeds};

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
    let titles = |text: &str| -> Vec<String> {
        // A title stands between an empty line and its table.
        let lines: Vec<&str> = text.lines().collect();
        let pairs = lines.windows(2).filter(|pair| pair[0].is_empty());
        pairs.map(|pair| pair[1].to_owned()).collect()
    };
    let text = succeeds(&["routing"]);
    assert_text(
        text.lines().next().unwrap(),
        expect![[r#"
            Pangu Ultra MoE on 6,144 NPUs (pangu-ultra-moe-6k@2)
        "#]],
    );
    assert_text(
        &titles(&text).join("\n"),
        expect![[r#"
            Imbalance
            Layers
            Moves
            Planner interval
            Dropped under a capacity
        "#]],
    );
    let without = succeeds(&["routing", "--set", "planner=none"]);
    assert_text(
        &titles(&without).join("\n"),
        expect![[r#"
            Imbalance
            Layers
            Dropped under a capacity
        "#]],
    );
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
    assert!(said.lines().any(|line| line.trim() == expected), "{said}");
    let layers = json(&["routing", "--trace", shown(&csv), "--json"]);
    assert_eq!(layers["layers"].as_array().unwrap().len(), 4);
}

#[test]
fn a_bad_trace_is_named_line_by_line_and_is_the_user_s() {
    let directory = tempfile::tempdir().unwrap();
    let bad = file(&directory, "bad.csv", "step,layer,expert,tokens\n0,0,0,-3\n0,0,1.5,4\n");
    let few = file(&directory, "few.csv", "step,layer,expert,tokens\n0,0,0,3\n");
    let missing = directory.path().join("missing.csv");
    let said = |command: &str, path: &Path| {
        refused(&[command, "--trace", shown(path)]).replace(shown(directory.path()), "")
    };
    let [one, other] = ["predict", "routing"].map(|it| said(it, &bad) + &said(it, &missing));
    assert_eq!(one, other);
    assert_text(
        &one,
        expect![[r#"
            error: /bad.csv: line 2, column 7: tokens `-3` is negative
            error: /bad.csv: line 3, column 5: expert `1.5` is no whole number
            error: can't read /missing.csv: No such file or directory (os error 2)
        "#]],
    );
    assert_text(
        &said("predict", &few),
        expect![[r#"
            error: the trace has 1 experts, the model has 256 (trace_is_at_hand)
        "#]],
    );
}

#[test]
fn even_loads_have_nothing_to_place() {
    let even = ["--set", "balance=uniform", "--set", "planner=none"];
    assert_text(
        &refused(&[&["routing"], &even[..]].concat()),
        expect![[r#"
            error: every expert gets the same load: --set routing.balance=skewed generates
                others, --trace FILE takes recorded ones
        "#]],
    );
    let predicted = succeeds(&[&["predict"], &even[..]].concat());
    assert!(!predicted.lines().any(|line| line.starts_with("Expert loads")), "{predicted}");
}
