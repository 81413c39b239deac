//! `moescape import`.

use serde_json::Value;

use testing::text::{assert_text, expect};

use crate::{has_line, refusals, run, run_with};

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
    assert_text(
        &import.stderr,
        expect![[r#"
            read as: MindSpeed-LLM's arguments
            unknown: line 62: --num-experst (nearest: --num-experts)
            assumed: $NODE_RANK is not set in the script: its default 0
            assumed: no argument names the accelerator: ascend-910c
            assumed: no argument names the state of the software: ascend-2026
            ignored: --node-rank, --master-addr, --master-port (how processes start and find
                each other)
            ignored: --use-mcore-models, --distributed-timeout-minutes, --distributed-backend
                (how processes start, by the framework's own arguments)
            ignored: --use-fused-swiglu, --use-fused-rotary-pos-emb, --mla-mm-split,
                --moe-permutation-async-comm (a fused or cheaper kernel that isn't told apart
                from the usual one)
            ignored: --no-shared-storage, --reset-position-ids, --max-position-embeddings,
                --tokenizer-type, --tokenizer-name-or-path, --data-path, --split (data and
                tokenizer: the step's time takes reading them as free)
            ignored: --manual-gc, --manual-gc-interval (host and runtime behaviour: part of the
                framework's overhead)
            ignored: --normalization, --no-masked-softmax-fusion, --attention-softmax-in-fp32
                (taken as it is: the model has no other form)
            ignored: --norm-epsilon, --init-method-std, --lr, --min-lr, --train-iters,
                --lr-decay-style, --weight-decay, --clip-grad, --adam-beta1, --adam-beta2,
                --initial-loss-scale (how the model learns, not how long a step takes)
            ignored: --rotary-base, --rope-scaling-type, --rope-scaling-factor,
                --rope-scaling-beta-fast (rotary angles: the same work at any value)
            ignored: --no-load-optim, --no-load-rng (checkpoints: not part of a step)
            ignored: --routed-scaling-factor, --norm-topk-prob, --moe-router-score-function,
                --moe-router-enable-expert-bias, --router-gating-in-fp32 (how the router scores:
                expert loads have knobs of their own)
            ignored: --log-interval, --eval-iters (logs, profiling and evaluation: not part of a
                step)
            ignored: --vocab-size, --make-vocab-size-divisible-by (--padded-vocab-size says how
                many rows there are)
            ignored: --n-group (one group is no grouping)
            ignored: --context-parallel-algo (context parallelism is off)
            ignored: --spec (read, and nothing follows from it here)
            carried: 44 arguments that no knob reads, for exports (--use-fused-swiglu,
                --use-fused-rotary-pos-emb, --no-shared-storage, --reset-position-ids,
                --manual-gc, --manual-gc-interval, --max-position-embeddings, --norm-epsilon,
                --rotary-base, --rope-scaling-type, --rope-scaling-factor,
                --rope-scaling-beta-fast, --tokenizer-type, --tokenizer-name-or-path,
                --init-method-std, --lr, --min-lr, --train-iters, --lr-decay-style,
                --weight-decay, --clip-grad, --adam-beta1, --adam-beta2, --initial-loss-scale,
                --no-masked-softmax-fusion, --attention-softmax-in-fp32, --no-load-optim,
                --no-load-rng, --num-experst, --distributed-timeout-minutes, --mla-mm-split,
                --routed-scaling-factor, --norm-topk-prob, --moe-router-load-balancing-type,
                --moe-aux-loss-coeff, --moe-router-score-function,
                --moe-router-enable-expert-bias, --router-gating-in-fp32,
                --moe-permutation-async-comm, --data-path, --split, --log-interval,
                --eval-iters, --distributed-backend)
        "#]],
    );
    let json = run_with(&["import", "mindspeed", "-", "--json"], text.as_bytes());
    assert_eq!((json.status, json.stderr.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["unknown"][0]["key"], "--num-experst");
    assert_eq!(report["unknown"][0]["nearest"], "--num-experts");
    assert!(report["link"].as_str().unwrap().starts_with("/?v=1&preset=kimi-k2"));
    let set = report["set"].as_array().unwrap();
    let ep = set.iter().find(|set| set["knob"] == "parallel.expert_model_parallel_size").unwrap();
    assert_eq!(ep["value"], "64");
    assert_eq!(ep["key"], "--expert-model-parallel-size x --moe-tp-extend-ep");
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
    assert_text(
        &import.stderr,
        expect![[r#"
            error: line 2: hidden_size: transformer.hidden_size can't be `wide`
            error: num_hidden_layers: the configuration lacks it, and nothing says what it could
                be
            error: num_attention_heads: the configuration lacks it, and nothing says what it
                could be
            error: vocab_size: the configuration lacks it, and nothing says what it could be
        "#]],
    );
    let import = run_with(&["import", "megatron", "-", "--json"], b"python x.py --num-layers 0");
    assert_eq!(import.status, 2);
    let report: Value = serde_json::from_str(&import.stdout).unwrap();
    assert_eq!(report["design"], Value::Null);
    assert_eq!(report["errors"][0]["line"], 1);
    let lines = [
        "import",
        "import hf",
        "import xml -",
        "import hf /nowhere/config.json",
        "import hf - --preset nobody",
    ];
    assert_text(
        &refusals(&lines),
        expect![[r#"
            $ moescape import
            error: the following required arguments were not provided:
              <FORMAT>
              <FILE>...

            Usage: moescape import <FORMAT> <FILE>...

            For more information, try '--help'.
            $ moescape import hf
            error: the following required arguments were not provided:
              <FILE>...

            Usage: moescape import <FORMAT> <FILE>...

            For more information, try '--help'.
            $ moescape import xml -
            error: invalid value 'xml' for '<FORMAT>'
              [possible values: hf, megatron, mindspeed, serving, design, auto]

            For more information, try '--help'.
            $ moescape import hf /nowhere/config.json
            error: can't read /nowhere/config.json: No such file or directory (os error 2)
            $ moescape import hf - --preset nobody
            error: there is no preset `nobody` (nearest: glm-5)
        "#]],
    );
}

#[test]
fn what_a_script_leaves_open_is_asked_with_how_to_answer_it() {
    let script = b"python x.py --num-layers $1 --hidden-size 512 --num-attention-heads 8 --bf16 \
                   --vocab-size 1024 --seq-length ${SEQ} --micro-batch-size 1 --global-batch-size \
                   8";
    let open = run_with(&["import", "auto", "-"], script);
    assert_eq!(open.status, 0, "{}", open.stderr);
    let asked = open.stderr.lines().filter(|line| line.starts_with("asked:"));
    assert_text(
        &asked.collect::<Vec<_>>().join("\n"),
        expect![[r#"
            asked: line 1: --num-layers is `${1}`: nothing in the text sets it (--answer 'arg
                1=32' is taken until then)
            asked: line 1: --seq-length is `${SEQ}`: nothing in the text sets it (--answer 'env
                SEQ=4096' is taken until then)
            asked: the text gives no number of nodes: 1 devices, the fewest that hold it
                (--answer cluster.num_devices=VALUE)
        "#]],
    );
    let answered =
        ["import", "auto", "-", "--args", "4", "--env", "SEQ=256", "--set", "num_devices=8"];
    let done = run_with(&answered, script);
    assert!(!has_line(&done.stderr, "asked:"), "{}", done.stderr);
    assert!(done.stdout.lines().any(|line| line == "num_layers = 4"), "{}", done.stdout);
    let by_name = ["import", "auto", "-", "--answer", "arg 1=4", "--answer", "env SEQ=256"];
    let by_name = [&by_name[..], &["--answer", "num_devices=8"]].concat();
    assert_eq!(run_with(&by_name, script).stdout, done.stdout);
    let nothing = run_with(&["import", "auto", "-"], b"python x.py --micro-batch-size 1 --foo 3");
    assert_eq!(nothing.status, 2, "{}", nothing.stdout);
    assert_text(
        &nothing.stderr,
        expect![[r#"
            asked: the text names no model and no layers (--answer model=VALUE, or give its
                config.json, too)
            asked: the text gives no number of nodes: 1 devices, the fewest that hold it
                (--answer cluster.num_devices=VALUE)
            asked: the text doesn't say how long sequences are (--answer
                training.seq_length=VALUE)
            error: the text names no model and no layers (not read: --foo): answer `model` with
                a known name, such as qwen3-8b, or give its config.json beside the text
        "#]],
    );
    let wrong = run_with(&["import", "auto", "-", "--set", "num_devises=8"], script);
    assert_eq!(wrong.status, 2);
    assert_text(
        &wrong.stderr,
        expect![[r#"
            error: there is no knob `num_devises` (nearest: cluster.num_devices)
        "#]],
    );
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
