//! The schedule: virtual stages, order, overlap and dispatcher.

use model::choice::Dispatcher;
use model::design::KnobId;

use super::pipeline::Load;
use super::{Draft, Refusal};
use crate::imputation::Item;

/// Sets VPP, the pipeline's layout, its order, what overlaps and how tokens reach their experts.
pub(super) fn set(draft: &mut Draft<'_>, short_ends: bool) -> Result<(), Refusal> {
    refuse_unnamed_steps(draft)?;
    let transformer = &draft.design.transformer;
    let load = Load { layers: transformer.num_layers, mtp: transformer.mtp_num_layers, short_ends };
    let pp = draft.design.parallel.pipeline_model_parallel_size;
    let method = named_method(draft);
    let vpp = if pp == 1 { 1 } else { virtual_stages(draft, load, pp, method)? };
    draft.set(KnobId::virtual_pipeline_model_parallel_size, vpp)?;
    if let Some(layout) = load.layout(pp.saturating_mul(vpp)) {
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
    names.iter().find(|(words, _)| draft.says(words)).map(|(_, method)| *method)
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
    let text = draft.run.virtual_pipeline.to_lowercase();
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
    Ok(if fills_the_pipeline(draft, pp) { per_stage / usual_chunk(per_stage) } else { 1 })
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

fn set_overlap(draft: &mut Draft<'_>, pp: u64, vpp: u64) -> Result<(), Refusal> {
    let parallel = &draft.design.parallel;
    let sharded = !matches!(
        parallel.data_parallel_sharding_strategy,
        model::choice::ShardingStrategy::NoShard
    );
    let (tp, sequence_parallel) = (parallel.tensor_model_parallel_size, parallel.sequence_parallel);
    let none = draft.says(&["no comm overlap"]);
    let data = if none || draft.says(&["dp all-reduce not overlapped", "no dp overlap"]) {
        false
    } else if draft.says(&["grad-reduce", "fsdp", "prefetch"]) {
        true
    } else {
        draft.assumption(Item::DataParallelOverlap) == "true"
    };
    draft.set(KnobId::overlap_grad_reduce, data)?;
    draft.set(KnobId::overlap_param_gather, data && sharded)?;
    if sequence_parallel {
        let tensor = if none || draft.says(&["tp/sp comm not overlapped"]) {
            false
        } else if draft.says(&["tp comm overlap", "tp-comm", "asynctp", "mc2 on"]) {
            true
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

/// What a row's flags say of CUDA graphs; a negation before the noun.
fn graphs(flags: &str) -> Option<&'static str> {
    let has = |words: &[&str]| words.iter().any(|word| flags.contains(word));
    if has(&["no cuda graph", "without cuda graph", "cuda graphs off", "cuda graphs not"]) {
        None
    } else if has(&["cudagraph=transformer_engine", "cuda graphs", "external_cuda_graph"]) {
        Some("transformer_engine")
    } else if has(&["cudagraph=local", "cudagraph=full_iteration", "enable_cuda_graph"]) {
        Some("local")
    } else {
        None
    }
}

/// Dispatcher, overlap of the experts' exchange, graphs and offloading.
fn set_dispatch(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    if let Some(graphs) = graphs(&draft.flags) {
        draft.set(KnobId::cuda_graph_impl, graphs)?;
    }
    if let Some((_, rest)) = draft.flags.split_once("cpu_offload_layers=") {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        draft.set(KnobId::cpu_offloading_num_layers, digits)?;
    }
    if !draft.has_experts() || draft.design.parallel.expert_model_parallel_size == 1 {
        return Ok(());
    }
    if draft.says(&["hybridep", "deepep"]) {
        draft.set(KnobId::moe_token_dispatcher_type, "flex")?;
    } else if !draft.says(&["all-to-all", "alltoall"]) {
        draft.assume(KnobId::moe_token_dispatcher_type, Item::Dispatcher)?;
    }
    // On rack-scale machines the library is HybridEP, unless a row says otherwise.
    let hybrid = draft.facts.is_rack_scale && !draft.says(&["deepep"]);
    let flexible = draft.design.schedule.moe_token_dispatcher_type == Dispatcher::Flex;
    if flexible && (hybrid || draft.says(&["hybridep"])) {
        draft.set(KnobId::moe_flex_dispatcher_backend, "hybridep")?;
    }
    let off = draft.says(&["ep overlap off"]);
    // Where nothing at all is listed, the table answers.
    let assumed = draft.run.overlap.is_empty() && draft.assumption(Item::ExpertOverlap) == "true";
    let on = ["moe_a2a_overlap", "ep overlap on", "a2a overlap", "moe-fb-overlap", "canonical"];
    let pairs = model::choice::Method::DualPipe == draft.design.schedule.method
        || model::choice::Method::DualPipeV == draft.design.schedule.method;
    if !off && (draft.says(&on) || pairs || assumed) {
        draft.set(KnobId::overlap_moe_expert_parallel_comm, true)?;
        // Megatron-Bridge's switch turns both on.
        if pairs || assumed || draft.says(&["moe_a2a_overlap", "delay wgrad", "canonical"]) {
            draft.set(KnobId::delay_wgrad_compute, true)?;
        }
    }
    if draft.says(&["shared expert overlap", "shared-expert overlap"]) {
        draft.set(KnobId::moe_shared_expert_overlap, true)?;
    }
    if draft.says(&["capacity 1, padded", "tokendrop"]) || draft.run.notes.contains("tokendrop") {
        draft.set(KnobId::moe_expert_capacity_factor, "1.0")?;
        draft.set(KnobId::moe_pad_expert_input_to_capacity, true)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::graphs;

    #[test]
    fn graphs_are_read_after_their_negation() {
        for (flags, wanted) in [
            ("moe_a2a_overlap cudagraph=transformer_engine", Some("transformer_engine")),
            ("cuda graphs on attention and router", Some("transformer_engine")),
            ("cudagraph=full_iteration", Some("local")),
            ("cudagraph=none", None),
            ("hybridep, no cuda graphs", None),
            ("cuda graphs not stated", None),
            ("", None),
        ] {
            assert_eq!(graphs(flags), wanted, "{flags}");
        }
    }
}
