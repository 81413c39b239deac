//! Attention over keys that an indexer chooses.

use model::design::KnobId;
use model::design::file::Tree;

use super::Config;
use crate::launch::pattern;

/// Reads the indexer, and in which layers it is.
pub(super) fn read(config: &mut Config<'_>) {
    if let Some(map @ Tree::Map(_)) = config.get("sparse_attention_config").cloned() {
        return blocks(config, &map);
    }
    if config.get("index_topk_blocks").is_some() {
        return chosen_blocks(config);
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
    if ["indexer_types", "index_topk_pattern"].iter().any(|key| shares(config, key)) {
        return;
    }
    for (key, knob) in [
        ("index_topk_freq", KnobId::dsa_indexer_topk_freq),
        ("index_skip_topk_offset", KnobId::dsa_indexer_skip_topk_offset),
    ] {
        if config.get(key).is_some() {
            config.set_number(knob, key);
        }
    }
    let offset = "index_skip_topk_offset";
    if config.draft.design.transformer.dsa_indexer_topk_freq > 1 && config.get(offset).is_none() {
        let knob = KnobId::dsa_indexer_skip_topk_offset;
        config.assume(knob, "2", "as the architecture's code takes it");
    }
}

/// Reads which layers choose keys and which take those of the layer before, `full` and `shared`, or
/// `F` and `S`; false where no key says it.
///
/// Source: `configuration_glm_moe_dsa.py` of `huggingface/transformers`, `indexer_types`.
fn shares(config: &mut Config<'_>, key: &str) -> bool {
    let full: Vec<bool> = match config.get(key) {
        Some(Tree::List(kinds)) => {
            kinds.iter().map(|kind| matches!(kind.as_text(), Some("full" | "F"))).collect()
        }
        Some(Tree::Text(letters)) => letters.bytes().map(|letter| letter == b'F').collect(),
        _ => return false,
    };
    let front = full.iter().take_while(|is_full| **is_full).count();
    let next = full.iter().skip(front).position(|is_full| *is_full).map(|at| at + front + 1);
    let every = match next {
        _ if front == full.len() => 1,
        Some(next) => next - front,
        None => full.len(),
    };
    let is_one = |at: usize| (at + 1).saturating_sub(front).is_multiple_of(every.max(1));
    if front == 0 || full.iter().enumerate().any(|(at, own)| *own != is_one(at)) {
        config.fault(key, "which layers have an indexer has no knob but every n-th");
        return true;
    }
    config.set(KnobId::dsa_indexer_topk_freq, &every.to_string(), key);
    // Where all choose keys it says nothing how many of them stand in front.
    let front = if every == 1 { 1 } else { front };
    config.set(KnobId::dsa_indexer_skip_topk_offset, &front.to_string(), key);
    true
}

/// Whether a layer's kind chooses blocks of keys.
pub(super) fn is_block(kind: &Tree) -> bool {
    kind.as_text() == Some("minimax_m3_sparse")
}

/// Blocks of keys, as `configuration_minimax_m3_vl.py` of `huggingface/transformers` says them.
fn chosen_blocks(config: &mut Config<'_>) {
    let (key, size) = ("index_topk_blocks", "index_block_size");
    let Some(Tree::List(kinds)) = config.get("layer_types") else {
        return config.fault(key, "layer_types doesn't say in which layers");
    };
    let sparse: Vec<bool> = kinds.iter().map(is_block).collect();
    if !sparse.contains(&true) {
        return config.ignore(key, "layer_types has no layer that chooses keys");
    }
    let blocks = config.number(key).unwrap_or(1);
    let block = if config.get(size).is_some() { config.number(size) } else { Some(128) };
    let block = block.unwrap_or(1);
    config.set(KnobId::sparse_block_size, &block.to_string(), size);
    config.set(KnobId::dsa_indexer_topk, &blocks.saturating_mul(block).to_string(), key);
    config.set(KnobId::experimental_attention_variant, "msa", key);
    if sparse.contains(&false) {
        let text = pattern(sparse.into_iter());
        config.set(KnobId::sparse_attention_freq, &text, "layer_types");
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
