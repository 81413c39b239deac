//! Vocabulary, MLPs, experts and MTP layers.

use model::design::KnobId;
use model::design::file::Tree;

use super::window::is_local;
use super::{Config, blocks, linear, shown, sparse};
use crate::launch::pattern;

/// Layers whose kind is listed, at most.
const MAX_LAYERS: u64 = 1_000;

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
    let is_off = ["enable_moe_block", "is_moe"].iter().any(|key| config.flag(key) == Some(false));
    let count = experts.filter(|_| !is_off).and_then(|key| config.number(key));
    match (experts, count) {
        (Some(key), Some(count)) if count > 0 => {
            config.set(KnobId::num_moe_experts, &count.to_string(), key);
            expert_widths(config);
            if config.family.shortcut {
                shortcuts(config);
            } else {
                shared(config);
                beside(config);
                shared_gate(config);
                layers(config);
            }
            router(config);
        }
        _ => dense(config),
    }
    predictors(config);
}

/// Kinds of layers that are attention, all with the same parameters.
const ATTENTION: [&str; 5] =
    ["full_attention", "chunked_attention", "attention", "global_attention", "global"];

/// Kinds of layers that look at the keys which an indexer chooses.
const SPARSE: [&str; 3] = ["deepseek_sparse_attention", "indexed_attention", "sparse_attention"];

/// Layers that aren't attention.
fn refuse_other_layers(config: &mut Config<'_>) {
    let transformer = &config.draft.design.transformer;
    if transformer.is_hybrid() || transformer.attention_compress_ratios.is_some() {
        return;
    }
    for key in ["layer_types", "attn_type_list"] {
        let Some(Tree::List(kinds)) = config.get(key) else { continue };
        let has_linear = !linear::variant(config).is_empty();
        let named =
            |kind: &Tree, names: &[&str]| kind.as_text().is_some_and(|name| names.contains(&name));
        let is_linear =
            |kind: &Tree| named(kind, &["linear_attention"]) || *kind == Tree::Unsigned(0);
        let is_sparse = |kind: &Tree| named(kind, &SPARSE);
        let known = |kind: &&Tree| {
            is_sparse(kind)
                || is_local(kind)
                || sparse::is_block(kind)
                || named(kind, &ATTENTION)
                || **kind == Tree::Unsigned(1)
                || (has_linear && is_linear(kind))
        };
        let has_indexer = config.get("index_topk").is_some();
        let odd = kinds.iter().find(|kind| !known(kind));
        let sparse = kinds.iter().filter(|kind| is_sparse(kind)).count();
        let detail = if let Some(odd) = odd {
            format!("its layers of the kind {} have no knob", shown(odd))
        } else if sparse > 0 && !has_indexer {
            "keys are chosen in some layers, and index_topk doesn't say how many".to_owned()
        } else if sparse > 0 && sparse < kinds.len() {
            "keys are chosen in some layers and not in others, which no knob says".to_owned()
        } else {
            if key != "layer_types" && !has_linear {
                config.ignore(key, "every layer is attention");
            }
            continue;
        };
        config.fault(key, detail);
    }
}

/// The width of dense layers; GPT-2's is four times the hidden size unless said.
fn dense_width(config: &mut Config<'_>, keys: &[&'static str]) {
    let knob = KnobId::ffn_hidden_size;
    match config.first_of(keys) {
        Some(key) if blocks::listed(config, key, knob, "ffn_hidden_size") => {}
        Some(key) => config.set_number(knob, key),
        None if config.draft.design.transformer.gated_linear_unit => {
            let detail = "the configuration lacks it, and nothing says what it could be";
            config.draft.fault(0, "intermediate_size", detail);
        }
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
    // Granite's shared expert is all that there is where it has no others.
    let shared = ["shared_intermediate_size"];
    let has_shared = config.draft.design.transformer.is_hybrid()
        && config.first_of(&shared).and_then(|key| config.number(key)).is_some_and(|it| it > 0);
    dense_width(config, if has_shared { &shared } else { &keys });
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
            let reason = format!("{} is all of them together", config.written(key));
            config.ignore(count, reason);
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

/// A dense MLP beside the experts of each layer, which is a shared expert by another name.
///
/// Sources: `modeling_gemma4.py` of `huggingface/transformers`, `enable_moe_block`; xai-org/grok-2,
/// `residual_moe`; Snowflake/snowflake-arctic `modeling_arctic.py`, `parallel_attn_mlp_res`, whose
/// width is the hidden size.
fn beside(config: &mut Config<'_>) {
    let transformer = &config.draft.design.transformer;
    let (wide, hidden) = (transformer.ffn_hidden_size, transformer.hidden_size);
    for (key, width) in
        [("enable_moe_block", wide), ("residual_moe", wide), ("parallel_attn_mlp_res", hidden)]
    {
        if config.flag(key) == Some(true) {
            let knob = KnobId::moe_shared_expert_intermediate_size;
            config.set(knob, &width.to_string(), key);
        }
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

/// Keys of which layers are MoE.
const MOE_LAYERS: [&str; 11] = [
    "first_k_dense_replace",
    "num_dense_layers",
    "moe_layer_num_skipped",
    "moe_layer_freq",
    "mlp_only_layers",
    "decoder_sparse_step",
    "interleave_moe_layer_step",
    "moe_layers",
    "moe_layer_start_index",
    "moe_layer_end_index",
    "mlp_layer_types",
];

/// Which layers are MoE.
fn layers(config: &mut Config<'_>) {
    if config.draft.design.transformer.is_hybrid() {
        return;
    }
    let count = config.draft.design.transformer.num_layers.min(MAX_LAYERS);
    let positions = |tree: Option<&Tree>| -> Option<Vec<u64>> {
        let Some(Tree::List(items)) = tree else { return None };
        let number = |item: &Tree| if let Tree::Unsigned(n) = item { Some(*n) } else { None };
        items.iter().map(number).collect()
    };
    let chosen = positions(config.get("moe_layers"));
    if chosen.is_none() && config.get("moe_layers").is_some() {
        config.fault("moe_layers", "takes a list of layers, as numbers");
    }
    let plain = positions(config.get("mlp_only_layers")).unwrap_or_default();
    let listed = positions(config.get("moe_layer_freq"));
    let is_sparse = |kind: &Tree| kind.as_text() != Some("dense");
    let kinds: Option<Vec<bool>> = match config.get("mlp_layer_types") {
        Some(Tree::List(kinds)) => Some(kinds.iter().map(is_sparse).collect()),
        _ => None,
    };
    // -1 is the last layer.
    let end = "moe_layer_end_index";
    let has_end = !matches!(config.get(end), None | Some(Tree::Negative(_)));
    let mut number = |keys: &[&'static str], usual: u64| {
        config.first_of(keys).and_then(|key| config.number(key)).unwrap_or(usual)
    };
    let first = ["first_k_dense_replace", "num_dense_layers", "moe_layer_num_skipped"];
    let dense = number(&first, 0).max(number(&["moe_layer_start_index"], 0));
    let last = if has_end { number(&[end], u64::MAX) } else { u64::MAX };
    let every = if listed.is_some() { 1 } else { number(&["moe_layer_freq"], 1) };
    // Qwen and Llama 4 count from one: of every two layers the second is MoE.
    let step = number(&["decoder_sparse_step", "interleave_moe_layer_step"], 1);
    let moe = |layer: u64| {
        (dense..=last).contains(&layer)
            && every > 0
            && layer.is_multiple_of(every)
            && step > 0
            && (layer + 1).is_multiple_of(step)
            && !plain.contains(&layer)
            && chosen.as_ref().is_none_or(|chosen| chosen.contains(&layer))
            && listed.as_ref().is_none_or(|list| list.get(layer as usize) != Some(&0))
            && kinds.as_ref().is_none_or(|kinds| kinds.get(layer as usize) != Some(&false))
    };
    let flags: Vec<bool> = (0..count).map(moe).collect();
    let given: Vec<&str> = MOE_LAYERS.into_iter().filter(|key| config.get(key).is_some()).collect();
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
