//! `moescape infer`.

use testing::text::{assert_text, expect};

use crate::{has_line, run};

const LLAMA: [&str; 7] = [
    "infer",
    "--preset=llama-3-70b",
    "--set=accelerator=h100-sxm-80gb",
    "--set=num_devices=4",
    "--set=tp=4",
    "--set=weight_dtype=fp8",
    "--set=concurrency=32",
];

#[test]
fn short_names_mean_knobs_of_serving() {
    let ran = run(&LLAMA);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    for line in
        ["serving.tensor_parallel_size = 4", "TPOT ", "A step of decode", "Memory of a device"]
    {
        assert!(has_line(&ran.stdout, line), "{line}: {}", ran.stdout);
    }
}

#[test]
fn a_training_knob_is_told_as_not_read() {
    let ran = run(&[&LLAMA[..], &["--set=micro_batch_size=2"]].concat());
    let said = "training.micro_batch_size is of training; serving does not read it";
    assert!(ran.stdout.lines().any(|line| line.trim() == said), "{}", ran.stdout);
}

#[test]
fn a_layout_that_cannot_serve_is_an_error_with_a_way_out() {
    let ran = run(&[&LLAMA[..], &["--set=tp=3"]].concat());
    assert_eq!(ran.status, 2);
    assert_text(
        &ran.stderr,
        expect![[r#"
            error: 4 devices are not a multiple of TP 3 x DP 1 x PP 1 = 3
                (devices_are_whole_instances); nearest: --set serving.tensor_parallel_size=2,
                --set serving.tensor_parallel_size=4
            error: 64 attention heads can't be split over TP 3
                (serving_heads_are_a_multiple_of_tp); nearest: --set
                serving.tensor_parallel_size=2, --set serving.tensor_parallel_size=4
        "#]],
    );
    let json = run(&[&LLAMA[..], &["--set=tp=3", "--json"]].concat());
    assert_eq!(json.status, 2);
    let report: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let rules = report["violations"].as_array().unwrap().iter().map(|broken| &broken["rule"]);
    let wanted = ["devices_are_whole_instances", "serving_heads_are_a_multiple_of_tp"];
    assert_eq!(rules.collect::<Vec<_>>(), wanted);
}

#[test]
fn a_file_of_runs_of_serving_is_scored() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/validation/runs/serving_runs.csv");
    let ran = run(&["validate", "--runs", file, "--source", "nim_bench"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(has_line(&ran.stdout, "By engine, tokens and throughput"), "{}", ran.stdout);
    assert!(ran.stdout.contains("median absolute error of TPOT"), "{}", ran.stdout);
}
