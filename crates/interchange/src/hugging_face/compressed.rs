//! Attention over compressed keys, and residual streams.

use model::design::KnobId;
use model::design::file::Tree;

use super::{AS_MODELS_ARE, Config, shown};

/// Reads the ratios of all layers, and the sizes that go with them; false where there are none.
pub(super) fn read(config: &mut Config<'_>) -> bool {
    let (key, lists): (_, Vec<String>) = match config.get("compress_ratios") {
        Some(Tree::List(ratios)) => {
            ("compress_ratios", ratios.iter().map(|ratio| format!("[{}]", shown(ratio))).collect())
        }
        _ => match by_kinds(config) {
            Some(lists) => ("layer_types", lists),
            None => return false,
        },
    };
    let text = lists.join("+");
    config.set(KnobId::attention_compress_ratios, &text, key);
    config.assume(KnobId::multi_latent_attention, "true", "by its compressed keys");
    config.assume(KnobId::qk_layernorm, "true", AS_MODELS_ARE);
    config.draft.default(KnobId::num_query_groups, "none");
    config.set_number(KnobId::v_head_dim, "head_dim");
    let transformer = &config.draft.design.transformer;
    let width = transformer.v_head_dim.saturating_sub(transformer.qk_pos_emb_head_dim);
    for knob in [KnobId::qk_head_dim, KnobId::kv_lora_rank] {
        config.assume(knob, &width.max(1).to_string(), "head_dim - qk_rope_head_dim");
    }
    if config.get("num_key_value_heads").is_some() {
        config.ignore("num_key_value_heads", "all heads have the same key");
    }
    true
}

/// The ratios of layers whose kinds are listed; none where no kind compresses.
///
/// Source: `configuration_deepseek_v4.py` of `huggingface/transformers`, `layer_types` and
/// `compress_rates`.
fn by_kinds(config: &Config<'_>) -> Option<Vec<String>> {
    let Some(Tree::List(kinds)) = config.get("layer_types") else { return None };
    let rates = config.get("compress_rates");
    let rate = |kind: &str, usual: u64| match rates.and_then(|rates| rates.get(kind)) {
        Some(Tree::Unsigned(rate)) => *rate,
        _ => usual,
    };
    let ratio = |kind: &Tree| {
        Some(match kind.as_text()? {
            kind @ "compressed_sparse_attention" => rate(kind, 4),
            kind @ "heavily_compressed_attention" => rate(kind, 128),
            "sliding_attention" => 0,
            _ => return None,
        })
    };
    let ratios: Vec<u64> = kinds.iter().map(ratio).collect::<Option<_>>()?;
    let has_some = ratios.iter().any(|ratio| *ratio > 0);
    has_some.then(|| ratios.iter().map(|ratio| format!("[{ratio}]")).collect())
}

/// Reads how many residual streams there are.
pub(super) fn streams(config: &mut Config<'_>) {
    let key = "hc_mult";
    let Some(streams) = config.get(key).is_some().then(|| config.number(key)).flatten() else {
        return;
    };
    if streams > 1 {
        config.set(KnobId::enable_mhc_connections, "true", key);
        config.set(KnobId::mhc_num_residual_streams, &streams.to_string(), key);
    } else {
        config.ignore(key, "one residual stream is the usual one");
    }
}
