//! `moescape find`.

use serde_json::Value;
use testing::text::{assert_text, expect};

use crate::{command, has_line, refusals, run, run_with, succeeds};

const GLM: &str = include_str!("../../../crates/interchange/tests/models/glm-4.5.json");
const QWEN: &str = include_str!("../../../crates/interchange/tests/models/qwen3-30b-a3b.json");
const KIMI: &str = include_str!("../../../crates/interchange/tests/scripts/kimi_k2_a3.sh");

/// A search that is over soon: a small model on a node.
const SMALL: [&str; 5] = ["find", "--preset", "qwen3-30b-a3b", "--keep", "pp,cp"];

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&succeeds(&[arguments, &["--json"]].concat())).unwrap()
}

#[test]
fn what_is_printed_as_json_says_what_was_asked() {
    let asked = ["--goal", "safest", "--target", "mfu>=0.1", "--target=spare>=0.05"];
    let found = json(&[&SMALL[..], &asked].concat());
    assert_eq!(found["goal"], "safest");
    assert_eq!(found["targets"], serde_json::json!(["mfu>=0.1", "spare>=0.05"]));
    assert_eq!(found["keep"].as_array().unwrap().len(), 2);
    assert!(found["seconds"].is_number() && found["designs"].is_array());
}

#[test]
fn a_target_of_the_run_is_reached_by_every_design_or_said_to_be_unknown() {
    let asked = ["--target", "days_to_train<=2000", "--set", "train_tokens=1e12"];
    let found = json(&[&SMALL[..], &asked].concat());
    assert_eq!(found["targets"], serde_json::json!(["days_to_train<=2000"]));
    for one in found["designs"].as_array().unwrap() {
        assert!(one["run"]["days_to_train"].as_f64().unwrap() <= 2000.0, "{one}");
    }
    let unknown = "find --preset qwen3-30b-a3b --keep pp,cp --target days_to_train<=2000";
    assert_text(
        &refusals(&[unknown]),
        &expect![[r#"
            $ moescape find --preset qwen3-30b-a3b --keep pp,cp --target days_to_train<=2000
            error: a target needs what isn't known: set run.train_tokens (nearest:
                run.train_tokens)
        "#]],
    );
}

#[test]
fn the_summary_puts_three_designs_beside_the_one_at_hand() {
    let text = succeeds(&SMALL);
    let mut lines = text.lines();
    let head = ["Current", "Fastest", "Safest", "Simplest"];
    assert!(lines.any(|line| line.split_whitespace().eq(head)), "{text}");
    for label in &head[1..] {
        let part = text.split(&format!("\n{label}\n")).nth(1).expect(label);
        assert!(has_line(part, "link /?v=1&preset="), "{part}");
    }
    for line in ["Throughput per device", "MFU", "Step time", "Peak memory", "Memory to spare"] {
        assert!(has_line(&text, line), "no {line}: {text}");
    }
    for line in ["Ruled out", "  kept: PP 1, CP 1"] {
        assert!(text.lines().any(|known| known == line), "no {line}: {text}");
    }
}

/// A search for layouts that serve.
const SERVED: [&str; 6] = ["find", "--serve", "--preset", "deepseek-r1-96-h100", "--keep", "tp"];

#[test]
fn layouts_that_serve_are_found_by_the_metrics_and_short_names_of_serving() {
    let found = json(&[&SERVED[..], &["--target", "tpot_seconds<=0.05"]].concat());
    assert_eq!(found["targets"], serde_json::json!(["tpot_seconds<=0.05"]));
    assert_eq!(found["keep"], serde_json::json!(["serving.tensor_parallel_size"]));
    let designs = found["designs"].as_array().unwrap();
    assert!(designs.len() > 3, "{found}");
    for one in designs {
        assert!(one["metrics"]["tpot_seconds"].as_f64().unwrap() <= 0.05, "{one}");
        assert!(one["link"].as_str().unwrap().starts_with("/serving?v=1&preset="), "{one}");
        assert!(one["knobs"].get("serving.tensor_parallel_size").is_none(), "{one}");
    }
    let text = succeeds(&SERVED);
    for line in ["Output per device", "TPOT", "TTFT", "Cache to spare", "decode_devices"] {
        assert!(text.lines().any(|known| known.starts_with(&format!("  {line}"))), "no {line}");
    }
    let served = "find --serve --preset deepseek-r1-96-h100";
    let wrong =
        [format!("{served} --target tpot<=0.05"), format!("{served} --question fewest_devices")];
    assert_text(
        &refusals(&wrong.each_ref().map(String::as_str)),
        &expect![[r#"
            $ moescape find --serve --preset deepseek-r1-96-h100 --target tpot<=0.05
            error: there is no metric `tpot` (nearest: tpot_seconds<=0.05)
            $ moescape find --serve --preset deepseek-r1-96-h100 --question fewest_devices
            error: of serving the `question` is `layout`: its devices stay (nearest: layout)
        "#]],
    );
}

#[test]
fn a_configuration_finds_its_layouts_in_one_command() {
    let arguments = ["find", "-", "--devices", "8", "--accelerator", "h200-sxm-141gb", "--json"];
    let run = run_with(&[&arguments[..], &["--keep", "pp,cp"]].concat(), QWEN.as_bytes());
    assert_eq!(run.status, 0, "{}", run.stderr);
    // Nothing of devices, accelerator or layout, which are asked for or searched.
    assert_text(
        &run.stderr,
        &expect![[r#"
            assumed: transformer.qk_layernorm: true, as this architecture's models are, no key
                says it
            assumed: training.seq_length: 4096, as in qwen3-30b-a3b, a config.json doesn't say
            assumed: training.global_batch_size: 512, as in qwen3-30b-a3b, a config.json doesn't
                say
            assumed: training.precision: bf16, a config.json doesn't say
            assumed: training.optimizer: adam, a config.json doesn't say
        "#]],
    );
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let fastest = &found["designs"][0];
    let link = fastest["link"].as_str().unwrap();
    assert!(link.split('&').any(|it| it == "cluster.accelerator=h200-sxm-141gb"), "{link}");
    assert_eq!(fastest["metrics"]["fits"], true);
}

#[test]
fn a_launch_script_and_a_design_file_are_known_by_what_stands_in_them() {
    // Settings that are wrong end it before the search begins.
    let wrong = ["--goal", "fast"];
    let texts = [GLM, KIMI, "schema = 1\npreset = \"deepseek-v3\"", "{\"schema\": 1}"];
    let said = texts.map(|text| {
        let run = run_with(&[&["find", "-"][..], &wrong].concat(), text.as_bytes());
        assert_eq!(run.status, 2);
        run.stderr
    });
    let mend = "error: `goal` is one of fastest, safest, simplest, not `fast` (nearest: fastest)\n";
    assert_eq!(said, [mend; 4]);
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_what_would_be_taken() {
    let wrong = "find --preset pangu --set tpx=8 --devices 0 --accelerator h100 --goal fast \
                 --question devices --target mfa>=0.4 --keep ppx --tokens many --days 0";
    assert_text(
        &refusals(&[wrong]),
        &expect![[r#"
            $ moescape find --preset pangu --set tpx=8 --devices 0 --accelerator h100 --goal
                fast --question devices --target mfa>=0.4 --keep ppx --tokens many --days 0
            error: there is no preset `pangu` (nearest: pangu-pro-moe-4k)
            error: cluster.accelerator takes one of ascend-910b1, ascend-910b2, ascend-910b3,
                ascend-910b4, ascend-910c, ascend-300i-duo, a100-sxm-40gb, a100-sxm-80gb,
                a100-pcie-80gb, a800-sxm-80gb, h100-sxm-80gb, h100-96gb, h800-sxm-80gb, h20,
                h200-sxm-141gb, b200, b300, gb200, gb300; not `h100` (nearest: h20)
            error: cluster.num_devices takes 1 to 1048576, not 0 (nearest: 1)
            error: there is no knob `tpx` (nearest: run.pue)
            error: --tokens takes a number above 0, such as 15T, not `many` (nearest: 1T)
            error: --days takes a number above 0, such as 90, not `0` (nearest: 1)
            error: `goal` is one of fastest, safest, simplest, not `fast` (nearest: fastest)
            error: `question` is one of layout, fewest_devices, largest_batch, longest_sequence,
                not `devices` (nearest: layout)
            error: there is no metric `mfa` (nearest: mfu>=0.4)
            error: there is no knob `ppx` (nearest: run.pue)
        "#]],
    );
}

#[test]
fn tokens_and_days_are_a_target_of_tokens_per_second() {
    let asked = ["--tokens", "15T", "--days", "90"];
    let found = json(&[&SMALL[..], &asked].concat());
    let target = found["targets"][0].as_str().unwrap();
    let rate: f64 = target.strip_prefix("tokens_per_second>=").unwrap().parse().unwrap();
    assert!((rate / (15e12 / 7_776_000.0) - 1.0).abs() < 1e-9, "{target}");
    for alone in [["--tokens", "15T"], ["--days", "90"]] {
        let run = run(&[&["find"][..], &alone].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    }
}

#[test]
fn where_nothing_reaches_the_targets_the_nearest_miss_is_told() {
    let text = succeeds(&[&SMALL[..], &["--target", "mfu>=0.99"]].concat());
    assert!(has_line(&text, "No layout fits and reaches the targets"), "{text}");
    assert!(!has_line(&text, "Fastest"), "{text}");
}

#[test]
fn what_no_layout_mends_is_an_error() {
    assert_text(
        &refusals(&["find --set moe_router_topk=300"]),
        &expect![[r#"
            $ moescape find --set moe_router_topk=300
            error: top-300 of 256 experts (topk_is_at_most_the_experts); nearest: --set
                transformer.moe_router_topk=256, --set transformer.num_moe_experts=300
        "#]],
    );
}

#[test]
fn progress_is_not_written_where_nobody_reads_it() {
    let output = command(&SMALL).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
