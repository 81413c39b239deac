//! Which layers have linear attention, and its sizes.

use model::design::KnobId;
use model::design::file::Tree;

use super::Config;
use crate::launch::pattern;

/// Layers whose kind is listed, at most.
const MAX_LAYERS: u64 = 1_000;

/// Reads linear attention where the architecture has some.
pub(super) fn read(config: &mut Config<'_>) {
    let variant = variant(config);
    if variant.is_empty() || config.draft.design.transformer.is_hybrid() {
        return;
    }
    let Some((flags, keys)) = layers(config) else { return };
    if !flags.contains(&true) {
        return;
    }
    let knob = KnobId::experimental_attention_variant;
    config.assume(knob, variant, "as this architecture's models have, no key says it");
    let every = flags.iter().position(|is_linear| !is_linear).map_or(0, |first| first + 1);
    let is_regular = |(layer, is_linear): (usize, &bool)| {
        every > 0 && *is_linear != (layer + 1).is_multiple_of(every)
    };
    let text = if flags.iter().enumerate().all(is_regular) {
        every.to_string()
    } else {
        pattern(flags.into_iter())
    };
    if keys.is_empty() {
        let detail = "as this architecture's models are, no key says it";
        config.assume(KnobId::linear_attention_freq, &text, detail);
    } else {
        config.set(KnobId::linear_attention_freq, &text, keys);
    }
    sizes(config, variant);
}

/// The linear attention that the architecture has, by its name or by its sizes: those of a gated
/// delta net have keys of their own.
pub(super) fn variant(config: &Config<'_>) -> &'static str {
    let sizes = ["linear_num_key_heads", "linear_num_value_heads", "linear_value_head_dim"];
    let is_listed = matches!(config.get("layer_types"), Some(Tree::List(_)));
    match config.family.linear {
        "" if is_listed && sizes.iter().all(|key| config.get(key).is_some()) => "gdn",
        variant => variant,
    }
}

/// Which layers have it, and the key that says so.
fn layers(config: &mut Config<'_>) -> Option<(Vec<bool>, &'static str)> {
    let count = config.draft.design.transformer.num_layers.min(MAX_LAYERS);
    if let Some(Tree::List(kinds)) = config.get("layer_types") {
        let linear = |kind: &Tree| kind.as_text() == Some("linear_attention");
        return Some((kinds.iter().map(linear).collect(), "layer_types"));
    }
    if let Some(Tree::List(kinds)) = config.get("attn_type_list") {
        let linear = |kind: &Tree| *kind == Tree::Unsigned(0);
        return Some((kinds.iter().map(linear).collect(), "attn_type_list"));
    }
    if let Some(map @ Tree::Map(_)) = config.get("linear_attn_config") {
        let Some(Tree::List(full)) = map.get("full_attn_layers") else { return None };
        // Counted from one.
        let is_linear = |layer| !full.contains(&Tree::Unsigned(layer + 1));
        return Some(((0..count).map(is_linear).collect(), "linear_attn_config"));
    }
    let key = "full_attention_interval";
    let given = config.get(key).is_some();
    let every = if given { config.number(key)? } else { 4 };
    let flags = (0..count).map(|layer| every > 0 && !(layer + 1).is_multiple_of(every));
    Some((flags.collect(), if given { key } else { "" }))
}

/// Heads and widths that have no key of their own.
fn sizes(config: &mut Config<'_>, variant: &str) {
    let transformer = &config.draft.design.transformer;
    let plain = transformer.hidden_size / transformer.num_attention_heads.max(1);
    let width = transformer.kv_channels.unwrap_or(plain);
    let (mut heads, mut width, mut taps) = (transformer.num_attention_heads, width, None);
    match variant {
        "kda" => {
            let Some(map @ Tree::Map(_)) = config.get("linear_attn_config") else { return };
            let number = |key| match map.get(key) {
                Some(Tree::Unsigned(number)) => Some(*number),
                _ => None,
            };
            heads = number("num_heads").unwrap_or(heads);
            width = number("head_dim").unwrap_or(width);
            taps = number("short_conv_kernel_size");
        }
        "lightning" => {}
        // These have keys of their own.
        _ => return,
    }
    let key = if variant == "kda" { "linear_attn_config" } else { "num_attention_heads" };
    for (knob, value) in [
        (KnobId::linear_num_key_heads, Some(heads)),
        (KnobId::linear_num_value_heads, Some(heads)),
        (KnobId::linear_key_head_dim, Some(width)),
        (KnobId::linear_value_head_dim, Some(width)),
        (KnobId::linear_conv_kernel_dim, taps),
    ] {
        if let Some(value) = value {
            let detail = format!("from {key}");
            config.assume(knob, &value.to_string(), &detail);
        }
    }
}
