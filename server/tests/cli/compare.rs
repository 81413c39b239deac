//! `moescape compare`.

use serde_json::Value;
use testing::text::{assert_text, expect};

use crate::{has_line, refusals, succeeds};

/// The same design with another micro-batch, by its link.
const LINK: &str = "/?v=1&preset=qwen3-30b-a3b&training.micro_batch_size=2";

#[test]
fn designs_are_a_presets_id_a_link_and_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("design.toml");
    std::fs::write(&file, "schema = 1\npreset = \"qwen3-30b-a3b\"\n").unwrap();
    let text = succeeds(&["compare", "qwen3-30b-a3b", LINK, file.to_str().unwrap()]);
    for line in ["3 designs", "  A  Qwen3-30B-A3B", "What differs", "  MFU ", "link /compare?"] {
        assert!(has_line(&text, line.trim_start()), "no {line}: {text}");
    }
    assert!(has_line(&text, "B is "), "{text}");
}

#[test]
fn what_is_printed_as_json_and_as_a_table_has_the_numbers_of_a_prediction() {
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&succeeds(&[arguments, &["--json"]].concat())).unwrap()
    };
    let compared = json(&["compare", "qwen3-30b-a3b", LINK]);
    let set = ["predict", "--preset", "qwen3-30b-a3b", "--set", "mbs=2"];
    let predicted = json(&set);
    let second = &compared["designs"][1];
    assert_eq!(second["metrics"], predicted["metrics"]);
    assert_eq!(second["ranges"], predicted["expected_error"]);
    let differences = second["differences"].as_array().unwrap();
    let mfu = differences.iter().find(|it| it["metric"] == "mfu").unwrap();
    let value = |place: usize| compared["designs"][place]["metrics"]["mfu"].as_f64().unwrap();
    assert_eq!(mfu["absolute"].as_f64(), Some(value(1) - value(0)));
    assert_eq!(compared["designs"][0]["differences"], serde_json::json!([]));
    let table = succeeds(&["compare", "qwen3-30b-a3b", LINK, "--csv"]);
    let row = format!("mfu,,{},{}", value(0), value(1));
    assert!(table.lines().any(|line| line.starts_with(&row)), "{table}");
}

#[test]
fn everything_that_is_wrong_with_any_of_them_is_said_with_its_place() {
    assert_text(
        &refusals(&["compare qwen3-30b-a3b", "compare qwen3-30b qwen3-30b-a3b /?v=1&tpx=8"]),
        &expect![[r#"
            $ moescape compare qwen3-30b-a3b
            error: 2 to 4 designs are compared, not 1; `sweep` evaluates many
            $ moescape compare qwen3-30b qwen3-30b-a3b /?v=1&tpx=8
            error: designs.0: there is no preset `qwen3-30b` (nearest: qwen3-30b-a3b)
            error: designs.2: there is no knob `tpx` (nearest: run.pue)
        "#]],
    );
}
