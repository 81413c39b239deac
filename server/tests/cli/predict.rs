//! `moescape predict`.

use model::Plan;
use model::design::Design;
use model::metric::{MetricId, Regime};
use serde_json::Value;

use crate::{command, refused, run, run_with, succeeds};

fn json(arguments: &[&str]) -> Value {
    let arguments = [&["predict", "--json"], arguments].concat();
    serde_json::from_str(&succeeds(&arguments)).unwrap()
}

#[test]
fn without_arguments_it_predicts_the_default_preset() {
    let text = succeeds(&["predict"]);
    assert!(text.starts_with("Pangu Ultra MoE on 6,144 NPUs (pangu-ultra-moe-6k@2)\n"), "{text}");
    for part in ["MFU", "Model FLOPs per second", "GiB", "Stages, per device", "/?v=1&preset="] {
        assert!(text.contains(part), "no {part}");
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
    assert!(text.contains("Nearest measured run: "), "{text}");
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
        assert!(text.contains(way["name"].as_str().unwrap()), "{way}");
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
    assert!(text.contains("parallel.tensor_model_parallel_size = 4 (preset: 8)"), "{text}");
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
    assert!(
        refused(&["predict", "--explain", "memory_peak_bytes@stage=99"]).contains("no stage 99")
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
    assert!(illegal.stderr.contains("--set parallel.pipeline_model_parallel_size="));
    assert_eq!(refused(&["predict", "--set", "pp=12"]), illegal.stderr);
    assert_eq!(refused(&["predict", "--set", "pp=12", "--explain", "mfu"]), illegal.stderr);
}

#[test]
fn everything_wrong_is_said_at_once_with_the_nearest() {
    let wrong = "predict --preset deepseek-v5 --set tensor_model_parallel=8 --set tp=-1 \
                 --set ep=1000000000000000000 --set hbm_usable_gib=NaN --set sp=maybe --set tp";
    let stderr = refused(&wrong.split(' ').collect::<Vec<_>>());
    let expected = [
        "nearest: deepseek-v3",
        "nearest: parallel.tensor_model_parallel_size",
        "parallel.tensor_model_parallel_size takes 1 to 1024, not -1 (nearest: 1)",
        "parallel.expert_model_parallel_size takes 1 to 65536",
        "cluster.hbm_usable_gib takes 1 to 4096 GiB, not NaN",
        "parallel.sequence_parallel takes true or false",
        "KNOB=VALUE",
    ];
    assert_eq!(stderr.lines().count(), expected.len(), "{stderr}");
    for (line, expected) in stderr.lines().zip(expected) {
        assert!(line.starts_with("error: ") && line.contains(expected), "{line}");
    }
}

#[test]
fn files_that_hold_no_design_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing.json");
    assert!(refused(&["predict", missing.to_str().unwrap()]).contains("missing.json"));
    assert!(refused(&["predict", directory.path().to_str().unwrap()]).contains("can't read"));
    let huge = " ".repeat(2 << 20);
    for (stdin, expected) in [
        (&b""[..], "schema"),
        (b"{", "JSON"),
        (b"schema = ", "TOML"),
        (b"\xff\xfe", "UTF-8"),
        (b"{\"schema\":9}", "schema"),
        (b"{\"schema\":1,\"parallel\":{\"tp\":1e999}}", "JSON"),
        (b"{\"schema\":1,\"parallel\":{\"tpp\":1}}", "parallel.tpp"),
        (huge.as_bytes(), "bytes"),
    ] {
        let run = run_with(&["predict", "-"], stdin);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{expected}");
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
}

#[test]
fn a_file_beside_a_preset_is_refused() {
    let stderr = refused(&["predict", "design.json", "--preset", "deepseek-v3"]);
    assert!(stderr.contains("--preset"), "{stderr}");
}

#[test]
fn misspelled_arguments_are_refused_with_the_nearest() {
    assert!(refused(&["predikt"]).contains("predict"));
    assert!(refused(&["predict", "--jsn"]).contains("--json"));
    assert!(refused(&["predict", "--explain", "mfuu"]).contains("nearest: mfu"));
    assert!(refused(&["predict", "--explain", "mfu@stage=1"]).contains("nearest: mfu"));
    assert!(refused(&[]).contains("Usage"));
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
    assert!(text.contains("(no layout has less)"), "{text}");
}

#[test]
fn one_knob_is_solved_for() {
    let found = succeeds(&["predict", "--solve", "micro_batch_size=fits"]);
    assert!(
        found.starts_with("training.micro_batch_size=") && found.contains("link /?"),
        "{found}"
    );
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
