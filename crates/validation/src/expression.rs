//! A run as a design that the model can predict.
//!
//! Every value goes through the public registry and every design through the rules, so that a run
//! is held to what a person's own design is held to.

mod batch;
mod contradiction;
mod memory;
mod pipeline;
mod recipe;
mod recompute;
mod schedule;
mod sharding;
mod parallel;

use model::Plan;
use model::design::violation::Violation;
use model::design::{
    Cluster, Design, Kernel, KnobId, Memory, Parallel, Routing, Schedule, Training,
};

pub(crate) use batch::precision;
pub(crate) use contradiction::among as contradicted;
pub(crate) use recipe::OF_RECIPE;

use architecture::Architecture;
use recipe::Taken;

use crate::draft::Draft;
use crate::imputation::{Family, Item};
use crate::refusal::Refusal;
use crate::runs::Run;
use crate::{architecture, convention, hardware, imputation};

/// A run that the knobs express.
pub(crate) struct Expressed {
    /// Its design, checked.
    pub(crate) plan: Plan,
    /// Assumptions made.
    pub(crate) assumed: Vec<String>,
    /// Designs by other readings of what the source leaves open.
    pub(crate) others: Vec<Plan>,
}

/// The design of a run.
///
/// # Errors
/// The reason for refusing it; an architecture that no knob expresses comes before all else.
pub(crate) fn for_run(run: &Run) -> Result<Expressed, Refusal> {
    if let Some(known) = &run.duplicate_of {
        return Err(Refusal::new("the same run stands in another row", &format!("as {known}")));
    }
    let architecture = architecture::for_run(run)?;
    if !run.problems.is_empty() {
        return Err(Refusal::new(
            "the row has numbers that can't be read",
            &run.problems.join("; "),
        ));
    }
    let mut expressed = with_micro_batch(run, &architecture, None)?;
    // Without a printed batch a larger micro-batch would be a larger batch.
    let has_batch = run.global_batch_size.is_some();
    if has_batch && imputation::is_among(Item::MicroBatchSize, &expressed.assumed) {
        expressed = with_most_tokens(run, &architecture, expressed);
    }
    contradiction::check(run, &expressed.plan)?;
    expressed.others.extend(convention::other(run, expressed.plan.design()));
    Ok(expressed)
}

/// The design with the largest micro-batch that fits without more recomputation than the smallest
/// one needs, as long as a larger one isn't slower: with a pipeline it makes the bubble longer.
fn with_most_tokens(run: &Run, architecture: &Architecture, smallest: Expressed) -> Expressed {
    let mut step_time = model::estimate(&smallest.plan).metrics.step_time.get();
    let mut found = smallest;
    for size in batch::open_micro_batches(found.plan.design()) {
        let Ok(larger) = with_micro_batch(run, architecture, Some(size)) else { break };
        let metrics = model::estimate(&larger.plan).metrics;
        let is_same = larger.plan.design().memory == found.plan.design().memory;
        let is_slower = metrics.step_time.get() > step_time;
        if !is_same || is_slower || metrics.memory_peak > metrics.memory_limit {
            break;
        }
        step_time = metrics.step_time.get();
        found = larger;
    }
    found
}

/// The design of a run with this micro-batch where the row prints none.
fn with_micro_batch(
    run: &Run,
    architecture: &Architecture,
    micro_batch: Option<u64>,
) -> Result<Expressed, Refusal> {
    let mut design = architecture.design.clone();
    // The architecture only: the rest is the row's own, on top of neutral values.
    design.cluster = Cluster::default();
    design.parallel = Parallel::default();
    design.schedule = Schedule::default();
    design.training = Training::default();
    design.memory = Memory::default();
    design.routing = Routing::default();
    design.kernel = Kernel::default();
    let mut draft = Draft::new(design, run, architecture.assumed.clone());
    draft.micro_batch = micro_batch;
    set_cluster(&mut draft)?;
    if convention::trains_without_mtp(run) && draft.design.transformer.mtp_num_layers > 0 {
        draft.note("no MTP layer");
        draft.set(KnobId::mtp_num_layers, 0)?;
    }
    let others = match recipe::take(&mut draft)? {
        Taken::Nothing => None,
        Taken::All => Some(vec![]),
        Taken::Plausible(others) => Some(others),
    };
    if let Some(others) = others {
        convention::set(&mut draft)?;
        let plan = plan(&draft.design)?;
        return Ok(Expressed { plan, assumed: draft.into_assumed(), others });
    }
    parallel::set(&mut draft)?;
    batch::set(&mut draft)?;
    schedule::set(&mut draft, architecture)?;
    set_kernel(&mut draft)?;
    set_fine_tuning(&mut draft)?;
    if draft.facts.routes_naturally && draft.has_experts() {
        draft.assume(KnobId::balance, Item::ExpertLoad)?;
    }
    convention::set(&mut draft)?;
    let plan = recompute::set(&mut draft)?;
    let plan = memory::read(&mut draft, plan)?;
    Ok(Expressed { plan, assumed: draft.into_assumed(), others: vec![] })
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
    let machine = hardware::for_run(run)?;
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
    let row = draft.design.cluster.accelerator.row();
    let node = row.devices_per_node as f64;
    let usual = [
        (KnobId::devices_per_node, node),
        (KnobId::nics_per_node, node),
        (KnobId::inter_node_gb_per_sec, row.inter_node_gb_per_sec),
        (KnobId::intra_node_gb_per_sec, row.intra_node_gb_per_sec),
    ];
    for (knob, value) in machine.overrides {
        // A node of the usual size and the usual network need no mention in the design.
        let is_usual =
            usual.iter().any(|(known, usual)| *known == knob && usual.to_bits() == value.to_bits());
        if !is_usual {
            draft.set(knob, value)?;
        }
    }
    Ok(())
}

/// Sustained clock of the one B200 node of SimuMax's rows, as a share of the nominal one: long
/// matmuls reach 0.45 to 0.51 of the peak where short ones reach 0.63 to 0.65. Source: SimuMax,
/// `configs/system/b200_bf16_ceperm.json`.
const SIMUMAX_CLOCK: f64 = 0.75;

fn set_kernel(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let framework = match draft.facts.family {
        Family::EarlyMegatron | Family::Megatron if draft.facts.is_deepspeed => "deepspeed",
        Family::EarlyMegatron | Family::Megatron => "megatron",
        Family::Fsdp => "fsdp",
        Family::Mindspeed => "mindspeed",
    };
    // Automodel shards by FSDP but runs Transformer Engine's kernels.
    let framework = if draft.holds(&["te + "]) { "megatron" } else { framework };
    draft.set(KnobId::framework, framework)?;
    if draft.facts.family == Family::Mindspeed {
        draft.assume(KnobId::software, Item::Software)?;
    }
    // Not worth a remark where attention is fused, as everywhere since 2022.
    let (flash, _) = imputation::impute(Item::FlashAttention, &draft.facts);
    if flash == "false" {
        draft.assume(KnobId::flash_attention, Item::FlashAttention)?;
    }
    if framework == "fsdp" {
        draft.assume(KnobId::flash_attention_version, Item::AttentionVersion)?;
    }
    if draft.run.source_id == "simumax_b200" {
        draft.note("the node's long matmuls at 0.75 of its short ones, by SimuMax's calibration");
        draft.set(KnobId::sustained_clock, SIMUMAX_CLOCK)?;
    }
    // SimuMax names its configurations by what they switch on.
    if draft.run.locator.to_lowercase().ends_with("_cef") {
        draft.set(KnobId::cross_entropy_loss_fusion, true)?;
    }
    // A compiled loss makes no FP32 copy of the logits either.
    let compiled = draft.facts.family == Family::Fsdp && draft.says(&["compile"]);
    if draft.says(&["fused loss"]) || compiled {
        draft.set(KnobId::cross_entropy_loss_fusion, true)?;
    }
    if draft.facts.is_foundry {
        draft.assume(KnobId::cross_entropy_loss_fusion, Item::LossFusion)?;
    }
    if draft.facts.family == Family::EarlyMegatron {
        draft.assume(KnobId::gradient_dtype, Item::GradientDtype)?;
        draft.assume(KnobId::hidden_dropout, Item::Dropout)?;
        draft.assume(KnobId::attention_dropout, Item::Dropout)?;
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
    Ok(())
}

/// The rank that recipes take where a row prints none: 16 (Megatron-Bridge's and Automodel's for
/// 70B) or 32; the step doesn't tell them apart.
const LORA_RANK: u64 = 16;

/// Sets the data and the trained weights of a run that fine-tunes.
fn set_fine_tuning(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let (lengths, words) = imputation::impute(Item::DocumentLengths, &draft.facts);
    if lengths != "none" {
        draft.note(words);
        draft.set(KnobId::length_distribution, "histogram")?;
        draft.set(KnobId::length_histogram, lengths)?;
    }
    if !draft.facts.is_lora {
        return Ok(());
    }
    draft.note("adapters of rank 16");
    draft.set(KnobId::lora_rank, LORA_RANK)?;
    match draft.assumption(Item::LoraTargets) {
        "all" => Ok(()),
        targets => draft.set(KnobId::lora_target_modules, targets),
    }
}

#[cfg(test)]
mod tests;
