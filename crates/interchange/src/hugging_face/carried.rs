//! What a configuration says of how the model learns, in Megatron's arguments: no number follows
//! from it, and another model is trained without it.
//!
//! Source: NVIDIA/Megatron-LM `megatron/training/arguments.py` and
//! `megatron/core/transformer/transformer_config.py`.

use model::design::ExtraArgument;
use model::design::file::Tree;

use super::Config;
use crate::draft::Carried;
use crate::{carried, flags};

/// A key, and the argument that takes its number as it is.
const NUMBERS: &[(&str, &[&str])] = &[
    ("max-position-embeddings", &["max_position_embeddings", "n_positions", "n_ctx"]),
    ("rotary-base", &["rope_theta", "rotary_emb_base"]),
    ("rotary-percent", &["partial_rotary_factor", "rotary_pct"]),
    (
        "norm-epsilon",
        &["rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon", "norm_eps"],
    ),
    ("init-method-std", &["initializer_range"]),
    ("moe-z-loss-coeff", &["router_z_loss_coef"]),
    ("mtp-loss-scaling-factor", &["mtp_loss_weight"]),
    ("moe-router-topk-scaling-factor", &["routed_scaling_factor", "router_scaling_factor"]),
];

/// Arguments that only a model with experts has.
const OF_EXPERTS: [&str; 2] = ["moe-z-loss-coeff", "moe-router-topk-scaling-factor"];

pub(super) fn read(config: &mut Config<'_>) {
    let has_experts = config.draft.design.transformer.has_experts();
    for (name, keys) in NUMBERS {
        if OF_EXPERTS.contains(name) && !has_experts {
            continue;
        }
        if let Some((key, text)) =
            keys.iter().find_map(|key| Some((*key, number(config.get(key)?)?)))
        {
            keep(config, name, &[text], key);
        }
    }
    if ["layer_norm_eps", "layer_norm_epsilon"].iter().any(|key| config.get(key).is_some()) {
        let key = config.first_of(&["layer_norm_eps", "layer_norm_epsilon"]).unwrap_or_default();
        keep(config, "normalization", &["LayerNorm".to_owned()], key);
    }
    rope(config);
    if has_experts {
        router(config);
    }
}

fn keep(config: &mut Config<'_>, name: &str, values: &[String], key: &str) {
    let line = config.line(key);
    carried::keep(name, values, line, config.draft);
}

/// A number as an argument takes it: 10000.0 is 10000.
fn number(value: &Tree) -> Option<String> {
    match value {
        Tree::Unsigned(number) => Some(number.to_string()),
        Tree::Real(real) if real.is_finite() && real.fract() == 0.0 && real.abs() < 1e15 => {
            Some(format!("{real:.0}"))
        }
        Tree::Real(real) if real.is_finite() => Some(real.to_string()),
        Tree::Real(_)
        | Tree::Negative(_)
        | Tree::Null
        | Tree::Flag(_)
        | Tree::Text(_)
        | Tree::List(_)
        | Tree::Map(_) => None,
    }
}

/// Stretched rotary angles, as Llama 3.1's and as YaRN's with latent attention.
fn rope(config: &mut Config<'_>) {
    let Some(key) = config.first_of(&["rope_scaling", "rope_parameters"]) else { return };
    let Some(scaling) = config.get(key).cloned() else { return };
    let of = |name: &str| scaling.get(name).and_then(number);
    if config.get("rope_theta").is_none()
        && let Some(base) = of("rope_theta")
    {
        keep(config, "rotary-base", &[base], key);
    }
    let kind = ["rope_type", "type"].iter().find_map(|name| scaling.get(name)?.as_text());
    let latent = config.draft.design.transformer.multi_latent_attention;
    match kind {
        Some("llama3") => {
            keep(config, "use-rope-scaling", &[], key);
            if let Some(factor) = of("factor") {
                keep(config, "rope-scaling-factor", &[factor], key);
            }
        }
        Some("yarn" | "deepseek_yarn") if latent => {
            keep(config, "rope-type", &["yarn".to_owned()], key);
            for (name, own) in [
                ("rotary-scaling-factor", "factor"),
                ("mscale", "mscale"),
                ("mscale-all-dim", "mscale_all_dim"),
            ] {
                if let Some(value) = of(own) {
                    keep(config, name, &[value], key);
                }
            }
        }
        // MLA stretches by YaRN by default.
        None | Some(_) if latent => keep(config, "rope-type", &["rope".to_owned()], key),
        None | Some(_) => {}
    }
}

/// Reads the router's score function and load balancing.
fn router(config: &mut Config<'_>) {
    let scores = ["scoring_func", "score_function", "moe_router_activation_func"];
    let by_sigmoid = config.flag("moe_router_use_sigmoid") == Some(true);
    if let Some(key) = config.first_of(&scores)
        && let Some(name @ ("sigmoid" | "softmax" | "sqrtsoftplus")) =
            config.get(key).and_then(Tree::as_text)
    {
        let name = name.to_owned();
        keep(config, "moe-router-score-function", &[name], key);
    } else if by_sigmoid {
        let name = "sigmoid".to_owned();
        keep(config, "moe-router-score-function", &[name], "moe_router_use_sigmoid");
    }
    let biased = ["use_routing_bias", "router_enable_expert_bias", "moe_router_enable_expert_bias"];
    let key = biased.into_iter().find(|key| config.flag(key) == Some(true));
    let by_method = config.get("topk_method").and_then(Tree::as_text) == Some("noaux_tc");
    if let Some(key) = key.or(by_method.then_some("topk_method")) {
        keep(config, "moe-router-enable-expert-bias", &[], key);
    }
    // Megatron takes the softmax over the chosen experts alone unless it is told to take it before.
    if config.flag("norm_topk_prob") == Some(false) {
        keep(config, "moe-router-pre-softmax", &[], "norm_topk_prob");
    }
    let Some(key) = config.first_of(&["router_aux_loss_coef", "aux_loss_alpha"]) else { return };
    let Some(Tree::Real(coefficient)) = config.get(key) else { return };
    if *coefficient <= 0.0 {
        return;
    }
    let coefficient = coefficient.to_string();
    // The knob stays the base's: it is of a run, as the loads are.
    let by_sequence = config.flag("seq_aux") == Some(true);
    let loss = if by_sequence { "seq_aux_loss" } else { "aux_loss" };
    let line = config.line(key);
    if let Some(argument) = ExtraArgument::new(flags::BALANCING, &[loss.to_owned()]) {
        config.draft.carried.push(Carried { argument, line });
    }
    keep(config, "moe-aux-loss-coeff", &[coefficient], key);
}
