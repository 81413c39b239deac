//! The tables of frameworks on JAX.

use super::Dialect;
use super::To::{Argument as Is, Choice, Nothing, Unless};
use super::words::PRECISION;

pub(super) const TITLE: &str = "MaxText";
pub(super) const LEVANTER: &str = "Levanter";

const LEARNING: &str = "how the model learns, not how long a step takes";
const RUN: &str = "data, checkpoints and logs: not part of a step";
const KERNEL: &str = "a kernel or a detail that isn't told apart";
const SAME: &str = "which layers these are, which their sizes say";
const MESH: &str = "read with the other axes of the mesh";

/// Recomputation by MaxText's remat policies: policies that keep some products are selective.
const REMAT: &[(&str, &str, &str)] = &[
    ("full", "recompute-granularity", "full"),
    ("none", "", "nothing is recomputed"),
    ("minimal", "recompute-granularity", "selective"),
    ("minimal_flash", "recompute-granularity", "selective"),
    ("minimal_with_context", "recompute-granularity", "selective"),
    ("minimal_with_quantization", "recompute-granularity", "selective"),
    ("minimal_with_context_and_quantization", "recompute-granularity", "selective"),
    ("minimal_offloaded", "recompute-granularity", "selective"),
    ("save_dot_except_mlp", "recompute-granularity", "selective"),
    ("save_dot_except_mlpwi", "recompute-granularity", "selective"),
    ("save_dot_with_context_except_mlp", "recompute-granularity", "selective"),
    ("save_qkv_proj", "recompute-granularity", "full"),
    ("save_out_proj", "recompute-granularity", "full"),
    ("qkv_proj_offloaded", "recompute-granularity", "full"),
];

/// Models whose names say their size where others' say a version.
///
/// Source: AI-Hypercomputer/maxtext, `src/maxtext/configs/models`.
pub(super) const MODELS: [(&str, &str); 9] = [
    ("deepseek2-16b", "deepseek-v2-lite"),
    ("deepseek2-236b", "deepseek-v2"),
    ("deepseek3.2-671b", "deepseek-v3.2"),
    ("deepseek4-284b", "deepseek-v4-flash"),
    ("kimi-k2-1t", "kimi-k2"),
    ("olmo3-7b-pt", "olmo-3-7b"),
    ("qwen3-480b-a35b", "qwen3-coder-480b-a35b"),
    ("llama4-17b-16e", "llama-4-scout-17b-16e"),
    ("llama4-17b-128e", "llama-4-maverick-17b-128e"),
];

/// Every dialect.
#[rustfmt::skip]
pub(super) static DIALECTS: &[Dialect] = &[
    // MaxText. Source: AI-Hypercomputer/maxtext, src/maxtext/configs/base.yml and types.py.
    Dialect {
        title: TITLE,
        markers: &[
            &["base_num_decoder_layers"], &["base_emb_dim"], &["ici_fsdp_parallelism"],
            &["ici_tensor_parallelism"], &["ici_expert_parallelism"], &["dcn_data_parallelism"],
            &["per_device_batch_size", "max_target_length"],
            &["per_device_batch_size=", "base.yml"], &["-m maxtext.", "base.yml"],
            &["-m MaxText.", "base.yml"], &["MaxText/train.py"],
            &["-m maxtext.trainers."],
        ],
        strict: false,
        rows: &[
            ("model-name", Is("model")), ("base-emb-dim", Is("hidden-size")),
            ("run-name", Is("run-name")), ("pre-trainer.framework", Nothing("which trainer runs")),
            ("pre-trainer.model", Is("model")),
            ("base-num-decoder-layers", Is("num-layers")), ("base-mlp-dim", Is("ffn-hidden-size")),
            ("base-moe-mlp-dim", Is("moe-ffn-hidden-size")),
            ("base-num-query-heads", Is("num-attention-heads")),
            ("base-num-kv-heads", Is("num-query-groups")), ("head-dim", Is("kv-channels")),
            ("num-experts", Is("num-experts")), ("num-experts-per-tok", Is("moe-router-topk")),
            ("shared-experts", Is("n-shared-experts")),
            ("first-num-dense-layers", Is("first-k-dense-replace")),
            ("n-routing-groups", Is("n-group")), ("topk-routing-group", Is("topk-group")),
            ("attention-type", Choice(&[
                ("mla", "multi-latent-attention", "true"),
                ("global", "", "every token sees all before it"),
                ("local_sliding", "", "the window says how far tokens look back"),
                ("chunk", "", "the window says how far tokens look back"),
            ])),
            ("sliding-window-size", Is("window-size")), ("use-qk-norm", Is("qk-layernorm")),
            ("attention-bias", Is("add-qkv-bias")),
            ("logits-via-embedding", Unless("untie-embeddings-and-output-weights")),
            ("decoder-block", Nothing(SAME)), ("mlp-activations", Nothing(SAME)),
            ("mtp-num-layers", Is("mtp-num-layers")),
            ("per-device-batch-size", Is("micro-batch-size")),
            ("max-target-length", Is("seq-length")),
            ("gradient-accumulation-steps", Is("gradient-accumulation-steps")),
            ("ici-data-parallelism", Nothing(MESH)), ("dcn-data-parallelism", Nothing(MESH)),
            ("ici-fsdp-parallelism", Nothing(MESH)), ("dcn-fsdp-parallelism", Nothing(MESH)),
            ("ici-fsdp-transpose-parallelism", Nothing(MESH)),
            ("dcn-fsdp-transpose-parallelism", Nothing(MESH)),
            ("ici-tensor-parallelism", Nothing(MESH)), ("dcn-tensor-parallelism", Nothing(MESH)),
            ("ici-tensor-transpose-parallelism", Nothing(MESH)),
            ("ici-tensor-sequence-parallelism", Nothing(MESH)),
            ("ici-pipeline-parallelism", Nothing(MESH)),
            ("dcn-pipeline-parallelism", Nothing(MESH)),
            ("ici-expert-parallelism", Nothing(MESH)), ("dcn-expert-parallelism", Nothing(MESH)),
            ("ici-context-parallelism", Nothing(MESH)),
            ("dcn-context-parallelism", Nothing(MESH)),
            ("ici-sequence-parallelism", Nothing(MESH)),
            ("dcn-sequence-parallelism", Nothing(MESH)),
            ("num-slices", Nothing(MESH)), ("mesh-axes", Nothing(MESH)),
            ("num-layers-per-pipeline-stage", Is("num-layers-per-virtual-pipeline-stage")),
            ("base-config", Nothing(RUN)), ("remat-policy", Choice(REMAT)),
            ("dtype", Choice(PRECISION)), ("weight-dtype", Nothing(KERNEL)),
            ("opt-type", Is("optimizer")),
            ("quantization", Choice(&[
                ("fp8", "fp8-format", "hybrid"), ("fp8_full", "fp8-format", "hybrid"),
                ("te_fp8_delayedscaling", "mixed-precision-recipe", "fp8_delayed"),
                ("te_fp8_currentscaling", "mixed-precision-recipe", "fp8_tensorwise"),
                ("te_mxfp8", "mixed-precision-recipe", "mxfp8"), ("", "", "none"),
            ])),
            ("attention", Choice(&[
                ("dot_product", "attention-backend", "unfused"),
                ("flash", "attention-backend", "flash"),
                ("cudnn_flash_te", "attention-backend", "flash"),
                ("autoselected", "attention-backend", "auto"),
            ])),
            ("megablox", Nothing(KERNEL)), ("sparse-matmul", Nothing(KERNEL)),
            ("scan-layers", Nothing(KERNEL)), ("capacity-factor", Nothing(KERNEL)),
            ("load-balance-loss-weight", Nothing(LEARNING)), ("steps", Nothing(LEARNING)),
            ("learning-rate", Nothing(LEARNING)), ("normalization-layer-epsilon", Nothing(SAME)),
            ("routed-scaling-factor", Nothing(LEARNING)),
            ("routed-score-func", Nothing(LEARNING)), ("routed-bias", Nothing(LEARNING)),
            ("norm-topk-prob", Nothing(LEARNING)), ("rope-type", Nothing(SAME)),
            ("rope-max-timescale", Nothing(SAME)), ("rope-factor", Nothing(SAME)),
            ("rope-theta", Nothing(SAME)), ("mscale", Nothing(SAME)),
            ("max-position-embeddings", Nothing(SAME)),
            ("original-max-position-embeddings", Nothing(SAME)),
            ("enable-checkpointing", Nothing(RUN)), ("async-checkpointing", Nothing(RUN)),
            ("dataset-type", Nothing(RUN)), ("dataset-path", Nothing(RUN)),
            ("base-output-directory", Nothing(RUN)), ("tokenizer-path", Nothing(RUN)),
            ("hardware", Nothing("the accelerator, which is asked for")),
            ("enable-goodput-recording", Nothing(RUN)), ("profiler", Nothing(RUN)),
            ("reuse-example-batch", Nothing(RUN)), ("log-period", Nothing(RUN)),
            ("use-iota-embed", Nothing(KERNEL)),
        ],
        defaults: &[
            ("data-parallel-sharding-strategy", "optim_grads_params"), ("bf16", ""),
            ("mtp-num-layers", "0"), ("swiglu", ""), ("disable-bias-linear", ""),
            ("position-embedding-type", "rope"),
            ("untie-embeddings-and-output-weights", ""), ("recompute-granularity", "full"),
            ("use-flash-attn", ""), ("moe-grouped-gemm", ""),
            ("moe-token-dispatcher-type", "alltoall"), ("overlap-grad-reduce", ""),
            ("overlap-param-gather", ""), ("seq-length", "2048"), ("micro-batch-size", "12"),
            ("vocab-size", "32000"),
        ],
    },
    // Levanter. Source: marin-community/levanter, src/levanter/models/llama.py and trainer.py.
    Dialect {
        title: LEVANTER,
        markers: &[&["levanter"], &["per_device_parallelism", "trainer:"]],
        strict: true,
        rows: &[
            ("model.hidden-dim", Is("hidden-size")), ("model.num-layers", Is("num-layers")),
            ("model.intermediate-dim", Is("ffn-hidden-size")),
            ("model.num-heads", Is("num-attention-heads")),
            ("model.num-kv-heads", Is("num-query-groups")), ("model.head-dim", Is("kv-channels")),
            ("model.seq-len", Is("seq-length")), ("model.max-seq-len", Is("seq-length")),
            ("train-seq-len", Is("seq-length")), ("model.n-routed-experts", Is("num-experts")),
            ("model.num-experts-per-tok", Is("moe-router-topk")),
            ("model.tie-word-embeddings", Unless("untie-embeddings-and-output-weights")),
            ("initialize-from-hf", Is("model")), ("trainer.ray", Nothing(RUN)),
            ("trainer.train-batch-size", Is("global-batch-size")),
            ("trainer.per-device-parallelism", Is("micro-batch-size")),
            ("model.type", Nothing(SAME)), ("trainer.mp", Nothing("a detail of mixed precision")),
        ],
        defaults: &[
            ("data-parallel-sharding-strategy", "optim_grads_params"), ("bf16", ""),
            ("swiglu", ""), ("disable-bias-linear", ""), ("position-embedding-type", "rope"),
            ("untie-embeddings-and-output-weights", ""), ("recompute-granularity", "full"),
            ("use-flash-attn", ""), ("mtp-num-layers", "0"),
        ],
    },
];

/// Whether a name sets anything of a step in MaxText's words.
pub(super) fn is_word(name: &str) -> bool {
    let rows = DIALECTS.iter().flat_map(|dialect| dialect.rows);
    let mut own = rows.filter(|(_, to)| !matches!(to, Nothing(_)));
    own.any(|(row, _)| *row == name)
}
