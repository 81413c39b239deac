//! Attention over keys that an indexer chooses.

use model::design::KnobId;

use super::Config;

/// Reads the indexer, and in which layers it is.
pub(super) fn read(config: &mut Config<'_>) {
    let key = "index_topk";
    let Some(chosen) = config.get(key).is_some().then(|| config.number(key)).flatten() else {
        return;
    };
    let transformer = &config.draft.design.transformer;
    if !transformer.multi_latent_attention {
        let detail = "sparse attention without latents has no knob but over blocks";
        return config.draft.fault(config.line(key), key, detail);
    }
    if transformer.attention_compress_ratios.is_none() {
        config.assume(KnobId::experimental_attention_variant, "dsa", "by its indexer");
    }
    config.set(KnobId::dsa_indexer_topk, &chosen.to_string(), key);
    for (key, knob) in [
        ("index_topk_freq", KnobId::dsa_indexer_topk_freq),
        ("index_skip_topk_offset", KnobId::dsa_indexer_skip_topk_offset),
    ] {
        if config.get(key).is_some() {
            config.set_number(knob, key);
        }
    }
}
