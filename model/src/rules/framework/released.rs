//! What released code refuses although a published run had it: that ran on a branch of its own, or
//! told apart what no knob does.

use alloc::format;
use alloc::string::String;

use super::megatron::CONFIG;
use super::mindspeed::{PAIRS, is_fb_overlap};
use super::{Assertion, framework_rules, recomputes, runs_pairs};
use crate::design::{Design, KnobId, KnobSet};
use crate::ground::choice::{CudaGraph, Framework, RecomputeModule};
use crate::ground::source::{MEGATRON, MINDSPEED};
use crate::layer::layout;
use crate::rules::facts::vpp;
use crate::rules::rule::{Checks, Rule, Words, say};

framework_rules! {
    pairs_reduce_gradients_at_the_end [Mindspeed] [overlap_grad_reduce, method]
        MINDSPEED, PAIRS, "moe_fb_overlap and overlap_grad_reduce are incompatible",
        |d| (runs_pairs(d) && d.schedule.overlap_grad_reduce).then(|| say!(
            "a schedule of pairs reduces gradients at the end: overlap_grad_reduce is off"));
    pairs_send_in_one_step [Mindspeed] [moe_hierarchical_alltoallv, method]
        MINDSPEED, PAIRS, "moe_fb_overlap and moe_hierarchical_alltoallv are incompatible",
        |d| (runs_pairs(d) && d.schedule.moe_hierarchical_alltoallv)
            .then(|| say!("pairs send experts' tokens in one step, not by node first"));
    noops_of_pairs_are_in_the_last_chunk [Mindspeed] [noop_layers, method]
        + [num_layers, mtp_num_layers, pipeline_model_parallel_size,
           virtual_pipeline_model_parallel_size]
        MINDSPEED, PAIRS, "In VPP schedule with fb_overlap, the noop-layers must in last VPP stage",
        |d| {
            let first = *d.parallel.noop_layers.0.first()?;
            let (slots, chunks) = (layout::slots(d), layout::chunks(d));
            let from = slots - slots / chunks;
            (is_fb_overlap(d) && vpp(d) > 1 && first < from).then(|| say!(
                "no-op layers of pairs are in the last chunk, from slot {from} on, not at {first}"))
        };
    replayed_routers_keep_their_layer [Megatron] [cuda_graph_impl, recompute_modules]
        + [recompute_granularity]
        MEGATRON, CONFIG, "moe recompute is not supported with moe_router CUDA graph with: \
            --cuda-graph-impl transformer_engine",
        |d| (d.kernel.cuda_graph_impl == CudaGraph::TransformerEngine
            && recomputes(d, RecomputeModule::Moe))
            .then(|| say!(
                "a MoE layer can't be computed again while its router is in a CUDA graph: other \
                 modules can be in one"));
}
