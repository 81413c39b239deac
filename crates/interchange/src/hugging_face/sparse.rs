//! Attention over keys that an indexer chooses.

use model::design::KnobId;
use model::file::Tree;

use super::Config;
use crate::launch::pattern;

/// Reads the indexer, and in which layers it is.
pub(super) fn read(config: &mut Config<'_>) {
    if let Some(map @ Tree::Map(_)) = config.get("sparse_attention_config").cloned() {
        return blocks(config, &map);
    }
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

/// Blocks of keys for each group of query heads, as `MiniMax-M3` has them.
fn blocks(config: &mut Config<'_>, map: &Tree) {
    let key = "sparse_attention_config";
    if map.get("use_sparse_attention") == Some(&Tree::Flag(false)) {
        return config.ignore(key, "use_sparse_attention is false");
    }
    let mut number = |name: &str| match map.get(name) {
        Some(Tree::Unsigned(number)) => *number,
        _ => {
            let detail = format!("lacks {name}, a whole number");
            config.draft.fault(config.lines.get(key), key, detail);
            1
        }
    };
    let (block, chosen) = (number("sparse_block_size"), number("sparse_topk_blocks"));
    let (heads, width) = (number("sparse_num_index_heads"), number("sparse_index_dim"));
    for (knob, value) in [
        (KnobId::dsa_indexer_n_heads, heads),
        (KnobId::dsa_indexer_head_dim, width),
        (KnobId::sparse_block_size, block),
        (KnobId::dsa_indexer_topk, chosen.saturating_mul(block)),
    ] {
        config.set(knob, &value.to_string(), key);
    }
    config.set(KnobId::experimental_attention_variant, "msa", key);
    if let Some(Tree::List(layers)) = map.get("sparse_attention_freq") {
        let is_sparse = |layer: &Tree| *layer != Tree::Unsigned(0);
        if !layers.iter().all(is_sparse) {
            let text = pattern(layers.iter().map(is_sparse));
            config.set(KnobId::sparse_attention_freq, &text, key);
        }
    }
}
