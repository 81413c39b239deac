//! Gradients and parameters over data-parallel ranks: which calls, how often, how long.

use alloc::vec::Vec;

use crate::device::topology::Group;
use crate::ground::axis::{Axis, Collective, LinkLevel};
use crate::ground::choice::ShardingStrategy;
use crate::layer::architecture::Architecture;
use crate::layer::deployment::Deployment;
use crate::layer::layout::Stage;
use crate::layer::params::StageParams;
use crate::training::plan::Plan;

/// Calls of one kind on one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DataRow {
    pub(crate) axis: Axis,
    pub(crate) link: LinkLevel,
    pub(crate) collective: Collective,
    /// Calls in the forward and in the backward of every micro-batch; none is once a step.
    pub(crate) passes: Option<[f64; 2]>,
    pub(crate) bytes_per_call: f64,
    pub(crate) seconds_per_call: f64,
    /// Parts in which a call goes, one after the other.
    pub(crate) parts: f64,
}

impl DataRow {
    pub(crate) fn once_a_step(&self) -> bool {
        self.passes.is_none()
    }

    /// Calls of a step of `m` micro-batches.
    pub(crate) fn calls_of_step(&self, m: f64) -> f64 {
        self.passes.map_or(1.0, |[forward, backward]| m * (forward + backward))
    }

    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.axis, self.link, self.collective) == (other.axis, other.link, other.collective)
    }
}

/// Parts in which a stage or a chunk of this content gathers its parameters and scatters its
/// gradients for every micro-batch: its layers one by one, input embedding and head.
fn sharded_units(axis: Axis, architecture: &Architecture, content: &Stage) -> f64 {
    let counts = content.with_mtp(architecture.mtp.kind);
    let kinds = architecture.kinds.iter().zip(counts);
    if axis == Axis::Edp {
        let with_experts = kinds.filter(|(kind, _)| kind.mlp.moe().is_some());
        return with_experts.map(|(_, count)| count).sum();
    }
    content.num_all_layers() + content.embedding + content.head.max(content.mtp_head)
}

/// Ranks over which gradients and parameters are exchanged, of what all ranks hold and of experts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DataGroups([DataGroup; 2]);

/// Ranks that hold the same parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DataGroup {
    axis: Axis,
    whole: Group,
    /// Ranks of one instance of the optimizer, and ranks of equal place in all instances.
    parts: [Group; 2],
}

impl DataGroups {
    /// The groups of a deployment with so many instances of the distributed optimizer.
    pub(crate) fn new(on: &Deployment, instances: u64) -> Self {
        let group = |axis, whole: Group| {
            let (inner, outer) = whole.split(instances);
            DataGroup { axis, whole, parts: [inner, outer] }
        };
        Self([group(Axis::Dp, on.dp_group()), group(Axis::Edp, on.edp_group())])
    }
}

/// The data-parallel calls of a stage or a chunk of this content, whose devices hold `params`, in
/// place of the rows that were here before.
///
/// Gradients are all-reduced without sharding, else reduce-scattered and parameters gathered, once
/// a step; ZeRO-2 scatters gradients of every micro-batch, ZeRO-3 also gathers parameters in each
/// pass. With several optimizer instances each scatters and gathers among its own ranks, and the
/// shards are all-reduced between instances.
///
/// What every micro-batch exchanges goes layer by layer ([`sharded_units`]).
///
/// Source: ZeRO, section 7; Megatron-Core `distrib_optimizer.py`; PyTorch FSDP.
pub(crate) fn data_rows(
    plan: &Plan,
    groups: &DataGroups,
    content: &Stage,
    params: &StageParams,
    rows: &mut Vec<DataRow>,
) {
    let (on, sharding) = (&plan.deployment, &plan.sharding);
    let (weight, gradient) = (plan.deployment.element_bytes(), plan.optimizer.gradient);
    rows.clear();
    let StageParams { held, trained } = params;
    let params = [(held.dense, trained.dense), (held.expert, trained.expert)];
    for (DataGroup { axis, whole, parts: [inner, outer] }, (held, trained)) in
        groups.0.iter().zip(params)
    {
        if whole.size == 1 || held <= 0.0 {
            continue;
        }
        let mut add = |group: &Group, collective, passes: Option<_>, bytes: f64, times: f64| {
            // A micro-batch goes in one direction, and meets the parameters of that one alone.
            let bytes = if passes.is_some() { bytes / plan.schedule.directions() } else { bytes };
            let links = [LinkLevel::IntraNode, LinkLevel::InterNode];
            let units = || sharded_units(*axis, &plan.architecture, content);
            let calls = if passes.is_some() { units() } else { 1.0 };
            let of_links = on.machine.data_calls(group, collective, bytes, calls);
            for (link, [bytes, seconds]) in links.into_iter().zip(of_links) {
                if bytes > 0.0 {
                    rows.push(DataRow {
                        axis: *axis,
                        link,
                        collective,
                        passes,
                        bytes_per_call: bytes * times,
                        seconds_per_call: seconds * times,
                        parts: calls,
                    });
                }
            }
        };
        if !sharding.shards(ShardingStrategy::Optim) {
            add(whole, Collective::AllReduce, None, trained * gradient, 2.0);
            continue;
        }
        let every = |forward: f64, backward: f64| Some([forward, backward]);
        let scatters =
            if sharding.shards(ShardingStrategy::OptimGrads) { every(0.0, 1.0) } else { None };
        let gathers = if sharding.shards(ShardingStrategy::OptimGradsParams) {
            every(1.0, 1.0)
        } else {
            None
        };
        // Shards of frozen weights are gathered too; whole ones stay as they are.
        let gathered = if gathers.is_some() { held } else { trained };
        add(inner, Collective::ReduceScatter, scatters, trained * gradient, 1.0);
        add(inner, Collective::AllGather, gathers, gathered * weight, 1.0);
        if sharding.instances > 1 {
            let shard = trained * gradient / inner.size as f64;
            add(outer, Collective::AllReduce, None, shard, 2.0);
        }
    }
}
