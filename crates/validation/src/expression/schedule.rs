//! The schedule: virtual stages, order, overlap and dispatcher.

use model::design::KnobId;
use model::ground::choice::Dispatcher;

use super::pipeline::Load;
use crate::architecture::Architecture;
use crate::draft::Draft;
use crate::imputation::{Family, Item};
use crate::phrase::{self, Phrases, phrases};
use crate::refusal::Refusal;

/// Sets VPP, the pipeline's layout, its order, what overlaps and how tokens reach their experts.
pub(super) fn set(draft: &mut Draft<'_>, architecture: &Architecture) -> Result<(), Refusal> {
    refuse_unnamed_steps(draft)?;
    let transformer = &draft.design.transformer;
    let (layers, mtp) = (transformer.num_layers, transformer.mtp_num_layers);
    let load = Load { layers, mtp, short_ends: architecture.short_ends };
    let pp = draft.design.parallel.pipeline_model_parallel_size;
    let method = named_method(draft);
    let vpp = if pp == 1 { 1 } else { virtual_stages(draft, load, pp, method)? };
    draft.set(KnobId::virtual_pipeline_model_parallel_size, vpp)?;
    if architecture.empty_slots > 0 {
        // As in MindSpeed's scripts after the last layer; the MTP layer takes the last slot.
        let empty = architecture.empty_slots.saturating_sub(mtp);
        let slots = (layers..layers.saturating_add(empty)).take(1_000);
        let slots: Vec<String> = slots.map(|slot| slot.to_string()).collect();
        draft.note("the empty layer slots are the last ones");
        draft.set(KnobId::noop_layers, slots.join(","))?;
    } else if let Some(layout) = load.layout(pp.saturating_mul(vpp)) {
        draft.set(KnobId::pipeline_model_parallel_layout, layout)?;
    }
    let method = match method {
        Some(method) if pp > 1 => method,
        _ if vpp > 1 => "interleaved",
        _ => "1f1b",
    };
    draft.set(KnobId::method, method)?;
    if vpp > 1 && method == "interleaved" {
        set_group(draft, pp)?;
    }
    set_overlap(draft, pp, vpp)?;
    set_dispatch(draft)
}

/// A step of an optimisation ladder is only expressed where all that it adds is named.
fn refuse_unnamed_steps(draft: &Draft<'_>) -> Result<(), Refusal> {
    let is_ladder = draft.run.recompute.contains("along the ladder");
    if is_ladder && !draft.flags.starts_with("baseline") {
        return Err(Refusal::open("a step of a ladder whose parts aren't all named"));
    }
    Ok(())
}

/// The order that the row names.
fn named_method(draft: &Draft<'_>) -> Option<&'static str> {
    let names: [(&[&str], &'static str); 6] = [
        (&["zb-2p", "zb_2p"], "zb_2p"),
        (&["zb-1p", "zb-h1", "zb_h1"], "zb_h1"),
        (&["zb-v", "zb_v"], "zb_v"),
        (&["dualpipev"], "dualpipev"),
        (&["dualpipe"], "dualpipe"),
        (&["schedule 1f1b;", "schedule: 1f1b", "gpipe"], "1f1b"),
    ];
    names.iter().find(|(words, _)| draft.holds(words)).map(|(_, method)| *method)
}

/// VPP as printed, or as the row's remarks give it.
fn virtual_stages(
    draft: &mut Draft<'_>,
    load: Load,
    pp: u64,
    method: Option<&str>,
) -> Result<u64, Refusal> {
    match method {
        Some("dualpipev" | "zb_v") => return Ok(2),
        Some(_) => return Ok(1),
        None => {}
    }
    let text = printed_chunks(&draft.run.virtual_pipeline);
    let per_stage = (load.slots(pp) / pp).max(1);
    if text.contains("all layers as chunks") {
        return Ok(per_stage);
    }
    let first = text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    match first.parse::<u64>() {
        Ok(layers) if text.contains("layers per") && !text.contains('(') => {
            return Ok((per_stage / layers.max(1)).max(1));
        }
        Ok(vpp) if vpp > 0 => return Ok(vpp),
        _ => {}
    }
    let is_named = text.contains("interleaved");
    if !is_named && !text.is_empty() {
        return Err(Refusal::new("its virtual stages aren't understood", &text));
    }
    // Who lists the command line's switches lists this one too.
    if !is_named && draft.says(&["overlap-grad-reduce"]) {
        draft.note("no virtual stages among the switches that are listed");
        return Ok(1);
    }
    let value = draft.assumption(Item::VirtualPipeline);
    if !is_named && value == "1" {
        return Ok(1);
    }
    // Early Megatron-LM: "pipeline-model-parallel size should be greater than 2 with interleaved
    // schedule".
    let takes_chunks = pp > 2 || draft.facts.family != Family::EarlyMegatron;
    let is_interleaved = takes_chunks && fills_the_pipeline(draft, pp);
    Ok(if is_interleaved { per_stage / usual_chunk(per_stage) } else { 1 })
}

/// The column in lower case; empty where it says that it isn't printed, `1` where there are none.
fn printed_chunks(column: &str) -> String {
    let text = column.trim().to_lowercase();
    let is_open = ["not ", "unknown", "unstated", "?", "n/a", "-", "see "]
        .iter()
        .any(|word| text.starts_with(word));
    match text.as_str() {
        "none" | "no" | "off" | "false" | "1f1b" | "gpipe" => "1".to_owned(),
        _ if is_open => String::new(),
        _ => text.trim_start_matches(['v', 'p', '=', ' ']).to_owned(),
    }
}

/// Layers of a chunk: two, or the next number that divides a stage; one where none does.
fn usual_chunk(per_stage: u64) -> u64 {
    (2..per_stage).find(|chunk| per_stage.is_multiple_of(*chunk)).unwrap_or(1)
}

/// Micro-batches of a step on one pipeline, where they come out even.
fn micro_batches(draft: &Draft<'_>) -> Option<u64> {
    let design = &draft.design;
    let parallel = &design.parallel;
    let model = parallel
        .tensor_model_parallel_size
        .checked_mul(parallel.pipeline_model_parallel_size)?
        .checked_mul(parallel.context_parallel_size)?;
    let dp = design.cluster.num_devices.checked_div(model)?;
    let per_step = dp.checked_mul(design.training.micro_batch_size)?;
    design.training.global_batch_size.checked_div(per_step)
}

fn fills_the_pipeline(draft: &Draft<'_>, pp: u64) -> bool {
    micro_batches(draft).is_some_and(|count| count > 0 && count.is_multiple_of(pp))
}

/// Interleaving runs micro-batches in groups of PP; other groups only where those don't come out.
fn set_group(draft: &mut Draft<'_>, pp: u64) -> Result<(), Refusal> {
    let Some(count) = micro_batches(draft).filter(|count| !count.is_multiple_of(pp)) else {
        return Ok(());
    };
    let even = |group: &u64| count % group == 0 || count % group >= pp;
    if let Some(group) = (pp..=count.min(65_536)).find(even) {
        draft.note("micro-batch groups of the smallest size that comes out");
        draft.set(KnobId::microbatch_group_size_per_vp_stage, group)?;
    }
    Ok(())
}

/// Words for gradients reduced and parameters gathered beside compute.
static DATA_OVERLAP: Phrases = phrases!(
    "grad-reduce | grad_reduce | fsdp | prefetch | dp overlap | dp all-reduce | dp comm | \
     overlap-param-gather | overlap_param_gather | gradient overlap | overlap_comm"
);

/// Words for TP's collectives beside their matrix product.
static TENSOR_OVERLAP: Phrases = phrases!(
    "tp comm overlap | tp-comm | tp_comm_overlap | tp overlap | tp/sp comm | asynctp | async tp | \
     async-tp | mc2 | userbuffers | micro_batch_interleave | sp overlap"
);

/// Words for the experts' exchange beside another micro-batch's compute.
static EXPERT_OVERLAP: Phrases = phrases!(
    "overlap_moe_expert_parallel_comm | overlap-moe-expert-parallel-comm | moe_a2a_overlap | \
     moe-a2a-overlap | moe a2a overlap | ep overlap | ep a2a overlap | ep comm overlap | \
     a2a overlap | all-to-all overlap | alltoall overlap | moe-fb-overlap | moe_fb_overlap | \
     1f1b overlap | combined 1f1b | dual-batch overlap | batch-level overlap | \
     ep all-to-all and pp hidden | all-to-all hidden | overlapped ep | expert comm overlap"
);

/// A row without any overlap: `no comm overlap`, `baseline, without our overlap`.
fn no_overlap(draft: &Draft<'_>) -> bool {
    let fillers = ["our", "any", "the", "all", "comm", "communication", "baseline", "is", "of"];
    draft.flags.split([';', ',', '(', ')']).any(|clause| {
        let words = clause.split([' ', '=', ':']).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.filter(|word| !fillers.contains(word)).collect();
        let is_overlap = |word: &str| matches!(word, "overlap" | "overlaps" | "overlapping");
        match words.as_slice() {
            ["no" | "without" | "w/o", noun] | [noun, "off" | "false" | "none" | "disabled"] => {
                is_overlap(noun)
            }
            _ => false,
        }
    })
}

fn set_overlap(draft: &mut Draft<'_>, pp: u64, vpp: u64) -> Result<(), Refusal> {
    let parallel = &draft.design.parallel;
    let sharded = !matches!(
        parallel.data_parallel_sharding_strategy,
        model::ground::choice::ShardingStrategy::NoShard
    );
    let (tp, sequence_parallel) = (parallel.tensor_model_parallel_size, parallel.sequence_parallel);
    let none = no_overlap(draft);
    let data = if none || draft.denies(&DATA_OVERLAP) {
        false
    } else if draft.says(&DATA_OVERLAP) {
        true
    } else {
        draft.assumption(Item::DataParallelOverlap) == "true"
    };
    draft.set(KnobId::overlap_grad_reduce, data)?;
    draft.set(KnobId::overlap_param_gather, data && sharded)?;
    if sequence_parallel {
        let tensor = if none || draft.denies(&TENSOR_OVERLAP) {
            false
        } else if draft.says(&TENSOR_OVERLAP) {
            true
        } else if draft.says(&["baseline"]) {
            false
        } else {
            draft.assumption(Item::TensorParallelOverlap) == "true"
        };
        draft.set(KnobId::tp_comm_overlap, tensor)?;
    }
    if pp > 1 && tp > 1 && !sequence_parallel {
        if draft.says(&["scatter-gather"]) {
            draft.set(KnobId::scatter_gather_tensors_in_pipeline, true)?;
        } else {
            draft.assume(KnobId::scatter_gather_tensors_in_pipeline, Item::PipelineScatter)?;
        }
    }
    if pp > 1 && vpp > 1 && !none {
        draft.assume(KnobId::overlap_p2p_comm, Item::PipelineOverlap)?;
    }
    Ok(())
}

/// Dispatcher, overlap of the experts' exchange, graphs and offloading.
fn set_dispatch(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    set_graphs(draft)?;
    if let Some((_, rest)) = draft.flags.split_once("cpu_offload_layers=") {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        draft.set(KnobId::cpu_offloading_num_layers, digits)?;
    }
    if !draft.has_experts() || draft.design.parallel.expert_model_parallel_size == 1 {
        return Ok(());
    }
    set_dispatcher(draft)?;
    // On rack-scale machines the library is HybridEP, unless a row says otherwise.
    let hybrid = draft.facts.is_rack_scale && !draft.says(&["deepep"]);
    let flexible = draft.design.schedule.moe_token_dispatcher_type == Dispatcher::Flex;
    if flexible && (hybrid || draft.says(&["hybridep", "hybrid-ep", "hybrid ep"])) {
        draft.set(KnobId::moe_flex_dispatcher_backend, "hybridep")?;
    }
    set_expert_overlap(draft)?;
    if draft.says(&["shared expert overlap", "shared-expert overlap"]) {
        draft.set(KnobId::moe_shared_expert_overlap, true)?;
    }
    set_capacity(draft)
}

/// `cudagraph=local:full_iteration`, `CUDA graphs`, `cudagraph=none:[]`.
fn set_graphs(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let graphs = ["cudagraph", "cuda graph", "cuda-graph", "cuda_graph"];
    if !draft.says(&graphs) {
        return Ok(());
    }
    let whole = ["cudagraph=local", "cuda_graph_impl=local", "full_iteration", "full iteration"];
    let is_whole = draft.says(&whole) || draft.says(&["full-iteration"]);
    draft.set(KnobId::cuda_graph_impl, if is_whole { "local" } else { "transformer_engine" })
}

/// Words for DeepEP and its kin.
static FLEX: Phrases = phrases!(
    "hybridep | hybrid-ep | hybrid ep | deepep | deep-ep | deep ep | dispatcher_type=flex | \
     dispatcher=flex | flex dispatcher"
);

fn set_dispatcher(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    if draft.says(&FLEX) {
        draft.set(KnobId::moe_token_dispatcher_type, "flex")
    } else if draft.says(&["all-gather dispatcher", "allgather dispatcher", "dispatcher=allgather"])
    {
        draft.set(KnobId::moe_token_dispatcher_type, "allgather")
    } else if draft.says(&["all-to-all", "alltoall"]) || draft.denies(&FLEX) {
        draft.set(KnobId::moe_token_dispatcher_type, "alltoall")
    } else {
        draft.assume(KnobId::moe_token_dispatcher_type, Item::Dispatcher)
    }
}

fn set_expert_overlap(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let pairs = matches!(
        draft.design.schedule.method,
        model::ground::choice::Method::DualPipe | model::ground::choice::Method::DualPipeV
    );
    // Kernels that hide a collective's launch are no overlap of micro-batches.
    let off = no_overlap(draft) || draft.denies(&EXPERT_OVERLAP);
    let on = draft.says(&EXPERT_OVERLAP) || draft.says(&["canonical"]);
    // A recipe's list of switches has this one too where it is on; prose leaves it open.
    let is_list = draft.holds(&["dispatcher=", "cudagraph=", "moe_a2a_overlap"]);
    let is_open = draft.run.overlap.is_empty() || draft.says(&FLEX);
    let assumed = !off
        && !on
        && !pairs
        && !is_list
        && is_open
        // Megatron-Core overlaps one MTP layer at most.
        && draft.design.transformer.mtp_num_layers <= 1
        && !draft.says(&["baseline"])
        && draft.assumption(Item::ExpertOverlap) == "true";
    if off || !(on || pairs || assumed) {
        return Ok(());
    }
    draft.set(KnobId::overlap_moe_expert_parallel_comm, true)?;
    // Megatron-Bridge's switch turns both on.
    let delays = ["moe_a2a_overlap", "delay wgrad", "delay_wgrad", "delay-wgrad", "canonical"];
    if pairs || assumed || draft.says(&delays) {
        draft.set(KnobId::delay_wgrad_compute, true)?;
    }
    Ok(())
}

/// `capacity factor 1.2`, `capacity 1, padded`, `tokendrop`: experts with room for so many tokens.
fn set_capacity(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let notes = draft.run.notes.to_lowercase();
    let printed = draft.flags.split_once("capacity").and_then(|(_, rest)| {
        let rest = rest.trim_start_matches([' ', '=', ':', '_']);
        let rest = rest.strip_prefix("factor").unwrap_or(rest);
        let rest = rest.trim_start_matches([' ', '=', ':']);
        let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        number.trim_end_matches('.').parse::<f64>().ok()
    });
    let drops = draft.says(&["tokendrop", "token drop", "token-drop"])
        || phrase::affirms(&notes, &["tokendrop", "token drop", "token-drop"]);
    let Some(factor) = printed.or_else(|| drops.then_some(1.0)) else { return Ok(()) };
    draft.set(KnobId::moe_expert_capacity_factor, format!("{factor:?}"))?;
    // MindFormers computes on buffers of that size, filled or not: its graphs are static.
    let is_static = draft.facts.family == Family::Mindspeed;
    if drops || is_static || draft.holds(&["padded", "pad_expert_input"]) {
        draft.set(KnobId::moe_pad_expert_input_to_capacity, true)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_a_number_or_open() {
        for (column, wanted) in [
            ("4", "4"),
            ("VPP=4", "4"),
            ("v=2", "2"),
            ("off", "1"),
            ("1F1B", "1"),
            ("not printed", ""),
            ("?", ""),
            ("interleaved (value not printed)", "interleaved (value not printed)"),
            ("5 layers per virtual stage", "5 layers per virtual stage"),
        ] {
            assert_eq!(printed_chunks(column), wanted, "{column}");
        }
    }
}
