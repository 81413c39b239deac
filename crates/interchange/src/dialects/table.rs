//! The tables of frameworks that pre-train and fine-tune.

use super::Dialect;
use super::To::{Argument as Is, Choice, Nothing};
use super::words::{DTYPE, PRECISION, RECOMPUTE, SHARDING};

const LEARNING: &str = "how the model learns, not how long a step takes";

/// The dialect whose models are dense where they have one expert.
pub(super) const NEOX: &str = "GPT-NeoX";

pub(super) const LLM_FOUNDRY: &str = "llm-foundry";

/// The dialect with the words of ms-swift beside Megatron's.
pub(super) const MEGATRON_SWIFT: &str = "ms-swift's Megatron";

pub(super) const AUTOMODEL: &str = "NeMo AutoModel";

/// A Llama's layers, which several frameworks take without being told.
pub(super) const LLAMA: &[(&str, &str)] = &[
    ("swiglu", ""),
    ("disable-bias-linear", ""),
    ("position-embedding-type", "rope"),
    ("untie-embeddings-and-output-weights", ""),
    ("use-flash-attn", ""),
];

/// Every dialect, the most particular first.
#[rustfmt::skip]
pub(super) static DIALECTS: &[Dialect] = &[
    // ms-swift. Source: docs/source_en/Megatron-SWIFT/Command-line-parameters.md.
    Dialect {
        title: MEGATRON_SWIFT,
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
            ("recompute-granularity", "selective"), ("cross-entropy-loss-fusion", ""),
            // It isn't taken from config.json.
            ("mtp-num-layers", "0"),
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
    // NeMo AutoModel. Source: examples/llm_finetune and nemo_automodel/recipes of
    // NVIDIA-NeMo/Automodel.
    Dialect {
        title: AUTOMODEL,
        markers: &[&["nemo_automodel"], &["step_scheduler:", "local_batch_size:"]],
        strict: true,
        rows: &[
            ("model.pretrained-model-name-or-path", Is("model")),
            ("step-scheduler.global-batch-size", Is("global-batch-size")),
            ("step-scheduler.local-batch-size", Is("micro-batch-size")),
            ("distributed.tp-size", Is("tensor-model-parallel-size")),
            ("distributed.cp-size", Is("context-parallel-size")),
            ("distributed.pp-size", Is("pipeline-model-parallel-size")),
            ("distributed.ep-size", Is("expert-model-parallel-size")),
            ("distributed.dp-replicate-size", Is("num-distributed-optimizer-instances")),
            ("distributed.sequence-parallel", Is("sequence-parallel")),
            ("distributed.activation-checkpointing", Choice(RECOMPUTE)),
            ("distributed.strategy", Choice(&[
                ("fsdp2", "data-parallel-sharding-strategy", "optim_grads_params"),
                ("megatron_fsdp", "data-parallel-sharding-strategy", "optim_grads_params"),
                ("ddp", "data-parallel-sharding-strategy", "no_shard"),
            ])),
            ("packed-sequence.packed-sequence-size", Is("seq-length")),
            ("dataset.seq-length", Is("seq-length")), ("dataset.seq-len", Is("seq-length")),
            ("model.torch-dtype", Choice(DTYPE)), ("peft.dim", Is("lora-rank")),
        ],
        defaults: &[
            ("data-parallel-sharding-strategy", "optim_grads_params"), ("bf16", ""),
            ("use-flash-attn", ""),
        ],
    },
    // GPT-NeoX. Source: megatron/neox_arguments/neox_args.py of EleutherAI/gpt-neox.
    Dialect {
        title: NEOX,
        markers: &[&["pipe_parallel_size"], &["pipe-parallel-size"]],
        strict: false,
        rows: &[
            ("pipe-parallel-size", Is("pipeline-model-parallel-size")),
            ("model-parallel-size", Is("tensor-model-parallel-size")),
            ("pos-emb", Is("position-embedding-type")),
            ("no-weight-tying", Is("untie-embeddings-and-output-weights")),
            ("moe-num-experts", Is("num-experts")), ("moe-top-k", Is("moe-router-topk")),
            ("moe-expert-interval", Is("moe-layer-freq")),
            ("expert-interval", Is("moe-layer-freq")),
            ("moe-expert-parallel-size", Is("expert-model-parallel-size")),
            ("moe-loss-coeff", Is("moe-aux-loss-coeff")), ("moe-glu", Is("swiglu")),
            ("moe-token-dropping", Nothing("a bound on what experts take, not on loads")),
            ("moe-train-capacity-factor", Nothing("a bound on what experts take, not on loads")),
            ("moe-eval-capacity-factor", Nothing("evaluation: not part of a step")),
            ("moe-min-capacity", Nothing("a bound on what experts take, not on loads")),
            ("moe-router-type", Nothing(LEARNING)), ("moe-type", Nothing(LEARNING)),
            ("moe-lbl-in-fp32", Nothing(LEARNING)), ("moe-jitter-eps", Nothing(LEARNING)),
            ("moe-use-residual", Nothing(LEARNING)),
            ("enable-expert-tensor-parallelism", Nothing("TP splits each expert, as it does")),
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
            ("gas", Is("gradient-accumulation-steps")),
            // DeepSpeed's launcher. Source: megatron/neox_arguments/deepspeed_args.py.
            ("num-gpus", Is("nproc-per-node")),
            ("num-nodes", Is("nnodes")),
            ("norm", Is("normalization")),
            ("gpt-j-residual", Nothing("the same work, in parallel")),
            ("rotary-pct", Is("rotary-percent")),
            ("activation", Choice(&[
                ("gelu", "", "two matrices, as without being told"),
                ("swiglu", "swiglu", "true"), ("geglu", "geglu", "true"),
            ])),
        ],
        defaults: &[("tokenizer-type", "GPT2BPETokenizer")],
    },
];
