//! `moescape budget`.

use model::run::quality::CAVEAT;
use testing::text::{assert_text, expect};

use crate::{has_line, run};

const PAPER: [&str; 5] = [
    "budget",
    "--set=train_tokens=19e12",
    "--set=mtbf_device_hours=50676",
    "--set=checkpoint_gb_per_sec=100",
    "--set=price_per_device_hour=2",
];

#[test]
fn a_run_is_counted_with_what_it_rests_on() {
    let ran = run(&PAPER);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    for line in ["Days to train", "Goodput", "What changes are worth", "To know", "a restart takes"]
    {
        assert!(has_line(&ran.stdout, line), "{line}: {}", ran.stdout);
    }
    assert!(!ran.stdout.lines().any(|line| line.ends_with("not known")), "{}", ran.stdout);
}

#[test]
fn a_baseline_has_the_caveat_in_text_json_and_table() {
    let settings = [&PAPER[..], &["--set=num_moe_experts=128", "--baseline=pangu-ultra-moe-718b"]];
    for form in [None, Some("--json"), Some("--csv")] {
        let ran = run(&settings.concat().into_iter().chain(form).collect::<Vec<_>>());
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{form:?}");
        assert!(ran.stdout.contains(CAVEAT), "{form:?}: {}", ran.stdout);
    }
}

#[test]
fn the_fewest_devices_for_a_deadline_are_found() {
    let ran = run(&[&PAPER[..], &["--solve", "num_devices=days_to_train<=120"]].concat());
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(has_line(&ran.stdout, "cluster.num_devices="), "{}", ran.stdout);
    // What `budget` takes `predict` takes, and the other way round, in the same words.
    for target in ["num_devices=days_to_train<=120", "tp=mfu>=0.3", "mbs=energy_kwh<=1e7"] {
        for form in [None, Some("--json")] {
            let said = ["budget", "predict"].map(|command| {
                let words = [&[command], &PAPER[1..], &["--solve", target]].concat();
                let ran = run(&words.into_iter().chain(form).collect::<Vec<_>>());
                assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{command} {target}");
                ran.stdout
            });
            assert_eq!(said[0], said[1], "{target}");
        }
    }
    for wrong in ["num_devices=spare>=0.1", "devices=cost<=90", "num_devices=days_to_train<=x"] {
        assert_eq!(run(&[&PAPER[..], &["--solve", wrong]].concat()).status, 2, "{wrong}");
    }
    let open = run(&["budget", "--solve", "num_devices=days_to_train<=120"]);
    assert_eq!(open.status, 2);
    assert_text(
        &open.stderr,
        expect![[r#"
            error: days_to_train isn't known: set run.train_tokens
        "#]],
    );
}

#[test]
fn a_design_that_cannot_train_is_an_error_with_a_way_out() {
    let ran = run(&[&PAPER[..], &["--set=tp=7", "--json"]].concat());
    assert_eq!(ran.status, 2);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(report["violations"].as_array().is_some_and(|broken| !broken.is_empty()), "{report}");
    assert_text(
        &ran.stderr,
        expect![[r#"
            error: 6144 devices are not a multiple of TP 7 x PP 16 x CP 1 = 112
                (world_size_is_a_multiple_of_tp_pp_cp); nearest: --set
                parallel.tensor_model_parallel_size=8
            error: TP 7 doesn't divide 128 attention heads (heads_are_a_multiple_of_tp);
                nearest: --set parallel.tensor_model_parallel_size=4, --set
                parallel.tensor_model_parallel_size=8
            error: TP 7 doesn't divide the dense FFN width 18432 (ffn_is_a_multiple_of_tp);
                nearest: --set parallel.tensor_model_parallel_size=8
            error: TP 7 doesn't divide the shared expert width 2048
                (shared_expert_is_a_multiple_of_tp); nearest: --set
                parallel.tensor_model_parallel_size=4, --set
                parallel.tensor_model_parallel_size=8
            error: TP 7 doesn't divide the padded vocabulary 153600
                (vocabulary_is_a_multiple_of_tp); nearest: --set
                parallel.tensor_model_parallel_size=8
            error: a sequence of 8192 can't be split into 7 equal parts (2 CP with context
                parallelism, times TP with sequence parallelism)
                (sequence_is_a_multiple_of_cp_tp); nearest: --set
                parallel.tensor_model_parallel_size=4, --set
                parallel.tensor_model_parallel_size=8
        "#]],
    );
    let ran = run(&[&PAPER[..], &["--baseline=pangu"]].concat());
    assert_eq!(ran.status, 2);
    assert_text(
        &ran.stderr,
        expect![[r#"
            error: baseline: there is no preset `pangu` (nearest: pangu-pro-moe-4k)
        "#]],
    );
}
