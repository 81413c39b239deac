//! The tables of frameworks on Ascend devices.

use super::Dialect;
use super::To::{Argument as Is, Choice, Nothing, Unless};
use super::words::{DTYPE, RECOMPUTE};

/// The dialect whose stages recompute layers by number.
pub(super) const MINDFORMERS: &str = "MindFormers";

/// Every dialect, the most particular first.
#[rustfmt::skip]
pub(super) static DIALECTS: &[Dialect] = &[
    // MindSpeed-LLM's trainer of FSDP2. Source: mindspeed_llm/fsdp2/utils/arguments.py of
    // Ascend/MindSpeed-LLM.
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
                ("kvallgather", "cp-comm-type", "allgather"),
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
        defaults: &[
            ("data-parallel-sharding-strategy", "optim_grads_params"), ("bf16", ""),
            ("use-flash-attn", ""), ("moe-token-dispatcher-type", "alltoall"),
        ],
    },
    // MindFormers. Source: mindformers/tools/register/template.py and models/*/config.
    Dialect {
        title: MINDFORMERS,
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
            ("use-parallel", Nothing("taken as it is")), ("run-mode", Is("run-mode")),
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
];
