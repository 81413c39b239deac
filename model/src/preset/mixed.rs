//! Published architectures whose layers differ by what mixes their tokens, from their
//! configuration files; cluster and strategy below them are ours, as in `models`.

use super::{Preset, PresetKind};
use crate::source::{GEMMA_3, GPT_OSS};

#[rustfmt::skip]
static GPT_OSS_120B: Preset = Preset {
    id: "gpt-oss-120b",
    title: "gpt-oss-120b",
    story: "A window of 128 tokens in every second layer, sinks, 128 experts top-4",
    kind: PresetKind::Model,
    base: None,
    settings: &[
        ("num_layers", "36"), ("hidden_size", "2880"), ("ffn_hidden_size", "2880"),
        ("num_attention_heads", "64"), ("num_query_groups", "8"), ("kv_channels", "64"),
        ("add_qkv_bias", "true"), ("add_bias_linear", "true"), ("softmax_type", "learnable"),
        ("window_size", "128"), ("window_attn_skip_freq", "2"), ("vocab_size", "201088"),
        ("num_moe_experts", "128"), ("moe_router_topk", "4"), ("moe_ffn_hidden_size", "2880"),
        ("accelerator", "h100-sxm-80gb"), ("num_devices", "64"),
        ("expert_model_parallel_size", "32"), ("moe_token_dispatcher_type", "flex"),
        ("recompute_granularity", "full"), ("global_batch_size", "512"),
    ],
    source: GPT_OSS,
    refused: None,
};

#[rustfmt::skip]
static GPT_OSS_20B: Preset = Preset {
    id: "gpt-oss-20b",
    title: "gpt-oss-20b",
    story: "gpt-oss-120b's layers, two thirds as many, with a quarter of the experts",
    kind: PresetKind::Model,
    base: Some(&GPT_OSS_120B),
    settings: &[
        ("num_layers", "24"), ("num_moe_experts", "32"), ("num_devices", "8"),
        ("expert_model_parallel_size", "8"), ("global_batch_size", "128"),
    ],
    source: GPT_OSS,
    refused: None,
};

#[rustfmt::skip]
static GEMMA_3_27B: Preset = Preset {
    id: "gemma-3-27b",
    title: "Gemma 3 27B",
    story: "Dense, a window of 1,024 tokens in five layers of six",
    kind: PresetKind::Model,
    base: None,
    settings: &[
        ("num_layers", "62"), ("hidden_size", "5376"), ("ffn_hidden_size", "21504"),
        ("num_attention_heads", "32"), ("num_query_groups", "16"), ("kv_channels", "128"),
        ("qk_layernorm", "true"), ("sandwich_norm", "true"), ("window_size", "1024"),
        ("window_attn_skip_freq", "6"), ("vocab_size", "262208"),
        ("untie_embeddings_and_output_weights", "false"), ("accelerator", "h100-sxm-80gb"),
        ("num_devices", "64"), ("tensor_model_parallel_size", "4"), ("sequence_parallel", "true"),
        ("seq_length", "8192"), ("global_batch_size", "128"),
    ],
    source: GEMMA_3,
    refused: None,
};

pub(super) static MODELS: &[&Preset] = &[&GPT_OSS_120B, &GPT_OSS_20B, &GEMMA_3_27B];
