//! Arguments that no knob reads: they come in with a text, travel with the design, and are written
//! again, and nothing in them is run.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use interchange::{Format, Provenance, Target, export, import};
use model::design::link;
use model::design::{Design, ExtraArgument, KnobId};

const DATE: Provenance<'_> = Provenance { date: "2026-01-31" };

/// Arguments that change no number, as a published script has them.
const WITHOUT_EFFECT: [&str; 32] = [
    "--rotary-base 1000000",
    "--rotary-percent 0.5",
    "--norm-epsilon 1e-6",
    "--init-method-std 0.008",
    "--max-position-embeddings 40960",
    "--tokenizer-type HuggingFaceTokenizer",
    "--tokenizer-model /models/qwen3",
    "--data-path 0.3 /data/a_text 0.7 /data/b_text",
    "--data-cache-path /data/cache",
    "--split 99,1,0",
    "--num-workers 6",
    "--lr 1.2e-4",
    "--min-lr 1.2e-5",
    "--lr-decay-style cosine",
    "--lr-warmup-iters 2000",
    "--train-iters 500000",
    "--weight-decay 0.1",
    "--clip-grad 1.0",
    "--adam-beta2 0.95",
    "--seed 42",
    "--moe-router-dtype fp32",
    "--moe-router-score-function sigmoid",
    "--moe-router-enable-expert-bias",
    "--moe-z-loss-coeff 1e-3",
    "--save /ckpt/run",
    "--save-interval 500",
    "--eval-iters 32",
    "--eval-interval 500",
    "--log-interval 1",
    "--wandb-project 'my project'",
    "--distributed-timeout-minutes 60",
    "--our-own-fork-switch",
];

fn script(more: &str) -> String {
    format!(
        "torchrun --nproc_per_node 8 --nnodes 4 --rdzv_conf x pretrain_gpt.py --num-layers 48 \\\n\
         --hidden-size 2048 --ffn-hidden-size 6144 --num-attention-heads 32 \\\n\
         --group-query-attention --num-query-groups 4 --kv-channels 128 --swiglu \\\n\
         --disable-bias-linear --position-embedding-type rope --normalization RMSNorm \\\n\
         --vocab-size 151936 --num-experts 128 --moe-router-topk 8 \\\n\
         --moe-ffn-hidden-size 768 --moe-router-load-balancing-type aux_loss \\\n\
         --moe-aux-loss-coeff 1e-4 --expert-model-parallel-size 4 --bf16 \\\n\
         --moe-token-dispatcher-type alltoall --seq-length 8192 --micro-batch-size 1 \\\n\
         --global-batch-size 256 --use-distributed-optimizer {more}\n"
    )
}

fn carried(design: &Design) -> Vec<ExtraArgument> {
    ExtraArgument::list(design.kernel.extra_arguments.as_deref().unwrap()).unwrap()
}

#[test]
fn a_script_of_32_arguments_without_effect_comes_back_with_all_32() {
    let import = import(Format::Megatron, &script(&WITHOUT_EFFECT.join(" \\\n")), None);
    assert_eq!(import.errors, [], "{import:?}");
    let design = import.design.unwrap();
    // And the coefficient, which its knob doesn't hold.
    assert_eq!(import.carried.len(), WITHOUT_EFFECT.len() + 1, "{:?}", import.carried);
    let travelled = link::decode(&link::encode(&design)).unwrap();
    let made = export(Target::Megatron, &travelled, &DATE);
    let words = arguments_of(&made.text);
    for argument in WITHOUT_EFFECT.iter().chain(&["--moe-aux-loss-coeff 1e-4"]) {
        let argument: Vec<String> = argument
            .replace("'my project'", "my\u{a0}project")
            .split(' ')
            .map(|word| word.replace('\u{a0}', " "))
            .collect();
        let is_there = words.windows(argument.len()).any(|some| some == argument);
        assert!(is_there, "{argument:?} isn't in {words:?}");
    }
    let again = interchange::import(Format::Megatron, &made.text, None).design.unwrap();
    assert_eq!(carried(&again), carried(&design));
}

/// The words that the script starts the training with, as a shell makes them.
fn arguments_of(script: &str) -> Vec<String> {
    let stub = "torchrun() { printf '%s\\0' \"$@\"; }\nsrun() { printf '%s\\0' \"$@\"; }\n";
    let yours = ["TOKENIZER_PATH", "DATA_PATH", "LR", "TRAIN_ITERS", "SAVE_PATH"];
    let mut shell = Command::new("bash")
        .env("DIR", "/d")
        .env("CHECKOUT_PATH", std::env::temp_dir())
        .env("MASTER_ADDR", "localhost")
        .env("NODE_RANK", "0")
        .envs(yours.map(|name| (name, "x")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all((stub.to_owned() + script).as_bytes()).unwrap();
    let output = shell.wait_with_output().unwrap();
    assert!(output.status.success(), "{script}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn nothing_in_an_argument_is_run() {
    let mark = std::env::temp_dir().join(format!("moescape-run-{}", std::process::id()));
    let touch = format!("touch {}", mark.display());
    let mut design = Design::from_preset("llama-3-8b").unwrap();
    let hostile = [
        format!("$({touch})"),
        format!("`{touch}`"),
        format!("; {touch};"),
        format!("\"; {touch}; \""),
        format!("${{A:-$({touch})}}"),
        format!("&& {touch} | x > y \\"),
        "${DIR}/x".to_owned(),
        "~ * ? ! # %".to_owned(),
    ];
    let list = [
        ExtraArgument::new("lr", &hostile[..1]).unwrap(),
        ExtraArgument::new("data-path", &hostile).unwrap(),
    ];
    design.set_text(KnobId::extra_arguments, &ExtraArgument::text(&list)).unwrap();
    let text = export(Target::Megatron, &design, &DATE).text;
    let words = arguments_of(&text);
    assert!(!mark.exists(), "{text}");
    let place = words.iter().position(|word| word == "--data-path").unwrap();
    let mut expected = hostile.to_vec();
    expected[6] = "/d/x".to_owned();
    assert_eq!(&words[place + 1..place + 9], expected);
    for target in Target::ALL {
        let text = export(target, &design, &DATE).text;
        let back = interchange::import(target.format(), &text, None);
        assert_eq!(back.design.as_ref(), Some(&design), "{text}");
    }
}

#[test]
fn a_secret_and_what_starts_processes_stay_behind() {
    let more = "--wandb-api-key 0123abcd --hf-token hf_0123456789abcdef --lr 1e-4";
    let import = import(Format::Megatron, &script(more), None);
    assert_eq!(
        import.carried,
        ["--lr", "--moe-aux-loss-coeff"]
            .map(str::to_owned)
            .iter()
            .rev()
            .cloned()
            .collect::<Vec<_>>()
    );
    let secrets = import.ignored.iter().filter(|it| it.reason.contains("secret"));
    assert_eq!(secrets.count(), 2, "{:?}", import.ignored);
}

#[test]
fn a_config_json_says_how_the_model_learns() {
    let text = r#"{"model_type": "qwen3_moe", "num_hidden_layers": 48, "hidden_size": 2048,
        "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
        "intermediate_size": 6144, "vocab_size": 151936, "num_experts": 128,
        "num_experts_per_tok": 8, "moe_intermediate_size": 768, "norm_topk_prob": true,
        "rope_theta": 1000000.0, "rms_norm_eps": 1e-06, "router_aux_loss_coef": 0.001,
        "max_position_embeddings": 40960, "initializer_range": 0.02, "rope_scaling": null}"#;
    let import = import(Format::HuggingFace, text, None);
    let design = import.design.unwrap();
    let text = export(Target::Megatron, &design, &DATE).text;
    for argument in [
        "--rotary-base 1000000\n",
        "--norm-epsilon 0.000001\n",
        "--max-position-embeddings 40960\n",
        "--init-method-std 0.02\n",
        "--moe-aux-loss-coeff 0.001\n",
        "--moe-router-load-balancing-type aux_loss\n",
    ] {
        assert!(text.contains(argument), "{argument} isn't in {text}");
    }
}
