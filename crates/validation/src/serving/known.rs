//! Names of models and parts, as published runs of serving spell them.

use model::catalogue::accelerator::AcceleratorId;
use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::ground::knob::KnobError;

/// A part: its id here, and the dies of what a source counts as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) accelerator: AcceleratorId,
    pub(super) dies: u64,
}

/// The part of a name, hosts and offloading not among them.
pub(super) fn part(name: &str) -> Option<Part> {
    if name.contains('+') {
        return None;
    }
    let accelerator = AcceleratorId::named_in(name)?;
    let has_two = name.contains("2 dies") || accelerator == AcceleratorId::Ascend300iDuo;
    // Of CloudMatrix some count the dies, some the cards.
    if accelerator == AcceleratorId::Ascend910c && !has_two {
        return None;
    }
    let dies = if has_two { 2 } else { 1 };
    Some(Part { accelerator, dies })
}

type Sizes = &'static [(&'static str, &'static str)];

/// Models without a preset of their own, by a word of their names: the preset that each is nearest
/// to, and the sizes that differ from it. Without a preset the sizes aren't known.
const MODELS: &[(&str, &str, Sizes)] = &[
    (
        "qwen3-coder-480b",
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
        "qwen3.5-397b",
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
    // Without the active size; `Qwen3-30B` of training is read by its printed sizes.
    ("qwen3-235b", "qwen3-235b-a22b", &[]),
    ("qwen3-30b", "qwen3-30b-a3b", &[]),
    ("longcat-flash-lite", "", &[]),
    // Trained further, of the same sizes.
    ("deepseek-v3.1", "deepseek-v3", &[]),
    ("llama2-70b", "llama-3-70b", &[("vocab_size", "32000")]),
    (
        "llama2-7b",
        "llama-3-8b",
        &[("num_query_groups", "32"), ("ffn_hidden_size", "11008"), ("vocab_size", "32000")],
    ),
    (
        "llama2-13b",
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
        "internlm-20b",
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
    ("dense 32b", "qwen3-32b", &[]),
    ("dense 72b", "llama-3-70b", &[("ffn_hidden_size", "29568"), ("vocab_size", "152064")]),
];

/// The model of a name, as its preset's design with the sizes that differ.
pub(super) fn design(name: &str) -> Result<Design, String> {
    let error = |error: KnobError| error.to_string();
    let lower = name.to_lowercase();
    let own = MODELS.iter().find(|(word, ..)| lower.contains(word));
    let preset = match own {
        Some((_, preset, _)) => Preset::find(preset).ok(),
        None => Preset::named_in(name),
    };
    let mut design = preset.ok_or("its model has no sizes here")?.design();
    for (knob, value) in own.map_or(&[][..], |(.., sizes)| sizes) {
        design.set_text(KnobId::find(knob).map_err(error)?, value).map_err(error)?;
    }
    Ok(design)
}
