//! Overlap: which exchanges and copies run beside compute, and what they take from it.

use crate::design::Design;
use crate::ground::choice::{Framework, ShardingStrategy};
use crate::layer::deployment::Deployment;
use crate::training::optimizer::Sharding;
use crate::training::pipeline_schedule::PipelineSchedule;

/// Exchanges and copies that run beside compute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overlap {
    /// Whether the host waits for each kernel to end: then nothing runs beside anything else.
    pub(crate) blocks_launches: bool,
    /// Time of the host to launch one kernel, microseconds.
    pub(crate) dispatch_micros: f64,
    /// Whether the schedule runs forwards and backwards as pairs, which hide all exchanges.
    pub(crate) in_pairs: bool,
    /// Whether TP collectives run in pieces beside their products.
    pub(crate) tensor: bool,
    /// Whether the backward's TP traffic runs beside its own products, as with SP.
    pub(crate) tensor_backward: bool,
    /// Whether the shared experts run beside the dispatch.
    pub(crate) shared_experts: bool,
    /// Whether dispatch and combine run in pieces beside the experts.
    pub(crate) experts: bool,
    /// Whether dispatch and combine take their two levels one after the other, as MindSpeed's two
    /// collectives do. A flat exchange takes both links at once; DeepEP and HybridEP forward what
    /// arrives while more is on its way, as a ring does.
    pub(crate) is_hierarchical: bool,
    /// Whether sends between stages are hidden: Megatron-Core overlaps them only between several
    /// chunks; pairs hide them as well.
    pub(crate) sends: bool,
    /// Whether gradients are reduced while the backward computes. FSDP has no switch for it
    /// (PyTorch, `fully_shard`: a stream of their own, the next layer's parameters gathered ahead).
    pub(crate) reductions: bool,
    /// Whether parameters are gathered while layers compute.
    pub(crate) gathers: bool,
    /// Whether all that every micro-batch exchanges of parameters and gradients is hidden.
    pub(crate) sharding: bool,
    /// Whether swapped tensors travel while others compute: only on a stream of their own, which a
    /// host that waits for each kernel leaves empty.
    pub(crate) prefetches: bool,
    /// Share of the cores that an exchange of experts occupies.
    pub(crate) expert_core_share: f64,
    /// Share of the cores that any other collective occupies.
    pub(crate) core_share: f64,
}

impl Overlap {
    /// The overlap of a design on this deployment, whose micro-batches exchange by this sharding.
    pub(crate) fn new(
        design: &Design,
        on: &Deployment,
        pipeline: &PipelineSchedule,
        sharding: &Sharding,
    ) -> Self {
        let schedule = &design.schedule;
        let blocks_launches = on.kernel.launch_blocking;
        let by_itself = on.kernel.framework == Framework::Fsdp && !blocks_launches;
        let in_pairs = pipeline.form.runs_pairs;
        let reductions = schedule.overlap_grad_reduce || by_itself;
        let gathers = schedule.overlap_param_gather || by_itself;
        Self {
            blocks_launches,
            dispatch_micros: on.kernel.dispatch_microseconds.unwrap_or(on.host.dispatch_micros),
            in_pairs,
            tensor: schedule.tp_comm_overlap,
            tensor_backward: on.ranks.sp > 1,
            shared_experts: schedule.moe_shared_expert_overlap,
            experts: schedule.moe_alltoall_overlap_comm,
            is_hierarchical: on.dispatch.is_hierarchical,
            sends: schedule.overlap_p2p_comm && (pipeline.virtual_stages > 1 || in_pairs),
            reductions,
            gathers,
            sharding: reductions
                && (gathers || !sharding.shards(ShardingStrategy::OptimGradsParams)),
            prefetches: design.memory.swap_prefetch && !blocks_launches,
            expert_core_share: on.expert_exchange_core_share(),
            core_share: on.accelerator.communication_core_share,
        }
    }
}
