//! What a row's text says of recomputation.

use crate::phrase::{self, Claim, Phrases, phrases};

/// Recomputation that a row prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    /// Nothing is computed again.
    Nothing,
    /// Whole layers: all, or this many of each stage.
    Layers(Option<u64>),
    /// This many layers of each stage, one number per stage.
    Stages(Vec<u64>),
    /// A share of the layers, or that share of each layer's matrix products.
    Share(u64, u64),
    /// These modules.
    Modules(Vec<&'static str>),
    /// The row leaves it open.
    Open,
}

/// Names of a module in texts, and the knob's name for it; longer names first.
const MODULES: &[(&str, &str)] = &[
    ("mla_up_proj", "mla_up_proj"),
    ("mla up-projection", "mla_up_proj"),
    ("core_attn", "core_attn"),
    ("core attention", "core_attn"),
    ("core-attn", "core_attn"),
    ("shared_experts", "shared_experts"),
    ("layernorm", "layernorm"),
    ("rmsnorm", "layernorm"),
    ("norm", "layernorm"),
    ("moe_act", "moe_act"),
    ("swiglu", "moe_act"),
    ("moe (full moe layer)", "moe"),
    ("moe", "moe"),
    ("mlp", "mlp"),
];

/// Words of recomputation itself.
static NOUNS: Phrases = phrases!(
    "recompute | recomputation | rematerialisation | rematerialization | remat | \
     activation checkpointing | checkpointing | checkpoint | gradient checkpointing"
);

/// Reads the column; with MaxText a policy's name counts, and core attention alone where none is
/// printed.
pub(super) fn printed(text: &str, is_maxtext: bool) -> Printed {
    let text = text.trim().to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if is_maxtext {
        return policy(&text).unwrap_or(Printed::Modules(vec!["core_attn"]));
    }
    // Flash attention keeps no scores: selective recomputation of them is what it does anyway.
    // MindFormers' `select recompute` repeats a gate's activation and product only.
    if has(&["core-attn equiv", "select recompute"]) {
        return Printed::Nothing;
    }
    let starts = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    if text.is_empty()
        || starts(&["not ", "unknown", "?", "see ", "unstated", "n/a"])
        || text == "-"
    {
        return Printed::Open;
    }
    let first = text.split([';', ',', '(']).next().unwrap_or_default().trim();
    if starts(&["none"]) || matches!(first, "no" | "off" | "false" | "disabled" | "0" | "nothing") {
        return Printed::Nothing;
    }
    match phrase::claim(&text, &NOUNS) {
        Some(Claim::Denied) => return Printed::Nothing,
        Some(Claim::Unstated) => return Printed::Open,
        Some(Claim::Affirmed) | None => {}
    }
    if let Some(counts) = stages_in(&text) {
        return Printed::Stages(counts);
    }
    if has(&["block"]) {
        return Printed::Layers(number_in(&text));
    }
    if text.starts_with("full, ")
        && let Some(count) = number_before_layers(&text)
    {
        return Printed::Layers(Some(count));
    }
    if is_full(&text) {
        return Printed::Layers(None);
    }
    if let Some(count) = number_before_layers(&text).filter(|_| has(&["recompute", "checkpoint"])) {
        return Printed::Layers(Some(count));
    }
    if let Some((part, whole)) = fraction_in(&text) {
        return Printed::Share(part, whole);
    }
    // torchtitan keeps every second matrix product, or every second layer.
    if has(&["sac", "selective op", "selective layer", "every 2nd layer", "every second layer"]) {
        return Printed::Share(1, 2);
    }
    let modules = modules(&text);
    if !modules.is_empty() {
        return Printed::Modules(modules);
    }
    if text.starts_with("selective") { Printed::Modules(vec!["core_attn"]) } else { Printed::Open }
}

/// Whether a text names one of MaxText's policies.
pub(super) fn names_policy(text: &str) -> bool {
    policy(&text.trim().to_lowercase()).is_some()
}

/// `full`, `full AC`, `FSDP32, full AC`; but not `full MoE layer`.
fn is_full(text: &str) -> bool {
    let is_layer = |clause: &str| {
        let clause = clause.trim();
        clause.starts_with("full") && !clause.starts_with("full moe")
    };
    text.split([';', ',', '+']).any(is_layer)
}

/// MaxText's policies by what each keeps: the products without a batch dimension (`minimal`), with
/// attention's output (`with_context`), or some of them; the knob's names for what it repeats.
///
/// Source: MaxText, `get_remat_policy`; without a policy's own list `custom` keeps a layer's input
/// only, as `full` does.
fn policy(text: &str) -> Option<Printed> {
    let attention = || Printed::Modules(vec!["core_attn"]);
    let attention_and_mlp = || Printed::Modules(vec!["core_attn", "mlp"]);
    let policies: [(&str, Printed); 11] = [
        ("minimal_with_context", Printed::Nothing),
        ("minimal_flash", Printed::Nothing),
        ("minimal", attention()),
        ("save_dot_with_context_except_mlp", Printed::Modules(vec!["mlp"])),
        // The MLP's last product is kept; the knob takes the MLP as a whole.
        ("save_dot_except_mlp", attention_and_mlp()),
        ("save_qkv_proj", attention_and_mlp()),
        ("qkv_proj_offloaded", attention_and_mlp()),
        ("save_out_proj", Printed::Layers(None)),
        ("custom", custom(text)),
        ("full", Printed::Layers(None)),
        ("none", Printed::Nothing),
    ];
    let (_, found) = policies
        .into_iter()
        .find(|(name, _)| phrase::affirms(text, &[name]) || text.trim() == *name)?;
    Some(found)
}

/// `custom` with the tensors that it keeps or offloads: all products but the MLP's, or all.
fn custom(text: &str) -> Printed {
    let keeps = |names: &[&str]| {
        names.iter().any(|name| {
            ["device", "offload", "save", "keep"].iter().any(|how| {
                text.split([';', ',', '(', ')'])
                    .any(|part| part.contains(name) && part.contains(how))
            })
        })
    };
    let attention = keeps(&["qkv_proj", "query_proj", "out_proj"]);
    let mlp = keeps(&["mlpwi"]);
    match (attention, mlp, keeps(&["context"])) {
        (true, true, true) => Printed::Nothing,
        (true, true, false) => Printed::Modules(vec!["core_attn"]),
        (true, false, true) => Printed::Modules(vec!["mlp"]),
        (true, false, false) => Printed::Modules(vec!["core_attn", "mlp"]),
        (false, ..) => Printed::Layers(None),
    }
}

/// `[3,0] layers`: the layers of each stage.
fn stages_in(text: &str) -> Option<Vec<u64>> {
    let (_, rest) = text.split_once("recompute [")?;
    let (list, _) = rest.split_once(']')?;
    let counts = list.split([',', ' ']).filter(|word| !word.is_empty()).map(str::parse::<u64>);
    let counts: Vec<u64> = counts.collect::<Result<_, _>>().ok()?;
    (counts.len() > 1 && counts.iter().all(|count| *count <= 1_000)).then_some(counts)
}

/// 4 of `4-layer recompute` and `full, 5 layers`.
fn number_before_layers(text: &str) -> Option<u64> {
    let before = &text[..text.find("layer")?];
    let before = before.trim_end_matches([' ', '-']);
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|count| (1..=1_000).contains(count))
}

fn modules(text: &str) -> Vec<&'static str> {
    let list = text.strip_prefix("modules:").unwrap_or(text);
    let list = list.split(" at ").next().unwrap_or(list);
    let mut found: Vec<&'static str> = vec![];
    for word in list.split(['+', ',', ';']) {
        let word = word.trim();
        let named = MODULES.iter().find(|(name, _)| word.contains(name)).map(|(_, knob)| *knob);
        found.extend(named.filter(|knob| !found.contains(knob)));
    }
    found
}

/// `1/3`, at most one.
fn fraction_in(text: &str) -> Option<(u64, u64)> {
    let (before, after) = text.split_once('/')?;
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let part: String = digits(&before.chars().rev().collect::<String>()).chars().rev().collect();
    let (part, whole): (u64, u64) = (part.parse().ok()?, digits(after).parse().ok()?);
    (part > 0 && part <= whole && whole <= 100).then_some((part, whole))
}

fn number_in(text: &str) -> Option<u64> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?;
    digits.parse().ok().filter(|count| (1..=1_000).contains(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_column_is_read() {
        for (text, wanted) in [
            ("none stated (NeMo perf recipe)", Printed::Nothing),
            ("none, no SP", Printed::Nothing),
            ("full (each layer)", Printed::Layers(None)),
            ("full, 5 layers", Printed::Layers(Some(5))),
            ("block recompute 30; swap-attention", Printed::Layers(Some(30))),
            ("swap-optimizer; recompute block 8", Printed::Layers(Some(8))),
            ("selective (core attention)", Printed::Modules(vec!["core_attn"])),
            ("selective + SP", Printed::Modules(vec!["core_attn"])),
            ("modules:moe_act+layernorm", Printed::Modules(vec!["moe_act", "layernorm"])),
            ("layernorm+moe", Printed::Modules(vec!["layernorm", "moe"])),
            ("RMSNorm + MLA up-projection", Printed::Modules(vec!["layernorm", "mla_up_proj"])),
            ("selective (torchtitan SAC)", Printed::Share(1, 2)),
            ("activation checkpointing of 1/3 of the layers", Printed::Share(1, 3)),
            ("mlp and/or norm", Printed::Modules(vec!["layernorm"])),
            ("see script", Printed::Open),
            ("no recompute", Printed::Nothing),
            ("no recomputation, no SP", Printed::Nothing),
            ("off", Printed::Nothing),
            ("no SP; full recompute", Printed::Layers(None)),
            ("recompute off", Printed::Nothing),
            ("activation checkpointing disabled", Printed::Nothing),
            ("recompute not printed", Printed::Open),
            ("not stated", Printed::Open),
            ("full AC", Printed::Layers(None)),
            ("FSDP32, full AC, swap-optimizer 16, eager", Printed::Layers(None)),
            ("swap-optimizer; 4-layer recompute", Printed::Layers(Some(4))),
            ("recompute [3,0] layers of 15; capacity factor 1.2", Printed::Stages(vec![3, 0])),
            ("moe (full MoE layer)", Printed::Modules(vec!["moe"])),
            ("select recompute [8 4 4 1 1 1 1 1]", Printed::Nothing),
        ] {
            assert_eq!(printed(text, false), wanted, "{text}");
        }
    }

    #[test]
    fn maxtext_s_policies_repeat_what_they_do_not_keep() {
        for (text, wanted) in [
            ("MaxText remat policy not in table", Printed::Modules(vec!["core_attn"])),
            ("", Printed::Modules(vec!["core_attn"])),
            ("remat_policy=minimal", Printed::Modules(vec!["core_attn"])),
            ("minimal_flash", Printed::Nothing),
            ("save_qkv_proj", Printed::Modules(vec!["core_attn", "mlp"])),
            ("save_dot_except_mlpwi", Printed::Modules(vec!["core_attn", "mlp"])),
            ("save_dot_with_context_except_mlp", Printed::Modules(vec!["mlp"])),
            ("remat full", Printed::Layers(None)),
            ("custom", Printed::Layers(None)),
            (
                "custom (decoder_layer_input offload, qkv_proj device)",
                Printed::Modules(vec!["core_attn", "mlp"]),
            ),
            ("custom: out_proj=offload, mlpwi=offload", Printed::Modules(vec!["core_attn"])),
            ("none", Printed::Nothing),
        ] {
            assert_eq!(printed(text, true), wanted, "{text}");
        }
    }
}
