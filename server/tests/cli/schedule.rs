//! `moescape schedule`.

use serde_json::Value;

use crate::{refused, run, succeeds};

fn json(arguments: &str) -> Value {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    serde_json::from_str(&succeeds(&[&["schedule", "--json"], &arguments[..]].concat())).unwrap()
}

fn text(arguments: &str) -> String {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    succeeds(&[&["schedule"], &arguments[..]].concat())
}

/// The lines of errors.
fn errors(arguments: &str) -> Vec<String> {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let text = refused(&[&["schedule"], &arguments[..]].concat());
    text.lines().map(str::to_owned).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

const UNIT: &str = "--forward 1 --backward-input 1 --backward-weight 1";

#[test]
fn steps_are_the_known_ones() {
    for (method, chunks, step, peak) in [
        ("1f1b", 1, 117.0, 8.0),
        ("gpipe", 1, 117.0, 32.0),
        ("interleaved", 2, 106.5, 11.5),
        ("interleaved", 4, 101.25, 9.75),
        ("1f1b_overlap", 1, 117.0, 16.0),
        ("zb_h1", 1, 103.0, 8.0),
        ("zb_2p", 1, 96.0, 15.0),
        ("zb_v", 2, 99.5, 8.0),
        ("v_half", 2, 104.5, 5.0),
        ("v_min", 2, 109.0, 4.0),
        ("dualpipe", 1, 102.0, 9.0),
        ("dualpipev", 2, 103.0, 8.5),
    ] {
        let report = json(&format!(
            "--method {method} --stages 8 --chunks {chunks} --microbatches 32 {UNIT}"
        ));
        assert!((number(&report["step_time_seconds"]) - step).abs() < 1e-9, "{method}: {report}");
        assert!((number(&report["bubble_ratio"]) - (1.0 - 96.0 / step)).abs() < 1e-9, "{method}");
        let stages = report["stages"].as_array().unwrap();
        let peaks = stages.iter().map(|stage| number(&stage["peak_in_flight"]));
        assert_eq!(stages.len(), 8);
        assert!((peaks.fold(0.0, f64::max) - peak).abs() < 1e-9, "{method}: {report}");
        let formula = &report["step_time_seconds_closed_form"];
        assert!(formula.is_null() == method.starts_with("v_"), "{method}: {report}");
        assert!(formula.is_null() || (number(formula) - step).abs() < 1e-9, "{method}");
    }
}

#[test]
fn pairs_and_p2p_count() {
    let overlap = "--method 1f1b_overlap --stages 8 --chunks 1 --microbatches 32 --forward 1 \
                   --backward-input 1 --backward-weight 1 --forward-backward 2.5";
    assert!((number(&json(overlap)["step_time_seconds"]) - 101.5).abs() < 1e-9);
    let late = json("--method 1f1b --stages 2 --microbatches 1 --p2p 0.5");
    assert!((number(&late["step_time_seconds"]) - 7.0).abs() < 1e-9);
    // The formulas know no P2P.
    assert!(late["step_time_seconds_closed_form"].is_null());
}

#[test]
fn what_is_left_out_has_a_sensible_value() {
    for method in ["gpipe", "1f1b", "interleaved", "1f1b_overlap", "zb_h1", "zb_2p", "zb_v"] {
        let short = json(&format!("--method {method} --stages 4 --microbatches 8"));
        let chunks = if ["interleaved", "zb_v"].contains(&method) { 2 } else { 1 };
        let long = format!(
            "--method {method} --stages 4 --chunks {chunks} --microbatches 8 {UNIT} \
             --forward-backward 3 --p2p 0"
        );
        assert_eq!(short, json(&long), "{method}");
    }
    for method in ["v_half", "v_min", "dualpipe", "dualpipev"] {
        json(&format!("--method {method} --stages 4 --microbatches 8"));
    }
    let group = json("--method interleaved --stages 4 --microbatches 10 --group 5");
    assert!(number(&group["step_time_seconds"]) > 30.0);
}

#[test]
fn the_summary_says_what_it_shows() {
    let text = text("--method zb_v --stages 4 --microbatches 8");
    for part in [
        "zb_v: 4 stages, 2 chunks each, 8 micro-batches\n",
        "25.5 s",
        "5.88 %",
        "closed form",
        "device time with no task resident",
        "peak in flight",
        "Lanes, one column is 0.25 s\n",
        "F forward, X gradients of inputs, W gradients of weights",
    ] {
        assert!(text.contains(part), "no {part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn lanes_show_who_waits() {
    let text = text("--method 1f1b --stages 2 --microbatches 2");
    let lanes: Vec<&str> = text.lines().rev().take(2).collect();
    assert_eq!(lanes[1], "     0 F0--F1--........B0------....B1------");
    assert_eq!(lanes[0], "     1 ....F0--B0------F1--B1------........");
}

#[test]
fn a_long_schedule_has_no_picture() {
    let text = text("--method 1f1b --stages 16 --microbatches 512");
    assert!(!text.contains("Lanes"), "{text}");
    assert!(text.contains("15  "), "{text}");
}

#[test]
fn zb_2p_says_what_its_step_is() {
    assert!(text("--method zb_2p --stages 4 --microbatches 8").contains("longest span of a stage"));
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let lines = errors(
        "--method dualpipe --stages 5 --chunks 3 --microbatches 7 --forward 0 --backward-input -1 \
         --backward-weight NaN --forward-backward inf --p2p 1e308",
    );
    for (flag, words) in [
        ("--stages", "nearest: --stages 6"),
        ("--chunks", "nearest: --chunks 1"),
        ("--microbatches", "nearest: --microbatches 10"),
        ("--forward takes", "not `0`"),
        ("--backward-input takes", "not `-1`"),
        ("--backward-weight takes 0, or", "not `NaN`"),
        ("--forward-backward takes", "not `inf`"),
        ("--p2p takes 0, or", "not `1e308`"),
    ] {
        let found = lines.iter().any(|line| line.contains(flag) && line.contains(words));
        assert!(found, "no {flag} {words}: {lines:#?}");
    }
    assert_eq!(lines.len(), 8, "{lines:#?}");
}

#[test]
fn what_is_no_number_hides_no_other_error() {
    let lines = errors("--method 1f1b --stages x --chunks 2 --microbatches 0 --forward y");
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(lines[0].contains("--stages takes a whole number from 1 on, not `x`"), "{lines:#?}");
    let lines = errors("--method zbv --stages 0 --chunks 999 --microbatches 1.5");
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(lines[0].contains("there is no `zbv`; nearest: zb_v"), "{lines:#?}");
    let lines = errors("--method interleaved --stages 4 --chunks - --microbatches 8");
    assert_eq!(lines.len(), 1, "{lines:#?}");
    for sizes in ["--stages -1 --microbatches 8", "--stages 99999999999999999999 --microbatches 8"]
    {
        assert_eq!(errors(&format!("--method zb_h1 {sizes}")).len(), 1, "{sizes}");
    }
}

#[test]
fn groups_and_multiples_are_checked() {
    let lines = errors("--method interleaved --stages 4 --microbatches 10");
    assert!(lines[0].contains("nearest: --microbatches 12"), "{lines:#?}");
    let lines = errors("--method interleaved --stages 4 --microbatches 10 --group 3");
    assert!(lines[0].contains("nearest: --group 5"), "{lines:#?}");
    let lines = errors("--method 1f1b --stages 4 --microbatches 8 --group 4");
    assert!(lines[0].contains("--group: a micro-batch group needs"), "{lines:#?}");
}

#[test]
fn a_schedule_too_large_to_simulate_is_refused() {
    let lines = errors("--method interleaved --stages 1024 --chunks 256 --microbatches 16777216");
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("at most 4,194,304 are simulated"), "{lines:#?}");
    let lines = errors("--method 1f1b --stages 18446744073709551615 --microbatches 8");
    assert!(lines[0].contains("nearest: --stages 1024"), "{lines:#?}");
}

#[test]
fn what_is_missing_is_named() {
    let run = run(&["schedule", "--method", "1f1b"]);
    assert_eq!(run.status, 2);
    for flag in ["--stages", "--microbatches"] {
        assert!(run.stderr.contains(flag), "{}", run.stderr);
    }
    assert!(succeeds(&["schedule", "--help"]).contains("--forward-backward <T>"));
}
