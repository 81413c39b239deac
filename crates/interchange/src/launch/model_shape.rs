//! The shape of the model, but for how many layers it has.

use model::design::KnobId;
use model::ground::choice::PositionEmbedding;

use super::parts::{Parts, cut, dashed};
use crate::Format;
use crate::draft::Draft;

/// Multiple that Megatron pads a vocabulary to, times TP.
const VOCABULARY_MULTIPLE: u64 = 128;

pub(super) fn read(parts: &Parts, draft: &mut Draft) {
    attention(parts, draft);
    padding(parts, draft);
    width(parts, draft);
    vocabulary(parts, draft);
    if draft.design.transformer.has_experts() {
        experts(parts, draft);
        router(parts, draft);
    } else {
        // What only says how experts run means nothing here.
        draft.default(KnobId::moe_token_dispatcher_type, "alltoall");
        draft.default(KnobId::moe_grouped_gemm, "true");
        draft.default(KnobId::moe_permute_fusion, "true");
    }
}

fn attention(parts: &Parts, draft: &mut Draft) {
    let groups = "num-query-groups";
    if parts.has("group-query-attention") {
        match parts.number(groups, draft) {
            Some(count) => {
                parts.set(KnobId::num_query_groups, &count.to_string(), groups, draft);
            }
            None if parts.has(groups) => {}
            None => parts.set(KnobId::num_query_groups, "1", "group-query-attention", draft),
        }
    } else if draft.model.is_some() || draft.title.is_some() {
        // Other frameworks have no switch beside the number.
        if let Some(count) = parts.number(groups, draft) {
            parts.set(KnobId::num_query_groups, &count.to_string(), groups, draft);
        }
    } else if parts.has(groups) {
        let reason = "query groups are read with --group-query-attention alone";
        parts.ignore(groups, reason, draft);
    }
    let transformer = &draft.design.transformer;
    if transformer.multi_latent_attention && transformer.num_query_groups.is_some() {
        draft.default(KnobId::num_query_groups, "none");
        parts.ignore(groups, "multi-latent attention has no query groups", draft);
    }
    if draft.design.transformer.add_bias_linear {
        // Megatron: `bias=config.add_bias_linear or config.add_qkv_bias`.
        draft.default(KnobId::add_qkv_bias, "true");
    }
    let (knob, learned) = (KnobId::position_embedding_type, PositionEmbedding::LearnedAbsolute);
    if parts.has("no-position-embedding") {
        // It takes the learned table away, and leaves rotary embeddings as they are.
        let name = "no-position-embedding";
        if draft.design.transformer.position_embedding_type == learned {
            parts.set(knob, "none", name, draft);
        } else {
            parts.ignore(name, "there is no learned table of positions", draft);
        }
    }
    window(parts, draft);
    windows(parts, draft);
    let name = "interleave-sliding-window";
    if let Some(tokens) = parts.number(name, draft) {
        // MindSpeed-LLM's `tasks/models/transformer/transformer_layer.py`: the first, and each
        // second behind it.
        parts.set(KnobId::window_size, &tokens.to_string(), name, draft);
        parts.set(KnobId::window_attn_skip_freq, "2", name, draft);
    }
}

/// Tokens that a query looks back.
fn window(parts: &Parts, draft: &mut Draft) {
    if let Some(window) = parts.text("window-size") {
        let tokens = window.trim_start_matches('(').split(',').next().unwrap_or_default();
        if tokens == "-1" {
            parts.ignore("window-size", "a window of -1 is all tokens", draft);
        } else {
            parts.set(KnobId::window_size, tokens, "window-size", draft);
        }
    }
}

/// Sets the padding of MLA's heads for the attention kernel.
///
/// Source: MindSpeed-LLM `multi_latent_attention.py`: without `--mla-fa-without-pad` values are
/// padded to the keys' width in the shape order BNSD, and all to a multiple of
/// `--padded-base-length` in any other.
fn padding(parts: &Parts, draft: &mut Draft) {
    let (switch, base, order) = ("mla-fa-without-pad", "padded-base-length", "shape-order");
    let given = [switch, base, order].into_iter().filter(|name| parts.has(name));
    let transformer = &draft.design.transformer;
    if !transformer.multi_latent_attention {
        let reason = "only multi-latent attention has heads to pad";
        return given.for_each(|name| parts.ignore(name, reason, draft));
    }
    let keys = transformer.qk_head_dim + transformer.qk_pos_emb_head_dim;
    let widths_differ = keys != transformer.v_head_dim;
    if parts.has(switch) {
        parts.set(KnobId::mla_fa_without_pad, "true", switch, draft);
    } else if draft.format == Format::Mindspeed {
        draft.default(KnobId::mla_fa_without_pad, "false");
    }
    let pads = !draft.design.kernel.mla_fa_without_pad;
    if pads && parts.text(order) == Some("BNSD") {
        parts.set(KnobId::padded_base_length, &keys.to_string(), order, draft);
        if parts.has(base) {
            let reason = "in the shape order BNSD values are padded to the keys' width";
            parts.ignore(base, reason, draft);
        }
    } else if let Some(length) = parts.number(base, draft) {
        parts.set(KnobId::padded_base_length, &length.to_string(), base, draft);
    }
    if pads && widths_differ && draft.design.kernel.flash_attention {
        let detail = "no --mla-fa-without-pad: MindSpeed-LLM pads the heads of attention";
        draft.assume(Some(KnobId::mla_fa_without_pad), detail);
    }
}

fn width(parts: &Parts, draft: &mut Draft) {
    let hidden = draft.design.transformer.hidden_size;
    let name = "ffn-hidden-size";
    match parts.number(name, draft) {
        Some(width) => parts.set(KnobId::ffn_hidden_size, &width.to_string(), name, draft),
        None if parts.has(name) || draft.model.is_some() => {}
        None if parts.has("expansion-ratio") => {
            let times = parts.text("expansion-ratio").and_then(|text| text.parse::<f64>().ok());
            let times = times.filter(|times| (0.01..1_000.0).contains(times)).unwrap_or(4.0);
            let width = ((hidden as f64 * times) as u64).max(1).to_string();
            parts.set(KnobId::ffn_hidden_size, &width, "expansion-ratio", draft);
        }
        None => {
            // Megatron keeps a gated MLP as large as one of 4 h, in multiples of 64.
            let gated = draft.design.transformer.gated_linear_unit;
            let width = if gated { hidden * 8 / 3 / 64 * 64 } else { hidden * 4 };
            draft.default(KnobId::ffn_hidden_size, &width.max(1).to_string());
            let detail = format!("no --{name}: {width}, as Megatron makes it of the hidden size");
            draft.assume(Some(KnobId::ffn_hidden_size), detail);
        }
    }
}

fn vocabulary(parts: &Parts, draft: &mut Draft) {
    let knob = KnobId::vocab_size;
    // The second is Megatron-DeepSpeed's.
    let said = parts.first_of(&["padded-vocab-size", "pad-vocab-size-to"]);
    if let Some((name, padded)) = said.and_then(|it| Some((it, parts.number(it, draft)?))) {
        let key = name;
        for name in ["vocab-size", "make-vocab-size-divisible-by"] {
            if parts.has(name) {
                let reason = format!("--{key} says how many rows there are");
                parts.ignore(name, &reason, draft);
            }
        }
        return parts.set(knob, &padded.to_string(), key, draft);
    }
    let asked = parts.number("make-vocab-size-divisible-by", draft).unwrap_or(VOCABULARY_MULTIPLE);
    let multiple = asked.saturating_mul(draft.design.parallel.tensor_model_parallel_size).max(1);
    let padded = |size: u64| size.div_ceil(multiple).saturating_mul(multiple);
    let Some(size) = parts.number("vocab-size", draft) else {
        let is_open = draft.model.is_none() && !parts.has("vocab-size") && said.is_none();
        if let Some(tokenizer) = parts.1.tokenizer.filter(|_| is_open) {
            let (name, entries) = (tokenizer.name, tokenizer.entries);
            draft.default(knob, &padded(entries).to_string());
            let detail = format!(
                "the tokenizer is that of {name}, whose {entries} entries are padded to a \
                 multiple of {multiple}"
            );
            draft.assume(Some(knob), detail);
        } else if is_open {
            open_vocabulary(parts, draft);
        }
        return;
    };
    let padded = padded(size);
    if padded != size {
        let detail = format!("the vocabulary of {size} is padded to a multiple of {multiple}");
        draft.assume(Some(knob), detail);
    }
    parts.set(knob, &padded.to_string(), "vocab-size", draft);
}

/// Takes the vocabulary of the known model of this shape where nothing says how large it is.
fn open_vocabulary(parts: &Parts, draft: &mut Draft) {
    let knob = KnobId::vocab_size;
    let mut shape = draft.design.transformer.clone();
    shape.num_layers = super::parts::layer_count(parts, draft);
    let near = crate::models::of_shape(&shape);
    if let Some(known) = near {
        draft.default(knob, &known.transformer().vocab_size.to_string());
    }
    let size = draft.design.transformer.vocab_size;
    let whose = near.map_or_else(String::new, |known| {
        format!(", that of {}, which has these layers and widths", known.name)
    });
    let detail = format!("the tokenizer's vocabulary isn't in the text: {size}{whose}");
    draft.assume(Some(knob), detail);
}

fn experts(parts: &Parts, draft: &mut Draft) {
    if let Some(count) = parts.number("n-shared-experts", draft).filter(|count| *count > 0) {
        let transformer = &draft.design.transformer;
        let width = transformer.moe_ffn_hidden_size.unwrap_or(transformer.ffn_hidden_size);
        let (knob, whole) =
            (KnobId::moe_shared_expert_intermediate_size, count.saturating_mul(width));
        parts.set(knob, &whole.to_string(), "n-shared-experts", draft);
    }
    if parts.1.is_deepspeed && !parts.has("moe-layer-freq") {
        return of_deepspeed(parts, draft);
    }
    let layers = super::parts::layer_count(parts, draft);
    let noops = parts.text("noop-layers").map_or(0, |text| text.split(',').count() as u64);
    let layers = layers.saturating_sub(noops).min(10_000);
    let dense = parts.number("first-k-dense-replace", draft).unwrap_or(0);
    // -1 is every layer behind the first dense ones.
    let freq = parts.text("moe-layer-freq").filter(|text| *text != "-1").unwrap_or("1");
    let line = parts.line("moe-layer-freq").max(parts.line("first-k-dense-replace"));
    if dense == 0 {
        if parts.text("moe-layer-freq").is_some_and(|text| text != "-1") {
            draft.set(KnobId::moe_layer_freq, freq, "--moe-layer-freq", line);
        }
        return;
    }
    let key = "--first-k-dense-replace, --moe-layer-freq";
    let Some(every) = freq.parse::<u64>().ok().filter(|every| *every > 0) else {
        return draft.fault(line, key, format!("takes a number here, not `{}`", cut(freq)));
    };
    // MindSpeed-LLM: MoE from layer k on, in every n-th layer counted from the first.
    let moe = |layer: u64| layer >= dense && layer.is_multiple_of(every);
    draft.set(KnobId::moe_layer_freq, &pattern((0..layers).map(moe)), key, line);
}

/// Which layers have no window: each n-th, or those that a list marks with 0.
fn windows(parts: &Parts, draft: &mut Draft) {
    let name = "window-attn-skip-freq";
    let Some(text) = parts.text(name) else { return };
    let knob = KnobId::window_attn_skip_freq;
    let tokens = draft.design.transformer.window_size;
    let layers = super::parts::layer_count(parts, draft);
    let mut list = draft.design.clone();
    match tokens {
        Some(tokens) if text.parse::<u64>().is_err() => {
            if list.set_text(KnobId::moe_layer_freq, text).is_err() {
                return parts.set(knob, text, name, draft);
            }
            let freq = &list.transformer.moe_layer_freq;
            let flags = (0..layers.min(10_000)).map(|layer| u64::from(freq.marks(layer)));
            let windows: Vec<u64> = flags.collect();
            draft.default(KnobId::window_size, "none");
            if windows.contains(&1) {
                let sizes = format!("{}:window_size={tokens}", rows(&windows, 1));
                parts.set(KnobId::layer_overrides, &sizes, name, draft);
            }
        }
        Some(_) | None => parts.set(knob, text, name, draft),
    }
}

/// Megatron's spelling of a layer-by-layer pattern.
pub(crate) fn pattern(moe: impl Iterator<Item = bool>) -> String {
    let mut runs: Vec<(bool, u64)> = vec![];
    for flag in moe {
        match runs.last_mut() {
            Some((last, count)) if *last == flag => *count += 1,
            _ => runs.push((flag, 1)),
        }
    }
    let terms: Vec<String> =
        runs.iter().map(|(flag, count)| format!("[{}]*{count}", u8::from(*flag))).collect();
    format!("({})", terms.join("+"))
}

/// The layers of a size, as rows such as `0-9,17`.
pub(crate) fn rows(sizes: &[u64], size: u64) -> String {
    let mut rows: Vec<[usize; 2]> = vec![];
    for (layer, _) in sizes.iter().enumerate().filter(|(_, own)| **own == size) {
        match rows.last_mut() {
            Some([_, last]) if *last + 1 == layer => *last = layer,
            _ => rows.push([layer, layer]),
        }
    }
    let row = |[first, last]: &[usize; 2]| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    rows.iter().map(row).collect::<Vec<_>>().join(",")
}

/// Experts in every n-th layer, counted from 1, and one expert a token where no more are asked.
///
/// Source: Megatron-DeepSpeed `megatron/arguments.py` and `get_num_experts_per_layer` of
/// `megatron/model/transformer.py`.
fn of_deepspeed(parts: &Parts, draft: &mut Draft) {
    let name = "expert-interval";
    let every = parts.number(name, draft).unwrap_or(2).max(1);
    let layers = super::parts::layer_count(parts, draft).min(10_000);
    let value = pattern((1..=layers).map(|layer| layer.is_multiple_of(every)));
    let knob = KnobId::moe_layer_freq;
    if parts.has(name) {
        parts.set(knob, &value, name, draft);
    } else {
        draft.default(knob, &value);
        draft.assume(Some(knob), "no --expert-interval: every second layer has experts");
    }
    match parts.number("topk", draft) {
        Some(count) => parts.set(KnobId::moe_router_topk, &count.to_string(), "topk", draft),
        None if draft.is_set(KnobId::moe_router_topk) => {}
        None => draft.default(KnobId::moe_router_topk, "1"),
    }
}

/// Router groups of which none are kept change nothing, unless the router balances them.
///
/// Source: Megatron-Core, `moe_utils.py:topk_routing_with_score_function`: groups are looked at
/// with `moe_router_group_topk` alone.
fn has_idle_groups(parts: &Parts, draft: &Draft) -> bool {
    let knobs = [KnobId::moe_router_group_balanced, KnobId::moe_router_group_topk];
    let is_said =
        |knob: &KnobId| draft.commented.contains(knob) || draft.answers.knob(*knob).is_some();
    let shape = &draft.design.transformer;
    let has_use = shape.moe_router_group_balanced || shape.moe_router_group_topk.is_some();
    parts.first_of(&["moe-router-group-topk", "topk-group"]).is_none()
        && !has_use
        && !knobs.iter().any(is_said)
}

fn router(parts: &Parts, draft: &mut Draft) {
    for (names, knob) in [
        (["moe-router-num-groups", "n-group"], KnobId::moe_router_num_groups),
        (["moe-router-group-topk", "topk-group"], KnobId::moe_router_group_topk),
    ] {
        let Some(name) = parts.first_of(&names) else { continue };
        let grouped = parts.first_of(&["moe-router-num-groups", "n-group"]);
        let one_group = matches!(grouped.and_then(|name| parts.text(name)), Some("0" | "1"));
        if one_group {
            parts.ignore(name, "one group is no grouping", draft);
        } else if has_idle_groups(parts, draft) {
            let reason = "without --moe-router-group-topk no group is left out: it has no effect";
            parts.ignore(name, reason, draft);
        } else if let Some(text) = parts.text(name) {
            parts.set(knob, text, name, draft);
        }
    }
    let name = "moe-router-load-balancing-type";
    let coefficient = parts.text("moe-aux-loss-coeff").and_then(|text| text.parse::<f64>().ok());
    let used = coefficient.is_some_and(|coefficient| coefficient > 0.0);
    let kind = parts.text(name).unwrap_or("aux_loss");
    let loss = match kind {
        _ if !used => "none",
        "aux_loss" | "noaux_tc" | "group_limited_greedy" if parts.has("seq-aux") => "sequence",
        "seq_aux_loss" => "sequence",
        "aux_loss" if parts.has("use-global-aux-loss") => "dp_group",
        "aux_loss" | "group_limited_greedy" => "micro_batch",
        "global_aux_loss" => "dp_group",
        _ => "none",
    };
    for part in [name, "moe-aux-loss-coeff", "seq-aux", "use-global-aux-loss"] {
        if parts.has(part) && loss == "none" {
            let reason = "no auxiliary loss balances the router with these arguments";
            parts.ignore(part, reason, draft);
        }
    }
    if loss != "none" {
        let given = [name, "moe-aux-loss-coeff", "seq-aux", "use-global-aux-loss"].into_iter();
        let keys: Vec<String> = given.filter(|part| parts.has(part)).map(dashed).collect();
        draft.set(KnobId::aux_loss, loss, &keys.join(", "), parts.line("moe-aux-loss-coeff"));
    }
}
