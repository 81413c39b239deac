//! Which layers look back over a window.

use model::design::KnobId;
use model::file::Tree;

use super::Config;

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
    let every = match full_attention(config) {
        Ok(every) => every,
        Err((key, detail)) => return config.draft.fault(config.line(key), key, detail),
    };
    match every {
        // All layers look at everything.
        Some((1, key)) => config.draft.ignore(key, config.line(key), "no layer has a window"),
        Some((every, from)) => {
            config.set(KnobId::window_size, &tokens.to_string(), key);
            let knob = KnobId::window_attn_skip_freq;
            if from.is_empty() {
                let detail = "as this architecture's models are, no key says it";
                config.assume(knob, &every.to_string(), detail);
            } else {
                config.set(knob, &every.to_string(), from);
            }
        }
        None => config.set(KnobId::window_size, &tokens.to_string(), key),
    }
}

/// Every which layer has no window, and the key that says so; none where all have it.
fn full_attention(
    config: &mut Config<'_>,
) -> Result<Option<(u64, &'static str)>, (&'static str, String)> {
    if let Some(Tree::List(kinds)) = config.get("layer_types") {
        let full: Vec<bool> =
            kinds.iter().map(|kind| kind.as_text() == Some("full_attention")).collect();
        return every(&full)
            .map(|every| every.map(|every| (every, "layer_types")))
            .ok_or_else(|| ("layer_types", NOT_EVERY_NTH.to_owned()));
    }
    if let Some(every) = config.number("sliding_window_pattern") {
        return Ok(Some((every, "sliding_window_pattern")));
    }
    if let Some(first) = config.number("max_window_layers") {
        let layers = config.draft.design.transformer.num_layers;
        let key = "max_window_layers";
        // Qwen: layers from this one on have the window.
        return match first {
            0 => Ok(None),
            _ if first >= layers => Ok(Some((1, key))),
            _ => Err((key, NOT_EVERY_NTH.to_owned())),
        };
    }
    Ok(Some(config.family.full_attention_every).filter(|n| *n > 0).map(|every| (every, "")))
}

const NOT_EVERY_NTH: &str = "layers without a window that aren't every n-th one have no knob";

/// The n of which every n-th layer is full: one where all are, none inside where none is.
fn every(full: &[bool]) -> Option<Option<u64>> {
    let Some(first) = full.iter().position(|is_full| *is_full) else { return Some(None) };
    let every = first + 1;
    let holds =
        full.iter().enumerate().all(|(layer, full)| *full == (layer + 1).is_multiple_of(every));
    holds.then_some(Some(every as u64))
}
