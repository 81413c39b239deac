//! Which layers look back over a window.

use model::design::KnobId;
use model::file::Tree;

use super::Config;
use crate::launch::rows;

/// Reads the window, and in which layers it is.
pub(super) fn read(config: &mut Config<'_>) {
    let key = "sliding_window";
    let Some(tokens) = config.get(key).is_some().then(|| config.number(key)).flatten() else {
        return;
    };
    let family = config.family;
    let is_used = config
        .flag("use_sliding_window")
        .unwrap_or(family.every_layer_has_window || family.full_attention_every > 0);
    if !is_used {
        return config.draft.ignore(key, config.line(key), "the architecture doesn't use it");
    }
    match full_attention(config) {
        // All layers look at everything.
        Some(Full::Every(1, key)) => config.ignore(key, "no layer has a window"),
        Some(Full::Every(every, from)) => {
            config.set(KnobId::window_size, &tokens.to_string(), key);
            let knob = KnobId::window_attn_skip_freq;
            if from.is_empty() {
                let detail = "as this architecture's models are, no key says it";
                config.assume(knob, &every.to_string(), detail);
            } else {
                config.set(knob, &every.to_string(), from);
            }
        }
        Some(Full::Listed(full, from)) => {
            let windows: Vec<u64> = full.iter().map(|is_full| u64::from(!is_full)).collect();
            let sizes = format!("{}:window_size={tokens}", rows(&windows, 1));
            config.set(KnobId::layer_overrides, &sizes, &format!("{key}, {from}"));
        }
        None => config.set(KnobId::window_size, &tokens.to_string(), key),
    }
}

/// Layers that have no window where others have one, and the key that says so.
enum Full {
    Every(u64, &'static str),
    Listed(Vec<bool>, &'static str),
}

/// Which layers have no window; none where all have it.
fn full_attention(config: &mut Config<'_>) -> Option<Full> {
    if let Some(Tree::List(kinds)) = config.get("layer_types") {
        let full = kinds.iter().map(|kind| kind.as_text() == Some("full_attention"));
        return listed(full.collect(), "layer_types");
    }
    if let Some(every) = config.number("sliding_window_pattern") {
        return Some(Full::Every(every, "sliding_window_pattern"));
    }
    if let Some(first) = config.number("max_window_layers") {
        let layers = config.draft.design.transformer.num_layers.min(MAX_LAYERS);
        // Qwen: layers from this one on have the window.
        return listed((0..layers).map(|layer| layer < first).collect(), "max_window_layers");
    }
    let every = config.family.full_attention_every;
    (every > 0).then_some(Full::Every(every, ""))
}

/// Layers whose kind is listed, at most.
const MAX_LAYERS: u64 = 10_000;

/// Each n-th layer without a window, where they are regular; none where all have it.
fn listed(full: Vec<bool>, key: &'static str) -> Option<Full> {
    let every = full.iter().position(|is_full| *is_full)? + 1;
    let is_regular = |(layer, full): (usize, &bool)| *full == (layer + 1).is_multiple_of(every);
    if full.iter().enumerate().all(is_regular) {
        return Some(Full::Every(every as u64, key));
    }
    Some(Full::Listed(full, key))
}
