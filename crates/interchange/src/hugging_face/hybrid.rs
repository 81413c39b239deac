//! Sub-layers one by one: Nemotron-H and its like.

use model::design::KnobId;
use model::file::Tree;

use super::Config;

/// Keys of the pattern: its symbols, or its kinds one by one.
const PATTERNS: [&str; 3] =
    ["hybrid_override_pattern", "hybrid_layer_pattern", "layers_block_type"];

/// Reads the pattern of sub-layers, where there is one; it says how many there are.
pub(super) fn read(config: &mut Config<'_>) {
    let Some(key) = config.first_of(&PATTERNS).filter(|_| config.family.sub_layers) else {
        return;
    };
    let Some(mut pattern) = symbols(config.get(key)) else {
        let detail = "takes Megatron's symbols of sub-layers, or their kinds one by one";
        return config.draft.fault(config.line(key), key, detail);
    };
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
    if config.number("conv_kernel").is_some_and(|taps| taps != 4) {
        let detail = "only convolutions of four taps have a form here";
        config.draft.fault(config.line("conv_kernel"), "conv_kernel", detail);
    }
}

/// The symbols of a pattern, or of a list of kinds.
fn symbols(tree: Option<&Tree>) -> Option<String> {
    let of_kind = |kind: &Tree| {
        Some(match kind.as_text()? {
            "mamba" => 'M',
            "attention" => '*',
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
