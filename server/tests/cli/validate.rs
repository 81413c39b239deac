//! `moescape validate`.

use std::io::Write;

use serde_json::Value;
use tempfile::NamedTempFile;
use testing::text::{assert_text, expect};

use crate::{has_line, refusals, refused, run, succeeds};

/// A run that is expressed, in the columns that every file needs and some more.
const HEADER: &str = "id,tier,kind,source_id,model,hardware,n_devices,TP,PP,EP,seq_len,MBS,GBS,\
                      precision,step_time_s,measured_fields\n";

fn file(text: &[u8]) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(text).unwrap();
    file
}

fn path(file: &NamedTempFile) -> &str {
    file.path().to_str().unwrap()
}

fn report(arguments: &[&str]) -> Value {
    serde_json::from_str(&succeeds(&[&["validate", "--json"], arguments].concat())).unwrap()
}

#[test]
fn the_json_has_every_run_with_the_published_names() {
    let report = report(&[]);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), validation::runs::published().len());
    for row in rows {
        for name in ["id", "source_id", "tier", "metric", "measured", "predicted", "error"] {
            assert!(row.get(name).is_some(), "no {name}: {row}");
        }
        assert!(row["assumed"].is_array() && row.get("refused").is_some(), "{row}");
        let (Some(measured), Some(predicted)) =
            (row["measured"].as_f64(), row["predicted"].as_f64())
        else {
            assert!(row["error"].is_null(), "{row}");
            continue;
        };
        let error = row["error"].as_f64().unwrap();
        assert!((predicted / measured - 1.0 - error).abs() < 1e-12, "{row}");
    }
    assert!(report["summary"].is_object());
}

#[test]
fn the_text_ends_with_the_scores_and_the_targets() {
    let text = succeeds(&["validate"]);
    let titles = ["Runs", "Half of ", "By accelerator", "By source", "Refused", "Targets"];
    let mut lines = text.lines();
    for title in titles {
        assert!(lines.any(|line| line.starts_with(title)), "no {title} in its place: {text}");
    }
}

#[test]
fn one_source_can_be_picked_and_an_unknown_one_names_the_nearest() {
    let report = report(&["--source", "zero_bubble"]);
    let rows = report["rows"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["source_id"] == "zero_bubble"));
    assert_eq!(report["summary"]["rows"], rows.len());
    assert_text(
        &refusals(&["validate --source zero-buble"]),
        expect![[r#"
            $ moescape validate --source zero-buble
            error: no run has the source `zero-buble`; nearest: zero_bubble,
                ascend_runs/flagperf, ascend_runs/tele-ai/telechat3
        "#]],
    );
}

#[test]
fn a_check_ends_with_status_3_exactly_when_a_target_is_missed() {
    for source in ["zero_bubble", "simumax_b200", "korthikanti"] {
        let report = report(&["--source", source]);
        let targets = report["summary"]["targets"].as_array().unwrap();
        let missed = targets.iter().filter(|target| target["met"] == false).count();
        let run = run(&["validate", "--check", "--source", source]);
        assert_eq!(run.status, if missed == 0 { 0 } else { 3 }, "{}", run.stderr);
        assert_eq!(run.stderr.matches("target missed").count(), missed, "{}", run.stderr);
        assert!(has_line(&run.stdout, "Targets"), "{}", run.stdout);
    }
}

#[test]
fn a_file_of_ones_own_is_compared() {
    let file = file(
        format!(
            "{HEADER}a,A,train_step,mine,Qwen3_30B_a3B,DGX-H100,16,1,2,8,4096,1,512,BF16,10,\
             step_time_s\nb,A,train_step,mine,Some Mamba,DGX-H100,16,1,1,1,4096,1,512,BF16,10,\
             step_time_s\n"
        )
        .as_bytes(),
    );
    let report = report(&["--runs", path(&file)]);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows[0]["error"].is_number(), "{}", rows[0]);
    assert!(rows[1]["refused"].is_string(), "{}", rows[1]);
}

#[test]
fn a_file_that_can_not_be_read_is_named_with_what_is_wrong() {
    let mut said = refusals(&["validate --runs no-such-file.csv"]);
    for text in [&b"id,model\na,b\n"[..], b"", b"\xff\xfe\x00id"] {
        let file = file(text);
        said += &refused(&["validate", "--runs", path(&file)]).replace(path(&file), "FILE");
    }
    assert_text(
        &said,
        expect![[r#"
            $ moescape validate --runs no-such-file.csv
            error: can't read no-such-file.csv: No such file or directory (os error 2)
            error: FILE, line 1: there is no column `hardware`
            error: FILE, line 1: there is no column `n_devices`
            error: FILE, line 1: the file has no header
            error: FILE is not UTF-8 text: invalid utf-8 sequence of 1 bytes from index 0
        "#]],
    );
}
