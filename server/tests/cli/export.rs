//! `moescape export`.

use crate::{refused, run_with, succeeds};

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
    assert!(succeeds(&["export", "json", "--set", "pp=12"]).contains("12"));
}

#[test]
fn unknown_formats_are_refused() {
    assert!(refused(&["export", "yaml"]).contains("json, toml, megatron, mindspeed"));
    assert!(refused(&["export"]).contains("FORMAT"));
}

#[test]
fn a_launch_script_says_where_it_is_from_and_comes_back() {
    for format in ["megatron", "mindspeed"] {
        let settings = ["--preset", "deepseek-v3", "--set", "ep=32"];
        let script = succeeds(&[&["export", format], &settings[..]].concat());
        for part in ["#!/bin/bash\n", "# design: /?v=1&preset=deepseek-v3&", "# date: 20"] {
            assert!(script.contains(part), "{part}: {script}");
        }
        let run = run_with(&["import", format, "-"], script.as_bytes());
        assert_eq!(run.status, 0, "{}", run.stderr);
        let expected = succeeds(&[&["export", "toml"], &settings[..]].concat());
        assert_eq!(run.stdout, expected);
    }
    assert!(refused(&["export", "megatron", "--full"]).contains("--full"));
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
    assert!(refused(&["export", "csv", "--set", "pp=12"]).contains("can't run"));
    assert!(refused(&["export", "csv", "--full"]).contains("--full"));
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
