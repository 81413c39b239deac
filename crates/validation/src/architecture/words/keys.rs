//! What configuration files call a size.

/// A size of an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Layers,
    /// Layers before the first MoE layer.
    DenseFirst,
    Hidden,
    Heads,
    Groups,
    HeadDim,
    Ffn,
    Experts,
    TopK,
    ExpertFfn,
    Shared,
    Vocab,
    Window,
    /// Every so many-th layer has no window.
    FullEvery,
    Mtp,
    /// Heads of MLA.
    MlaHeads,
    QRank,
    KvRank,
    NopeDim,
    RopeDim,
    VDim,
}

/// Names in lower case with underscores: Hugging Face and nanotron, Megatron, MaxText, torchtitan,
/// llm-foundry, DeepSeek, and the short words of the tables themselves.
#[rustfmt::skip]
const NAMES: &[(Field, &[&str])] = &[
    (Field::Layers, &[
        "num_hidden_layers", "num_layers", "n_layers", "n_layer", "nlayers", "layers", "nl",
        "num_decoder_layers", "base_num_decoder_layers",
    ]),
    (Field::DenseFirst, &["first_k_dense_replace", "n_dense_layers", "first_num_dense_layers"]),
    (Field::Hidden, &[
        "hidden_size", "hidden_dim", "hidden", "d_model", "dmodel", "dim", "emb_dim",
        "base_emb_dim", "model_dim", "n_embd", "embed_dim", "hid", "hs",
    ]),
    (Field::Heads, &[
        "num_attention_heads", "num_heads", "n_heads", "n_head", "nheads", "heads", "q_heads", "nh",
        "num_query_heads", "base_num_query_heads",
    ]),
    (Field::Groups, &[
        "num_key_value_heads", "num_kv_heads", "n_kv_heads", "kv_n_heads", "kv_heads", "n_kv",
        "kv", "nkv", "gqa", "base_num_kv_heads", "num_query_groups", "multi_query_group_num",
    ]),
    (Field::HeadDim, &["head_dim", "kv_channels", "hd", "d_head", "head_size"]),
    (Field::Ffn, &[
        "intermediate_size", "ffn_hidden_size", "ffn_dim", "ffn", "dense_ffn", "mlp_dim",
        "base_mlp_dim", "d_ff", "inter_dim", "mlp_hidden_size", "inter", "intermediate",
    ]),
    (Field::Experts, &[
        "num_experts", "n_experts", "n_routed_experts", "num_local_experts", "num_moe_experts",
        "moe_num_experts", "routed_experts", "experts",
    ]),
    (Field::TopK, &[
        "num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_router_topk",
        "moe_topk", "moe_top_k", "top_k", "topk", "top",
    ]),
    (Field::ExpertFfn, &[
        "moe_intermediate_size", "moe_ffn_hidden_size", "moe_ffn", "base_moe_mlp_dim",
        "moe_inter_dim", "expert_ffn",
    ]),
    (Field::Shared, &[
        "n_shared_experts", "num_shared_experts", "shared_experts", "shared",
        "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
    ]),
    (Field::Vocab, &["vocab_size", "padded_vocab_size", "n_vocab", "vocab", "vocabulary"]),
    (Field::Window, &["sliding_window", "window_size", "swa"]),
    (Field::FullEvery, &["full_every", "window_attn_skip_freq", "sliding_window_pattern"]),
    (Field::Mtp, &["mtp_num_layers", "num_nextn_predict_layers", "mtp"]),
    (Field::MlaHeads, &["mla"]),
    (Field::QRank, &["q_lora_rank", "q_lora"]),
    (Field::KvRank, &["kv_lora_rank", "kv_lora"]),
    (Field::NopeDim, &["qk_nope_head_dim", "qk_head_dim"]),
    (Field::RopeDim, &["qk_rope_head_dim", "qk_pos_emb_head_dim"]),
    (Field::VDim, &["v_head_dim"]),
];

/// Names of two words, and the name that each becomes.
const PHRASES: &[(&str, &str)] = &[
    ("hidden size", "hidden_size"),
    ("hidden dim", "hidden_size"),
    ("model dim", "hidden_size"),
    ("intermediate size", "intermediate_size"),
    ("ffn hidden", "ffn"),
    ("ffn size", "ffn"),
    ("ffn dim", "ffn"),
    ("head dim", "head_dim"),
    ("head size", "head_size"),
    ("kv heads", "kv_heads"),
    ("key-value heads", "kv_heads"),
    ("query heads", "heads"),
    ("attention heads", "heads"),
    ("vocab size", "vocab_size"),
    ("expert ffn", "expert_ffn"),
    ("shared experts", "shared_experts"),
    ("shared expert", "shared_experts"),
    ("routed experts", "routed_experts"),
    ("top k", "topk"),
];

/// Joins names of two words, whatever their case.
pub(super) fn join_phrases(text: &mut String) {
    for (phrase, name) in PHRASES {
        while let Some(at) = text.to_ascii_lowercase().find(phrase) {
            text.replace_range(at..at + phrase.len(), name);
        }
    }
}

/// Keys that change neither parameters nor FLOPs.
#[rustfmt::skip]
pub(super) const IGNORED: &[&str] = &[
    "max_position_embeddings", "max_seq_len", "max_sequence_length", "seq_length", "seq_len",
    "rope_theta", "rms_norm_eps", "norm_eps", "initializer_range", "model_type", "norm",
    "normalization", "position_embedding_type", "pos_emb", "torch_dtype", "dtype",
];

/// The size that a name means.
pub(super) fn field(name: &str) -> Option<Field> {
    NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(field, _)| *field)
}

/// The size that a single letter means; case counts.
pub(super) fn letter(name: &str) -> Option<Field> {
    match name {
        "L" => Some(Field::Layers),
        "h" => Some(Field::Hidden),
        "E" => Some(Field::Experts),
        "V" => Some(Field::Vocab),
        "v" => Some(Field::VDim),
        _ => None,
    }
}
