//! Verdict of `moescape predict` on a design that doesn't fit.

use serde_json::Value;

use crate::{has_line, run, succeeds};

/// Settings with which nothing is freed, and every expert gets the same.
fn plain() -> Vec<&'static str> {
    let settings = "--set recompute_granularity=none --set recompute_modules=none \
                    --set swap_modules=none --set balance=uniform --set planner=none \
                    --set aux_loss=none --set mla_fa_without_pad=true";
    settings.split(' ').collect()
}

fn json(arguments: &[&str]) -> Value {
    let arguments = [&["predict", "--json"], arguments].concat();
    serde_json::from_str(&succeeds(&arguments)).unwrap()
}

#[test]
fn a_design_that_does_not_fit_says_where_when_for_what_and_which_change_helps() {
    let text = succeeds(&[&["predict"], &plain()[..]].concat());
    let verdict = text.split("\nWhat doesn't fit\n").nth(1).unwrap();
    let lines: Vec<&str> = verdict.lines().collect();
    assert!(lines[0].starts_with("  stage 2 needs 99.9 GiB of device memory, 39.6 GiB more"));
    assert!(lines[1].starts_with("  it is fullest at the forward of micro-batch"), "{}", lines[1]);
    assert!(lines[2].starts_with("  the largest part is rows in expert order: 20.6 GiB"));
    assert_eq!(lines[3], "  with more memory its MFU would be 35.2 %");
    assert!(lines[4].starts_with("  Makes it fit") && lines[4].ends_with("peak"));
    for line in ["micro_batch_size=1 ", "recompute_granularity=full "] {
        assert!(has_line(verdict, line), "no {line}: {verdict}");
    }
    assert!(has_line(verdict, "Helps, but not enough alone"), "{verdict}");
}

#[test]
fn a_design_that_fits_has_no_verdict_in_its_text() {
    assert!(!has_line(&succeeds(&["predict"]), "What doesn't fit"));
}

#[test]
fn a_change_can_be_set_as_it_is_spelled_and_then_it_fits() {
    let text = succeeds(&[&["predict"], &plain()[..]].concat());
    let fitting = text.split("Makes it fit").nth(1).unwrap();
    let fitting = fitting.split("Helps, but").next().unwrap();
    let mut tried = 0;
    for line in fitting.lines().filter(|line| line.contains('=')) {
        let mut arguments = plain();
        let settings = line.split_whitespace().filter(|word| word.contains('='));
        settings.for_each(|setting| arguments.extend(["--set", setting]));
        let report = json(&arguments);
        assert_eq!(report["metrics"]["fits"], true, "{line}");
        tried += 1;
    }
    assert!(tried >= 5, "{fitting}");
}

#[test]
fn json_has_the_verdict_whether_it_fits_or_not() {
    let report = json(&plain());
    let verdict = &report["verdict"];
    assert_eq!((&verdict["fits"], &verdict["place"]), (&false.into(), &"device".into()));
    assert_eq!(verdict["peak_bytes"], report["metrics"]["memory_peak_bytes"]);
    assert_eq!(verdict["limit_bytes"], report["metrics"]["memory_limit_bytes"]);
    let stage = &report["stages"][verdict["stage"].as_u64().unwrap() as usize];
    assert_eq!(verdict["fullest_at"], stage["fullest_at"]);
    let number = |value: &Value| value.as_f64().unwrap();
    let contents = verdict["contents"].as_array().unwrap();
    let sum: f64 = contents.iter().map(|part| number(&part["bytes"])).sum();
    assert!((sum / number(&verdict["peak_bytes"]) - 1.0).abs() < 1e-9);
    for change in verdict["changes"].as_array().unwrap() {
        assert!(change["knob"].as_str().unwrap().contains('.'), "{change}");
        assert!(number(&change["mfu"]) > 0.0 && change["with"].is_array(), "{change}");
        let peak = number(&change["memory_peak_bytes"]);
        assert_eq!(change["fits"] == true, peak <= number(&verdict["limit_bytes"]), "{change}");
    }
    let fits = &json(&[])["verdict"];
    assert_eq!(fits["fits"], true);
    assert!(number(&fits["headroom_bytes"]) > 0.0 && number(&fits["over_bytes"]) <= 0.0);
    let illegal = run(&["predict", "--json", "--set", "pp=12"]);
    let illegal: Value = serde_json::from_str(&illegal.stdout).unwrap();
    assert_eq!(illegal["verdict"], Value::Null);
}
