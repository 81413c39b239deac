//! The tables of frameworks that pre-train and fine-tune.

use super::Dialect;
use super::To::{Argument as Is, Choice, Nothing, Unless};

const LEARNING: &str = "how the model learns, not how long a step takes";

const WHERE: &str = "how processes start and find each other";

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

/// Precisions as PyTorch spells them.
const DTYPE: &[(&str, &str, &str)] = &[
    ("bfloat16", "bf16", "true"),
    ("float16", "fp16", "true"),
    ("float32", "", "fp32, as without being told"),
    ("bf16", "bf16", "true"),
    ("fp16", "fp16", "true"),
    ("fp32", "", "fp32, as without being told"),
];

/// Megatron-Bridge's recipes of mixed precision, with NeMo's spellings.
///
/// Source: `src/megatron/bridge/training/mixed_precision.py`.
const MIXED: &[(&str, &str, &str)] = &[
    ("bf16_mixed", "bf16", "true"),
    ("fp16_mixed", "fp16", "true"),
    ("bf16_with_fp8_delayed_scaling_mixed", "mixed-precision-recipe", "fp8_delayed"),
    ("bf16_with_fp8_current_scaling_mixed", "mixed-precision-recipe", "fp8_tensorwise"),
    ("bf16_with_fp8_subchannel_scaling_mixed", "mixed-precision-recipe", "fp8_blockwise"),
    ("bf16_with_mxfp8_mixed", "mixed-precision-recipe", "mxfp8"),
    ("bf16_with_nvfp4_mixed", "mixed-precision-recipe", "nvfp4"),
    ("bf16-mixed", "bf16", "true"),
    ("fp16-mixed", "fp16", "true"),
    ("16-mixed", "fp16", "true"),
    ("bf16", "bf16", "true"),
    ("fp16", "fp16", "true"),
    ("fp8", "fp8-format", "hybrid"),
];

/// What torchtitan recomputes.
const CHECKPOINT: &[(&str, &str, &str)] = &[
    ("full", "recompute-granularity", "full"),
    ("selective", "recompute-granularity", "selective"),
    ("none", "", "nothing is recomputed"),
];

/// Whether FSDP keeps whole parameters after the forward.
const RESHARD: &[(&str, &str, &str)] = &[
    ("true", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("false", "data-parallel-sharding-strategy", "optim_grads"),
    ("full_shard", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("shard_grad_op", "data-parallel-sharding-strategy", "optim_grads"),
];

/// Where the states of the optimizer wait.
const OFFLOAD: &[(&str, &str, &str)] = &[
    ("cpu", "optimizer-cpu-offload", "true"),
    ("none", "", "nothing is offloaded"),
    ("nvme", "optimizer-cpu-offload", "true"),
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
            ("use-legacy", Nothing("which classes the model is made of")),
            ("use-parallel", Nothing("taken as it is")), ("run-mode", Nothing("taken as it is")),
            ("optimizer.type", Is("optimizer")), ("optimizer.swap", Is("swap-optimizer")),
            ("recompute-config.recompute", Choice(RECOMPUTE)),
            ("recompute-config.select-recompute", Choice(&[
                ("true", "recompute-granularity", "selective"),
                ("false", "", "no operator is recomputed by its name"),
            ])),
            ("model.model-config.type", Is("model-name")),
            ("model.model-config.model-type", Is("model-name")),
            ("model.model-config.seq-length", Is("seq-length")),
            ("model.model-config.hidden-size", Is("hidden-size")),
            ("model.model-config.intermediate-size", Is("ffn-hidden-size")),
            ("model.model-config.num-hidden-layers", Is("num-layers")),
            ("model.model-config.num-layers", Is("num-layers")),
            ("model.model-config.num-attention-heads", Is("num-attention-heads")),
            ("model.model-config.num-heads", Is("num-attention-heads")),
            ("model.model-config.num-key-value-heads", Is("num-query-groups")),
            ("model.model-config.n-kv-heads", Is("num-query-groups")),
            ("model.model-config.head-dim", Is("kv-channels")),
            ("model.model-config.vocab-size", Is("padded-vocab-size")),
            ("model.model-config.multi-latent-attention", Is("multi-latent-attention")),
            ("model.model-config.q-lora-rank", Is("q-lora-rank")),
            ("model.model-config.kv-lora-rank", Is("kv-lora-rank")),
            ("model.model-config.qk-nope-head-dim", Is("qk-head-dim")),
            ("model.model-config.qk-rope-head-dim", Is("qk-pos-emb-head-dim")),
            ("model.model-config.v-head-dim", Is("v-head-dim")),
            ("model.model-config.qk-layernorm", Is("qk-layernorm")),
            ("model.model-config.add-qkv-bias", Is("add-qkv-bias")),
            ("model.model-config.qkv-has-bias", Is("add-qkv-bias")),
            ("model.model-config.add-bias-linear", Unless("disable-bias-linear")),
            ("model.model-config.gated-linear-unit", Is("swiglu")),
            ("model.model-config.tie-word-embeddings",
                Unless("untie-embeddings-and-output-weights")),
            ("model.model-config.position-embedding-type", Is("position-embedding-type")),
            ("model.model-config.use-flash-attention", Is("use-flash-attn")),
            ("model.model-config.compute-dtype", Choice(DTYPE)),
            ("model.model-config.num-nextn-predict-layers", Is("mtp-num-layers")),
            ("model.model-config.pp-interleave-num", Is("num-virtual-stages-per-pipeline-rank")),
            ("model.model-config.n-routed-experts", Is("num-experts")),
            ("model.model-config.num-experts-per-tok", Is("moe-router-topk")),
            ("model.model-config.moe-intermediate-size", Is("moe-ffn-hidden-size")),
            ("model.model-config.moe-shared-expert-intermediate-size",
                Is("moe-shared-expert-intermediate-size")),
            ("model.model-config.n-shared-experts", Is("n-shared-experts")),
            ("model.model-config.first-k-dense-replace", Is("first-k-dense-replace")),
            ("model.model-config.n-group", Is("moe-router-num-groups")),
            ("model.model-config.topk-group", Is("moe-router-group-topk")),
            ("model.model-config.moe-grouped-gemm", Is("moe-grouped-gemm")),
            ("model.model-config.moe-permute-fusion", Is("moe-permute-fusion")),
            ("model.model-config.moe-token-dispatcher-type", Is("moe-token-dispatcher-type")),
            ("model.model-config.moe-router-load-balancing-type",
                Is("moe-router-load-balancing-type")),
            ("model.model-config.moe-aux-loss-coeff", Is("moe-aux-loss-coeff")),
            ("moe-config.expert-num", Is("num-experts")),
            ("moe-config.num-experts-chosen", Is("moe-router-topk")),
            ("moe-config.shared-expert-num", Is("n-shared-experts")),
            ("moe-config.first-k-dense-replace", Is("first-k-dense-replace")),
            ("moe-config.moe-intermediate-size", Is("moe-ffn-hidden-size")),
            ("moe-config.capacity-factor", Nothing("a bound on what experts take, not on loads")),
        ],
        defaults: &[
            ("swiglu", ""), ("disable-bias-linear", ""), ("position-embedding-type", "rope"),
            ("untie-embeddings-and-output-weights", ""), ("use-flash-attn", ""),
            // Experts lie over the ranks of TP, too: 4 x 8 ranks take `expert_parallel: 32` in its
            // configuration of DeepSeek-V3.
            ("expert-tensor-parallel-size", "1"),
        ],
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
            ("training.mixed-precision-param", Choice(DTYPE)),
            ("quantize.linear.float8.recipe-name", Choice(&[
                ("tensorwise", "mixed-precision-recipe", "fp8_tensorwise"),
            ])),
            ("quantize.linear.mx.recipe-name", Choice(&[
                ("mxfp8_cublas", "mixed-precision-recipe", "mxfp8"),
            ])),
            ("model.converters", Nothing("the converter's own section says more")),
            ("parallelism.data-parallel-shard-degree", Is("data-parallel-size")),
            ("parallelism.data-parallel-replicate-degree",
                Is("num-distributed-optimizer-instances")),
            ("parallelism.fsdp-reshard-after-forward", Choice(&[
                ("always", "data-parallel-sharding-strategy", "optim_grads_params"),
                ("never", "data-parallel-sharding-strategy", "optim_grads"),
                ("default", "", "as without being told"),
            ])),
            ("parallelism.tensor-parallel-degree", Is("tensor-model-parallel-size")),
            ("parallelism.pipeline-parallel-degree", Is("pipeline-model-parallel-size")),
            ("parallelism.pipeline-parallel-layers-per-stage",
                Is("num-layers-per-virtual-pipeline-stage")),
            ("parallelism.pipeline-parallel-microbatch-size",
                Nothing("a micro-batch is the local batch here")),
            ("parallelism.context-parallel-degree", Is("context-parallel-size")),
            ("parallelism.context-parallel-rotate-method", Choice(&[
                ("alltoall", "cp-comm-type", "p2p"), ("allgather", "cp-comm-type", "allgather"),
            ])),
            ("parallelism.expert-parallel-degree", Is("expert-model-parallel-size")),
            ("parallelism.expert-tensor-parallel-degree", Is("expert-tensor-parallel-size")),
            ("parallelism.pipeline-parallel-schedule", Choice(&[
                ("1F1B", "", "as without being told"),
                ("Interleaved1F1B", "virtual-pipeline-model-parallel-size", "2"),
                ("GPipe", "schedules-method", "gpipe"),
                ("ZBVZeroBubble", "schedules-method", "zbv"),
                ("DualPipeV", "schedules-method", "dualpipev"),
            ])),
            ("activation-checkpoint.mode", Choice(CHECKPOINT)),
            ("activation-checkpoint.selective-ac-option", Is("selective-ac-option")),
            ("optimizer.name", Is("optimizer")),
        ],
        defaults: &[
            ("data-parallel-sharding-strategy", "optim_grads_params"), ("bf16", ""),
            // Its experts: `torchtitan/models/moe` and `distributed/expert_parallel.py`.
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
            ("zero-optimization.offload-optimizer.device", Choice(OFFLOAD)),
            ("zero-optimization.offload-optimizer.ratio", Is("optimizer-offload-fraction")),
            ("zero-optimization.overlap-comm", Is("overlap-grad-reduce")),
            ("tensor-parallel.autotp-size", Is("tensor-model-parallel-size")),
            ("sequence-parallel-size", Is("context-parallel-size")),
            ("data-types.grad-accum-dtype", Is("main-grads-dtype")),
            ("steps-per-print", Nothing("logs: not part of a step")),
            ("moescape", Nothing("read as comments")),
        ],
        defaults: LLAMA,
    },
    // Accelerate. Source: docs/source/usage_guides/fsdp.md of huggingface/accelerate.
    Dialect {
        title: "Accelerate",
        markers: &[&["distributed_type:", "num_processes"]],
        strict: true,
        rows: &[
            ("num-processes", Is("world-size")), ("num-machines", Is("nnodes")),
            ("mixed-precision", Choice(&[
                ("bf16", "bf16", "true"), ("fp16", "fp16", "true"), ("fp8", "fp8-format", "hybrid"),
                ("no", "", "fp32, as without being told"),
            ])),
            ("fsdp-config.fsdp-reshard-after-forward", Choice(RESHARD)),
            ("fsdp-config.fsdp-sharding-strategy", Choice(SHARDING)),
            ("fsdp-config.fsdp-activation-checkpointing", Choice(RECOMPUTE)),
            ("deepspeed-config.zero-stage", Choice(SHARDING)),
            ("deepspeed-config.offload-optimizer-device", Choice(OFFLOAD)),
            ("deepspeed-config.gradient-accumulation-steps", Is("gradient-accumulation-steps")),
            ("megatron-lm-config.megatron-lm-tp-degree", Is("tensor-model-parallel-size")),
            ("megatron-lm-config.megatron-lm-pp-degree", Is("pipeline-model-parallel-size")),
            ("parallelism-config.parallelism-config-tp-size", Is("tensor-model-parallel-size")),
            ("parallelism-config.parallelism-config-cp-size", Is("context-parallel-size")),
            ("parallelism-config.parallelism-config-sp-size", Is("context-parallel-size")),
            ("parallelism-config.parallelism-config-cp-comm-strategy", Choice(&[
                ("alltoall", "cp-comm-type", "p2p"), ("allgather", "cp-comm-type", "allgather"),
            ])),
            ("parallelism-config.parallelism-config-sp-backend", Choice(&[
                ("deepspeed", "context-parallel-algo", "ulysses_cp_algo"),
            ])),
            ("compute-environment", Nothing(WHERE)), ("distributed-type", Nothing("read")),
            ("machine-rank", Nothing(WHERE)), ("main-training-function", Nothing(WHERE)),
            ("rdzv-backend", Nothing(WHERE)), ("same-network", Nothing(WHERE)),
            ("main-process-port", Nothing(WHERE)), ("main-process-ip", Nothing(WHERE)),
            ("use-cpu", Nothing(WHERE)), ("tpu-env", Nothing(WHERE)), ("debug", Nothing(WHERE)),
            ("tpu-use-cluster", Nothing(WHERE)), ("tpu-use-sudo", Nothing(WHERE)),
            ("downcast-bf16", Nothing(WHERE)), ("enable-cpu-affinity", Nothing(WHERE)),
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
            ("gated-linear-unit", Is("swiglu")), ("add-bias-linear", Unless("disable-bias-linear")),
            ("share-embeddings-and-output-weights", Unless("untie-embeddings-and-output-weights")),
            ("virtual-pipeline-model-parallel-size", Is("num-virtual-stages-per-pipeline-rank")),
            ("microbatch-group-size-per-vp-stage",
                Is("microbatch-group-size-per-virtual-pipeline-stage")),
            ("num-layers-in-first-pipeline-stage", Is("decoder-first-pipeline-num-layers")),
            ("num-layers-in-last-pipeline-stage", Is("decoder-last-pipeline-num-layers")),
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
