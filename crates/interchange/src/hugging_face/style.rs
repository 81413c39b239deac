//! Gates, biases, norms, positions, and whether the embeddings are one table.

use model::design::KnobId;
use model::design::file::Tree;

use super::{AS_MODELS_ARE, Config, family};

/// Activations of models without a gate beside the up-projection, where the architecture isn't
/// known.
///
/// Sources, all of `huggingface/transformers`: `modeling_apertus.py`, `modeling_nemotron.py`,
/// `modeling_persimmon.py` and `modeling_arcee.py`.
const NEVER_GATED: [&str; 5] = ["xielu", "relu2", "relu_squared", "squared_relu", "squared-relu"];

/// Activations whose name says that there is a gate.
const ALWAYS_GATED: [&str; 5] = ["swiglu", "geglu", "reglu", "swigluoai", "silu_and_mul"];

/// Activations of models with a gate and of models without.
const EITHER: [&str; 7] =
    ["gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_tanh", "quick_gelu", "relu"];

pub(super) fn read(config: &mut Config<'_>) {
    // OPT's smallest has narrower embeddings, and projects them.
    let width = config.number("word_embed_proj_dim");
    if width.is_some_and(|width| width != config.draft.design.transformer.hidden_size) {
        config.fault("word_embed_proj_dim", "embeddings of another width have no knob");
    }
    let gpt = gate(config);
    let tied = config.family.tied || gpt;
    let knob = KnobId::untie_embeddings_and_output_weights;
    match config.flag("tie_word_embeddings") {
        Some(tied) => config.set(knob, &(!tied).to_string(), "tie_word_embeddings"),
        None => config.assume(knob, &(!tied).to_string(), AS_MODELS_ARE),
    }
    if config.family.sinks {
        config.assume(KnobId::softmax_type, "learnable", AS_MODELS_ARE);
    }
    let names = &["attn_output_gate", "attention_output_gate", "mla_use_output_gate"];
    config.set_or_assume(KnobId::attention_output_gate, config.family.output_gate, names, "");
    let bias = config.family.qkv_bias || gpt;
    let names = &["attention_bias", "qkv_bias", "add_qkv_bias", "use_qkv_bias", "use_bias", "bias"];
    config.set_or_assume(KnobId::add_qkv_bias, bias, names, "");
    let bias = config.family.linear_bias || gpt;
    config.set_or_assume(KnobId::add_bias_linear, bias, &["mlp_bias", "add_bias_linear"], "");
    if !config.draft.design.transformer.multi_latent_attention {
        let names = &["use_qk_norm", "qk_layernorm", "qk_norm"];
        config.set_or_assume(KnobId::qk_layernorm, config.family.qk_norm, names, "");
    }
    let sandwich = config.family.sandwich_norm;
    config.set_or_assume(KnobId::sandwich_norm, sandwich, &["sandwich_norm"], "");
    positions(config, gpt);
}

/// Whether MLPs have a gate; true where all is as GPT-2 has it.
fn gate(config: &mut Config<'_>) -> bool {
    let key = "hidden_act";
    let activation = config.get(key).and_then(Tree::as_text).unwrap_or_default().to_owned();
    let is_one_of = |names: &[&str]| names.contains(&activation.as_str());
    let is_unknown = config.family.name == family::UNKNOWN;
    let angles = ["rope_theta", "rope_scaling", "rope_parameters", "rotary_dim", "rotary_pct"];
    let rotary = config.first_of(&angles).is_some();
    // GPT's own kind: no gate and no angle of a rotary embedding.
    let plain = is_one_of(&EITHER) && activation != "gelu_pytorch_tanh";
    let gpt = config.family.learned_positions || (is_unknown && plain && !rotary);
    let usual = if is_unknown {
        !gpt && !is_one_of(&NEVER_GATED)
    } else {
        config.family.gated || is_one_of(&ALWAYS_GATED)
    };
    config.set_or_assume(KnobId::gated_linear_unit, usual, &["gated"], key);
    if is_unknown && !gpt && is_one_of(&EITHER) && config.get("gated").is_none() {
        let purpose = format!(
            "{}: {activation}, which models have with a gate and without, and the architecture \
             isn't known",
            config.written(key)
        );
        let line = config.line(key);
        let follows = "three matrices an MLP, or two";
        config.draft.ask_knob(KnobId::gated_linear_unit, line, &purpose, follows);
    }
    gpt
}

/// Reads the kind of position embeddings.
fn positions(config: &mut Config<'_>, gpt: bool) {
    let knob = KnobId::position_embedding_type;
    let key = "position_embedding_type";
    let named = match config.get(key).and_then(Tree::as_text) {
        Some("nope" | "none" | "alibi") => Some("none"),
        Some("rope" | "rotary") => Some("rope"),
        Some("absolute" | "learned_absolute") => Some("learned_absolute"),
        _ => None,
    };
    if let Some(kind) = named {
        return config.set(knob, kind, key);
    }
    for key in ["mla_use_nope", "alibi"] {
        if config.flag(key) == Some(true) {
            return config.set(knob, "none", key);
        }
    }
    if config.family.no_positions {
        config.assume(knob, "none", AS_MODELS_ARE);
    } else if gpt {
        config.assume(knob, "learned_absolute", "as GPT-2 marks positions");
    }
}
