//! Sub-layers one by one: Nemotron-H and its like, and layers of Mamba-2 or attention with an MLP.

use model::design::KnobId;
use model::design::file::Tree;

use super::Config;

/// Keys of the pattern: its symbols, or its kinds one by one.
const PATTERNS: [&str; 4] =
    ["hybrid_override_pattern", "hybrid_layer_pattern", "layers_block_type", "layer_types"];

/// Keys of how many experts there are.
const EXPERTS: [&str; 4] =
    ["num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"];

/// Reads the pattern of sub-layers, where there is one; it says how many there are.
pub(super) fn read(config: &mut Config<'_>) {
    let is_one =
        |key: &&str| (config.family.sub_layers && *key != "layer_types") || has_mamba(config, key);
    let mut given = PATTERNS.into_iter().filter(|key| config.get(key).is_some());
    let Some(key) = given.find(is_one) else { return positions(config) };
    let Some(mut pattern) = symbols(config.get(key)) else {
        let detail = "takes Megatron's symbols of sub-layers, or their kinds one by one";
        return config.draft.fault(config.line(key), key, detail);
    };
    if !config.family.sub_layers && !pattern.contains(['-', 'E']) {
        return with_mlps(config, &pattern, key);
    }
    let layers = pattern.chars().filter(|symbol| *symbol != '|').count();
    let depths = config.number("num_nextn_predict_layers").unwrap_or(0).min(16);
    let names = ["mtp_hybrid_override_pattern", "mtp_layers_block_type"];
    let mtp_key = config.first_of(&names);
    let mtp = mtp_key.and_then(|key| symbols(config.get(key)));
    match (depths, mtp) {
        (0, _) => {}
        (_, Some(mtp)) => (0..depths).for_each(|_| pattern.push_str(&format!("/{mtp}"))),
        (_, None) => {
            let detail = "no key says of which sub-layers its MTP depths are";
            config.draft.fault(config.line(key), key, detail);
        }
    }
    if config.get("num_hidden_layers").is_none() {
        config.set(KnobId::num_layers, &layers.to_string(), key);
    }
    let keys = mtp_key.map_or_else(|| key.to_owned(), |mtp| format!("{key}, {mtp}"));
    config.set(KnobId::hybrid_layer_pattern, &pattern, &keys);
    taps(config);
}

/// Reads which layers are attention where all others are Mamba-2.
///
/// Source: `configuration_bamba.py` of `huggingface/transformers`, `layers_block_type`.
fn positions(config: &mut Config<'_>) {
    let key = "attn_layer_indices";
    let Some(Tree::List(chosen)) = config.get(key) else { return };
    let chosen = chosen.clone();
    let count = config.draft.design.transformer.num_layers.min(1_000);
    let symbol = |layer| if chosen.contains(&Tree::Unsigned(layer)) { '*' } else { 'M' };
    let pattern: String = (0..count).map(symbol).collect();
    with_mlps(config, &pattern, key);
}

/// Mixers with an MLP behind each, a dense one or experts.
///
/// Source: `modeling_granitemoehybrid.py` and `modeling_bamba.py` of `huggingface/transformers`.
fn with_mlps(config: &mut Config<'_>, mixers: &str, key: &str) {
    let experts = config.first_of(&EXPERTS).and_then(|key| config.number(key)).unwrap_or(0);
    let mlp = if experts > 0 { 'E' } else { '-' };
    let pattern: String = mixers.chars().flat_map(|mixer| [mixer, mlp]).collect();
    let detail = "a mixer and an MLP of each layer are two sub-layers";
    config.assume(KnobId::num_layers, &pattern.len().to_string(), detail);
    config.set(KnobId::hybrid_layer_pattern, &pattern, key);
    taps(config);
}

fn taps(config: &mut Config<'_>) {
    let key = "conv_kernel";
    if config.number(key).is_some_and(|taps| taps != 4) {
        config.fault(key, "only convolutions of four taps have a form here");
    }
}

/// Whether a list of kinds has Mamba layers. Newer files call them linear attention, and have
/// Mamba's sizes.
///
/// Source: `configuration_utils.py` of `huggingface/transformers`, `_LEGACY_LAYER_TYPE_REMAP`.
fn has_mamba(config: &Config<'_>, key: &str) -> bool {
    let sizes = ["mamba_num_heads", "mamba_n_heads", "mamba_d_state", "ssm_state_size"];
    let has_sizes = config.first_of(&sizes).is_some();
    let Some(Tree::List(kinds)) = config.get(key) else { return false };
    kinds.iter().any(|kind| match kind.as_text() {
        Some("mamba" | "mamba2") => true,
        Some("linear_attention") => has_sizes,
        _ => false,
    })
}

/// The symbols of a pattern, or of a list of kinds.
fn symbols(tree: Option<&Tree>) -> Option<String> {
    let of_kind = |kind: &Tree| {
        Some(match kind.as_text()? {
            "mamba" | "mamba2" | "linear_attention" => 'M',
            "attention" | "full_attention" => '*',
            "mlp" => '-',
            "moe" => 'E',
            _ => return None,
        })
    };
    match tree? {
        Tree::Text(text) => Some(text.clone()),
        Tree::List(kinds) => kinds.iter().map(of_kind).collect(),
        Tree::Null
        | Tree::Flag(_)
        | Tree::Unsigned(_)
        | Tree::Negative(_)
        | Tree::Real(_)
        | Tree::Map(_) => None,
    }
}
