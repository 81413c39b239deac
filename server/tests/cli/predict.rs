//! `moescape predict`.

use model::Plan;
use model::design::Design;
use model::metric::{MetricId, Regime};
use serde_json::Value;
use testing::text::{assert_text, expect};

use crate::{command, has_line, refusals, refused, run, run_with, succeeds};

fn json(arguments: &[&str]) -> Value {
    let arguments = [&["predict", "--json"], arguments].concat();
    serde_json::from_str(&succeeds(&arguments)).unwrap()
}

#[test]
fn without_arguments_it_predicts_the_default_preset() {
    let text = succeeds(&["predict"]);
    assert!(text.starts_with("Pangu Ultra MoE on 6,144 NPUs (pangu-ultra-moe-6k@2)\n"), "{text}");
    for line in ["MFU ", "Peak memory ", "Stages, per device", "link /?v=1&preset="] {
        assert!(has_line(&text, line), "no {line}: {text}");
    }
    assert_eq!(json(&[]), json(&["--preset", "pangu-ultra-moe-6k@2"]));
}

#[test]
fn every_metric_says_how_far_it_may_be_off() {
    let text = succeeds(&["predict"]);
    let mut section = text.split("Metrics, with their ranges\n").nth(1).unwrap().lines();
    for id in MetricId::of(Regime::Training) {
        let line = section.next().unwrap();
        assert!(line.starts_with(&format!("  {}", id.metric().label)), "{line}");
        let words = ["(9 of 10)", "exact count", "not validated", "as peak memory"];
        assert!(words.iter().any(|words| line.contains(words)), "{line}");
    }
    let report = json(&[]);
    let errors = report["expected_error"].as_object().unwrap();
    for (metric, error) in errors {
        assert!(report["metrics"][metric].is_number(), "{metric}");
        let value = report["metrics"][metric].as_f64().unwrap();
        let ends = |key: &str| [0, 1].map(|index| error[key][index].as_f64().unwrap());
        let ([low, high], [lowest, highest]) = (ends("range_50"), ends("range_90"));
        assert!(lowest <= low && low < high && high <= highest, "{error}");
        assert!(lowest < value && value < highest, "{metric}: {error}");
        assert!(error["rows"].as_u64().unwrap() > 0, "{error}");
        assert!(error["sources"].is_u64() && error["family"].is_string(), "{error}");
    }
    assert!(!errors.contains_key("params_total"));
    assert!(has_line(&text, "Nearest measured run: "), "{text}");
}

#[test]
fn the_expected_error_is_the_models_own() {
    let design = Design::from_preset("deepseek-v3-2k-h800").unwrap();
    let plan = Plan::new(&design).unwrap();
    let report = json(&["--preset", "deepseek-v3-2k-h800"]);
    for id in MetricId::of(Regime::Training) {
        let metric = id.metric().name;
        let error = &report["expected_error"][metric];
        let Some(range) = model::range(&plan, id) else {
            assert!(error.is_null(), "{error}");
            continue;
        };
        let value = report["metrics"][metric].as_f64().unwrap();
        for (key, factors) in [("range_50", range.half), ("range_90", range.most)] {
            for (end, factor) in factors.into_iter().enumerate() {
                assert_eq!(error[key][end].as_f64(), Some(value * factor), "{metric}");
            }
        }
    }
}

#[test]
fn a_run_is_counted_in_eight_ways_and_the_designs_own_comes_first() {
    let report = json(&[]);
    let ways = report["conventions"].as_array().unwrap();
    assert_eq!(ways.len(), 8);
    for (own, metric) in [("utilisation", "mfu"), ("flops_per_token", "flops_per_token")] {
        let [own, metric] =
            [&ways[0][own], &report["metrics"][metric]].map(|v| v.as_f64().unwrap());
        assert!((own / metric - 1.0).abs() < 1e-12, "{own} {metric}");
    }
    let rate = report["metrics"]["tokens_per_second_per_device"].as_f64().unwrap();
    let text = succeeds(&["predict"]);
    for way in ways {
        let number = |key: &str| way[key].as_f64().unwrap();
        let utilisation = number("flops_per_token") * rate / (number("peak_tflops") * 1e12);
        assert!((number("utilisation") / utilisation - 1.0).abs() < 1e-9, "{way}");
        assert!(has_line(&text, way["name"].as_str().unwrap()), "{way}");
    }
}

#[test]
fn settings_change_the_prediction_and_the_last_one_wins() {
    let base = json(&[]);
    let set = json(&["--set", "pp=8", "--set", "parallel.pipeline_model_parallel_size=32"]);
    assert_eq!(set["design"]["parallel"]["pipeline_model_parallel_size"], 32);
    let bubble = |report: &Value| report["metrics"]["bubble_ratio_closed_form"].as_f64().unwrap();
    assert!(bubble(&set) > bubble(&base));
    let text = succeeds(&["predict", "--set", "tp=4"]);
    let changed = "  parallel.tensor_model_parallel_size = 4 (preset: 8)";
    assert!(text.lines().any(|line| line == changed), "{text}");
}

#[test]
fn a_design_that_does_not_fit_is_a_success() {
    let report = json(&["--set", "hbm_usable_gib=8"]);
    assert_eq!(report["metrics"]["fits"], false);
}

#[test]
fn files_and_stdin_hold_the_same_design() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let toml = "schema = 1\npreset = \"deepseek-v3\"\n[parallel]\nnoop_layers = [62, 63]\n";
    let text = r#"{"schema":1,"preset":"deepseek-v3","parallel":{"noop_layers":[62,63]}}"#;
    let expected = json(&["--preset", "deepseek-v3", "--set", "noop_layers=62,63"]);
    assert_eq!(json(&[&write("a.json", text)]), expected);
    assert_eq!(json(&[&write("a.toml", toml)]), expected);
    assert_eq!(json(&[&write("plain", toml)]), expected);
    for text in [text, toml] {
        let run = run_with(&["predict", "-", "--json"], text.as_bytes());
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap(), expected);
    }
}

#[test]
fn an_explanation_is_a_tree_in_text_and_in_json() {
    let text = succeeds(&["predict", "--explain", "memory_peak_bytes"]);
    assert!(text.starts_with("Peak memory = "), "{text}");
    assert!(text.lines().any(|line| line.starts_with("  ") && line.contains(" = ")), "{text}");
    let tree = succeeds(&["predict", "--explain", "memory_peak_bytes", "--json"]);
    let tree: Value = serde_json::from_str(&tree).unwrap();
    assert_eq!(tree["value"], json(&[])["metrics"]["memory_peak_bytes"]);
    assert!(!tree["children"].as_array().unwrap().is_empty());
}

#[test]
fn a_metric_of_one_stage_or_axis_is_explained_with_its_numbers_put_in() {
    let stage = succeeds(&["predict", "--explain", "memory_peak_bytes@stage=3"]);
    assert!(stage.starts_with("Peak memory (memory_peak_bytes@stage=3) = "), "{stage}");
    assert!(
        stage.lines().any(|line| line.starts_with("    = ") && line.contains(" + ")),
        "{stage}"
    );
    let axis = ["predict", "--explain", "comm_volume_bytes@axis=ep,link=inter_node", "--json"];
    let axis: Value = serde_json::from_str(&succeeds(&axis)).unwrap();
    let rows = axis["children"].as_array().unwrap();
    let sum: f64 = rows.iter().map(|row| row["value"].as_f64().unwrap()).sum();
    assert_eq!((axis["how"].as_str(), axis["value"].as_f64()), (Some("sum"), Some(sum)));
    assert_text(
        &refusals(&["predict --explain memory_peak_bytes@stage=99"]),
        &expect![[r#"
            $ moescape predict --explain memory_peak_bytes@stage=99
            error: the design has no stage 99: it has 16, from 0 on
        "#]],
    );
}

#[test]
fn every_metric_can_be_explained() {
    let report = json(&[]);
    for (metric, value) in report["metrics"].as_object().unwrap() {
        let tree = succeeds(&["predict", "--explain", metric, "--json"]);
        let tree: Value = serde_json::from_str(&tree).unwrap();
        if value.is_number() {
            assert_eq!(&tree["value"], value, "{metric}");
        }
        assert!(!succeeds(&["predict", "--explain", metric]).is_empty());
    }
}

#[test]
fn an_illegal_design_prints_its_json_and_is_the_users_error() {
    let arguments = ["predict", "--json", "--set", "pp=12"];
    let illegal = run(&arguments);
    assert_eq!(illegal.status, 2);
    let report: Value = serde_json::from_str(&illegal.stdout).unwrap();
    assert!(report["metrics"].as_object().unwrap().values().all(Value::is_null));
    assert!(!report["violations"].as_array().unwrap().is_empty());
    assert_eq!(report["expected_error"], serde_json::json!({}));
    assert!(report["nearest_run"].is_null());
    assert_eq!(report["conventions"], serde_json::json!([]));
    assert_text(
        &illegal.stderr,
        &expect![[r#"
            error: 61 layers + 1 MTP + 2 no-op = 64 slots can't be split evenly over PP 12 x VPP
                2 = 24 chunks; a Megatron that doesn't check it trains 48 layers
                (layer_slots_are_a_multiple_of_pp_vpp); nearest: --set
                parallel.pipeline_model_parallel_size=8, --set
                parallel.pipeline_model_parallel_size=16, --set
                parallel.noop_layers=61,63,64,65,66,67,68,69,70,71
        "#]],
    );
    assert_eq!(refused(&["predict", "--set", "pp=12"]), illegal.stderr);
    assert_eq!(refused(&["predict", "--set", "pp=12", "--explain", "mfu"]), illegal.stderr);
}

#[test]
fn everything_wrong_is_said_at_once_with_the_nearest() {
    let wrong = "predict --preset deepseek-v5 --set tensor_model_parallel=8 --set tp=-1 \
                 --set ep=1000000000000000000 --set hbm_usable_gib=NaN --set sp=maybe --set tp";
    assert_text(
        &refusals(&[wrong]),
        &expect![[r#"
            $ moescape predict --preset deepseek-v5 --set tensor_model_parallel=8 --set tp=-1
                --set ep=1000000000000000000 --set hbm_usable_gib=NaN --set sp=maybe --set tp
            error: there is no preset `deepseek-v5` (nearest: deepseek-v3)
            error: there is no knob `tensor_model_parallel` (nearest:
                parallel.tensor_model_parallel_size)
            error: parallel.tensor_model_parallel_size takes 1 to 1024, not -1 (nearest: 1)
            error: parallel.expert_model_parallel_size takes 1 to 65536, not 1000000000000000000
                (nearest: 65536)
            error: cluster.hbm_usable_gib takes 1 to 4096 GiB, not NaN (nearest: 1)
            error: parallel.sequence_parallel takes true or false, not `maybe`
            error: a setting is knob=value, such as tp=8, not `tp`
        "#]],
    );
}

#[test]
fn files_that_hold_no_design_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing.json");
    let mut said = String::new();
    for path in [&missing, directory.path()] {
        said += &refused(&["predict", path.to_str().unwrap()]);
    }
    let said = said.replace(directory.path().to_str().unwrap(), "DIRECTORY");
    let huge = " ".repeat(2 << 20);
    let texts = [
        &b""[..],
        b"{",
        b"schema = ",
        b"\xff\xfe",
        b"{\"schema\":9}",
        b"{\"schema\":1,\"parallel\":{\"tp\":1e999}}",
        b"{\"schema\":1,\"parallel\":{\"tpp\":1}}",
        huge.as_bytes(),
    ];
    let texts = texts.map(|text| {
        let run = run_with(&["predict", "-"], text);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        run.stderr
    });
    assert_text(
        &(said + &texts.concat()),
        &expect![[r#"
            error: can't read DIRECTORY/missing.json: No such file or directory (os error 2)
            error: can't read DIRECTORY: Is a directory (os error 21)
            error: the file lacks `schema`: 1 (nearest: 1)
            error: the file is no JSON: EOF while parsing an object at line 1 column 1
            error: the file is no TOML: TOML parse error at line 1, column 10
              |
            1 | schema =
              |          ^
            string values must be quoted, expected literal string
            error: stdin is not UTF-8 text: invalid utf-8 sequence of 1 bytes from index 0
            error: this version reads schema 1, not 9 (nearest: 1)
            error: the file is no JSON: number out of range at line 1 column 34
            error: there is no knob `parallel.tpp` (nearest: parallel.noop_layers)
            error: stdin has more than 1048576 bytes; a design has a few thousand
        "#]],
    );
}

#[test]
fn a_file_beside_a_preset_is_refused() {
    assert_text(
        &refusals(&["predict design.json --preset deepseek-v3"]),
        &expect![[r#"
            $ moescape predict design.json --preset deepseek-v3
            error: the argument '[FILE]' cannot be used with '--preset <ID>'

            Usage: moescape predict <FILE>

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn misspelled_arguments_are_refused_with_the_nearest() {
    assert_text(
        &refusals(&[
            "predikt",
            "predict --jsn",
            "predict --explain mfuu",
            "predict --explain mfu@stage=1",
        ]),
        &expect![[r#"
            $ moescape predikt
            error: unrecognized subcommand 'predikt'

              tip: some similar subcommands exist: 'presets', 'predict'

            Usage: moescape <COMMAND>

            For more information, try '--help'.
            $ moescape predict --jsn
            error: unexpected argument '--jsn' found

              tip: a similar argument exists: '--json'

            Usage: moescape predict --json [FILE]

            For more information, try '--help'.
            $ moescape predict --explain mfuu
            error: invalid value 'mfuu' for '--explain <METRIC[@PART]>': there is no metric
                `mfuu` (nearest: mfu)

            For more information, try '--help'.
            $ moescape predict --explain mfu@stage=1
            error: invalid value 'mfu@stage=1' for '--explain <METRIC[@PART]>': mfu isn't asked
                of `mfu@stage=1` (nearest: mfu)

            For more information, try '--help'.
        "#]],
    );
    assert!(has_line(&refused(&[]), "Usage: moescape"));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    use std::process::Stdio;
    let mut child = command(&["predict", "--json"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn the_summary_says_how_balanced_the_stages_are_and_what_would_balance_them() {
    let text = succeeds(&["predict", "--set", "parallel.noop_layers=62,63"]);
    let line = text.lines().find(|line| line.contains("layout overflow")).unwrap();
    assert!(line.contains(" % (a layout with ") && line.contains("step"), "{line}");
    let text = succeeds(&["predict", "--preset", "gpt3-175b"]);
    let line = text.lines().find(|line| line.contains("layout overflow")).unwrap();
    assert!(line.ends_with("(no layout has less)"), "{line}");
}

#[test]
fn one_knob_is_solved_for() {
    let found = succeeds(&["predict", "--solve", "micro_batch_size=fits"]);
    assert!(found.starts_with("training.micro_batch_size="), "{found}");
    assert!(has_line(&found, "link /?v=1&preset=pangu-ultra-moe-6k@2"), "{found}");
    let json = succeeds(&["predict", "--json", "--solve", "tp=mfu>=0.99"]);
    let data: Value = serde_json::from_str(&json).expect("JSON");
    assert!(data["found"].is_null() && data["nearest"]["mfu"].as_f64() > Some(0.0), "{json}");
}

#[test]
fn a_target_that_is_none_is_refused() {
    for junk in ["tp", "tp=fast", "nothing=fits"] {
        let run = run(&["predict", "--solve", junk]);
        assert_ne!(run.status, 0, "{junk}");
    }
}
