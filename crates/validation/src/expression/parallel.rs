//! How the model is cut.

use model::design::KnobId;

use super::sharding;
use crate::draft::Draft;
use crate::imputation::{self, Facts, Family, Item};
use crate::phrase;
use crate::refusal::Refusal;

/// Sets TP, SP, CP, PP, EP, ETP and what data-parallel ranks share out.
pub(super) fn set(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let tp = model_parallel(draft, draft.run.tensor_parallel, "TP")?;
    let pp = model_parallel(draft, draft.run.pipeline_parallel, "PP")?;
    draft.set(KnobId::tensor_model_parallel_size, tp)?;
    draft.set(KnobId::pipeline_model_parallel_size, pp)?;
    match draft.run.context_parallel {
        Some(cp) => draft.set(KnobId::context_parallel_size, cp)?,
        None => draft.assume(KnobId::context_parallel_size, Item::ContextParallel)?,
    }
    set_context_algorithm(draft)?;
    set_sequence_parallel(draft, tp)?;
    set_experts(draft, tp, pp)?;
    sharding::set(draft, pp)
}

/// TP or PP; where all is sharded by data parallelism there is neither unless printed.
fn model_parallel(draft: &mut Draft<'_>, printed: Option<u64>, axis: &str) -> Result<u64, Refusal> {
    if let Some(size) = printed {
        return Ok(size);
    }
    let is_sharded = is_fully_sharded(draft);
    if is_sharded && !draft.run.sharding.contains("see doc") {
        // Full sharding needs no other axis, whoever's it is.
        let facts = Facts { family: Family::Fsdp, ..draft.facts };
        let (value, words) = imputation::impute(Item::ModelParallel, &facts);
        draft.note(words);
        return value.parse().map_err(|_| Refusal::open("the layout isn't printed"));
    }
    Err(Refusal::new("the layout isn't printed", &format!("no {axis}")))
}

fn is_fully_sharded(draft: &Draft<'_>) -> bool {
    phrase::affirms(&draft.run.sharding.to_lowercase(), &["fsdp", "hsdp", "zero-3", "zero3"])
}

fn set_context_algorithm(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    if draft.design.parallel.context_parallel_size == 1 {
        return Ok(());
    }
    let named = if draft.says(&["ulysses", "cp a2a"]) {
        Some("a2a")
    } else if draft.says(&["cp all-gather", "cp allgather"]) {
        Some("allgather")
    } else if draft.says(&["ring", "megatron_cp_algo"]) {
        Some("p2p")
    } else {
        None
    };
    match named {
        Some(algorithm) => draft.set(KnobId::context_parallel_algo, algorithm),
        None => draft.assume(KnobId::context_parallel_algo, Item::ContextAlgorithm),
    }
}

fn set_sequence_parallel(draft: &mut Draft<'_>, tp: u64) -> Result<(), Refusal> {
    if tp == 1 {
        return Ok(());
    }
    let printed = draft.run.sequence_parallel.to_lowercase();
    if ["on", "yes", "true"].iter().any(|word| printed.starts_with(word)) {
        return draft.set(KnobId::sequence_parallel, true);
    }
    if ["off", "no", "false"].iter().any(|word| printed.starts_with(word))
        && !printed.starts_with("not ")
    {
        return Ok(());
    }
    draft.assume(KnobId::sequence_parallel, Item::SequenceParallel)
}

/// Experts whose width over TP is at least this are cut by TP where the source doesn't say.
const WIDE_EXPERT_PART: u64 = 1_536;
/// Narrower parts than this aren't cut by MindSpeed: its ranks take whole experts.
const NARROW_EXPERT_PART: u64 = 512;

fn set_experts(draft: &mut Draft<'_>, tp: u64, pp: u64) -> Result<(), Refusal> {
    let Some(experts) = draft.design.transformer.num_moe_experts else { return Ok(()) };
    let transformer = &draft.design.transformer;
    let width = transformer.moe_ffn_hidden_size.unwrap_or(transformer.ffn_hidden_size);
    let mut ep = match draft.run.expert_parallel {
        Some(ep) => ep,
        None if is_fully_sharded(draft) => {
            draft.note("no expert parallelism");
            1
        }
        None => return Err(Refusal::new("the layout isn't printed", "no EP")),
    };
    let mut etp = draft.run.expert_tensor_parallel.unwrap_or(1);
    let stage = draft.design.cluster.num_devices / pp.max(1);
    if draft.run.expert_tensor_parallel.is_none() && tp > 1 {
        let few_ranks = experts / ep.max(1) >= 32 && width / tp <= NARROW_EXPERT_PART;
        let fits = |grid: u64| grid > 0 && stage.is_multiple_of(grid);
        if draft.facts.family == Family::Mindspeed && few_ranks && fits(ep.saturating_mul(tp)) {
            ep = ep.saturating_mul(tp);
            draft.note("EP counted with TP: each TP rank holds other experts (TP-extend-EP)");
        } else if width / tp >= WIDE_EXPERT_PART && fits(ep.saturating_mul(tp)) {
            etp = tp;
            draft.note("ETP as TP, for experts this wide");
        } else {
            draft.note("ETP of 1");
        }
    }
    draft.set(KnobId::expert_model_parallel_size, ep)?;
    draft.set(KnobId::expert_tensor_parallel_size, etp)
}
