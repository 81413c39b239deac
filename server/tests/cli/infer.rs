//! `moescape infer`.

use crate::run;

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
    assert!(ran.stdout.contains("serving.tensor_parallel_size = 4"), "{}", ran.stdout);
    for line in ["TPOT", "A step of decode", "Memory of a device", "half of runs"] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
}

#[test]
fn a_training_knob_is_told_as_not_read() {
    let ran = run(&[&LLAMA[..], &["--set=micro_batch_size=2"]].concat());
    let said = "training.micro_batch_size is of training; serving does not read it";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
}

#[test]
fn a_layout_that_cannot_serve_is_an_error_with_a_way_out() {
    let ran = run(&[&LLAMA[..], &["--set=tp=3"]].concat());
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("nearest: --set serving.tensor_parallel_size="), "{}", ran.stderr);
    let json = run(&[&LLAMA[..], &["--set=tp=3", "--json"]].concat());
    assert_eq!(json.status, 2);
    let rule = "\"rule\": \"serving_heads_are_a_multiple_of_tp\"";
    assert!(json.stdout.contains(rule), "{}", json.stdout);
}

#[test]
fn a_file_of_runs_of_serving_is_scored() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/validation/runs/serving_runs.csv");
    let ran = run(&["validate", "--runs", file, "--source", "nim_bench"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("By engine, tokens and throughput"), "{}", ran.stdout);
    assert!(ran.stdout.contains("median absolute error of TPOT"), "{}", ran.stdout);
}
