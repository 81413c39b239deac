//! What is computed again, and what is parked in host memory.

use model::Plan;
use model::design::KnobId;

use super::{Draft, Refusal, plan};
use crate::imputation::Item;

/// What a row says of recomputation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Printed {
    /// Nothing is computed again.
    Nothing,
    /// Whole layers: all, or so many of each stage.
    Layers(Option<u64>),
    /// A share of the layers, or that share of each layer's matrix products.
    Share(u64, u64),
    /// These modules.
    Modules(Vec<&'static str>),
    /// The row leaves it open.
    Open,
}

/// Sets recomputation and swapping, and checks the whole design.
///
/// Where the row leaves recomputation open, nothing is computed again; if the run can't fit so, as
/// few layers as let it fit are, because it did run.
pub(super) fn set(draft: &mut Draft<'_>) -> Result<Plan, Refusal> {
    set_swapping(draft)?;
    let printed = printed(&draft.run.recompute);
    let layers = draft.design.transformer.num_layers;
    let pp = draft.design.parallel.pipeline_model_parallel_size;
    match &printed {
        Printed::Nothing => {}
        Printed::Layers(None) => draft.set(KnobId::recompute_granularity, "full")?,
        Printed::Layers(Some(count)) => set_block(draft, *count)?,
        Printed::Share(part, whole) => {
            draft.note("that share of each stage's layers is computed again as a whole");
            let count = layers.div_ceil(pp.max(1)).saturating_mul(*part) / whole;
            set_block(draft, count.clamp(1, 1_000))?;
        }
        Printed::Modules(modules) => {
            draft.set(KnobId::recompute_granularity, "selective")?;
            draft.set(KnobId::recompute_modules, modules.join(","))?;
        }
        Printed::Open => draft.assume(KnobId::recompute_granularity, Item::Recompute)?,
    }
    let without = plan(&draft.design)?;
    if printed != Printed::Open || fits(&without) {
        return Ok(without);
    }
    fewest_layers(draft, without)
}

/// A prediction this much over the limit still counts as fitting: its own error is as large.
const SLACK: f64 = 1.1;

fn fits(plan: &Plan) -> bool {
    let metrics = model::estimate(plan).metrics;
    metrics.memory_peak.get() <= SLACK * metrics.memory_limit.get()
}

/// The plan with the fewest layers of each stage computed again that lets it fit; without any
/// where not even all of them do, because then something else made it fit.
fn fewest_layers(draft: &mut Draft<'_>, without: Plan) -> Result<Plan, Refusal> {
    let design = &draft.design;
    let stages = design.parallel.pipeline_model_parallel_size.max(1);
    let all = design.transformer.num_layers.div_ceil(stages).clamp(1, 1_000);
    let with = |count: u64, draft: &mut Draft<'_>| -> Result<Plan, Refusal> {
        set_block(draft, count)?;
        plan(&draft.design)
    };
    let before = draft.design.clone();
    if !fits(&with(all, draft)?) {
        draft.design = before;
        draft.note("the prediction doesn't fit into memory, whatever is computed again");
        return Ok(without);
    }
    let (mut too_few, mut enough) = (0, all);
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if fits(&with(middle, draft)?) { enough = middle } else { too_few = middle }
    }
    draft.note("as few layers of each stage computed again as lets the run fit");
    with(enough, draft)
}

fn set_block(draft: &mut Draft<'_>, count: u64) -> Result<(), Refusal> {
    draft.set(KnobId::recompute_granularity, "full")?;
    draft.set(KnobId::recompute_method, "block")?;
    draft.set(KnobId::recompute_num_layers, count)
}

fn set_swapping(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let mut swapped = vec![];
    if draft.says(&["swap-attention"]) {
        swapped.push("attention_output");
    }
    if draft.says(&["swap-optimizer"]) {
        swapped.push("optimizer");
    }
    if !swapped.is_empty() {
        draft.set(KnobId::swap_modules, swapped.join(","))?;
    }
    if draft.says(&["reuse-fp32-param"]) {
        draft.set(KnobId::reuse_fp32_param, true)?;
    }
    Ok(())
}

/// What texts call a module, and the knob's name for it; longer names first.
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

fn printed(text: &str) -> Printed {
    let text = text.trim().to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    // Flash attention keeps no scores: selective recomputation of them is what it does anyway.
    // MindFormers' `select recompute` repeats a gate's activation and product only.
    if has(&["core-attn equiv", "select recompute"]) {
        return Printed::Nothing;
    }
    // NVIDIA's MaxText recipes keep what attention's projections give, and compute attention, gate
    // and up-projection again: `save_dot_except_mlp` and `..._mlpwi` of dgxc-benchmarking v24.11,
    // maxtext/configure.sh.
    if has(&["maxtext"]) {
        return Printed::Modules(vec!["core_attn", "mlp"]);
    }
    if text.is_empty() || has(&["see script", "not in table", "not stated"]) {
        return Printed::Open;
    }
    if text.starts_with("none") || has(&["no recompute", "baseline no"]) {
        return Printed::Nothing;
    }
    if has(&["block"]) {
        return Printed::Layers(number_in(&text));
    }
    if text.starts_with("full, ") {
        return Printed::Layers(number_in(&text));
    }
    if text.starts_with("full") && !has(&["full moe"]) {
        return Printed::Layers(None);
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
            ("MaxText remat policy not in table", Printed::Modules(vec!["core_attn", "mlp"])),
            ("select recompute [8 4 4 1 1 1 1 1]", Printed::Nothing),
        ] {
            assert_eq!(printed(text), wanted, "{text}");
        }
    }
}
