//! Which layers look back over a window, and have sizes of their own for it.

use model::design::KnobId;
use model::design::file::Tree;

use super::{AS_MODELS_ARE, Config, family};
use crate::launch::rows;

/// Layers whose kind is listed, at most.
const MAX_LAYERS: u64 = 1_000;

/// Kinds of layers that look back over a window, as lists of layers have them.
const LOCAL: [&str; 5] =
    ["sliding_attention", "sliding_window_attention", "local_attention", "local", "sliding"];

/// Keys that say how often a layer has no window: the last of that many, but of ModernBERT's the
/// first.
///
/// Sources, all of `huggingface/transformers`: `configuration_gemma3.py`,
/// `configuration_cohere2.py`, `configuration_exaone4.py`, `configuration_afmoe.py`,
/// `configuration_modernbert_decoder.py` and `configuration_qwen3_next.py`.
const EVERY: [&str; 6] = [
    "sliding_window_pattern",
    "global_attn_every_n_layers",
    "global_attention_every_n_layers",
    "full_attention_interval",
    "full_attn_every_n_layers",
    "full_attention_every_n_layers",
];

/// Layers that have no window where others have one, and the key that says so.
struct Full {
    layers: Vec<bool>,
    key: &'static str,
}

/// Whether a layer's kind has a window.
pub(super) fn is_local(kind: &Tree) -> bool {
    kind.as_text().is_some_and(|name| LOCAL.contains(&name))
}

/// Reads the window, and in which layers it is.
pub(super) fn read(config: &mut Config<'_>) {
    let key = "sliding_window";
    let full = full_attention(config);
    let is_off = config.flag("use_sliding_window") == Some(false);
    let Some(tokens) = config.get(key).is_some().then(|| config.number(key)).flatten() else {
        let full = full.filter(|full| full.key == "layer_types" && !is_off);
        if full.is_some_and(|full| full.layers.contains(&false)) {
            let detail = "has layers that look back over a window, and no key says how far";
            config.draft.fault(config.line("layer_types"), "layer_types", detail);
        }
        return;
    };
    let family = config.family;
    let is_unknown = family.name == family::UNKNOWN && config.get("max_window_layers").is_none();
    let is_listed =
        full.as_ref().is_some_and(|full| !["", "max_window_layers"].contains(&full.key));
    let is_used = config.flag("use_sliding_window").unwrap_or(
        is_listed || is_unknown || family.every_layer_has_window || family.full_attention_every > 0,
    );
    if !is_used || tokens == 0 {
        return config.ignore(key, "the architecture doesn't use it");
    }
    let Some(full) = full else {
        if is_unknown && config.flag("use_sliding_window").is_none() {
            let detail = "transformer.window_size: in all layers, no key says in which";
            config.draft.assume(Some(KnobId::window_size), detail);
        }
        return config.set(KnobId::window_size, &tokens.to_string(), key);
    };
    if full.layers.iter().all(|is_full| *is_full) {
        return config.ignore(key, "no layer has a window");
    }
    let clauses = sizes(config, &full.layers);
    set(config, tokens, &full, clauses);
}

/// Gives the knobs the window of some layers.
fn set(config: &mut Config<'_>, tokens: u64, full: &Full, mut clauses: Vec<String>) {
    let key = "sliding_window";
    let Some(first) = full.layers.iter().position(|is_full| *is_full) else {
        return config.set(KnobId::window_size, &tokens.to_string(), key);
    };
    let every = first + 1;
    let is_regular = |(layer, full): (usize, &bool)| *full == (layer + 1).is_multiple_of(every);
    if clauses.is_empty() && full.layers.iter().enumerate().all(is_regular) {
        config.set(KnobId::window_size, &tokens.to_string(), key);
        let knob = KnobId::window_attn_skip_freq;
        return match full.key {
            "" => config.assume(knob, &every.to_string(), AS_MODELS_ARE),
            from => config.set(knob, &every.to_string(), from),
        };
    }
    clauses.push(format!("{}:window_size={tokens}", layer_rows(&full.layers, false)));
    let keys = if full.key.is_empty() { key.to_owned() } else { format!("{key}, {}", full.key) };
    config.override_layers(&clauses, &keys);
}

/// The layers that have a window, or those that have none, as rows.
fn layer_rows(full: &[bool], is_full: bool) -> String {
    rows(&full.iter().map(|own| u64::from(*own == is_full)).collect::<Vec<_>>(), 1)
}

/// Sizes that layers with a window or those without have of their own.
///
/// Sources: `configuration_gemma4.py` of `huggingface/transformers`; stepfun-ai/Step-3.5-Flash
/// `configuration_step3p5.py`.
fn sizes(config: &mut Config<'_>, full: &[bool]) -> Vec<String> {
    let mut clauses = vec![];
    let mut of_full = vec![];
    for (name, key) in
        [("num_query_groups", "num_global_key_value_heads"), ("kv_channels", "global_head_dim")]
    {
        if config.get(key).is_some()
            && let Some(size) = config.number(key)
        {
            of_full.push(format!("{name}={size}"));
            config.tell(key, "the layers without a window have it");
        }
    }
    if !of_full.is_empty() {
        clauses.push(format!("{}:{}", layer_rows(full, true), of_full.join(",")));
    }
    let key = "attention_other_setting";
    if let Some(other @ Tree::Map(_)) = config.get(key) {
        let number = |key: &str| match other.get(key) {
            Some(Tree::Unsigned(number)) => Some(*number),
            _ => None,
        };
        let (heads, groups) = (number("num_attention_heads"), number("num_attention_groups"));
        if let Some((heads, groups)) = heads.zip(groups) {
            let sizes = format!("num_attention_heads={heads},num_query_groups={groups}");
            clauses.push(format!("{}:{sizes}", layer_rows(full, false)));
            config.tell(key, "the layers with a window have it");
        }
    }
    clauses
}

/// Layers without a window; `None` if all have one.
fn full_attention(config: &mut Config<'_>) -> Option<Full> {
    let count = config.draft.design.transformer.num_layers.min(MAX_LAYERS);
    let all = |is_full: &dyn Fn(u64) -> bool| (0..count).map(is_full).collect::<Vec<bool>>();
    if config.draft.design.transformer.attention_compress_ratios.is_some() {
        return None;
    }
    for key in ["layer_types", "attention_layers"] {
        if let Some(Tree::List(kinds)) = config.get(key) {
            // MTP layers may stand behind the model's.
            let kinds = kinds.iter().take(count as usize);
            return Some(Full { layers: kinds.map(|kind| !is_local(kind)).collect(), key });
        }
    }
    let key = "hybrid_layer_pattern";
    if let Some(Tree::List(kinds)) = config.get(key)
        && config.get("swa_num_key_value_heads").is_none()
    {
        let layers = kinds.iter().map(|kind| *kind != Tree::Unsigned(1)).collect();
        return Some(Full { layers, key });
    }
    let key = "sliding_window_pattern";
    if let Some(Tree::Text(letters)) = config.get(key) {
        let letters = letters.as_bytes();
        // `LLLG`, over and over.
        let is_full = |layer| letters.get(layer as usize % letters.len().max(1)) != Some(&b'L');
        return Some(Full { layers: all(&is_full), key });
    }
    for key in EVERY {
        if config.get(key).is_some()
            && let Some(every) = config.number(key).filter(|every| *every > 0)
        {
            let at = if config.family.name == "modernbertdecoder" { 0 } else { every - 1 };
            return Some(Full { layers: all(&|layer| layer % every == at), key });
        }
    }
    if let Some(first) = config.number("max_window_layers") {
        // Qwen: layers from this one on have the window.
        return Some(Full { layers: all(&|layer| layer < first), key: "max_window_layers" });
    }
    let every = config.family.full_attention_every;
    let is_full = |layer: u64| (layer + 1).is_multiple_of(every);
    (every > 0).then(|| Full { layers: all(&is_full), key: "" })
}
