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
    assert_eq!(
        short,
        "schema = 1\npreset = \"pangu-ultra-moe-6k\"\n\n[parallel]\n\
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
    assert!(refused(&["export", "yaml"]).contains("json, toml"));
    assert!(refused(&["export"]).contains("FORMAT"));
}
