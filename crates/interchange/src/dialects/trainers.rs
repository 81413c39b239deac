//! The tables of trainers around Hugging Face's models, and of what starts and shards them.
//!
//! A trainer's own words come first, then those of `TrainingArguments`, then Accelerate's and
//! DeepSpeed's, whose files stand beside a run or inside its own.

use super::Dialect;
use super::To::{self, Argument as Is, Choice, Nothing};
use super::table::LLAMA;
use super::words::{
    DTYPE, FSDP_STRATEGY, KERNEL_ATTENTION, OFFLOAD, OFFLOAD_PARAMETERS, OPTIM, PRECISION,
    RECOMPUTE, RESHARD, SHARDING, SWITCHED_BF16, SWITCHED_FP16,
};

/// The name of the dialect that is JSON alone.
pub(super) const DEEPSPEED: &str = "DeepSpeed";
pub(super) const ACCELERATE: &str = "Accelerate";
pub(super) const TRAINER: &str = "Hugging Face's Trainer";
pub(super) const TRL: &str = "TRL";
pub(super) const FACTORY: &str = "LLaMA-Factory";
pub(super) const SWIFT: &str = "ms-swift";
pub(super) const AXOLOTL: &str = "axolotl";
pub(super) const OPENRLHF: &str = "OpenRLHF";

const LEARNING: &str = "how the model learns, not how long a step takes";
const WHERE: &str = "how processes start and find each other";
const FUSED: &str = "a fused kernel that isn't told apart from the usual one";
const DATA: &str = "data: the step's time takes reading it as free";
const LOGS: &str = "checkpoints, logs and evaluation: not part of a step";

/// Defaults of all trainers here: PyTorch's attention is fused, and DDP and FSDP communicate during
/// the backward.
const PYTORCH: &[(&str, &str)] =
    &[("use-flash-attn", ""), ("overlap-grad-reduce", ""), ("gradient-accumulation-steps", "1")];

/// Defaults of `TrainingArguments`.
///
/// Source: huggingface/transformers `src/transformers/training_args.py`.
const OF_TRAINER: &[(&str, &str)] = &[
    ("use-flash-attn", ""),
    ("overlap-grad-reduce", ""),
    ("gradient-accumulation-steps", "1"),
    ("micro-batch-size", "8"),
];

/// Defaults of TRL's configurations: they recompute all layers.
///
/// Source: huggingface/trl `trl/trainer/base_config.py`.
const OF_TRL: &[(&str, &str)] = &[
    ("use-flash-attn", ""),
    ("overlap-grad-reduce", ""),
    ("gradient-accumulation-steps", "1"),
    ("micro-batch-size", "8"),
    ("recompute-granularity", "full"),
];

/// Marks of MindSpeed-LLM's FSDP2, whose files have the same words.
const NOT_FSDP2: [&str; 3] = ["!fsdp_modules", "!ep_fsdp_size", "!train_fsdp2.py"];

/// Every dialect, the most particular first.
#[rustfmt::skip]
pub(super) static DIALECTS: &[Dialect] = &[
    // axolotl. Source: src/axolotl/utils/schemas (config.py, training.py) of
    // axolotl-ai-cloud/axolotl.
    Dialect {
        title: AXOLOTL,
        markers: &[&["axolotl"], &["base_model:", "micro_batch_size:"],
            &["base_model:", "sequence_len:"]],
        strict: true,
        rows: &[
            ("base-model", Is("model")), ("base-model-config", Nothing("the model's name says it")),
            ("sequence-len", Is("seq-length")), ("micro-batch-size", Is("micro-batch-size")),
            ("context-parallel-size", Is("context-parallel-size")),
            ("sequence-parallel-degree", Is("context-parallel-size")),
            ("tensor-parallel-size", Is("tensor-model-parallel-size")),
            ("expert-parallel-size", Is("expert-model-parallel-size")),
            ("dp-replicate-size", Is("num-distributed-optimizer-instances")),
            ("dp-shard-size", Nothing("what the other degrees leave of the processes")),
            ("optimizer", Choice(OPTIM)),
            ("adapter", Choice(&[
                ("lora", "tuner-type", "lora"), ("qlora", "tuner-type", "lora"),
                ("", "tuner-type", "full"), ("null", "tuner-type", "full"),
                ("false", "tuner-type", "full"),
            ])),
            ("lora-target-linear", Choice(&[
                ("true", "lora-target-modules", "all-linear"),
                ("false", "", "the list of modules says it"),
            ])),
            ("sample-packing", Nothing("sequences are taken as full")),
            ("flash-attention", Is("use-flash-attn")), ("sdp-attention", Is("use-flash-attn")),
            ("xformers-attention", Is("use-flash-attn")),
        ],
        defaults: PYTORCH,
    },
    // LLaMA-Factory. Source: src/llamafactory/hparams of hiyouga/LLaMA-Factory.
    Dialect {
        title: FACTORY,
        markers: &[
            &["llamafactory"], &["LLaMA-Factory"],
            &["finetuning_type", NOT_FSDP2[0], NOT_FSDP2[1], NOT_FSDP2[2]],
            &["cutoff_len", NOT_FSDP2[0], NOT_FSDP2[1], NOT_FSDP2[2]],
        ],
        strict: true,
        rows: &[
            ("cutoff-len", Is("seq-length")), ("finetuning-type", Is("tuner-type")),
            ("lora-target", Is("lora-target-modules")), ("peft-config.name", Is("tuner-type")),
            ("peft-config.r", Is("lora-rank")),
            ("peft-config.target-modules", Is("lora-target-modules")),
            ("dist-config.name", Choice(&[
                ("fsdp2", "data-parallel-sharding-strategy", "optim_grads_params"),
                ("ddp", "data-parallel-sharding-strategy", "no_shard"),
                ("deepspeed", "", "its file says the stage"),
            ])),
            ("disable-gradient-checkpointing", Choice(&[
                ("true", "", "nothing is recomputed"),
                ("false", "recompute-granularity", "full"),
            ])),
            ("pure-bf16", Choice(SWITCHED_BF16)), ("flash-attn", Choice(KERNEL_ATTENTION)),
            ("compute-dtype", Nothing("a detail of mixed precision")),
        ],
        defaults: &[
            ("use-flash-attn", ""), ("overlap-grad-reduce", ""),
            ("gradient-accumulation-steps", "1"), ("micro-batch-size", "8"),
            ("seq-length", "2048"),
        ],
    },
    // ms-swift. Source: docs/source_en/Instruction/Command-line-parameters.md of
    // modelscope/ms-swift.
    Dialect {
        title: SWIFT,
        markers: &[&["swift sft"], &["swift pt"], &["swift rlhf"], &["swift/cli/sft.py"],
            &["swift/cli/pt.py"], &["swift/cli/rlhf.py"]],
        strict: true,
        rows: &[
            ("model", Is("model")), ("sft-type", Is("tuner-type")),
            ("model-type", Nothing("the model's name says it")),
            ("template", Nothing(DATA)), ("torch-dtype", Choice(DTYPE)),
            ("attn-impl", Choice(KERNEL_ATTENTION)),
            ("sequence-parallel-size", Is("context-parallel-size")),
            ("deepspeed-autotp-size", Is("tensor-model-parallel-size")),
        ],
        defaults: &[
            ("use-flash-attn", ""), ("overlap-grad-reduce", ""), ("micro-batch-size", "1"),
            ("recompute-granularity", "full"), ("tuner-type", "lora"),
        ],
    },
    // OpenRLHF. Source: openrlhf/cli of OpenRLHF/OpenRLHF, and get_train_ds_config of
    // openrlhf/utils/deepspeed/deepspeed_utils.py.
    Dialect {
        title: OPENRLHF,
        markers: &[&["openrlhf"]],
        strict: true,
        rows: &[
            ("pretrain", Is("model")), ("model.model-name-or-path", Is("model")),
            ("actor.model-name-or-path", Is("model")),
            ("train-batch-size", Is("global-batch-size")),
            ("train.batch-size", Is("global-batch-size")),
            ("micro-train-batch-size", Is("micro-batch-size")),
            ("train.micro-batch-size", Is("micro-batch-size")),
            ("max-len", Is("seq-length")), ("zero-stage", Choice(SHARDING)),
            ("ring-attn-size", Is("context-parallel-size")),
            ("ds-tensor-parallel-size", Is("tensor-model-parallel-size")),
            ("ds.tensor-parallel-size", Is("tensor-model-parallel-size")),
            ("param-dtype", Choice(DTYPE)), ("lora-rank", Is("lora-rank")),
            ("adam-offload", Is("optimizer-cpu-offload")),
            ("overlap-comm", Is("overlap-grad-reduce")),
            ("ds.overlap-comm", Is("overlap-grad-reduce")),
            ("actor-num-nodes", Is("nnodes")), ("actor.num-nodes", Is("nnodes")),
            ("actor.num-gpus-per-node", Is("nproc-per-node")),
            ("gradient-checkpointing-enable", Choice(RECOMPUTE)),
            ("reward.model-name-or-path", Nothing("another model than the one that is trained")),
            ("critic.model-name-or-path", Nothing("another model than the one that is trained")),
            ("vllm.tensor-parallel-size", Nothing("of what generates, not of what trains")),
            ("actor-num-gpus-per-node", Is("nproc-per-node")),
        ],
        defaults: &[
            ("use-flash-attn", ""), ("overlap-grad-reduce", ""), ("bf16", ""),
            // `--zero_stage`.
            ("data-parallel-sharding-strategy", "optim_grads"),
        ],
    },
    // TRL upon Hugging Face's Trainer. Source: trl/trainer/*_config.py of huggingface/trl.
    Dialect {
        title: TRL,
        markers: &[
            &["trl sft"], &["trl dpo"], &["trl grpo"], &["trl kto"], &["trl reward"],
            &["trl rloo"], &["trl/scripts/"], &["trl.scripts."], &["trl/examples/scripts/"],
        ],
        strict: true,
        rows: OF_MODEL,
        defaults: OF_TRL,
    },
    // Hugging Face's Trainer. Source: src/transformers/training_args.py of
    // huggingface/transformers.
    Dialect {
        title: TRAINER,
        markers: &[
            &["per_device_train_batch_size", NOT_FSDP2[0], NOT_FSDP2[1], NOT_FSDP2[2]],
            &["per-device-train-batch-size"], &["per_gpu_train_batch_size"],
            &["deepspeed", "--model_name_or_path", "!--num-layers", "!train_fsdp2.py"],
            &["accelerate launch", "!pretrain_gpt", "!--num-layers", "!--rollout-batch-size"],
        ],
        strict: true,
        rows: OF_MODEL,
        defaults: OF_TRAINER,
    },
];

/// The files beside a trainer's run, which are runs of their own where they stand alone.
#[rustfmt::skip]
pub(super) static FILES: &[Dialect] = &[
    // DeepSpeed's JSON. Source: deepspeed/runtime/config.py.
    Dialect {
        title: DEEPSPEED,
        markers: &[&["\"zero_optimization\""], &["\"train_micro_batch_size_per_gpu\""]],
        strict: true,
        rows: ENGINE,
        defaults: LLAMA,
    },
    // Accelerate. Source: docs/source/usage_guides/fsdp.md of huggingface/accelerate.
    Dialect {
        title: ACCELERATE,
        markers: &[&["distributed_type:", "num_processes"]],
        strict: true,
        rows: LAUNCHER,
        defaults: LLAMA,
    },
];

/// Keys by which scripts around Hugging Face's Trainer name the model.
#[rustfmt::skip]
const OF_MODEL: &[(&str, To)] = &[
    ("model", Is("model")), ("model-name", Is("model")), ("model-path", Is("model")),
    ("base-model", Is("model")), ("pretrained-model-name-or-path", Is("model")),
    ("model-dir", Is("model")), ("model-args.model-name-or-path", Is("model")),
];

/// `TrainingArguments`, and the words that most trainers have beside them.
#[rustfmt::skip]
const ARGUMENTS: &[(&str, To)] = &[
    ("model-name-or-path", Is("model")), ("model-id", Is("model")),
    ("tokenizer-name-or-path", Is("tokenizer-name-or-path")),
    ("per-device-train-batch-size", Is("micro-batch-size")),
    ("per-gpu-train-batch-size", Is("micro-batch-size")),
    ("gradient-accumulation-steps", Is("gradient-accumulation-steps")),
    ("max-seq-length", Is("seq-length")), ("max-length", Is("seq-length")),
    ("model-max-length", Is("seq-length")), ("block-size", Is("seq-length")),
    ("max-seq-len", Is("seq-length")), ("max-len", Is("seq-length")),
    ("seq-length", Is("seq-length")),
    ("gradient-checkpointing", Choice(RECOMPUTE)),
    ("activation-checkpointing", Choice(RECOMPUTE)),
    ("use-activation-checkpointing", Choice(RECOMPUTE)),
    ("bf16", Choice(SWITCHED_BF16)), ("fp16", Choice(SWITCHED_FP16)),
    ("dtype", Choice(DTYPE)), ("torch-dtype", Choice(DTYPE)),
    ("optim", Choice(OPTIM)), ("attn-implementation", Choice(KERNEL_ATTENTION)),
    ("use-flash-attention-2", Is("use-flash-attn")), ("use-flash-attn", Is("use-flash-attn")),
    ("flash-attn", Is("use-flash-attn")),
    ("use-peft", Choice(&[("true", "tuner-type", "lora"), ("false", "tuner-type", "full")])),
    ("use-lora", Choice(&[("true", "tuner-type", "lora"), ("false", "tuner-type", "full")])),
    ("lora-enable", Choice(&[("true", "tuner-type", "lora"), ("false", "tuner-type", "full")])),
    ("lora-r", Is("lora-r")), ("lora-rank", Is("lora-rank")), ("tuner-type", Is("tuner-type")),
    ("lora-target-modules", Is("lora-target-modules")),
    ("target-modules", Is("lora-target-modules")), ("train-type", Is("tuner-type")),
    // `fsdp_config` has Accelerate's words without their prefix.
    ("reshard-after-forward", Choice(RESHARD)), ("sharding-strategy", Choice(FSDP_STRATEGY)),
    ("fsdp-config.offload-params", Choice(OFFLOAD)),
    // DeepSpeed's launcher and torchrun. Source: deepspeed/launcher/runner.py.
    ("num-nodes", Is("nnodes")), ("num-gpus", Is("nproc-per-node")),
    ("nnodes", Is("nnodes")), ("nproc-per-node", Is("nproc-per-node")),
    ("micro-batch-size", Is("micro-batch-size")), ("global-batch-size", Is("global-batch-size")),
];

/// Accelerate's file and command.
///
/// Source: huggingface/accelerate `src/accelerate/commands/launch.py` and
/// `src/accelerate/utils/dataclasses.py`.
#[rustfmt::skip]
const LAUNCHER: &[(&str, To)] = &[
    ("num-processes", Is("world-size")), ("num-machines", Is("nnodes")),
    ("mixed-precision", Choice(PRECISION)),
    ("fsdp-reshard-after-forward", Choice(RESHARD)),
    ("fsdp-sharding-strategy", Choice(FSDP_STRATEGY)),
    ("fsdp-activation-checkpointing", Choice(RECOMPUTE)),
    ("fsdp-offload-params", Choice(OFFLOAD)),
    ("use-fsdp", Choice(&[
        ("true", "data-parallel-sharding-strategy", "optim_grads_params"),
        ("false", "", "as without being told"),
    ])),
    ("zero-stage", Choice(SHARDING)), ("offload-optimizer-device", Choice(OFFLOAD)),
    ("offload-param-device", Choice(OFFLOAD_PARAMETERS)),
    ("gradient-accumulation-steps", Is("gradient-accumulation-steps")),
    ("megatron-lm-tp-degree", Is("tensor-model-parallel-size")),
    ("megatron-lm-pp-degree", Is("pipeline-model-parallel-size")),
    ("megatron-lm-sequence-parallelism", Is("sequence-parallel")),
    ("megatron-lm-num-micro-batches", Is("gradient-accumulation-steps")),
    ("megatron-lm-recompute-activations", Choice(&[
        ("true", "recompute-granularity", "selective"), ("false", "", "nothing is recomputed"),
    ])),
    ("megatron-lm-use-distributed-optimizer", Is("use-distributed-optimizer")),
    ("parallelism-config-tp-size", Is("tensor-model-parallel-size")),
    ("parallelism-config-cp-size", Is("context-parallel-size")),
    ("parallelism-config-sp-size", Is("context-parallel-size")),
    ("parallelism-config-dp-replicate-size", Is("num-distributed-optimizer-instances")),
    ("parallelism-config-dp-shard-size",
        Nothing("what the other degrees leave of the processes")),
    ("parallelism-config-cp-comm-strategy", Choice(&[
        ("alltoall", "cp-comm-type", "p2p"), ("allgather", "cp-comm-type", "allgather"),
    ])),
    ("parallelism-config-sp-backend", Choice(&[
        ("deepspeed", "context-parallel-algo", "ulysses_cp_algo"),
    ])),
];

/// DeepSpeed's file.
#[rustfmt::skip]
const ENGINE: &[(&str, To)] = &[
    ("train-micro-batch-size-per-gpu", Is("micro-batch-size")),
    ("train-batch-size", Is("global-batch-size")),
    ("gradient-accumulation-steps", Is("gradient-accumulation-steps")),
    ("zero-optimization.stage", Choice(SHARDING)), ("bf16.enabled", Is("bf16")),
    ("fp16.enabled", Is("fp16")), ("optimizer.type", Choice(OPTIM)),
    ("zero-optimization.offload-optimizer.device", Choice(OFFLOAD)),
    ("zero-optimization.offload-param.device", Choice(OFFLOAD_PARAMETERS)),
    ("zero-optimization.offload-optimizer.ratio", Is("optimizer-offload-fraction")),
    ("zero-optimization.overlap-comm", Is("overlap-grad-reduce")),
    ("tensor-parallel.autotp-size", Is("tensor-model-parallel-size")),
    ("sequence-parallel-size", Is("context-parallel-size")),
    ("data-types.grad-accum-dtype", Is("main-grads-dtype")),
    ("steps-per-print", Nothing("logs: not part of a step")),
    ("moescape", Nothing("read as comments")),
];

/// Whether a dialect is a trainer's, and not that of a file beside one.
pub(super) fn is_trainer(title: &str) -> bool {
    [AXOLOTL, FACTORY, SWIFT, OPENRLHF, TRL, TRAINER].contains(&title)
}

/// The dialect of a run: a file that a trainer of Hugging Face's models is given may say which one
/// it is, as LLaMA-Factory's does behind `accelerate launch src/train.py`.
pub(super) fn more_particular(
    own: Option<&'static Dialect>,
    beside: Option<&'static Dialect>,
) -> Option<&'static Dialect> {
    let is_any = own.is_none_or(|own| own.title == TRAINER);
    beside.filter(|beside| own.is_none() || (is_any && is_trainer(beside.title))).or(own)
}

/// Whether a dialect is that of a file which says how a trainer's run is launched and sharded.
pub(super) fn is_beside(title: &str) -> bool {
    [DEEPSPEED, ACCELERATE].contains(&title)
}

/// The tables in which a dialect's words are looked for, one behind the other.
pub(super) fn tables(dialect: &Dialect) -> [&'static [(&'static str, To)]; 4] {
    if is_trainer(dialect.title) {
        [dialect.rows, ARGUMENTS, LAUNCHER, ENGINE]
    } else {
        [dialect.rows, &[], &[], &[]]
    }
}

/// Keys that change nothing, by the reason: a name, or its beginning before `*`.
#[rustfmt::skip]
const ASIDE: &[(&str, &str)] = &[
    (LEARNING, "learning-rate* lr lr-* warmup* weight-decay num-train-epochs num-epochs max-steps \
        max-epochs epochs seed adam-* adam-beta* max-grad-norm gradient-clipping beta \
        label-smoothing* neftune* loss-* lora-alpha lora-dropout lora-bias use-rslora \
        lora-modules-to-save lora-task-type peft-config.* cosine-* l2 aux-loss-coef \
        scheduler.* optimizer.params.* optim-args temperature top-p top-k num-generations \
        reward-* kl-* init-kl-coef embedding-* router-aux-loss-coef epsilon* mask-* \
        vllm* use-vllm sleep-level teacher* num-iterations use-dft-loss max-new-tokens \
        oft-* rlhf-type task-type freeze-vit freeze-aligner freeze-llm freeze-vision-tower \
        additional-* scale-rewards lora-model-dir code-* callbacks benchmarks \
        lora-fan-in-fan-out learning-rate-* optim-target-modules"),
    (DATA, "dataset* data-* datasets* train-file validation-file train-data* val-* \
        template* chat-template* max-samples overwrite-cache preprocessing-* dataloader-* \
        pad-to-* group-by-length remove-unused-columns streaming shuffle* packing* eval-packing \
        sample-* conversation* input-key output-key input-template apply-chat-template \
        train-on-inputs special-tokens* tokens* tokenizer* split-dataset* load-from-cache-file \
        lazy-preprocess neat-packing dataset-text-field system* max-prompt-length \
        max-completion-length image-* video-* media-* columns enable-thinking truncation-* \
        padding-free eot-tokens assistant-only-loss completion-only-loss mix-strategy \
        interleave-* eos-token \
        multimodal-* loss-scale use-chat-template trust-remote-code trust_remote_code \
        ignore-data-skip buffer-size shared-file-system skip-prepare-dataset"),
    (LOGS, "output* logging* save* eval* report-to run-name hub-* push-to-hub* load-best* \
        metric-* do-train do-eval do-predict overwrite-output-dir resume* wandb* mlflow* \
        plot-loss log-* logger* tensorboard* per-device-eval-batch-size strategy ckpt* \
        include-* disable-tqdm use-wandb debug profile* flash-optimum predict-* \
        load-checkpoint print-* create-checkpoint-symlink auto-resume* swanlab* \
        model-revision model-author model-name model-class model-type processor-type cache-dir \
        greater-is-better hf-token use-auth-token strict"),
    (WHERE, "compute-environment distributed-type machine-rank main-training-function \
        rdzv-* same-network main-process-* use-cpu tpu-* downcast-bf16 enable-cpu-affinity \
        gpu-ids ddp-* local-rank hostfile include exclude master-* launcher dynamo-* \
        num-cpu-threads-* multi-gpu use-deepspeed config-file config accelerate-config \
        deepspeed-multinode-launcher deepspeed-hostfile zero3-init-flag zero3-save-16bit-model \
        module no-local-rank node-rank max-restarts fsdp-version use-hf module-* \
        deepspeed-config-file ray-* force-torchrun use-ray ssh-port standalone \
        safetensors* merge-lora to-mcore mcore-* move-model-batches offload-model \
        offload-optimizer"),
    (FUSED, "use-liger* enable-liger* liger* torch-compile* tf32 use-kernels* use-cache \
        use-reentrant gradient-checkpointing-kwargs* use-unsloth* flash-attn-* plugins \
        use-v1-kernels kernel-config.* use-cce cut-cross-entropy lora-mlp-kernel \
        lora-qkv-kernel lora-o-kernel use-scattermoe use-sonicmoe"),
    ("a detail of what is sharded", "fsdp-auto-wrap-policy fsdp-backward-prefetch* \
        fsdp-cpu-ram-efficient-loading fsdp-forward-prefetch fsdp-state-dict-type \
        fsdp-sync-module-states fsdp-use-orig-params fsdp-transformer-layer-cls-to-wrap \
        fsdp-min-num-params fsdp-config fsdp-config.* fsdp-transformer-* auto-wrap-policy \
        zero-optimization.* bf16.* fp16.* zero-allow-untested-optimizer comms-logger.* \
        wall-clock-breakdown prescale-gradients communication-data-type aio.* \
        activation-checkpointing.* state-dict-type cpu-ram-efficient-loading version \
        transformer-layer-cls-to-wrap backward-prefetch* forward-prefetch use-orig-params \
        sync-module-states limit-all-gathers min-num-params xla* zpg \
        max-out-tokens steps-per-print ring-head-stride"),
];

/// Why a trainer's word changes nothing, where it does not.
pub(super) fn aside(name: &str) -> Option<&'static str> {
    let fits = |word: &str| match word.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == word,
    };
    let found = ASIDE.iter().find(|(_, words)| words.split_whitespace().any(fits));
    found.map(|(reason, _)| *reason)
}

/// Whether a trainer's word sets anything of a step.
pub(super) fn is_word(name: &str) -> bool {
    let all = DIALECTS.iter().filter(|dialect| is_trainer(dialect.title));
    let mut rows = all.flat_map(|dialect| dialect.rows).chain(ARGUMENTS).chain(LAUNCHER);
    let sets = |to: &To| !matches!(to, Nothing(_));
    rows.any(|(row, to)| *row == name && sets(to)) || matches!(name, "deepspeed" | "fsdp")
}

/// Whether a word is one that the tables translate to. Arguments of another file are in these words
/// already.
pub(super) fn is_end(name: &str) -> bool {
    let ends = |to: &To| match to {
        Is(end) | To::Unless(end) => *end == name,
        Choice(rows) => rows.iter().any(|row| row.1 == name),
        Nothing(_) => false,
    };
    [ARGUMENTS, LAUNCHER, ENGINE].iter().any(|table| table.iter().any(|(_, to)| ends(to)))
        || matches!(name, "kernel-framework" | "context-parallel-algo" | "least-batch-size")
}
