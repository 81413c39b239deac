//! A run as a design that the model can predict.
//!
//! Every value goes through the public registry and every design through the rules, so that a run
//! is held to what a person's own design is held to.

mod batch;
mod draft;
mod parallel;
mod pipeline;
mod recipe;
mod recompute;
mod refusal;
mod schedule;

use model::Plan;
use model::design::{
    Cluster, Design, Kernel, KnobId, Memory, Parallel, Routing, Schedule, Training,
};
use model::violation::Violation;

pub(crate) use batch::precision;
pub(crate) use draft::Draft;
pub(crate) use refusal::Refusal;

use crate::imputation::{Family, Item};
use crate::runs::Run;
use crate::{architecture, convention, hardware, imputation};

/// A run that the knobs express.
pub(crate) struct Expressed {
    /// Its design, checked.
    pub(crate) plan: Plan,
    /// What was assumed.
    pub(crate) assumed: Vec<String>,
}

/// The design of a run.
///
/// # Errors
/// The reason for refusing it; an architecture that no knob expresses comes before all else.
pub(crate) fn of(run: &Run) -> Result<Expressed, Refusal> {
    if let Some(known) = &run.duplicate_of {
        return Err(Refusal::new("the same run stands in another row", &format!("as {known}")));
    }
    let architecture = architecture::of(run)?;
    if !run.problems.is_empty() {
        return Err(Refusal::new(
            "the row has numbers that can't be read",
            &run.problems.join("; "),
        ));
    }
    let mut design = architecture.design;
    // The architecture only: the rest is the row's own, on top of neutral values.
    design.cluster = Cluster::default();
    design.parallel = Parallel::default();
    design.schedule = Schedule::default();
    design.training = Training::default();
    design.memory = Memory::default();
    design.routing = Routing::default();
    design.kernel = Kernel::default();
    let mut draft = Draft::new(design, run, architecture.assumed);
    set_cluster(&mut draft)?;
    if recipe::take(&mut draft)? {
        convention::set(&mut draft)?;
        let plan = plan(&draft.design)?;
        return Ok(Expressed { plan, assumed: draft.into_assumed() });
    }
    parallel::set(&mut draft)?;
    batch::set(&mut draft)?;
    schedule::set(&mut draft, architecture.short_ends)?;
    set_kernel(&mut draft)?;
    if draft.facts.routes_naturally && draft.has_experts() {
        draft.assume(KnobId::balance, Item::ExpertLoad)?;
    }
    convention::set(&mut draft)?;
    let plan = recompute::set(&mut draft)?;
    Ok(Expressed { plan, assumed: draft.into_assumed() })
}

/// Checks a design.
fn plan(design: &Design) -> Result<Plan, Refusal> {
    Plan::new(design).map_err(|violations| {
        let messages: Vec<&str> = violations.iter().map(message).collect();
        Refusal::new("the layout breaks a rule", &messages.join("; "))
    })
}

fn message(violation: &Violation) -> &str {
    &violation.message
}

fn set_cluster(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let run = draft.run;
    let machine = hardware::of(run)?;
    machine.assumed.iter().for_each(|words| draft.note(words));
    let grid =
        [run.tensor_parallel, run.context_parallel, run.pipeline_parallel, run.data_parallel];
    let devices = match (run.num_devices, grid) {
        (Some(devices), _) => devices,
        (None, [Some(tp), cp, Some(pp), Some(dp)]) => {
            draft.note("devices from TP x CP x PP x DP");
            tp.saturating_mul(cp.unwrap_or(1)).saturating_mul(pp).saturating_mul(dp)
        }
        (None, _) => return Err(Refusal::open("the number of devices isn't printed")),
    };
    draft.set(KnobId::accelerator, machine.accelerator)?;
    draft.set(KnobId::num_devices, devices)?;
    let usual = draft.design.cluster.accelerator.row().devices_per_node as f64;
    for (knob, value) in machine.overrides {
        // A node of the usual size needs no mention in the design.
        let is_usual = knob == KnobId::devices_per_node && value.to_bits() == usual.to_bits();
        if !is_usual {
            draft.set(knob, value)?;
        }
    }
    Ok(())
}

/// What the one B200 node of SimuMax's rows sustains: long matmuls reach 0.45 to 0.51 of the peak
/// where short ones reach 0.63 to 0.65. Source: SimuMax, `configs/system/b200_bf16_ceperm.json`.
const SIMUMAX_CLOCK: f64 = 0.75;

fn set_kernel(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let framework = match draft.facts.family {
        Family::EarlyMegatron | Family::Megatron => "megatron",
        Family::Fsdp => "fsdp",
        Family::Mindspeed => "mindspeed",
    };
    // Automodel shards by FSDP but runs Transformer Engine's kernels.
    let framework = if draft.says(&["te + "]) { "megatron" } else { framework };
    draft.set(KnobId::framework, framework)?;
    if draft.facts.family == Family::Mindspeed {
        draft.assume(KnobId::software, Item::Software)?;
    }
    // Not worth a remark where attention is fused, as everywhere since 2022.
    let (flash, _) = imputation::of(Item::FlashAttention, &draft.facts);
    if flash == "false" {
        draft.assume(KnobId::flash_attention, Item::FlashAttention)?;
    }
    if draft.run.source_id == "simumax_b200" {
        draft.note("the node's long matmuls at 0.75 of its short ones, by SimuMax's calibration");
        draft.set(KnobId::sustained_clock, SIMUMAX_CLOCK)?;
    }
    // SimuMax names its configurations by what they switch on.
    if draft.run.locator.to_lowercase().ends_with("_cef") {
        draft.set(KnobId::cross_entropy_loss_fusion, true)?;
    }
    if draft.says(&["fused loss"]) {
        draft.set(KnobId::cross_entropy_loss_fusion, true)?;
    }
    if draft.facts.blocks_launches {
        draft.assume(KnobId::launch_blocking, Item::LaunchBlocking)?;
    }
    if draft.facts.is_recipe && draft.facts.family == Family::Megatron {
        draft.assume(KnobId::cross_entropy_loss_fusion, Item::LossFusion)?;
        draft.assume(KnobId::gradient_dtype, Item::GradientDtype)?;
    }
    if draft.facts.family == Family::Mindspeed && draft.has_experts() {
        draft.assume(KnobId::gmm_add, Item::GroupedAccumulation)?;
        draft.assume(KnobId::moe_permute_fusion, Item::PermuteFusion)?;
    }
    // Allocator readings hold neither the CUDA context nor communication buffers.
    let notes = draft.run.notes.to_lowercase();
    if notes.contains("max allocated") || notes.contains("peak allocated") {
        draft.note("memory is what the allocator gave: no reserve");
        draft.set(KnobId::reserved_gib, 0)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
