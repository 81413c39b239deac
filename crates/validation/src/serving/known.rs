//! Names of models and parts, as published runs of serving spell them.

/// A part: its id here, and the dies of what a source counts as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) accelerator: &'static str,
    pub(super) dies: u64,
}

/// The first of these whose words are all in a name counts.
const PARTS: &[(&[&str], &str, u64)] = &[
    (&["gb300"], "gb300", 1),
    (&["gb200"], "gb200", 1),
    (&["b300"], "b300", 1),
    (&["b200"], "b200", 1),
    (&["h800"], "h800-sxm-80gb", 1),
    (&["h200"], "h200-sxm-141gb", 1),
    (&["h20"], "h20", 1),
    (&["h100"], "h100-sxm-80gb", 1),
    (&["a100", "40gb"], "a100-sxm-40gb", 1),
    (&["a100"], "a100-sxm-80gb", 1),
    (&["2 dies"], "ascend-910c", 2),
    (&["800i a2"], "ascend-910b3", 1),
    (&["a2 (npu)"], "ascend-910b3", 1),
    (&["300i duo"], "ascend-300i-duo", 2),
];

/// The part of a name, hosts and offloading not among them.
pub(super) fn part(name: &str) -> Option<Part> {
    let name = name.to_lowercase();
    if name.contains('+') {
        return None;
    }
    let is_it = |(words, ..): &&(&[&str], _, _)| words.iter().all(|word| name.contains(word));
    PARTS.iter().find(is_it).map(|(_, accelerator, dies)| Part { accelerator, dies: *dies })
}

type Sizes = &'static [(&'static str, &'static str)];

/// The first of these whose words are all in a name counts: a preset, and sizes that differ from
/// it.
const MODELS: &[(&[&str], &str, Sizes)] = &[
    (&["minimax-m2"], "minimax-m2", &[]),
    (&["qwen3-235b"], "qwen3-235b-a22b", &[]),
    (&["qwen3-30b"], "qwen3-30b-a3b", &[]),
    (&["qwen3-32b"], "qwen3-32b", &[]),
    (&["qwen3-next"], "qwen3-next-80b-a3b", &[]),
    (
        &["qwen3-coder-480b"],
        "qwen3-235b-a22b",
        &[
            ("num_layers", "62"),
            ("hidden_size", "6144"),
            ("num_attention_heads", "96"),
            ("num_query_groups", "8"),
            ("num_moe_experts", "160"),
            ("moe_ffn_hidden_size", "2560"),
        ],
    ),
    (
        &["qwen3.5-397b"],
        "qwen3-next-80b-a3b",
        &[
            ("num_layers", "60"),
            ("hidden_size", "4096"),
            ("num_attention_heads", "32"),
            ("linear_num_value_heads", "64"),
            ("moe_ffn_hidden_size", "1024"),
            ("moe_shared_expert_intermediate_size", "1024"),
            ("vocab_size", "248320"),
        ],
    ),
    (&["deepseek-v3.2"], "deepseek-v3.2", &[]),
    (&["deepseek-v3"], "deepseek-v3", &[]),
    (&["deepseek-r1"], "deepseek-v3", &[]),
    (&["deepseek-v4-flash"], "deepseek-v4-flash", &[]),
    (&["deepseek-v4-pro"], "deepseek-v4-pro", &[]),
    (&["glm-5"], "glm-5", &[]),
    (&["longcat-flash-lite"], "", &[]),
    (&["longcat-flash"], "longcat-flash", &[]),
    (&["kimi-k2"], "kimi-k2", &[]),
    (&["llama-4-scout"], "llama4-scout", &[]),
    (&["llama-4-maverick"], "llama4-maverick", &[]),
    (&["llama-3", "405b"], "llama-3.1-405b", &[]),
    (&["llama-3", "70b"], "llama-3-70b", &[]),
    (&["llama-3", "8b"], "llama-3-8b", &[]),
    (&["llama2-70b"], "llama-3-70b", &[("vocab_size", "32000")]),
    (
        &["llama2-7b"],
        "llama-3-8b",
        &[("num_query_groups", "32"), ("ffn_hidden_size", "11008"), ("vocab_size", "32000")],
    ),
    (
        &["llama2-13b"],
        "llama-3-8b",
        &[
            ("num_layers", "40"),
            ("hidden_size", "5120"),
            ("num_attention_heads", "40"),
            ("num_query_groups", "40"),
            ("ffn_hidden_size", "13824"),
            ("vocab_size", "32000"),
        ],
    ),
    (
        &["internlm-20b"],
        "llama-3-8b",
        &[
            ("num_layers", "60"),
            ("hidden_size", "5120"),
            ("num_attention_heads", "40"),
            ("num_query_groups", "40"),
            ("ffn_hidden_size", "13824"),
            ("vocab_size", "103168"),
        ],
    ),
    (&["mixtral-8x7b"], "mixtral-8x7b", &[]),
    (&["gpt-oss-120b"], "gpt-oss-120b", &[]),
    (&["gpt-oss-20b"], "gpt-oss-20b", &[]),
    (&["pangu pro moe"], "pangu-pro-moe-72b", &[]),
    (&["dense 32b"], "qwen3-32b", &[]),
    (&["dense 72b"], "llama-3-70b", &[("ffn_hidden_size", "29568"), ("vocab_size", "152064")]),
];

/// The model of a name, as a preset and the sizes that differ.
pub(super) fn model(name: &str) -> Option<(&'static str, Sizes)> {
    let name = name.to_lowercase();
    let is_it = |(words, ..): &&(&[&str], _, _)| words.iter().all(|word| name.contains(word));
    let (_, preset, sizes) = MODELS.iter().find(is_it)?;
    (!preset.is_empty()).then_some((*preset, *sizes))
}
