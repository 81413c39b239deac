//! `moescape schedule`.

use serde_json::Value;

use testing::text::{assert_text, expect};

use crate::{has_line, refusals, run, succeeds, words};

fn json(arguments: &str) -> Value {
    serde_json::from_str(&text(&format!("--json {arguments}"))).unwrap()
}

fn text(arguments: &str) -> String {
    succeeds(&words(&format!("schedule {arguments}")))
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
    let text = text("--method zb_v --stages 2 --microbatches 4");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    // Pictures are looked at below.
    let lines = text.lines().filter(|line| !line.contains("F0"));
    assert_text(
        &lines.collect::<Vec<_>>().join("\n"),
        &expect![[r#"
            zb_v: 2 stages, 2 chunks each, 4 micro-batches
              per stage and micro-batch: forward 1 s, backward input 1 s, backward weight 1 s;
                P2P 0 s

            Step
                           step time  bubble
              simulated    12.5 s     4.00 %
              closed form  12.5 s     4.00 %
              bubble: device time with no task resident, over all device time between the first
                forward and the last backward

            Stages
              stage  tasks  first start  last end  busy  bubble  peak in flight
                  0     24          0 s      12 s  12 s  4.00 %               2
                  1     24        0.5 s    12.5 s  12 s  4.00 %               2
              in flight: micro-batches whose activations a stage holds, in whole stages

            Lanes, one column is 0.125 s
              F forward, X gradients of inputs, W gradients of weights, small letters: every
                second chunk, . idle
        "#]],
    );
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
    assert!(!text.lines().any(|line| line.starts_with("Lanes")), "{text}");
    let stages = text.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok());
    assert_eq!(stages.collect::<Vec<u64>>(), Vec::from_iter(0..16), "{text}");
}

#[test]
fn zb_2p_says_what_its_step_is() {
    let text = text("--method zb_2p --stages 4 --microbatches 8");
    let said = text.lines().find(|line| line.contains("longest span of a stage"));
    assert_text(
        said.unwrap_or(&text).trim_start(),
        &expect![[r#"
            bubble: device time with no task resident, over all device time in the longest span
                of a stage, as each begins its next step at once
        "#]],
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let lines = [
        "schedule --method dualpipe --stages 5 --chunks 3 --microbatches 7 --forward 0 \
         --backward-input -1 --backward-weight NaN --forward-backward inf --p2p 1e308",
        // What is no number hides no other error.
        "schedule --method 1f1b --stages x --chunks 2 --microbatches 0 --forward y",
        "schedule --method zbv --stages 0 --chunks 999 --microbatches 1.5",
        "schedule --method interleaved --stages 4 --chunks - --microbatches 8",
        "schedule --method zb_h1 --stages -1 --microbatches 8",
        "schedule --method zb_h1 --stages 99999999999999999999 --microbatches 8",
        // Groups and multiples.
        "schedule --method interleaved --stages 4 --microbatches 10",
        "schedule --method interleaved --stages 4 --microbatches 10 --group 3",
        "schedule --method 1f1b --stages 4 --microbatches 8 --group 4",
        // Too large to simulate.
        "schedule --method interleaved --stages 1024 --chunks 256 --microbatches 16777216",
        "schedule --method 1f1b --stages 18446744073709551615 --microbatches 8",
    ];
    assert_text(
        &refusals(&lines),
        &expect![[r#"
            $ moescape schedule --method dualpipe --stages 5 --chunks 3 --microbatches 7
                --forward 0 --backward-input -1 --backward-weight NaN --forward-backward inf
                --p2p 1e308
            error: --stages: dualpipe pairs the stages (PP) from both ends, 5 is not even;
                nearest: --stages 6
            error: --chunks: dualpipe runs one chunk per stage (VPP), not 3; nearest: --chunks 1
            error: --microbatches: dualpipe sends half of the micro-batches each way, 7 is not
                even; nearest: --microbatches 10
            error: --forward takes 1e-9 to 1e9 seconds, not `0`
            error: --backward-input takes 1e-9 to 1e9 seconds, not `-1`
            error: --backward-weight takes 0, or 1e-9 to 1e9 seconds, not `NaN`
            error: --forward-backward takes 1e-9 to 1e9 seconds, not `inf`
            error: --p2p takes 0, or 1e-9 to 1e9 seconds, not `1e308`
            $ moescape schedule --method 1f1b --stages x --chunks 2 --microbatches 0 --forward y
            error: --stages takes a whole number from 1 on, not `x`
            error: --microbatches: a pipeline has 1 to 16777216 micro-batches, not 0; nearest:
                --microbatches 1
            error: --chunks: 1f1b runs one chunk per stage (VPP), not 2; nearest: --chunks 1
            error: --forward takes 1e-9 to 1e9 seconds, not `y`
            $ moescape schedule --method zbv --stages 0 --chunks 999 --microbatches 1.5
            error: --method: there is no `zbv`; nearest: zb_v, zb_h1, zb_2p
            error: --microbatches takes a whole number from 1 on, not `1.5`
            error: --stages: a pipeline has 1 to 1024 stages, not 0; nearest: --stages 1
            error: --chunks: a pipeline has 1 to 256 chunks per stage, not 999; nearest:
                --chunks 256
            $ moescape schedule --method interleaved --stages 4 --chunks - --microbatches 8
            error: --chunks takes a whole number from 1 on, not `-`
            $ moescape schedule --method zb_h1 --stages -1 --microbatches 8
            error: --stages takes a whole number from 1 on, not `-1`
            $ moescape schedule --method zb_h1 --stages 99999999999999999999 --microbatches 8
            error: --stages takes a whole number from 1 on, not `99999999999999999999`
            $ moescape schedule --method interleaved --stages 4 --microbatches 10
            error: --microbatches: 10 micro-batches are not a multiple of the 4 stages (PP);
                nearest: --microbatches 12
            $ moescape schedule --method interleaved --stages 4 --microbatches 10 --group 3
            error: --group: a micro-batch group has 4 (PP) to 10 micro-batches, not 3; nearest:
                --group 5
            $ moescape schedule --method 1f1b --stages 4 --microbatches 8 --group 4
            error: --group: a micro-batch group needs an interleaved schedule with more than one
                chunk (VPP)
            $ moescape schedule --method interleaved --stages 1024 --chunks 256 --microbatches
                16777216
            error: this schedule has 8,796,093,022,208 tasks, and at most 4,194,304 are
                simulated; take fewer stages, chunks or micro-batches
            $ moescape schedule --method 1f1b --stages 18446744073709551615 --microbatches 8
            error: --stages: a pipeline has 1 to 1024 stages, not 18446744073709551615; nearest:
                --stages 1024
        "#]],
    );
}

#[test]
fn what_is_missing_is_named() {
    let run = run(&["schedule", "--method", "1f1b"]);
    assert_eq!(run.status, 2);
    assert_text(
        &run.stderr,
        &expect![[r#"
            error: the following required arguments were not provided:
              --stages <P>
              --microbatches <N>

            Usage: moescape schedule --method <METHOD> --stages <P> --microbatches <N>

            For more information, try '--help'.
        "#]],
    );
    let help = succeeds(&["schedule", "--help"]);
    assert!(has_line(&help, "--forward-backward <T> "), "{help}");
}
