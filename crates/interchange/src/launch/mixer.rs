//! Mixers that a layer specification or a kind of model names, and no argument of Megatron's.

use model::design::KnobId;
use model::ground::choice::AttentionVariant;

use super::named;
use super::parts::Parts;
use crate::draft::Draft;
use crate::models;

/// Specifications of layers that are gated delta nets but for each n-th.
///
/// Sources: MindSpeed-LLM, `tasks/models/spec/qwen3_next_spec.py`; slime,
/// `slime_plugins/models/qwen3_next.py` and `qwen3_5.py`.
const GATED_DELTA_NETS: [&str; 2] = ["qwen3_next", "qwen3_5"];

/// Kinds of models of Kimi delta attention beside latent attention, which keep Megatron's switch
/// of latent attention off.
///
/// Source: AMD-AGI/Primus, `primus/configs/models/megatron/kimi_k3_base.yaml`.
const KIMI: [&str; 2] = ["kimi_k3", "kimi_linear"];

pub(super) fn read(parts: &Parts, draft: &mut Draft) {
    gated_delta_nets(parts, draft);
    compressed(parts, draft);
    let is_sparse =
        draft.design.transformer.experimental_attention_variant == AttentionVariant::Dsa;
    let cp = KnobId::context_parallel_algo;
    if is_sparse && draft.design.parallel.context_parallel_size > 1 && !draft.is_set(cp) {
        draft.default(cp, "allgather");
        draft.assume(Some(cp), "sparse attention gathers its keys over the ranks of CP");
    }
    let kind = "model-type";
    if parts.text(kind).is_some_and(|text| KIMI.contains(&text)) {
        parts.set(KnobId::experimental_attention_variant, "kda", kind, draft);
        parts.set(KnobId::multi_latent_attention, "true", kind, draft);
    }
}

/// Keys that stand for several tokens, layer by layer; the indexer is a part of them.
///
/// Source: MindSpeed-LLM, `features_manager/transformer/multi_latent_attention/csa_feature.py`.
fn compressed(parts: &Parts, draft: &mut Draft) {
    let name = "compress-ratios";
    let words = parts.words(name).iter().flat_map(|word| word.split(','));
    let ratios: Vec<&str> = words.map(str::trim).filter(|word| !word.is_empty()).collect();
    if ratios.is_empty() {
        return;
    }
    let layers = super::parts::layer_count(parts, draft);
    let noops = parts.text("noop-layers").map_or(0, |text| text.split(',').count() as u64);
    let layers = usize::try_from(layers.saturating_sub(noops)).unwrap_or(usize::MAX);
    let kept: Vec<&str> = ratios.iter().copied().take(layers).collect();
    parts.set(KnobId::attention_compress_ratios, &format!("[{}]", kept.join(",")), name, draft);
    let reason = "compressed attention has an indexer of its own";
    draft.withdraw(KnobId::experimental_attention_variant, "none", reason);
}

fn gated_delta_nets(parts: &Parts, draft: &mut Draft) {
    let names = |word: &String| GATED_DELTA_NETS.iter().any(|name| word.contains(name));
    let (spec, every) = ("spec", "full-attention-interval");
    let (is_spec, has_every) = (parts.words(spec).iter().any(names), parts.has(every));
    let variant = KnobId::experimental_attention_variant;
    if !(is_spec || has_every) || draft.is_set(variant) {
        return;
    }
    let name = if is_spec { spec } else { every };
    parts.set(variant, "gdn", name, draft);
    // The query's projection of these specifications holds a gate of the output.
    if is_spec && !draft.is_set(KnobId::attention_output_gate) {
        parts.set(KnobId::attention_output_gate, "true", spec, draft);
    }
    if has_every && let Some(count) = parts.number(every, draft) {
        parts.set(KnobId::linear_attention_freq, &count.to_string(), every, draft);
    } else if !draft.is_set(KnobId::linear_attention_freq) {
        draft.default(KnobId::linear_attention_freq, "4");
    }
    if let Some(width) = parts.number("mamba-d-conv", draft) {
        let width = width.to_string();
        parts.set(KnobId::linear_conv_kernel_dim, &width, "mamba-d-conv", draft);
    }
    heads(parts, draft);
}

/// The heads of delta nets, which some frameworks take from the checkpoint's configuration.
fn heads(parts: &Parts, draft: &mut Draft) {
    let (keys, values) = (KnobId::linear_num_key_heads, KnobId::linear_num_value_heads);
    if draft.is_set(keys) || draft.is_set(values) {
        return;
    }
    let texts = named::NAMES.iter().filter_map(|name| parts.text(name));
    let known = texts.filter_map(models::find).map(|known| (known.name, known.transformer()));
    let delta = AttentionVariant::Gdn;
    let found = known.into_iter().find(|it| it.1.experimental_attention_variant == delta);
    if let Some((_, shape)) = &found {
        draft.default(keys, &shape.linear_num_key_heads.to_string());
        draft.default(values, &shape.linear_num_value_heads.to_string());
    }
    let name = found.map_or("qwen3-next-80b-a3b", |(name, _)| name);
    let shape = &draft.design.transformer;
    let detail = format!(
        "--spec names gated delta nets in three of four layers: {} heads of keys and {} of \
         values, as in {name}",
        shape.linear_num_key_heads, shape.linear_num_value_heads
    );
    draft.assume(Some(values), detail);
}
