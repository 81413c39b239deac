//! The tables of frameworks around Megatron-Core.

use super::To::{self, Argument as Is, Choice, Nothing, Unless};
use super::words::{MIXED, PRECISION, SHARDING};
use super::{Dialect, reinforcement};
use crate::flags;

/// The dialect of recipes, whose settings are mostly not in the text.
pub(super) const BRIDGE: &str = "a recipe of Megatron-Bridge or NeMo";

/// The dialect whose experts are in every second layer by default.
pub(super) const MEGATRON_DEEPSPEED: &str = "Megatron-DeepSpeed";

/// Dialects whose keys are fields of Megatron-Core's configuration, each with the sections that
/// hold them; all keys where there is none.
const CORES: [(&str, &[&str]); 3] = [
    (BRIDGE, &[]),
    (reinforcement::VERL, &["override-transformer-config"]),
    (reinforcement::NEMO_RL, &["megatron-cfg"]),
];

/// Fields of Megatron-Core that its arguments call otherwise.
///
/// Source: NVIDIA/Megatron-LM, `megatron/core/transformer/transformer_config.py` and
/// `megatron/core/model_parallel_config.py`.
const FIELDS: &[(&str, To)] = &[
    ("num-moe-experts", Is("num-experts")),
    ("gated-linear-unit", Is("swiglu")),
    ("add-bias-linear", Unless("disable-bias-linear")),
    ("share-embeddings-and-output-weights", Unless("untie-embeddings-and-output-weights")),
    ("virtual-pipeline-model-parallel-size", Is("num-virtual-stages-per-pipeline-rank")),
    ("microbatch-group-size-per-vp-stage", Is("microbatch-group-size-per-virtual-pipeline-stage")),
    ("num-layers-in-first-pipeline-stage", Is("decoder-first-pipeline-num-layers")),
    ("num-layers-in-last-pipeline-stage", Is("decoder-last-pipeline-num-layers")),
    ("overlap-p2p-comm", Unless("no-overlap-p2p-communication")),
];

/// Argument for a field of Megatron-Core; `None` if the dialect has other keys there.
pub(super) fn field(title: &str, path: &str) -> Option<To> {
    let (_, sections) = CORES.iter().find(|(core, _)| *core == title)?;
    let (before, last) = path.rsplit_once('.').unwrap_or(("", path));
    if !(sections.is_empty() || before.rsplit('.').next().is_some_and(|it| sections.contains(&it)))
    {
        return None;
    }
    let own = FIELDS.iter().find(|(name, _)| *name == last).map(|(_, to)| *to);
    own.or_else(|| flags::find(last).filter(|_| !sections.is_empty()).map(|it| Is(it.name)))
}

/// Argument for a field whose own name is no argument's, in any dialect.
pub(super) fn any_field(name: &str) -> Option<To> {
    let is_argument = || flags::find(name).is_some();
    FIELDS.iter().find(|(field, _)| *field == name && !is_argument()).map(|(_, to)| *to)
}

const DATA: &str = "data: the step's time takes reading it as free";
const WHERE: &str = "how processes start and find each other";

/// Precisions as Megatron-Bridge's performance scripts name them.
///
/// Source: NVIDIA-NeMo/Megatron-Bridge, `scripts/performance/utils/precision.py`.
const COMPUTE: &[(&str, &str, &str)] = &[
    ("bf16", "bf16", "true"),
    ("fp16", "fp16", "true"),
    ("fp8_cs", "mixed-precision-recipe", "fp8_tensorwise"),
    ("fp8_ds", "mixed-precision-recipe", "fp8_delayed"),
    ("fp8_sc", "mixed-precision-recipe", "fp8_blockwise"),
    ("fp8_mx", "mixed-precision-recipe", "mxfp8"),
    ("nvfp4", "mixed-precision-recipe", "nvfp4"),
];

const LEARNING: &str = "how the model learns, not how long a step takes";

/// Every dialect, the most particular first.
#[rustfmt::skip]
pub(super) static DIALECTS: &[Dialect] = &[
    // NeMo 1 and its launcher. Source: launcher_scripts/conf of NVIDIA/NeMo-Framework-Launcher.
    Dialect {
        title: "NeMo's launcher",
        markers: &[&["trainer:", "num_nodes", "exp_manager"], &["mcore_gpt"]],
        strict: false,
        rows: &[
            ("run.name", Is("model-name")),
            ("trainer.num-nodes", Is("nnodes")), ("trainer.devices", Is("nproc-per-node")),
            ("trainer.accelerator", Nothing("any accelerator that CUDA runs on")),
            ("trainer.precision", Choice(PRECISION)), ("model.precision", Nothing("said before")),
            ("num-moe-experts", Is("num-experts")), ("bias", Unless("disable-bias-linear")),
            ("share-embeddings-and-output-weights", Unless("untie-embeddings-and-output-weights")),
            ("activations-checkpoint-granularity", Is("recompute-granularity")),
            ("activations-checkpoint-method", Is("recompute-method")),
            ("activations-checkpoint-num-layers", Is("recompute-num-layers")),
            ("overlap-p2p-comm", Is("overlap-p2p-communication")),
            ("ub-tp-comm-overlap", Is("tp-comm-overlap")),
            ("use-flash-attention", Is("use-flash-attn")),
            ("encoder-seq-length", Is("seq-length")), ("data.seq-length", Nothing("said before")),
            ("num-query-groups", Is("num-query-groups")), ("fp8", Nothing("a recipe says more")),
            ("fp8-hybrid", Nothing("a detail of fp8")), ("fp8-e4m3", Nothing("a detail of fp8")),
            ("activation", Choice(&[
                ("fast-geglu", "geglu", "true"), ("geglu", "geglu", "true"),
                ("swiglu", "swiglu", "true"), ("fast-swiglu", "swiglu", "true"),
                ("reglu", "swiglu", "true"), ("fast-reglu", "swiglu", "true"),
                ("gelu", "", "two matrices, as without being told"),
                ("squared-relu", "squared-relu", "true"),
            ])),
            ("optim.name", Choice(&[
                ("mcore_distributed_optim", "use-distributed-optimizer", "true"),
                ("distributed_fused_adam", "use-distributed-optimizer", "true"),
                ("fused_adam", "optimizer", "adam"), ("adamw", "optimizer", "adam"),
            ])),
            ("optim.overlap-grad-sync", Is("overlap-grad-reduce")),
            ("optim.overlap-param-sync", Is("overlap-param-gather")),
            ("tokenizer.type", Is("tokenizer-name-or-path")),
            ("transformer-engine", Nothing("taken as it is")),
        ],
        defaults: &[],
    },
    // Primus. Source: primus/configs of AMD-AGI/Primus.
    Dialect {
        title: "Primus",
        markers: &[&["pre_trainer:"], &["primus-cli"], &["PRIMUS_"]],
        strict: false,
        rows: &[
            ("pre-trainer.model", Is("model")), ("exp-name", Is("run-name")),
            ("pre-trainer.framework", Nothing("which trainer runs")),
            ("work-group", Nothing(WHERE)), ("user-name", Nothing(WHERE)),
            ("workspace", Nothing(WHERE)),
            ("pre-trainer.config", Nothing("the trainer's own defaults")),
            ("config", Is("run-name")),
            ("enable-primus-turbo", Nothing("kernels of the accelerator's maker")),
            ("use-turbo-attention", Is("use-flash-attn")),
            ("use-turbo-grouped-gemm", Is("moe-grouped-gemm")),
            ("routed-expert-hidden-size", Is("moe-latent-size")),
            ("mla-use-output-gate", Is("attention-output-gate")),
            ("extends", Nothing("read, where its file is given, too")),
        ],
        defaults: &[("bf16", ""), ("use-distributed-optimizer", ""), ("use-flash-attn", "")],
    },
    // FlagScale. Source: examples of FlagOpen/FlagScale.
    Dialect {
        title: "FlagScale",
        markers: &[&["flagscale"], &["hetero_process_meshes"], &["system:", "no_shared_fs"]],
        strict: false,
        rows: &[
            ("experiment.exp-name", Is("model-name")), ("exp-name", Is("run-name")),
            ("data.tokenizer.vocab-size", Is("vocab-size")),
            ("experiment.runner.nnodes", Is("nnodes")),
            ("experiment.runner.nproc-per-node", Is("nproc-per-node")),
        ],
        defaults: &[],
    },
    // Megatron-Bridge and NeMo 2. Source: src/megatron/bridge/recipes of
    // NVIDIA-NeMo/Megatron-Bridge.
    Dialect {
        title: BRIDGE,
        markers: &[&["megatron.bridge"], &["nemo.collections"], &["import nemo_run"],
            &["run_recipe.py"], &["AutoBridge"], &["--model_recipe_name"], &["nemo llm "],
            &["Megatron-Bridge"], &["setup_experiment.py"], &["scripts/performance/"]],
        strict: false,
        rows: &[
            ("num-gpus", Is("world-size")), ("gpus-per-node", Is("nproc-per-node")),
            ("gpu", Nothing("the accelerator, which is asked for")), ("gpus", Is("world-size")),
            ("compute-dtype", Choice(COMPUTE)), ("hf-path", Is("model")),
            ("hf-model-id", Is("model")), ("hf-model", Is("model")),
            ("model-family-name", Nothing("the recipe's name says more")),
            ("task", Nothing("what the recipe trains, as it says itself")),
            ("config-variant", Nothing("which of the recipe's settings: not in the text")),
            ("activation-offload-layers", Is("cpu-offloading-num-layers")),
            ("max-steps", Nothing(LEARNING)), ("data", Nothing(WHERE)), ("mode", Nothing(WHERE)),
            ("account", Nothing(WHERE)), ("log-dir", Nothing(WHERE)),
            ("time-limit", Nothing(WHERE)), ("hf-token", Nothing(WHERE)),
            ("dataset", Nothing(WHERE)), ("step-func", Nothing(WHERE)),
            ("dir", Nothing(WHERE)), ("name", Is("run-name")),
            ("dim", Is("lora-rank")), ("target-modules", Is("lora-target-modules")),
            ("alpha", Nothing(LEARNING)),
            ("num-nodes", Is("nnodes")),
            ("num-gpus-per-node", Is("nproc-per-node")), ("devices", Is("nproc-per-node")),
            ("optimizer.lr", Nothing(LEARNING)), ("mixed-precision", Choice(MIXED)),
            ("optimizer.optimizer", Is("optimizer")),
            ("optimizer.use-precision-aware-optimizer", Is("use-precision-aware-optimizer")),
            ("optimizer.main-grads-dtype", Is("main-grads-dtype")),
            ("optimizer.main-params-dtype", Is("main-params-dtype")),
            ("optimizer.exp-avg-dtype", Is("exp-avg-dtype")),
            ("optimizer.exp-avg-sq-dtype", Is("exp-avg-sq-dtype")),
            ("train.micro-batch-size", Is("micro-batch-size")),
            ("train.global-batch-size", Is("global-batch-size")),
            ("dataset.seq-length", Nothing("said of the model")),
            ("ddp.use-distributed-optimizer", Is("use-distributed-optimizer")),
            ("ddp.use-megatron-fsdp", Is("use-megatron-fsdp")),
            ("ddp.data-parallel-sharding-strategy", Is("data-parallel-sharding-strategy")),
            ("ddp.num-distributed-optimizer-instances", Is("num-distributed-optimizer-instances")),
            ("ddp.overlap-grad-reduce", Is("overlap-grad-reduce")),
            ("ddp.overlap-param-gather", Is("overlap-param-gather")),
            ("dist.use-tp-pp-dp-mapping", Is("use-tp-pp-dp-mapping")),
            ("comm-overlap.overlap-grad-reduce", Is("overlap-grad-reduce")),
            ("comm-overlap.tp-comm-overlap", Is("tp-comm-overlap")),
            ("comm-overlap.overlap-p2p-comm", Unless("no-overlap-p2p-communication")),
            ("comm-overlap.delay-wgrad-compute", Is("delay-wgrad-compute")),
            ("comm-overlap.overlap-moe-expert-parallel-comm",
                Is("overlap-moe-expert-parallel-comm")),
        ],
        defaults: &[
            ("use-distributed-optimizer", ""), ("bf16", ""), ("moe-grouped-gemm", ""),
            ("moe-token-dispatcher-type", "alltoall"), ("moe-permute-fusion", ""),
        ],
    },
    // Megatron-DeepSpeed. Source: megatron/arguments.py of deepspeedai/Megatron-DeepSpeed and
    // bigscience-workshop/Megatron-DeepSpeed.
    Dialect {
        title: MEGATRON_DEEPSPEED,
        markers: &[
            &["--deepspeed-activation-checkpointing"], &["--no-pipeline-parallel"],
            &["--deepspeed", "--num-layers"], &["--zero-stage", "--num-layers"],
            &["--deepspeed", "--expert-interval"],
        ],
        strict: false,
        rows: &[
            ("zero-stage", Choice(SHARDING)), ("zero-optimization.stage", Choice(SHARDING)),
            ("deepspeed", Nothing("the engine of the step")),
            ("deepspeed-config", Nothing("read, where its file is given, too")),
            ("deepspeed-activation-checkpointing", Nothing("how layers are computed again")),
            ("no-pipeline-parallel", Nothing("one stage, as the degree says")),
            ("embed-layernorm", Nothing("one norm more: too small to count")),
            ("abort-on-unmet-fused-kernel-constraints", Nothing(WHERE)),
            ("kill-switch-path", Nothing(WHERE)), ("reset-progress", Nothing(LEARNING)),
            ("norm-target-loss", Nothing(LEARNING)),
            ("train-weighted-split-paths-path", Nothing(DATA)),
            ("valid-weighted-split-paths-path", Nothing(DATA)),
        ],
        defaults: &[],
    },
    // MegaBlocks' fork of Megatron-LM. Source: exp/dmoe of databricks/megablocks.
    Dialect {
        title: "MegaBlocks",
        markers: &[&["--moe-num-experts"]],
        strict: false,
        rows: &[
            ("moe-num-experts", Is("num-experts")), ("moe-top-k", Is("moe-router-topk")),
            ("moe-loss-weight", Is("moe-aux-loss-coeff")),
            ("moe-capacity-factor", Is("moe-expert-capacity-factor")),
        ],
        defaults: &[("moe-grouped-gemm", "")],
    },
];
