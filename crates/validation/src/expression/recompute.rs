//! What is computed again, and what is parked in host memory.

mod printed;

use model::Plan;
use model::design::KnobId;

use super::plan;
use crate::convention;
use crate::draft::Draft;
use crate::imputation::Item;
use crate::refusal::Refusal;
use printed::{Printed, printed};

/// Sets recomputation and swapping, and checks the whole design.
///
/// Where the row leaves recomputation open, nothing is computed again; if the run can't fit so, as
/// few layers as let it fit are, because it did run.
pub(super) fn set(draft: &mut Draft<'_>) -> Result<Plan, Refusal> {
    set_swapping(draft)?;
    let mut printed = printed(&draft.run.recompute, is_maxtext(draft));
    if is_maxtext(draft) && !printed::names_policy(&draft.run.recompute) {
        draft.note(OPEN_POLICY);
    }
    if printed == Printed::Open && convention::counts_recomputation(draft.run) {
        draft.note("all layers computed again, as the source's FLOPs count it");
        printed = Printed::Layers(None);
    }
    let layers = draft.design.transformer.num_layers;
    let pp = draft.design.parallel.pipeline_model_parallel_size;
    match &printed {
        Printed::Nothing => {}
        Printed::Layers(None) => draft.set(KnobId::recompute_granularity, "full")?,
        Printed::Layers(Some(count)) => set_block(draft, count)?,
        Printed::Stages(counts) => {
            let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
            set_block(draft, &counts.join(","))?;
        }
        Printed::Share(part, whole) => {
            draft.note("that share of each stage's layers is computed again as a whole");
            let count = layers.div_ceil(pp.max(1)).saturating_mul(*part) / whole;
            set_block(draft, &count.clamp(1, 1_000))?;
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

/// Assumption noted for a run with MaxText whose policy isn't printed.
const OPEN_POLICY: &str = "attention computed again; MaxText's policy isn't printed";

/// A prediction this much over the limit still counts as fitting: its own error is as large.
const SLACK: f64 = 1.1;

fn fits(plan: &Plan) -> bool {
    let metrics = model::estimate(plan).metrics;
    metrics.memory_peak.get() <= SLACK * metrics.memory_limit.get()
}

/// The plan with the fewest layers of each stage computed again that lets it fit; without any
/// where not even all of them do, or may be, because then something else made it fit.
///
/// Megatron-Core overlaps no experts of layers that it computes again as a whole: an overlap that
/// was assumed gives way.
fn fewest_layers(draft: &mut Draft<'_>, without: Plan) -> Result<Plan, Refusal> {
    let design = &draft.design;
    let stages = design.parallel.pipeline_model_parallel_size.max(1);
    let all = design.transformer.num_layers.div_ceil(stages).clamp(1, 1_000);
    let with = |count: u64, draft: &mut Draft<'_>| -> Result<Plan, Refusal> {
        set_block(draft, &count)?;
        plan(&draft.design)
    };
    let before = draft.design.clone();
    let gives_way =
        before.schedule.overlap_moe_expert_parallel_comm && draft.withdraw(Item::ExpertOverlap);
    if gives_way {
        draft.set(KnobId::overlap_moe_expert_parallel_comm, false)?;
        draft.set(KnobId::delay_wgrad_compute, false)?;
    }
    if !with(all, draft).is_ok_and(|plan| fits(&plan)) {
        draft.design = before;
        if gives_way {
            draft.assumption(Item::ExpertOverlap);
        }
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

fn set_block(draft: &mut Draft<'_>, count: &impl ToString) -> Result<(), Refusal> {
    draft.set(KnobId::recompute_granularity, "full")?;
    draft.set(KnobId::recompute_method, "block")?;
    draft.set(KnobId::recompute_num_layers, count.to_string())
}

fn set_swapping(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let mut swapped = vec![];
    if draft.says(&["swap-attention", "swap_attention"]) {
        swapped.push("attention_output");
    }
    if draft.says(&["swap-optimizer", "swap_optimizer"]) {
        swapped.push("optimizer");
    }
    if !swapped.is_empty() {
        draft.set(KnobId::swap_modules, swapped.join(","))?;
    }
    if draft.says(&["reuse-fp32-param", "reuse_fp32_param"]) {
        draft.set(KnobId::reuse_fp32_param, true)?;
    }
    Ok(())
}

/// Whether the framework is MaxText, which always has a policy: `full` by default.
fn is_maxtext(draft: &Draft<'_>) -> bool {
    let run = draft.run;
    let text = format!("{} {} {} {}", run.source, run.locator, run.sharding, run.recompute);
    ["maxtext", "tpu-recipes"].iter().any(|word| text.to_lowercase().contains(word))
}
