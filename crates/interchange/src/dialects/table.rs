//! The tables of frameworks that pre-train and fine-tune.

use super::Dialect;
use super::To::{Argument as Is, Choice, Nothing, Unless};

const LEARNING: &str = "how the model learns, not how long a step takes";

/// The name of the dialect that is JSON alone.
pub(super) const DEEPSPEED: &str = "DeepSpeed";

/// The dialect whose experts TP splits where EP is 1.
pub(super) const TORCHTITAN: &str = "torchtitan";

/// The dialects of PyTorch's FSDP and of what behaves like it.
pub(super) const FSDP: &[&str] = &[TORCHTITAN, MAXTEXT, LLM_FOUNDRY];

const MAXTEXT: &str = "MaxText";
const LLM_FOUNDRY: &str = "llm-foundry";

/// How ZeRO's stages and FSDP's strategies shard.
pub(super) const SHARDING: &[(&str, &str, &str)] = &[
    ("0", "data-parallel-sharding-strategy", "no_shard"),
    ("1", "data-parallel-sharding-strategy", "optim"),
    ("2", "data-parallel-sharding-strategy", "optim_grads"),
    ("3", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("full_shard", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("hybrid_shard", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("shard_grad_op", "data-parallel-sharding-strategy", "optim_grads"),
    ("no_shard", "data-parallel-sharding-strategy", "no_shard"),
];

/// Precisions by all their spellings.
pub(super) const PRECISION: &[(&str, &str, &str)] = &[
    ("bf16", "bf16", "true"),
    ("bf16-mixed", "bf16", "true"),
    ("amp_bf16", "bf16", "true"),
    ("bfloat16", "bf16", "true"),
    ("bf16-true", "bf16", "true"),
    ("bf16_mixed", "bf16", "true"),
    ("fp16", "fp16", "true"),
    ("16", "fp16", "true"),
    ("16-mixed", "fp16", "true"),
    ("amp_fp16", "fp16", "true"),
    ("float16", "fp16", "true"),
    ("fp8", "fp8-format", "hybrid"),
    ("amp_fp8", "fp8-format", "hybrid"),
    ("32", "", "fp32, as without being told"),
    ("fp32", "", "fp32, as without being told"),
    ("float32", "", "fp32, as without being told"),
    ("no", "", "fp32, as without being told"),
];

/// A switch that recomputes whole layers.
const RECOMPUTE: &[(&str, &str, &str)] = &[
    ("true", "recompute-granularity", "full"),
    ("full", "recompute-granularity", "full"),
    ("selective", "recompute-granularity", "selective"),
    ("false", "", "nothing is recomputed"),
    ("none", "", "nothing is recomputed"),
    ("null", "", "nothing is recomputed"),
];

/// A Llama's layers, which several frameworks take without being told.
const LLAMA: &[(&str, &str)] = &[
    ("swiglu", ""),
    ("disable-bias-linear", ""),
    ("position-embedding-type", "rope"),
    ("untie-embeddings-and-output-weights", ""),
    ("use-flash-attn", ""),
];

/// Every dialect, the most particular first.
#[rustfmt::skip]
pub(super) static DIALECTS: &[Dialect] = &[
    // MindSpeed-LLM's trainer of FSDP2. Source: mindspeed_llm/fsdp2/args of Ascend/MindSpeed-LLM.
    Dialect {
        title: "MindSpeed-LLM's FSDP2",
        markers: &[&["fsdp_modules"], &["ep_fsdp_size"], &["train_fsdp2.py"]],
        strict: true,
        rows: &[
            ("model.model-name-or-path", Is("model")), ("model.model-id", Is("model-name")),
            ("model.tokenizer-name-or-path", Is("tokenizer-name-or-path")),
            ("parallel.fsdp-size", Is("data-parallel-size")),
            ("parallel.ep-size", Is("expert-model-parallel-size")),
            ("parallel.cp-size", Is("context-parallel-size")),
            ("parallel.tp-size", Is("tensor-model-parallel-size")),
            ("parallel.cp-type", Choice(&[
                ("ulysses", "context-parallel-algo", "ulysses_cp_algo"),
                ("ring", "context-parallel-algo", "megatron_cp_algo"),
            ])),
            ("parallel.recompute", Choice(RECOMPUTE)),
            ("training.per-device-train-batch-size", Is("micro-batch-size")),
            ("training.gradient-accumulation-steps", Is("gradient-accumulation-steps")),
            ("training.optimizer", Is("optimizer")),
            ("data.cutoff-len", Is("seq-length")),
            ("optimization.use-fused-rmsnorm", Is("use-fused-rmsnorm")),
            ("optimization.moe-grouped-gemm", Is("moe-grouped-gemm")),
            ("optimization.use-fused-rotary-pos-emb", Is("use-fused-rotary-pos-emb")),
        ],
        defaults: &[("data-parallel-sharding-strategy", "optim_grads_params"), ("bf16", "")],
    },
    // MindFormers. Source: mindformers/tools/register/template.py and models/*/config.
    Dialect {
        title: "MindFormers",
        markers: &[
            &["parallel_config:", "runner_config:"],
            &["pipeline_stage:", "model_parallel:"],
        ],
        strict: true,
        rows: &[
            ("trainer.model-name", Is("model-name")),
            ("runner-config.batch-size", Is("micro-batch-size")),
            ("runner-config.gradient-accumulation-steps", Nothing("gradients are added before")),
            ("parallel-config.data-parallel", Is("data-parallel-size")),
            ("parallel-config.model-parallel", Is("tensor-model-parallel-size")),
            ("parallel-config.pipeline-stage", Is("pipeline-model-parallel-size")),
            ("parallel-config.expert-parallel", Is("expert-model-parallel-size")),
            ("parallel-config.context-parallel", Is("context-parallel-size")),
            ("parallel-config.use-seq-parallel", Is("sequence-parallel")),
            ("parallel-config.micro-batch-num", Is("gradient-accumulation-steps")),
            ("parallel.enable-parallel-optimizer", Is("use-distributed-optimizer")),
            ("optimizer.type", Is("optimizer")),
            ("moe-config.expert-num", Is("num-experts")),
            ("moe-config.num-experts-chosen", Is("moe-router-topk")),
            ("moe-config.shared-expert-num", Is("n-shared-experts")),
            ("moe-config.first-k-dense-replace", Is("first-k-dense-replace")),
            ("moe-config.moe-intermediate-size", Is("moe-ffn-hidden-size")),
            ("moe-config.capacity-factor", Nothing("a bound on what experts take, not on loads")),
            ("recompute-config.recompute", Choice(RECOMPUTE)),
            ("model.model-config.type", Is("model-name")),
            ("model.model-config.seq-length", Is("seq-length")),
            ("model.model-config.hidden-size", Is("hidden-size")),
            ("model.model-config.intermediate-size", Is("ffn-hidden-size")),
            ("model.model-config.num-layers", Is("num-layers")),
            ("model.model-config.num-heads", Is("num-attention-heads")),
            ("model.model-config.n-kv-heads", Is("num-query-groups")),
            ("model.model-config.vocab-size", Is("vocab-size")),
            ("model.model-config.q-lora-rank", Is("q-lora-rank")),
            ("model.model-config.kv-lora-rank", Is("kv-lora-rank")),
            ("model.model-config.qk-nope-head-dim", Is("qk-head-dim")),
            ("model.model-config.qk-rope-head-dim", Is("qk-pos-emb-head-dim")),
            ("model.model-config.v-head-dim", Is("v-head-dim")),
            ("model.model-config.qkv-has-bias", Is("add-qkv-bias")),
            ("model.model-config.use-flash-attention", Is("use-flash-attn")),
            ("model.model-config.compute-dtype", Choice(PRECISION)),
        ],
        defaults: LLAMA,
    },
    // ms-swift. Source: docs/source_en/Megatron-SWIFT/Command-line-parameters.md.
    Dialect {
        title: "ms-swift's Megatron",
        markers: &[&["megatron sft"], &["megatron pt"], &["megatron rlhf"], &["megatron export"]],
        strict: false,
        rows: &[
            ("max-length", Is("seq-length")), ("model", Is("model")),
            ("expert-tensor-parallel-size", Is("expert-tensor-parallel-size")),
        ],
        defaults: &[
            ("use-distributed-optimizer", ""), ("bf16", ""), ("micro-batch-size", "1"),
            ("global-batch-size", "16"), ("nnodes", "1"), ("expert-tensor-parallel-size", "1"),
            ("moe-token-dispatcher-type", "alltoall"), ("moe-grouped-gemm", ""),
            // It isn't taken from config.json.
            ("mtp-num-layers", "0"),
        ],
    },
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
    // torchtitan and its NPU fork. Source: torchtitan/config/job_config.py and models/moe.
    Dialect {
        title: TORCHTITAN,
        markers: &[&["[parallelism]"], &["tensor_parallel_degree"], &["torchtitan"]],
        strict: true,
        rows: &[
            ("model.name", Is("model-name")), ("model.flavor", Is("model-flavor")),
            ("model.hf-assets-path", Is("tokenizer-name-or-path")),
            ("model.tokenizer-path", Is("tokenizer-name-or-path")),
            ("job.config-file", Is("model-name")), ("job.description", Is("run-name")),
            ("nnodes", Is("nnodes")), ("nproc-per-node", Is("nproc-per-node")),
            ("training.local-batch-size", Is("micro-batch-size")),
            ("training.batch-size", Is("micro-batch-size")),
            ("training.global-batch-size", Is("global-batch-size")),
            ("training.seq-len", Is("seq-length")),
            ("training.mixed-precision-param", Choice(PRECISION)),
            ("parallelism.data-parallel-shard-degree", Is("data-parallel-size")),
            ("parallelism.data-parallel-replicate-degree",
                Is("num-distributed-optimizer-instances")),
            ("parallelism.tensor-parallel-degree", Is("tensor-model-parallel-size")),
            ("parallelism.pipeline-parallel-degree", Is("pipeline-model-parallel-size")),
            ("parallelism.context-parallel-degree", Is("context-parallel-size")),
            ("parallelism.expert-parallel-degree", Is("expert-model-parallel-size")),
            ("parallelism.expert-tensor-parallel-degree", Is("expert-tensor-parallel-size")),
            ("parallelism.pipeline-parallel-schedule", Choice(&[
                ("1f1b", "", "as without being told"),
                ("interleaved1f1b", "virtual-pipeline-model-parallel-size", "2"),
                ("gpipe", "schedules-method", "gpipe"),
                ("zbvzerobubble", "schedules-method", "zbv"),
                ("dualpipev", "schedules-method", "dualpipev"),
            ])),
            ("activation-checkpoint.mode", Choice(RECOMPUTE)),
            ("activation-checkpoint.selective-ac-option", Is("selective-ac-option")),
            ("optimizer.name", Is("optimizer")),
        ],
        defaults: &[
            ("data-parallel-sharding-strategy", "optim_grads_params"), ("bf16", ""),
            ("moe-grouped-gemm", ""), ("moe-token-dispatcher-type", "alltoall"),
            ("overlap-grad-reduce", ""), ("overlap-param-gather", ""),
        ],
    },
    // MaxText. Source: MaxText/configs/base.yml.
    Dialect {
        title: MAXTEXT,
        markers: &[&["base_num_decoder_layers"], &["ici_fsdp_parallelism"],
            &["per_device_batch_size", "max_target_length"]],
        strict: false,
        rows: &[
            ("model-name", Is("model")), ("base-emb-dim", Is("hidden-size")),
            ("base-num-decoder-layers", Is("num-layers")), ("base-mlp-dim", Is("ffn-hidden-size")),
            ("base-moe-mlp-dim", Is("moe-ffn-hidden-size")),
            ("base-num-query-heads", Is("num-attention-heads")),
            ("base-num-kv-heads", Is("num-query-groups")), ("head-dim", Is("kv-channels")),
            ("num-experts", Is("num-experts")), ("num-experts-per-tok", Is("moe-router-topk")),
            ("per-device-batch-size", Is("micro-batch-size")),
            ("max-target-length", Is("seq-length")),
            ("gradient-accumulation-steps", Is("gradient-accumulation-steps")),
            ("ici-tensor-parallelism", Is("tensor-model-parallel-size")),
            ("ici-pipeline-parallelism", Is("pipeline-model-parallel-size")),
            ("ici-expert-parallelism", Is("expert-model-parallel-size")),
            ("ici-context-parallelism", Is("context-parallel-size")),
            ("ici-fsdp-parallelism", Is("data-parallel-size")),
            ("remat-policy", Choice(&[
                ("full", "recompute-granularity", "full"),
                ("minimal", "recompute-granularity", "selective"),
                ("none", "", "nothing is recomputed"),
            ])),
            ("dtype", Choice(PRECISION)), ("opt-type", Is("optimizer")),
        ],
        defaults: &[
            ("data-parallel-sharding-strategy", "optim_grads_params"), ("bf16", ""),
            ("swiglu", ""), ("disable-bias-linear", ""), ("position-embedding-type", "rope"),
            ("use-flash-attn", ""), ("moe-grouped-gemm", ""),
            ("moe-token-dispatcher-type", "alltoall"), ("overlap-grad-reduce", ""),
            ("overlap-param-gather", ""),
        ],
    },
    // llm-foundry. Source: llmfoundry/models/mpt/configuration_mpt.py and scripts/train/yamls.
    Dialect {
        title: LLM_FOUNDRY,
        markers: &[&["mpt_causal_lm"], &["fsdp_config:", "max_seq_len"]],
        strict: true,
        rows: &[
            ("model.pretrained-model-name-or-path", Is("model")),
            ("model.d-model", Is("hidden-size")), ("model.n-layers", Is("num-layers")),
            ("model.n-heads", Is("num-attention-heads")),
            ("model.expansion-ratio", Is("expansion-ratio")),
            ("model.vocab-size", Is("vocab-size")), ("max-seq-len", Is("seq-length")),
            ("model.max-seq-len", Nothing("said before")),
            ("train-loader.dataset.max-seq-len", Nothing("said before")),
            ("eval-loader.dataset.max-seq-len", Nothing("said before")),
            ("variables.max-seq-len", Nothing("said behind it")),
            ("model.attn-config.kv-n-heads", Is("num-query-groups")),
            ("model.ffn-config.moe-num-experts", Is("num-experts")),
            ("model.ffn-config.moe-top-k", Is("moe-router-topk")),
            ("model.ffn-config.moe-world-size", Is("expert-model-parallel-size")),
            ("global-train-batch-size", Is("global-batch-size")),
            ("device-train-microbatch-size", Is("micro-batch-size")),
            ("precision", Choice(PRECISION)), ("optimizer.name", Is("optimizer")),
            ("fsdp-config.sharding-strategy", Choice(SHARDING)),
            ("fsdp-config.activation-checkpointing", Choice(RECOMPUTE)),
            ("fsdp-config.activation-cpu-offload", Nothing(LEARNING)),
        ],
        defaults: &[
            ("use-flash-attn", ""), ("overlap-grad-reduce", ""), ("overlap-param-gather", ""),
        ],
    },
    // GPT-NeoX. Source: megatron/neox_arguments/neox_args.py of EleutherAI/gpt-neox.
    Dialect {
        title: "GPT-NeoX",
        markers: &[&["pipe_parallel_size"], &["pipe-parallel-size"]],
        strict: false,
        rows: &[
            ("pipe-parallel-size", Is("pipeline-model-parallel-size")),
            ("model-parallel-size", Is("tensor-model-parallel-size")),
            ("pos-emb", Is("position-embedding-type")),
            ("no-weight-tying", Is("untie-embeddings-and-output-weights")),
            ("train-micro-batch-size-per-gpu", Is("micro-batch-size")),
            ("train-batch-size", Is("global-batch-size")),
            ("gradient-accumulation-steps", Is("gradient-accumulation-steps")),
            ("zero-optimization.stage", Choice(SHARDING)),
            ("checkpoint-activations", Choice(RECOMPUTE)),
            ("checkpoint-num-layers", Is("recompute-num-layers")),
            ("optimizer.type", Is("optimizer")), ("fp16.enabled", Is("fp16")),
            ("fp16.fp16", Is("fp16")), ("fp16.type", Nothing("a detail of mixed precision")),
            ("bf16.enabled", Is("bf16")), ("precision", Choice(PRECISION)),
            ("num-kv-heads", Is("num-query-groups")), ("intermediate-size", Is("ffn-hidden-size")),
            ("norm", Is("normalization")),
            ("gpt-j-residual", Nothing("the same work, in parallel")),
            ("rotary-pct", Is("rotary-percent")),
            ("activation", Choice(&[
                ("gelu", "", "two matrices, as without being told"),
                ("swiglu", "swiglu", "true"), ("geglu", "geglu", "true"),
            ])),
        ],
        defaults: &[],
    },
    // DeepSpeed's JSON. Source: deepspeed/runtime/config.py.
    Dialect {
        title: DEEPSPEED,
        markers: &[&["\"zero_optimization\""], &["\"train_micro_batch_size_per_gpu\""]],
        strict: true,
        rows: &[
            ("train-micro-batch-size-per-gpu", Is("micro-batch-size")),
            ("train-batch-size", Is("global-batch-size")),
            ("gradient-accumulation-steps", Is("gradient-accumulation-steps")),
            ("zero-optimization.stage", Choice(SHARDING)), ("bf16.enabled", Is("bf16")),
            ("fp16.enabled", Is("fp16")), ("optimizer.type", Is("optimizer")),
            ("zero-optimization.offload-optimizer.device", Choice(&[
                ("cpu", "optimizer-cpu-offload", "true"), ("none", "", "nothing is offloaded"),
                ("nvme", "optimizer-cpu-offload", "true"),
            ])),
            ("zero-optimization.offload-optimizer.ratio", Is("optimizer-offload-fraction")),
            ("tensor-parallel.autotp-size", Is("tensor-model-parallel-size")),
        ],
        defaults: LLAMA,
    },
    // Accelerate. Source: docs/source/usage_guides/fsdp.md of huggingface/accelerate.
    Dialect {
        title: "Accelerate",
        markers: &[&["distributed_type:", "num_processes"]],
        strict: true,
        rows: &[
            ("num-processes", Is("world-size")), ("mixed-precision", Choice(PRECISION)),
            ("fsdp-config.fsdp-sharding-strategy", Choice(SHARDING)),
            ("fsdp-config.fsdp-reshard-after-forward", Choice(SHARDING)),
            ("fsdp-config.fsdp-activation-checkpointing", Choice(RECOMPUTE)),
            ("deepspeed-config.zero-stage", Choice(SHARDING)),
            ("deepspeed-config.gradient-accumulation-steps", Is("gradient-accumulation-steps")),
            ("megatron-lm-config.megatron-lm-tp-degree", Is("tensor-model-parallel-size")),
            ("megatron-lm-config.megatron-lm-pp-degree", Is("pipeline-model-parallel-size")),
            ("parallelism-config.parallelism-config-tp-size", Is("tensor-model-parallel-size")),
            ("parallelism-config.parallelism-config-cp-size", Is("context-parallel-size")),
        ],
        defaults: LLAMA,
    },
    // Primus. Source: primus/configs of AMD-AGI/Primus.
    Dialect {
        title: "Primus",
        markers: &[&["pre_trainer:"], &["primus-cli"], &["PRIMUS_"]],
        strict: false,
        rows: &[
            ("pre-trainer.model", Is("model")), ("exp-name", Is("run-name")),
            ("pre-trainer.config", Nothing("the trainer's own defaults")),
            ("config", Is("run-name")),
            ("enable-primus-turbo", Nothing("kernels of the accelerator's maker")),
            ("use-turbo-attention", Is("use-flash-attn")),
            ("use-turbo-grouped-gemm", Is("moe-grouped-gemm")),
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
        title: "a recipe of Megatron-Bridge or NeMo",
        markers: &[&["megatron.bridge"], &["nemo.collections"], &["import nemo_run"]],
        strict: false,
        rows: &[
            ("dim", Is("lora-rank")), ("target-modules", Is("lora-target-modules")),
            ("alpha", Nothing(LEARNING)),
            ("num-moe-experts", Is("num-experts")), ("num-nodes", Is("nnodes")),
            ("num-gpus-per-node", Is("nproc-per-node")), ("devices", Is("nproc-per-node")),
            ("virtual-pipeline-model-parallel-size", Is("virtual-pipeline-model-parallel-size")),
            ("optimizer.lr", Nothing(LEARNING)), ("mixed-precision", Choice(PRECISION)),
            ("comm-overlap.overlap-grad-reduce", Is("overlap-grad-reduce")),
        ],
        defaults: &[
            ("use-distributed-optimizer", ""), ("bf16", ""), ("moe-grouped-gemm", ""),
            ("moe-token-dispatcher-type", "alltoall"), ("moe-permute-fusion", ""),
        ],
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
