//! Vocabulary, MLPs, experts and MTP layers.

use model::design::KnobId;
use model::file::Tree;

use super::Config;
use crate::launch::pattern;

/// Layers whose kind is listed, at most.
const MAX_LAYERS: u64 = 10_000;

pub(super) fn read(config: &mut Config<'_>) {
    refuse_other_layers(config);
    if let Some(key) = config.first_of(&["padded_vocab_size", "vocab_size"])
        && let Some(size) = config.number(key)
    {
        config.set(KnobId::vocab_size, &size.to_string(), key);
        if key == "padded_vocab_size" && config.get("vocab_size").is_some() {
            config.ignore("vocab_size", "padded_vocab_size says how many rows there are");
        }
    }
    let experts = config
        .first_of(&["n_routed_experts", "num_routed_experts", "num_local_experts"])
        .or_else(|| config.first_of(&["num_experts", "moe_num_experts"]));
    let count = experts.and_then(|key| config.number(key));
    match (experts, count) {
        (Some(key), Some(count)) if count > 0 => {
            config.set(KnobId::num_moe_experts, &count.to_string(), key);
            expert_widths(config);
            if config.family.shortcut {
                shortcuts(config);
            } else {
                shared(config);
                shared_gate(config);
                layers(config);
            }
            router(config);
        }
        _ => dense(config),
    }
    predictors(config);
}

/// Layers that aren't attention.
fn refuse_other_layers(config: &mut Config<'_>) {
    for key in ["layer_types", "attn_type_list"] {
        let Some(Tree::List(kinds)) = config.get(key) else { continue };
        let has_linear = !config.family.linear.is_empty();
        let names = ["full_attention", "sliding_attention", "chunked_attention"];
        let is_linear =
            |kind: &Tree| kind.as_text() == Some("linear_attention") || *kind == Tree::Unsigned(0);
        let is_full = |kind: &Tree| {
            kind.as_text().is_some_and(|name| names.contains(&name)) || *kind == Tree::Unsigned(1)
        };
        let known = |kind: &Tree| is_full(kind) || (has_linear && is_linear(kind));
        let line = config.line(key);
        if kinds.iter().all(known) {
            if key != "layer_types" && !has_linear {
                config.draft.ignore(key, line, "every layer is attention");
            }
        } else {
            config.draft.fault(line, key, "its layers without full attention have no knob");
        }
    }
}

/// The width of dense layers; GPT-2's is four times the hidden size unless said.
fn dense_width(config: &mut Config<'_>, keys: &[&'static str]) {
    let knob = KnobId::ffn_hidden_size;
    match config.first_of(keys) {
        Some(key) => config.set_number(knob, key),
        None => {
            let width = config.draft.design.transformer.hidden_size.saturating_mul(4).to_string();
            config.assume(knob, &width, "four times the hidden size, no key says it");
        }
    }
}

fn dense(config: &mut Config<'_>) {
    if config.has_blocks {
        return;
    }
    let keys = ["intermediate_size", "ff_intermediate_size", "n_inner", "ffn_hidden_size"];
    dense_width(config, &keys);
    let width = config.draft.design.transformer.ffn_hidden_size;
    if config.family.doubled_width {
        let half = (width / 2).max(1).to_string();
        config.set(KnobId::ffn_hidden_size, &half, "intermediate_size");
        let detail = "this architecture stores the widths of gate and up-projection as one";
        config.draft.assume(Some(KnobId::ffn_hidden_size), detail);
    }
}

fn expert_widths(config: &mut Config<'_>) {
    let knob = KnobId::moe_ffn_hidden_size;
    let own = config.first_of(&["moe_intermediate_size", "expert_ffn_hidden_size"]);
    let wide = config.first_of(&[
        "intermediate_size_mlp",
        "mlp_intermediate_size",
        "dense_intermediate_size",
    ]);
    match (own, wide) {
        (Some(key), _) => {
            config.set_number(knob, key);
            let widths = ["dense_intermediate_size", "intermediate_size", "ffn_hidden_size"];
            if config.first_of(&widths).is_some() {
                dense_width(config, &widths);
            } else {
                // No layer is dense: the width is only there to be divided by TP.
                shared_width_for_dense(config);
            }
        }
        // Llama 4 and MiniMax: the plain key is the experts', dense layers have their own.
        (None, Some(key)) => {
            config.set_number(knob, "intermediate_size");
            dense_width(config, &[key]);
        }
        (None, None) => {
            dense_width(config, &["intermediate_size", "ffn_hidden_size"]);
            if config.family.narrow {
                let width = config.draft.design.transformer.ffn_hidden_size.to_string();
                config.set(knob, &width, "intermediate_size");
            }
        }
    }
}

/// A layer of two attentions and two MLPs is two layers; the experts beside its first MLP have that
/// for a shared expert.
fn shortcuts(config: &mut Config<'_>) {
    let transformer = &config.draft.design.transformer;
    let (layers, width) = (2 * transformer.num_layers, transformer.ffn_hidden_size);
    let detail = "two for each layer, which has attention and an MLP twice";
    config.assume(KnobId::num_layers, &layers.to_string(), detail);
    let detail = "experts stand beside the first of two MLPs";
    config.assume(KnobId::moe_layer_freq, "2", detail);
    config.assume(KnobId::moe_shared_expert_intermediate_size, &width.to_string(), detail);
}

fn shared_width_for_dense(config: &mut Config<'_>) {
    let shared = config.first_of(&["shared_expert_intermediate_size", "moe_intermediate_size"]);
    if let Some(key) = shared
        && let Some(width) = config.number(key)
    {
        let detail = "no key says it, and no layer is dense";
        config.assume(KnobId::ffn_hidden_size, &width.to_string(), detail);
    }
}

fn shared(config: &mut Config<'_>) {
    let knob = KnobId::moe_shared_expert_intermediate_size;
    let counts =
        ["n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"];
    let widths = [
        "shared_expert_intermediate_size",
        "shared_intermediate_size",
        "moe_shared_expert_intermediate_size",
    ];
    if let Some(key) = config.first_of(&widths) {
        let width = config.number(key).unwrap_or(0);
        if width > 0 {
            config.set(knob, &width.to_string(), key);
        } else {
            config.ignore(key, "it is 0: there is no shared expert");
        }
        if let Some(count) = config.first_of(&counts) {
            config.ignore(count, format!("{key} is all of them together"));
        }
        return;
    }
    let transformer = &config.draft.design.transformer;
    let width = transformer.moe_ffn_hidden_size.unwrap_or(transformer.ffn_hidden_size);
    match config.first_of(&counts) {
        Some(key) => {
            let count = config.number(key).unwrap_or(0);
            if count > 0 {
                config.set(knob, &count.saturating_mul(width).to_string(), key);
            }
        }
        None if config.family.shared_experts > 0 => {
            let whole = config.family.shared_experts.saturating_mul(width).to_string();
            config.assume(knob, &whole, "as this architecture's models have, no key says it");
        }
        None => {}
    }
}

/// A gate of the shared experts, which no key speaks of.
fn shared_gate(config: &mut Config<'_>) {
    let has_shared = config.draft.design.transformer.moe_shared_expert_intermediate_size.is_some();
    if config.family.shared_gate && has_shared {
        let detail = "as this architecture's models have, no key says it";
        config.assume(KnobId::moe_shared_expert_gate, "true", detail);
    }
}

/// Which layers are MoE.
fn layers(config: &mut Config<'_>) {
    let count = config.draft.design.transformer.num_layers.min(MAX_LAYERS);
    let positions = |tree: Option<&Tree>| -> Option<Vec<u64>> {
        let Some(Tree::List(items)) = tree else { return None };
        let number = |item: &Tree| if let Tree::Unsigned(n) = item { Some(*n) } else { None };
        items.iter().map(number).collect()
    };
    let chosen = positions(config.get("moe_layers"));
    let plain = positions(config.get("mlp_only_layers")).unwrap_or_default();
    let listed = positions(config.get("moe_layer_freq"));
    let dense_key = config.first_of(&["first_k_dense_replace", "num_dense_layers"]);
    let dense = dense_key.and_then(|key| config.number(key)).unwrap_or(0);
    let every = if listed.is_some() { 1 } else { config.number("moe_layer_freq").unwrap_or(1) };
    // Qwen and Llama 4 count from one: of every two layers the second is MoE.
    let step_key = config.first_of(&["decoder_sparse_step", "interleave_moe_layer_step"]);
    let step = step_key.and_then(|key| config.number(key)).unwrap_or(1);
    let moe = |layer: u64| {
        layer >= dense
            && every > 0
            && layer.is_multiple_of(every)
            && step > 0
            && (layer + 1).is_multiple_of(step)
            && !plain.contains(&layer)
            && chosen.as_ref().is_none_or(|chosen| chosen.contains(&layer))
            && listed.as_ref().is_none_or(|list| list.get(layer as usize) != Some(&0))
    };
    let flags: Vec<bool> = (0..count).map(moe).collect();
    let keys = ["first_k_dense_replace", "num_dense_layers", "moe_layer_freq", "mlp_only_layers"];
    let more = ["decoder_sparse_step", "interleave_moe_layer_step", "moe_layers"];
    let given: Vec<&str> =
        keys.into_iter().chain(more).filter(|key| config.get(key).is_some()).collect();
    if !given.is_empty() {
        let all = flags.iter().all(|flag| *flag);
        let text = if all { "1".to_owned() } else { pattern(flags.into_iter()) };
        config.set(KnobId::moe_layer_freq, &text, &given.join(", "));
    }
}

fn router(config: &mut Config<'_>) {
    let names =
        ["num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_topk", "moe_k"];
    match config.first_of(&names) {
        Some(key) => config.set_number(KnobId::moe_router_topk, key),
        None => config.draft.fault(0, "num_experts_per_tok", "the configuration lacks it"),
    }
    let greedy = config.get("topk_method").and_then(Tree::as_text) == Some("greedy");
    if let Some(groups) = config.number("n_group") {
        let (knob, kept) = (KnobId::moe_router_num_groups, KnobId::moe_router_group_topk);
        if groups > 1 && !greedy {
            config.set(knob, &groups.to_string(), "n_group");
            config.set_number(kept, "topk_group");
        } else {
            for key in ["n_group", "topk_group"] {
                config.ignore(key, "experts are chosen without groups");
            }
        }
    }
    if let Some(groups) = config.number("num_groups") {
        config.set(KnobId::moe_router_num_groups, &groups.to_string(), "num_groups");
        if config.get("topk_per_group").is_some() {
            config.set(KnobId::moe_router_group_balanced, "true", "topk_per_group, num_groups");
        }
        if config.get("experts_per_group").is_some() {
            config.ignore("experts_per_group", "experts / groups");
        }
    }
    if config.get("topk_method").is_some() {
        config.ignore("topk_method", "how the router scores, but for its groups");
    }
}

/// MTP layers.
fn predictors(config: &mut Config<'_>) {
    let knob = KnobId::mtp_num_layers;
    let key = config.first_of(&[
        "num_nextn_predict_layers",
        "num_mtp_layers",
        "mtp_num_hidden_layers",
        "num_mtp_modules",
    ]);
    let Some(key) = key else { return };
    let modules = config.number(key).unwrap_or(0);
    if config.flag("use_mtp") == Some(false) {
        return config.ignore(key, "use_mtp is false");
    }
    let each = if key == "num_mtp_modules" {
        config.number("mtp_transformer_layers").unwrap_or(1)
    } else {
        1
    };
    config.set(knob, &modules.saturating_mul(each).to_string(), key);
}
