//! Sizes that differ by layer.

use std::collections::BTreeMap;

use model::design::KnobId;
use model::design::file::Tree;

use super::{Config, alike};
use crate::launch::rows;

/// Widths of MLPs are multiples of this where a factor says them.
///
/// Source: `DeciLM`, `_ffn_mult_to_intermediate_size`.
const MULTIPLE: u64 = 256;

/// Reads what a list of blocks says of each layer; false where there is none.
pub(super) fn read(config: &mut Config<'_>) -> bool {
    let key = "block_configs";
    let Some(Tree::List(blocks)) = config.get(key) else { return false };
    let transformer = &config.draft.design.transformer;
    let (hidden, heads) = (transformer.hidden_size, transformer.num_attention_heads);
    let sizes: Option<Vec<[u64; 2]>> =
        blocks.iter().map(|block| Some([groups(block, heads)?, width(block, hidden)?])).collect();
    let Some(sizes) = sizes else {
        let detail = "a block is attention with heads in a group or none, and an MLP of a factor";
        config.draft.fault(config.line(key), key, detail);
        return true;
    };
    let part = |part: usize| sizes.iter().map(|size| size[part]).collect::<Vec<u64>>();
    let (groups, mut clauses) = usual(&part(0), "num_query_groups", "num_attention_heads");
    let (width, of_widths) = usual(&part(1), "ffn_hidden_size", "ffn_hidden_size");
    clauses.extend(of_widths);
    config.set(KnobId::num_query_groups, &groups.to_string(), key);
    config.set(KnobId::ffn_hidden_size, &width.to_string(), key);
    config.override_layers(&clauses, key);
    true
}

/// Reads a list of one size for each layer, which a knob has of most of them; false where it is
/// none, or all are alike. A size of zero is none, by its name.
pub(super) fn listed(config: &mut Config<'_>, key: &str, knob: KnobId, none: &str) -> bool {
    let Some(Tree::List(items)) = config.get(key) else { return false };
    let number = |item: &Tree| if let Tree::Unsigned(n) = item { Some(*n) } else { None };
    let Some(sizes) = items.iter().map(number).collect::<Option<Vec<u64>>>() else { return false };
    let layers = config.draft.design.transformer.num_layers;
    if sizes.len() as u64 != layers || alike(items).is_some() {
        return false;
    }
    let id = knob.id();
    let name = id.rsplit('.').next().unwrap_or_default();
    let (most, clauses) = usual(&sizes, name, none);
    config.set(knob, &most.to_string(), key);
    config.override_layers(&clauses, key);
    true
}

/// Reads which layers look back over a window with sizes of their own.
pub(super) fn windows(config: &mut Config<'_>) {
    let (key, pattern) = ("swa_num_key_value_heads", "hybrid_layer_pattern");
    let Some(Tree::List(kinds)) = config.get(pattern) else { return };
    let has_window = |kind: &Tree| *kind == Tree::Unsigned(1);
    let windows: Vec<u64> = kinds.iter().map(|kind| u64::from(has_window(kind))).collect();
    let mut size = |key| config.get(key).is_some().then(|| config.number(key)).flatten();
    let (groups, window) = (size(key), size("sliding_window"));
    let (Some(groups), Some(window)) = (groups, window) else { return };
    let (width, values) = (size("swa_head_dim"), size("swa_v_head_dim"));
    let whole = (size("head_dim"), size("v_head_dim"));
    let heads = size("swa_num_attention_heads").zip(size("num_attention_heads"));
    if (width, values) != whole || heads.is_some_and(|(own, whole)| own != whole) {
        let detail = "only key and value heads of layers with a window have a size here";
        return config.draft.fault(config.line(key), key, detail);
    }
    let mut clauses = Vec::new();
    if width != values
        && let Some(values) = values
    {
        clauses.push(format!("{}:v_head_dim={values}", rows(&vec![1; windows.len()], 1)));
    }
    let sizes = format!("num_query_groups={groups},window_size={window}");
    clauses.push(format!("{}:{sizes}", rows(&windows, 1)));
    config.override_layers(&clauses, &format!("{key}, sliding_window, {pattern}"));
}

/// Key and value heads of a block; zero where it has no attention.
fn groups(block: &Tree, heads: u64) -> Option<u64> {
    let attention = block.get("attention")?;
    if attention.get("no_op") == Some(&Tree::Flag(true)) {
        return Some(0);
    }
    let Some(Tree::Unsigned(each)) = attention.get("n_heads_in_group") else { return None };
    let is_plain = attention.get("replace_with_linear") != Some(&Tree::Flag(true));
    (is_plain && *each > 0).then(|| heads / each).filter(|groups| *groups > 0)
}

/// Width of a block's MLP; zero where it has none.
fn width(block: &Tree, hidden: u64) -> Option<u64> {
    let mlp = block.get("ffn")?;
    if mlp.get("no_op") == Some(&Tree::Flag(true)) {
        return Some(0);
    }
    let factor = match mlp.get("ffn_mult")? {
        Tree::Real(factor) => *factor,
        Tree::Unsigned(factor) => *factor as f64,
        Tree::Null
        | Tree::Flag(_)
        | Tree::Negative(_)
        | Tree::Text(_)
        | Tree::List(_)
        | Tree::Map(_) => return None,
    };
    let is_plain = mlp.get("replace_with_linear") != Some(&Tree::Flag(true));
    let width = (2.0 * factor * hidden as f64 / 3.0) as u64;
    (is_plain && (0.0..1e6).contains(&factor)).then(|| width.next_multiple_of(MULTIPLE))
}

/// The size that most layers have, and clauses for the others; none of it is a size of zero, by
/// this name.
fn usual(sizes: &[u64], name: &str, none: &str) -> (u64, Vec<String>) {
    let mut counts = BTreeMap::new();
    for size in sizes.iter().filter(|size| **size > 0) {
        *counts.entry(*size).or_insert(0_u64) += 1;
    }
    let usual = counts.iter().max_by_key(|(_, count)| **count).map_or(1, |(size, _)| *size);
    let mut others: Vec<u64> = sizes.iter().copied().filter(|size| *size != usual).collect();
    others.sort_unstable();
    others.dedup();
    let clause = |size: &u64| {
        let name = if *size == 0 { none } else { name };
        format!("{}:{name}={size}", rows(sizes, *size))
    };
    (usual, others.iter().map(clause).collect())
}
