//! `moescape export`.

use serde_json::Value;
use testing::text::{assert_text, expect};

use crate::{has_line, refusals, run_with, succeeds};

#[test]
fn an_exported_design_predicts_the_same() {
    let settings = ["--preset", "deepseek-v3", "--set", "ep=32", "--set", "noop_layers=62,63"];
    let expected = succeeds(&[&["predict", "--json"], &settings[..]].concat());
    for format in ["json", "toml"] {
        for extent in [&[][..], &["--full"]] {
            let file = succeeds(&[&["export", format], extent, &settings[..]].concat());
            let run = run_with(&["predict", "-", "--json"], file.as_bytes());
            assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{file}");
            assert_eq!(run.stdout, expected, "{format} {extent:?}");
        }
    }
}

#[test]
fn only_what_differs_is_written_unless_all_is_asked_for() {
    let short = succeeds(&["export", "toml", "--set", "tp=4"]);
    let (head, short): (Vec<&str>, Vec<&str>) =
        short.lines().partition(|line| line.starts_with('#'));
    assert!(head[0].starts_with("# design: /?v=1&preset=pangu-ultra-moe-6k@2&parallel.tensor"));
    assert_eq!(head[1], format!("# model version: {}", model::MODEL_VERSION));
    assert!(head[2].starts_with("# date: 20"));
    assert_eq!(
        short.join("\n") + "\n",
        "schema = 1\npreset = \"pangu-ultra-moe-6k@2\"\n\n[parallel]\n\
         tensor_model_parallel_size = 4\n"
    );
    assert!(succeeds(&["export", "toml", "--full"]).lines().count() > 100);
}

#[test]
fn an_illegal_design_can_be_kept() {
    let file: Value =
        serde_json::from_str(&succeeds(&["export", "json", "--set", "pp=12"])).unwrap();
    assert_eq!(file["parallel"]["pipeline_model_parallel_size"], 12);
}

#[test]
fn unknown_formats_are_refused() {
    assert_text(
        &refusals(&["export yaml", "export"]),
        expect![[r#"
            $ moescape export yaml
            error: invalid value 'yaml' for '<FORMAT>'
              [possible values: json, toml, megatron, mindspeed, megatron-bridge, mindformers,
                torchtitan, deepspeed, accelerate, serving, csv, metrics, parquet, trace]

            For more information, try '--help'.
            $ moescape export
            error: the following required arguments were not provided:
              <FORMAT>

            Usage: moescape export <FORMAT> [FILE]

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn options_that_a_format_does_not_have_are_refused() {
    let lines = [
        "export megatron --full",
        "export csv --set pp=12",
        "export csv --full",
        "export torchtitan --launcher slurm",
        "export csv --json",
    ];
    assert_text(
        &refusals(&lines),
        expect![[r#"
            $ moescape export megatron --full
            error: --full is for json and toml: other files hold every knob, or none, anyway
            $ moescape export csv --set pp=12
            error: this design can't run, so that it has no numbers: 61 layers + 1 MTP + 2 no-op
                = 64 slots can't be split evenly over PP 12 x VPP 2 = 24 chunks; a Megatron that
                doesn't check it trains 48 layers
            $ moescape export csv --full
            error: --full is for json and toml: other files hold every knob, or none, anyway
            $ moescape export torchtitan --launcher slurm
            error: --launcher is for megatron and mindspeed: other files start no processes
            $ moescape export csv --json
            error: --json is for files that start a run; metrics and json are JSON by themselves
        "#]],
    );
}

#[test]
fn a_launch_script_says_where_it_is_from_and_comes_back() {
    for format in ["megatron", "mindspeed"] {
        let settings = ["--preset", "deepseek-v3", "--set", "ep=32"];
        let script = succeeds(&[&["export", format], &settings[..]].concat());
        for line in ["#!/bin/bash", "# design: /?v=1&preset=deepseek-v3&", "# date: 20"] {
            assert!(has_line(&script, line), "{line}: {script}");
        }
        let run = run_with(&["import", format, "-"], script.as_bytes());
        assert_eq!(run.status, 0, "{}", run.stderr);
        let expected = succeeds(&[&["export", "toml"], &settings[..]].concat());
        assert_eq!(run.stdout, expected);
    }
}

#[test]
fn numbers_and_the_timeline_are_files_too() {
    let settings = ["--preset", "deepseek-v3", "--set", "mbs=2"];
    let link = "/?v=1&preset=deepseek-v3&training.micro_batch_size=2";
    for (format, part) in
        [("csv", "scope,place,metric,value,unit,"), ("metrics", "\"mfu\""), ("trace", "otherData")]
    {
        let file = succeeds(&[&["export", format], &settings[..]].concat());
        for part in [part, link, model::MODEL_VERSION] {
            assert!(file.contains(part), "{format} lacks {part}");
        }
    }
}

#[test]
fn a_design_file_is_imported_as_it_was_exported() {
    let settings = ["--preset", "deepseek-v3", "--set", "mbs=2"];
    let expected = succeeds(&[&["export", "toml"], &settings[..]].concat());
    for format in ["json", "toml"] {
        let file = succeeds(&[&["export", format], &settings[..]].concat());
        for kind in ["design", "auto"] {
            let run = run_with(&["import", kind, "-"], file.as_bytes());
            assert_eq!((run.status, run.stdout.as_str()), (0, expected.as_str()), "{}", run.stderr);
        }
    }
}

#[test]
fn a_script_is_for_the_launcher_that_is_asked_for_and_says_what_it_really_does() {
    let settings = ["--preset", "deepseek-v3"];
    let batch = succeeds(&[&["export", "megatron", "--launcher", "slurm"], &settings[..]].concat());
    assert!(has_line(&batch, "#SBATCH --nodes=") && has_line(&batch, "srun torchrun "), "{batch}");
    let recompute = ["--set", "recompute_granularity=selective", "--set"];
    let lost = ["recompute_modules=moe_permute,moe_act,layernorm", "--set", "mbs=2"];
    let settings = [&["export", "megatron", "--preset", "deepseek-v3"], &recompute[..], &lost];
    let run = run_with(&settings.concat(), b"");
    assert_eq!(run.status, 0);
    let lost = "It has no word for memory.recompute_modules = moe_permute,moe_act,layernorm.";
    assert!(run.stderr.lines().any(|line| line.ends_with(lost)), "{}", run.stderr);
    let made = succeeds(&[&settings.concat()[..], &["--json"]].concat());
    let made: Value = serde_json::from_str(&made).unwrap();
    assert_eq!(made["differs"], true);
    assert!(made["lost"].is_array() && made["checks"].is_array(), "{made}");
    assert!(made["design"]["memory_peak_bytes"].is_number(), "{made}");
}

#[test]
fn what_an_import_carries_is_counted_and_comes_back() {
    let script = "torchrun pretrain_gpt.py --num-layers 8 --hidden-size 1024 \
                  --ffn-hidden-size 4096 --num-attention-heads 8 --vocab-size 1000 \
                  --seq-length 1024 --micro-batch-size 1 --global-batch-size 8 --bf16 \
                  --rotary-base 500000 --norm-epsilon 1e-6 --wandb-api-key abc\n";
    let run = run_with(&["import", "megatron", "-"], script.as_bytes());
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(has_line(&run.stderr, "carried: 2 arguments that no knob reads"), "{}", run.stderr);
    let again = run_with(&["export", "megatron", "-"], run.stdout.as_bytes());
    for argument in ["--rotary-base 500000", "--norm-epsilon 1e-6"] {
        assert!(again.stdout.contains(argument), "{}{}", again.stdout, again.stderr);
    }
    assert!(!again.stdout.contains("wandb"), "{}", again.stdout);
}
