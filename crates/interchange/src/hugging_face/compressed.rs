//! Attention over compressed keys, and residual streams.

use model::design::KnobId;
use model::file::Tree;

use super::{AS_MODELS_ARE, Config, shown};

/// Reads the ratios of all layers, and the sizes that go with them; false where there are none.
pub(super) fn read(config: &mut Config<'_>) -> bool {
    let key = "compress_ratios";
    let Some(Tree::List(ratios)) = config.get(key) else { return false };
    let lists: Vec<String> = ratios.iter().map(|ratio| format!("[{}]", shown(ratio))).collect();
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
