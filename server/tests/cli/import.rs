//! `moescape import`.

use serde_json::Value;

use crate::{refused, run, run_with};

const QWEN: &str = include_str!("../../../crates/interchange/tests/models/qwen3-235b-a22b.json");
const KIMI: &str = include_str!("../../../crates/interchange/tests/scripts/kimi_k2_a3.sh");

#[test]
fn an_imported_design_can_be_predicted() {
    for (format, text) in [("hf", QWEN), ("mindspeed", KIMI), ("auto", KIMI), ("auto", QWEN)] {
        let import = run_with(&["import", format, "-"], text.as_bytes());
        assert_eq!(import.status, 0, "{}", import.stderr);
        assert!(import.stdout.starts_with("# design: /?v=1&preset="), "{}", import.stdout);
        let predict = run_with(&["predict", "-", "--json"], import.stdout.as_bytes());
        assert_eq!((predict.status, predict.stderr.as_str()), (0, ""));
        let prediction: Value = serde_json::from_str(&predict.stdout).unwrap();
        assert!(prediction["metrics"]["mfu"].as_f64().is_some_and(|mfu| mfu > 0.0));
    }
}

#[test]
fn a_job_of_torchtitan_is_said_to_be_one() {
    let job = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n\
               [parallelism]\ntensor_parallel_degree = 2\n";
    for format in ["auto", "megatron"] {
        let import = run_with(&["import", format, "-"], job.as_bytes());
        assert!(import.stderr.starts_with("read as: torchtitan\n"), "{}", import.stderr);
        let json = run_with(&["import", format, "-", "--json"], job.as_bytes());
        let report: Value = serde_json::from_str(&json.stdout).unwrap();
        let said = (&report["format"], &report["dialect"]);
        assert_eq!(said, (&"megatron".into(), &"torchtitan".into()));
    }
}

#[test]
fn what_was_assumed_ignored_and_not_known_is_told_beside_the_design() {
    let text = KIMI.replace("--bf16", "--bf16 --num-experst 3");
    let import = run_with(&["import", "mindspeed", "-"], text.as_bytes());
    for part in [
        "--num-experst (nearest: --num-experts)",
        "assumed: no argument names the accelerator: ascend-910c",
        "(how the model learns, not how long a step takes)",
    ] {
        assert!(import.stderr.contains(part), "{part}: {}", import.stderr);
    }
    let json = run_with(&["import", "mindspeed", "-", "--json"], text.as_bytes());
    assert_eq!((json.status, json.stderr.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["unknown"][0]["key"], "--num-experst");
    assert_eq!(report["unknown"][0]["nearest"], "--num-experts");
    assert!(report["link"].as_str().unwrap().starts_with("/?v=1&preset=kimi-k2"));
    let set = report["set"].as_array().unwrap();
    let ep = set.iter().find(|set| set["knob"] == "parallel.expert_model_parallel_size").unwrap();
    assert_eq!(ep["value"], "64");
    assert!(ep["key"].as_str().unwrap().contains("--moe-tp-extend-ep"));
    assert!(ep["line"].as_u64().is_some());
    assert_eq!(report["errors"], Value::Array(vec![]));
}

#[test]
fn a_preset_gives_what_a_configuration_leaves_open() {
    let arguments = ["import", "hf", "-", "--preset", "qwen3-235b-a22b", "--json"];
    let run = run_with(&arguments, QWEN.as_bytes());
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let link = report["link"].as_str().unwrap();
    // And what no knob reads.
    assert!(link.starts_with("/?v=1&preset=qwen3-235b-a22b&kernel.extra_arguments="), "{link}");
    assert_eq!(link.matches('&').count(), 2, "{link}");
    assert!(report["carried"].as_array().unwrap().contains(&"--rotary-base".into()), "{report}");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let import = run_with(&["import", "hf", "-"], b"{\n\"hidden_size\": \"wide\"}");
    assert_eq!((import.status, import.stdout.as_str()), (2, ""));
    assert!(import.stderr.contains("line 2: hidden_size"), "{}", import.stderr);
    let import = run_with(&["import", "megatron", "-", "--json"], b"python x.py --num-layers 0");
    assert_eq!(import.status, 2);
    let report: Value = serde_json::from_str(&import.stdout).unwrap();
    assert_eq!(report["design"], Value::Null);
    assert_eq!(report["errors"][0]["line"], 1);
    for arguments in [
        &["import"][..],
        &["import", "hf"],
        &["import", "xml", "-"],
        &["import", "hf", "/nowhere/config.json"],
    ] {
        assert_ne!(refused(arguments), "");
    }
    assert_eq!(run(&["import", "hf", "-", "--preset", "nobody"]).status, 2);
}

#[test]
fn what_a_script_leaves_open_is_asked_with_how_to_answer_it() {
    let script = b"python x.py --num-layers $1 --hidden-size 512 --num-attention-heads 8 --bf16 \
                   --vocab-size 1024 --seq-length ${SEQ} --micro-batch-size 1 --global-batch-size \
                   8";
    let open = run_with(&["import", "auto", "-"], script);
    assert_eq!(open.status, 0, "{}", open.stderr);
    for part in
        ["--answer 'env SEQ=4096'", "--answer 'arg 1=", "--answer cluster.num_devices=VALUE"]
    {
        assert!(open.stderr.contains(part), "{part}: {}", open.stderr);
    }
    let answered =
        ["import", "auto", "-", "--args", "4", "--env", "SEQ=256", "--set", "num_devices=8"];
    let done = run_with(&answered, script);
    assert!(!done.stderr.contains("asked:"), "{}", done.stderr);
    assert!(done.stdout.contains("num_layers = 4"), "{}", done.stdout);
    let by_name = ["import", "auto", "-", "--answer", "arg 1=4", "--answer", "env SEQ=256"];
    let by_name = [&by_name[..], &["--answer", "num_devices=8"]].concat();
    assert_eq!(run_with(&by_name, script).stdout, done.stdout);
    let nothing = run_with(&["import", "auto", "-"], b"python x.py --micro-batch-size 1 --foo 3");
    assert_eq!(nothing.status, 2, "{}", nothing.stdout);
    assert!(nothing.stderr.contains("--answer model=VALUE"), "{}", nothing.stderr);
    assert!(nothing.stderr.contains("--foo"), "{}", nothing.stderr);
    let wrong = run_with(&["import", "auto", "-", "--set", "num_devises=8"], script);
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("num_devices"), "{}", wrong.stderr);
}

#[test]
fn a_folder_is_read_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    std::fs::create_dir(&models).unwrap();
    let model = "A=(--num-layers 6 --hidden-size 512 --num-attention-heads 8)\n";
    std::fs::write(models.join("own.sh"), model).unwrap();
    let script = "source models/own.sh\npython x.py ${A[@]} --vocab-size 1024 --bf16\n";
    std::fs::write(folder.path().join("run.sh"), script).unwrap();
    let import = run(&["import", "auto", folder.path().to_str().unwrap(), "--json"]);
    assert_eq!(import.status, 0, "{}", import.stderr);
    let report: Value = serde_json::from_str(&import.stdout).unwrap();
    assert_eq!(report["set"][0]["file"], "models/own.sh");
}
