//! Rules of layers that differ by what mixes their tokens.

use alloc::format;
use alloc::vec::Vec;

use super::facts::{cp, has_experts, tp};
use super::rule::{Words, indivisible, say};
use super::table::RULES;
use crate::design::{Design, LayerFreq, Symbol};
use crate::ground::choice::{AttentionVariant, ContextParallelAlgo};
use crate::layer::architecture::{MAX_KINDS, OwnSizes, overridden};
use crate::layer::layout;

/// Whether layers of a design have linear attention.
fn has_linear(d: &Design) -> bool {
    let is_named = d.transformer.experimental_attention_variant.is_linear();
    is_named && d.transformer.hybrid_layer_pattern.is_none() || has(d, Symbol::Linear)
}

/// Whether a pattern of sub-layers has this one, MTP counted.
fn has(d: &Design, symbol: Symbol) -> bool {
    let pattern = d.transformer.hybrid_layer_pattern.as_ref();
    pattern.is_some_and(|it| it.layers.contains(&symbol) || it.mtp.contains(&symbol))
}

/// Whether layers are sub-layers of a pattern.
pub(super) const fn are_sub_layers(d: &Design) -> bool {
    d.transformer.hybrid_layer_pattern.is_some()
}

/// A pattern of sub-layers has as many as there are layers.
pub(super) fn sub_layers<W: Words>(d: &Design) -> Option<W> {
    let symbols = d.transformer.hybrid_layer_pattern.as_ref()?.layers.len() as u64;
    let layers = d.transformer.num_layers;
    (symbols != layers)
        .then(|| say!("the pattern has {symbols} sub-layers, the model {layers} layers"))
}

/// It says of each sub-layer what it is, so that nothing else may.
pub(super) fn frequencies<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    transformer.hybrid_layer_pattern.as_ref()?;
    let is_usual = transformer.moe_layer_freq == LayerFreq::Every(1)
        && transformer.window_attn_skip_freq.is_none()
        && transformer.linear_attention_freq == LayerFreq::Every(4);
    (!is_usual).then(|| {
        say!("the pattern of sub-layers says which have experts, a window or linear attention")
    })
}

/// Its experts and its linear attention have sizes.
pub(super) fn sizes<W: Words>(d: &Design) -> Option<W> {
    if has(d, Symbol::Experts) && !has_experts(d) {
        return Some(say!("the pattern has sub-layers of experts, the model has none"));
    }
    if has_experts(d) && d.transformer.hybrid_layer_pattern.is_some() && !has(d, Symbol::Experts) {
        return Some(say!("the model has experts, the pattern no sub-layer of them"));
    }
    let variant = d.transformer.experimental_attention_variant;
    if has(d, Symbol::Sparse) && !variant.is_sparse() {
        return Some(say!("the pattern has sparse attention, and the variant is another"));
    }
    let is_linear = variant.is_linear();
    (has(d, Symbol::Linear) && !is_linear)
        .then(|| say!("the pattern has linear attention, and no variant says which"))
}

/// Its MTP depths are the model's, each of one mixer and one MLP.
pub(super) fn depths<W: Words>(d: &Design) -> Option<W> {
    let pattern = d.transformer.hybrid_layer_pattern.as_ref()?;
    let mixers = pattern.mtp.iter().filter(|symbol| symbol.mixes()).count();
    if mixers > 1 || pattern.mtp.len() - mixers > 1 {
        return Some(say!("an MTP depth of the pattern is one mixer and one MLP"));
    }
    let (depths, layers) = (pattern.depths, d.transformer.mtp_num_layers);
    (depths != layers).then(|| say!("the pattern has {depths} MTP depths, the model {layers}"))
}

/// Its bars cut it into as many chunks as the pipeline has, and nothing else does.
pub(super) fn bars<W: Words>(d: &Design) -> Option<W> {
    let pattern = d.transformer.hybrid_layer_pattern.as_ref()?;
    if pattern.chunks.is_empty() {
        return None;
    }
    let parallel = &d.parallel;
    if parallel.pipeline_model_parallel_layout.is_some() || !parallel.noop_layers.0.is_empty() {
        return Some(say!(
            "the bars of the pattern say what each chunk holds: no layout, no no-ops"
        ));
    }
    let (cut, chunks) = (pattern.chunks.len() as u64, layout::chunks(d));
    (cut != chunks).then(|| say!("the pattern is cut into {cut} chunks, PP x VPP is {chunks}"))
}

/// Mamba-2's heads are split into groups, over TP, and exchanged for sequence over CP.
pub(super) fn mamba_heads<W: Words>(d: &Design) -> Option<W> {
    if !has(d, Symbol::Mamba) {
        return None;
    }
    let (transformer, ranks) = (&d.transformer, tp(d) * cp(d));
    let usual = (2 * transformer.hidden_size / transformer.mamba_head_dim).max(1);
    let (heads, groups) =
        (transformer.mamba_num_heads.unwrap_or(usual), transformer.mamba_num_groups);
    indivisible(heads, groups, || say!("{groups} groups don't divide {heads} Mamba-2 heads"))
        .or_else(|| {
            indivisible(heads, ranks, || {
                say!("{heads} Mamba-2 heads can't be split over {ranks} TP x CP ranks")
            })
        })
        .or_else(|| {
            indivisible(groups, tp(d), || {
                say!("TP {} doesn't divide {groups} groups of Mamba-2 heads", tp(d))
            })
        })
}

/// A pattern of linear attention is as long as the model.
pub(super) fn linear_pattern<W: Words>(d: &Design) -> Option<W> {
    let is_pattern = d.transformer.hybrid_layer_pattern.is_some();
    let freq = &d.transformer.linear_attention_freq;
    let length = freq.len().filter(|_| has_linear(d) && !is_pattern)?;
    let layers = d.transformer.num_layers;
    (length != layers).then(|| {
        say!("the pattern of linear attention speaks of {length} layers, the model has {layers}")
    })
}

/// Its heads are split over TP, and exchanged for sequence over CP.
pub(super) fn linear_heads<W: Words>(d: &Design) -> Option<W> {
    if !has_linear(d) {
        return None;
    }
    let (transformer, ranks) = (&d.transformer, tp(d) * cp(d));
    let heads = match transformer.experimental_attention_variant {
        AttentionVariant::Gdn | AttentionVariant::Gdn2 => transformer.linear_num_key_heads,
        AttentionVariant::Kda
        | AttentionVariant::Lightning
        | AttentionVariant::Dsa
        | AttentionVariant::Msa
        | AttentionVariant::None => transformer.linear_num_value_heads,
    };
    indivisible(heads, ranks, || {
        say!("{heads} heads of linear attention can't be split over {ranks} TP x CP ranks")
    })
}

/// Queries and keys of a gated delta net serve whole groups of values' heads; KDA and lightning
/// attention have as many of each.
pub(super) fn linear_groups<W: Words>(d: &Design) -> Option<W> {
    let (keys, values) = (d.transformer.linear_num_key_heads, d.transformer.linear_num_value_heads);
    match d.transformer.experimental_attention_variant {
        AttentionVariant::None | AttentionVariant::Dsa | AttentionVariant::Msa => None,
        AttentionVariant::Gdn | AttentionVariant::Gdn2 => indivisible(values, keys, || {
            say!("{keys} key heads don't divide {values} value heads of linear attention")
        }),
        AttentionVariant::Kda | AttentionVariant::Lightning => (keys != values).then(|| {
            say!("this attention has as many key heads as value heads, not {keys} and {values}")
        }),
    }
}

/// A layer that all MTP depths share is one.
pub(super) fn repeated_mtp<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    (transformer.mtp_use_repeated_layer && transformer.mtp_num_layers == 0)
        .then(|| say!("there is no MTP layer to repeat"))
}

/// Zero experts stand beside others.
pub(super) fn zero_experts<W: Words>(d: &Design) -> Option<W> {
    (d.transformer.moe_zero_experts.is_some() && !has_experts(d))
        .then(|| say!("a dense model has no zero experts"))
}

/// Latents are of experts.
pub(super) fn latent_experts<W: Words>(d: &Design) -> Option<W> {
    (d.transformer.moe_latent_size.is_some() && !has_experts(d))
        .then(|| say!("a dense model has no experts of latents"))
}

/// Sparse attention is over latents, or over blocks without them, and has no window; over CP it
/// gathers keys.
pub(super) fn sparse<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    let variant = transformer.experimental_attention_variant;
    if !variant.is_sparse() {
        return None;
    }
    let is_of_latents = variant == AttentionVariant::Dsa;
    if transformer.window_size.is_some() {
        return Some(say!("sparse attention has no window"));
    }
    if transformer.multi_latent_attention != is_of_latents {
        return Some(say!("dsa is multi-latent attention, msa isn't"));
    }
    let algorithm = d.parallel.context_parallel_algo;
    (cp(d) > 1 && algorithm != ContextParallelAlgo::Allgather)
        .then(|| say!("sparse attention gathers its keys over CP ranks: allgather"))
}

/// MSA chooses whole blocks, for each group of query heads by a head of the indexer.
pub(super) fn blocks<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    if transformer.experimental_attention_variant != AttentionVariant::Msa {
        return None;
    }
    let groups = transformer.num_query_groups.unwrap_or(transformer.num_attention_heads);
    let heads = transformer.dsa_indexer_n_heads;
    if heads != groups {
        return Some(say!(
            "msa has an indexer's head for each of {groups} query groups, not {heads}"
        ));
    }
    let (keys, block) = (transformer.dsa_indexer_topk, transformer.sparse_block_size);
    indivisible(keys, block, || say!("{keys} keys aren't whole blocks of {block}"))
}

/// A pattern of sparse attention is as long as the model.
pub(super) fn sparse_pattern<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    if !transformer.experimental_attention_variant.is_sparse() || are_sub_layers(d) {
        return None;
    }
    let (length, layers) = (transformer.sparse_attention_freq.len()?, transformer.num_layers);
    (length != layers).then(|| {
        say!("the pattern of sparse attention speaks of {length} layers, the model has {layers}")
    })
}

/// Compressed attention is over latents, with a window and nothing else; over CP it gathers keys.
pub(super) fn compressed<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    transformer.attention_compress_ratios.as_ref()?;
    let is_of_latents = transformer.multi_latent_attention
        && transformer.q_lora_rank.is_some()
        && transformer.window_size.is_some()
        && transformer.window_attn_skip_freq.is_none();
    if !is_of_latents {
        return Some(say!("compressed attention has query latents, and a window in all layers"));
    }
    let is_alone =
        transformer.experimental_attention_variant == AttentionVariant::None && !are_sub_layers(d);
    if !is_alone {
        return Some(say!("ratios say what each layer has: no variant, no pattern of sub-layers"));
    }
    let algorithm = d.parallel.context_parallel_algo;
    (cp(d) > 1 && algorithm != ContextParallelAlgo::Allgather)
        .then(|| say!("compressed attention gathers its keys over CP ranks: allgather"))
}

/// Its ratios are those of all layers at least; those of MTP stand behind them.
pub(super) fn ratios<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    let said = transformer.attention_compress_ratios.as_ref()?.layers.len() as u64;
    let layers = transformer.num_layers;
    (said < layers).then(|| say!("compression is given for {said} layers, the model has {layers}"))
}

/// Its outputs go down to latents in whole groups, which TP splits.
pub(super) fn output_groups<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    transformer.attention_compress_ratios.as_ref()?;
    let (heads, groups) = (transformer.num_attention_heads, transformer.o_groups);
    indivisible(heads, groups, || say!("{groups} output groups don't divide {heads} heads"))
        .or_else(|| {
            indivisible(groups, tp(d), || {
                say!("TP {} doesn't divide {groups} output groups", tp(d))
            })
        })
}

/// Sizes by layer are of layers that there are, and of few kinds.
pub(super) fn own_sizes<W: Words>(d: &Design) -> Option<W> {
    let overrides = d.transformer.layer_overrides.as_ref()?;
    let (last, layers) = (overrides.last_layer(), d.transformer.num_layers);
    if last >= layers {
        return Some(say!(
            "there are sizes of layer {last}, the last of {layers} is {}",
            layers - 1
        ));
    }
    if are_sub_layers(d) {
        return Some(say!("sub-layers have the sizes of their kind"));
    }
    let kinds = OwnSizes::new(d, overrides).count();
    (kinds > MAX_KINDS).then(|| say!("layers are of {kinds} kinds, at most {MAX_KINDS}"))
}

/// Rules of sizes, which layers keep with their own.
const OF_SIZES: [&str; 8] = [
    "heads_are_a_multiple_of_tp",
    "query_groups_are_a_multiple_of_tp",
    "heads_are_a_multiple_of_query_groups",
    "hidden_size_is_a_multiple_of_heads",
    "ffn_is_a_multiple_of_tp",
    "shared_expert_is_a_multiple_of_tp",
    "expert_width_is_a_multiple_of_etp",
    "heads_are_a_multiple_of_ulysses_ranks",
];

/// Layers with sizes of their own keep the rules of sizes, where the others do.
pub(super) fn overridden_sizes<W: Words>(d: &Design) -> Option<W> {
    let overrides = d.transformer.layer_overrides.as_ref()?;
    let rules = RULES.iter().filter(|rule| OF_SIZES.contains(&rule.name) && !rule.is_broken(d));
    let rules: Vec<_> = rules.collect();
    let mut known = Vec::new();
    (0..d.transformer.num_layers).find_map(|layer| {
        let clauses = overrides.at(layer);
        if clauses == 0 || known.contains(&clauses) {
            return None;
        }
        known.push(clauses);
        let own = overridden(d, overrides, clauses);
        let broken = rules.iter().find(|rule| rule.is_broken(&own))?;
        Some(say!("in layer {layer}: {}", (broken.check.words)(&own).unwrap_or_default()))
    })
}

/// A gate weighs something.
pub(super) fn shared_gate<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    let has_shared = transformer.moe_shared_expert_intermediate_size.is_some();
    (transformer.moe_shared_expert_gate && !has_shared)
        .then(|| say!("there is no shared expert to weigh by a gate"))
}

/// A gate of the output is not of attention over chosen or compressed latents.
pub(super) fn output_gate<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    let is_of_latents = transformer.experimental_attention_variant == AttentionVariant::Dsa
        || transformer.attention_compress_ratios.is_some();
    (transformer.attention_output_gate && is_of_latents)
        .then(|| say!("attention over chosen or compressed latents has no output gate"))
}

/// Attention residuals are of whole layers, with one residual stream.
pub(super) fn attention_residuals<W: Words>(d: &Design) -> Option<W> {
    let transformer = &d.transformer;
    transformer.attention_residual_block_size?;
    (transformer.enable_mhc_connections || are_sub_layers(d))
        .then(|| say!("attention residuals are of whole layers, without hyper-connections"))
}
