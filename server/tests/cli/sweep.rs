//! `moescape sweep` and `moescape merge`, run as a person or a scheduler runs them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use testing::text::{assert_text, expect};

use crate::{Run, command, has_line};

const SPEC: &str = r#"
schema = 1
name = "small"
sample = 50
[design]
preset = "pangu-ultra-moe-6k"
[design.schedule]
timing = "closed_form"
[space.parallel]
tp = { powers_of_two = [1, 16] }
pp = [4, 8, 16]
vpp = [1, 2]
ep = { powers_of_two = [8, 64] }
noop_layers = { fill = "chunks" }
[space.memory]
recompute_modules = ["none", ["moe_act", "mla_qkv"]]
[space.training]
mbs = [1, 2, 3]
"#;

/// A directory with the spec.
fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("spec.toml"), SPEC).unwrap();
    directory
}

fn moescape(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = command(arguments);
    command.current_dir(directory);
    command
}

fn run(directory: &Path, arguments: &[&str]) -> Run {
    moescape(directory, arguments).output().unwrap().into()
}

#[track_caller]
fn succeeds(directory: &Path, arguments: &[&str]) -> String {
    let run = run(directory, arguments);
    // A sweep that is whole says what was simulated of it, and nothing else.
    let expected = |line: &str| line.starts_with("simulated the front and the best, ");
    let rest: Vec<&str> = run.stderr.lines().filter(|line| !expected(line)).collect();
    assert_eq!((run.status, rest), (0, vec![]), "{arguments:?}");
    run.stdout
}

#[track_caller]
fn refused(directory: &Path, arguments: &[&str]) -> String {
    let run = run(directory, arguments);
    assert_eq!((run.status, run.stdout.len()), (2, 0), "{arguments:?}");
    run.stderr
}

fn result(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_result_is_the_same_however_the_sweep_is_cut() {
    let home = directory();
    let whole = succeeds(home.path(), &["sweep", "spec.toml"]);
    let one = succeeds(home.path(), &["sweep", "spec.toml", "--threads", "1"]);
    assert_eq!(whole, one);
    let read = result(&whole);
    assert_eq!(read["complete"], true);
    assert_eq!(read["done"], 720);
    let ruled_out = read["ruled_out"].as_array().unwrap();
    let ruled_out: u64 = ruled_out.iter().map(|row| row["designs"].as_u64().unwrap()).sum();
    assert_eq!(ruled_out + read["feasible"].as_u64().unwrap(), 720);
    let names: Vec<String> = (1..=3).map(|part| format!("part-{part}.json")).collect();
    for (part, name) in (1..).zip(&names) {
        let shard = format!("{part}/3");
        let said = ["sweep", "spec.toml", "--shard", &shard, "--out", name];
        assert_eq!(succeeds(home.path(), &said), "");
    }
    let merged = succeeds(home.path(), &["merge", &names[2], &names[0], &names[1]]);
    assert_eq!(merged, whole);
    let part = run(home.path(), &["merge", &names[0]]);
    assert_eq!(part.status, 0);
    let twice = refused(home.path(), &["merge", &names[0], &names[0]]);
    assert_text(
        &(part.stderr + &twice),
        expect![[r#"
            parts are missing: 240 of 720 designs are there
            error: part-1.json: places 0 to 240 are partly there already
        "#]],
    );
}

#[test]
fn the_best_design_is_what_predict_says_of_it() {
    let home = directory();
    let read = result(&succeeds(home.path(), &["sweep", "spec.toml"]));
    let best = &read["objectives"][0]["best"][0];
    let knobs = best["knobs"].as_object().unwrap();
    fn text(value: &Value) -> String {
        if let Some(items) = value.as_array() {
            let items: Vec<String> = items.iter().map(text).collect();
            return if items.is_empty() { "none".to_owned() } else { items.join(",") };
        }
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }
    let mut settings: Vec<String> =
        knobs.iter().map(|(knob, value)| format!("{knob}={}", text(value))).collect();
    // The front and the best of closed forms are simulated at the end.
    assert_eq!(best["timing"], "simulated");
    settings.push("schedule.timing=simulated".to_owned());
    let mut arguments = vec!["predict", "--json", "--preset", "pangu-ultra-moe-6k"];
    settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
    let predicted = result(&succeeds(home.path(), &arguments));
    for (metric, value) in best["metrics"].as_object().unwrap() {
        let predicted = predicted["metrics"][metric].as_f64().unwrap();
        assert_eq!(predicted.to_bits(), value.as_f64().unwrap().to_bits(), "{metric}");
    }
    let link = best["link"].as_str().unwrap();
    assert!(link.starts_with("v=1&preset=pangu-ultra-moe-6k&"), "{link}");
    assert!(!link.contains("closed_form"), "{link}");
    // What stands beside it is the closed form's.
    settings.pop();
    settings.push("schedule.timing=closed_form".to_owned());
    let mut arguments = vec!["predict", "--json", "--preset", "pangu-ultra-moe-6k"];
    settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
    let predicted = result(&succeeds(home.path(), &arguments));
    let mfu = |tree: &Value| tree["mfu"].as_f64().unwrap().to_bits();
    assert_eq!(mfu(&predicted["metrics"]), mfu(&best["closed_form"]));
    let said = run(home.path(), &["sweep", "spec.toml"]).stderr;
    assert!(has_line(&said, "simulated the front and the best, "), "{said}");
}

#[test]
fn a_sweep_that_finds_nothing_names_what_to_free() {
    let home = directory();
    let spec = "schema = 1\n[design]\npreset = \"glm-4.5\"\ncluster.num_devices = 256\n\
                training.global_batch_size = 256\nparallel.sequence_parallel = false\n\
                memory.recompute_granularity = \"none\"\nschedule.timing = \"closed_form\"\n\
                [space]\ntp = [1, 2, 4]\npp = [8, 16]\nep = [8, 16, 32]\n\
                noop_layers = { fill = \"chunks\" }\n";
    std::fs::write(home.path().join("none.toml"), spec).unwrap();
    let run = run(home.path(), &["sweep", "none.toml"]);
    let (said, read) = (run.stderr, result(&run.stdout));
    assert_eq!(read["feasible"], 0);
    let freed = &read["freed"][0];
    assert!(freed["feasible"].as_u64().unwrap() > 0, "{}", read["freed"]);
    let knobs: Vec<&String> = freed["knobs"].as_object().unwrap().keys().collect();
    assert!(said.contains(knobs[0].as_str()), "{said}");
}

#[test]
fn rows_are_the_feasible_designs_in_every_format() {
    let home = directory();
    let path = |name: &str| home.path().join(name);
    let whole = succeeds(home.path(), &["sweep", "spec.toml"]);
    let feasible = result(&whole)["feasible"].as_u64().unwrap() as usize;
    for name in ["rows.csv", "rows.jsonl", "rows.parquet"] {
        assert_eq!(succeeds(home.path(), &["sweep", "spec.toml", "--out", name]), whole);
        assert!(!path(&format!("{name}.checkpoint")).exists(), "{name}");
    }
    let csv = std::fs::read_to_string(path("rows.csv")).unwrap();
    assert!(csv.starts_with("index,"), "{csv:.100}");
    assert_eq!(csv.lines().count(), feasible + 1);
    let lines = std::fs::read_to_string(path("rows.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), feasible);
    let first = result(lines.lines().next().unwrap());
    let row = csv.lines().nth(1).unwrap();
    assert!(row.starts_with(&format!("{},", first["index"])), "{row}");
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let file = std::fs::File::open(path("rows.parquet")).unwrap();
    let table = SerializedFileReader::new(file).unwrap();
    assert_eq!(table.metadata().file_metadata().num_rows() as usize, feasible);
    let read: Vec<_> = table.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let shown = read[0].to_string();
    assert!(shown.contains(&format!("index: {}", first["index"])), "{shown}");
    let mfu = first["metrics"]["mfu"].as_f64().unwrap();
    assert!(shown.contains(&format!("mfu: {mfu}")), "{shown}");
}

#[cfg(unix)]
#[test]
fn a_sweep_that_is_interrupted_or_killed_goes_on() {
    let home = directory();
    // Long enough to be caught: each design is simulated.
    let slow = SPEC
        .replace("closed_form", "simulated")
        .replace("mbs = [1, 2, 3]", "mbs = [1, 2]\ngbs = { from = 6144, to = 61440, step = 6144 }");
    std::fs::write(home.path().join("spec.toml"), slow).unwrap();
    let whole = succeeds(home.path(), &["sweep", "spec.toml", "--out", "whole.csv"]);
    let mut said = BTreeSet::new();
    for signal in ["-INT", "-KILL"] {
        let arguments = ["sweep", "spec.toml", "--out", "rows.csv", "--resume", "--threads", "1"];
        let mut child = moescape(home.path(), &arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let checkpoint = home.path().join("rows.csv.checkpoint");
        while !checkpoint.exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // Once it has ended and is waited for, its number may be another process's.
        if child.try_wait().unwrap().is_none() {
            let id = child.id().to_string();
            let _ = Command::new("kill").args([signal, &id]).status().unwrap();
        }
        child.wait().unwrap();
        if checkpoint.exists() {
            let anew = refused(home.path(), &["sweep", "spec.toml", "--out", "rows.csv"]);
            std::fs::write(home.path().join("other.toml"), SPEC).unwrap();
            let arguments = ["sweep", "other.toml", "--out", "rows.csv", "--resume"];
            let other = refused(home.path(), &arguments);
            // The columns of another version: rows of this one wouldn't stand below their names.
            let written = std::fs::read(home.path().join("rows.csv")).unwrap();
            let older = [b"x".as_slice(), &written[1..]].concat();
            std::fs::write(home.path().join("rows.csv"), older).unwrap();
            let arguments = ["sweep", "spec.toml", "--out", "rows.csv", "--resume"];
            let later = refused(home.path(), &arguments);
            said.insert([anew, other, later].concat());
            std::fs::write(home.path().join("rows.csv"), written).unwrap();
        }
        let resumed =
            succeeds(home.path(), &["sweep", "spec.toml", "--out", "rows.csv", "--resume"]);
        assert_eq!(resumed, whole, "{signal}");
        let rows = |name: &str| std::fs::read(home.path().join(name)).unwrap();
        assert!(rows("rows.csv") == rows("whole.csv"), "{signal}");
    }
    let said = Vec::from_iter(said).concat();
    assert_text(
        &said,
        expect![[r#"
            error: rows.csv.checkpoint is of an unfinished sweep: --resume goes on with it; to
                start anew, remove it
            error: rows.csv.checkpoint can't be used: it is of another spec
            error: can't write rows.csv: its columns are those of another version of Moescape:
                end the sweep with that one, or remove file and checkpoint and start anew
        "#]],
    );
}

#[test]
fn what_cannot_be_swept_is_refused() {
    let home = directory();
    let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
    write("bad.toml", "schema = 1\n[space]\ntpp = [1]\nvpp = []\n");
    write("part.json", "{\"part\": 3}");
    write("old.csv.checkpoint", "{}");
    let said = |line: &&str| {
        let arguments: Vec<&str> = line.split(' ').collect();
        format!("$ moescape {line}\n{}", refused(home.path(), &arguments))
    };
    let lines = [
        "sweep nowhere.toml",
        "sweep spec.toml --out a.xlsx",
        "sweep spec.toml --shard 4/3",
        "sweep spec.toml --resume",
        "sweep bad.toml",
        "merge part.json",
        "sweep spec.toml --out old.csv --resume",
    ];
    assert_text(
        &lines.iter().map(said).collect::<String>(),
        expect![[r#"
            $ moescape sweep nowhere.toml
            error: there is no file nowhere.toml; specs by name: pangu-architecture,
                pangu-architecture-found, pangu-pro-300i-duo, pangu-pro-800i-a2, pangu-strategy
            $ moescape sweep spec.toml --out a.xlsx
            error: --out takes a file that ends in .csv, .jsonl, .parquet or .json, not a.xlsx
            $ moescape sweep spec.toml --shard 4/3
            error: invalid value '4/3' for '--shard <K/N>': takes a part and their number, from
                1/N to N/N, N at most 1000000

            For more information, try '--help'.
            $ moescape sweep spec.toml --resume
            error: the following required arguments were not provided:
              --out <FILE>

            Usage: moescape sweep --out <FILE> --resume <SPEC>

            For more information, try '--help'.
            $ moescape sweep bad.toml
            error: space.tpp: there is no knob `tpp` (nearest: run.pue)
            error: space.parallel.virtual_pipeline_model_parallel_size:
                parallel.virtual_pipeline_model_parallel_size has no value to take
            $ moescape merge part.json
            error: part.json: it is no result of a sweep: invalid type: integer `3`, expected
                struct PartFile at line 1 column 10
            $ moescape sweep spec.toml --out old.csv --resume
            error: old.csv.checkpoint can't be used: it is no result of a sweep: missing field
                `part` at line 1 column 2
        "#]],
    );
}

/// Small models on two nodes, each with a strategy of its own, and what laws say of their loss.
const FOUND: &str = r#"
schema = 1
objectives = ["time_to_equal_loss min", "mfu max"]
columns = ["loss_difference", "loss_difference_is_tie"]
find = { keep = ["cp", "etp", "pp", "vpp"] }
[design]
preset = "qwen3-30b-a3b"
run.train_tokens = 2e12
[design.parallel]
pp = 1
vpp = 1
[design.schedule]
method = "1f1b"
[design.cluster]
accelerator = "h100-sxm-80gb"
num_devices = 16
[space.transformer]
num_moe_experts = [64, 128]
"#;

#[test]
fn strategies_that_are_found_and_losses_stand_in_every_form_with_their_caveat() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("spec.toml"), FOUND).unwrap();
    let caveat = model::run::quality::CAVEAT;
    for form in ["csv", "jsonl"] {
        let out = format!("--out=rows.{form}");
        let run = run(at, &["sweep", "spec.toml", &out]);
        assert_eq!((run.status, run.stderr.trim()), (0, caveat), "{form}");
        let result = result(&run.stdout);
        assert_eq!(result["caveat"], caveat);
        assert_eq!(result["feasible"], 2, "{}", result["ruled_out"]);
        let rows = std::fs::read_to_string(at.join(format!("rows.{form}"))).unwrap();
        let losses = rows.lines().filter(|line| line.contains(caveat)).count();
        assert_eq!(losses, 2, "{rows}");
        for one in result["front"].as_array().unwrap() {
            // What was found stands in the row's own link, too.
            let link = one["link"].as_str().unwrap();
            assert!(one["strategy"].is_object() && rows.contains(link), "{link} in {rows}");
        }
    }
    let table = run(at, &["sweep", "spec.toml", "--out=rows.parquet"]);
    assert_eq!(table.status, 2);
    // Parts by machines of their own add up to the same.
    let whole = run(at, &["sweep", "spec.toml"]).stdout;
    let parts = ["1", "2"].map(|part| {
        let name = format!("{part}.json");
        let out = [format!("--shard={part}/2"), format!("--out={name}")];
        assert_eq!(run(at, &["sweep", "spec.toml", &out[0], &out[1]]).status, 0);
        name
    });
    let merged = run(at, &["merge", &parts[0], &parts[1]]).stdout;
    assert_eq!(result(&merged)["digest"], result(&whole)["digest"]);
}
