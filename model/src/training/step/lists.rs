//! The lists of an estimate: stages, phases, warnings.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ground::axis::Phase;
use crate::ground::choice::Timing;
use crate::ground::units::Seconds;
use crate::training::estimate::{PhaseOverlap, StageEstimate};
use crate::training::pipeline::PhaseTraffic;
use crate::training::plan::Plan;
use crate::training::stage::AXES;

use super::Step;
use super::spans::Spans;

/// Shares of communication that are hidden, per axis and phase; axes without any are left out.
pub(super) fn phases(phases: &[PhaseTraffic; 3]) -> Vec<PhaseOverlap> {
    let mut list = Vec::new();
    for (phase, traffic) in Phase::ALL.into_iter().zip(phases) {
        for (index, axis) in AXES.into_iter().enumerate() {
            let time = Seconds::new(traffic.seconds[index]);
            if time > Seconds::ZERO {
                let exposed = Seconds::new(traffic.exposed[index]);
                list.push(PhaseOverlap { phase, axis, time, exposed });
            }
        }
    }
    list
}

/// Every stage, in order.
pub(super) fn stages(plan: &Plan, spans: &Spans, step: &Step) -> Vec<StageEstimate> {
    let m = plan.batch.micro_batches as f64;
    let stages = step.occupancies(plan, spans, 0..step.occupancy.len()).enumerate();
    let stages = stages.map(|(index, (place, held))| {
        let spent = &step.pipeline.spent[place];
        let (own, of_span) = (&step.spans[spent.span], &spans.frame.each[spent.span]);
        let compute = m * spans.works[spent.span].kernels() + spent.waiting.host;
        StageEstimate {
            stage: index as u32,
            num_layers: libm::ceil(plan.spans[spent.span].content.num_layers()) as u32,
            params: of_span.params.held.total() as u128,
            memory: held.device,
            host_memory: held.host,
            peak_in_flight: held.in_flight,
            fullest: held.fullest,
            forward: Seconds::new(own.times.forward),
            backward: Seconds::new(own.times.backward),
            compute: Seconds::new(compute),
            exposed: Seconds::new(spent.busy - compute),
            idle: Seconds::new(step.pipeline.seconds - spent.busy),
        }
    });
    stages.collect()
}

/// Warnings for the reader.
pub(super) fn warnings(plan: &Plan, step: &Step) -> Vec<String> {
    let mut warnings = Vec::new();
    let [device, host] = step.peaks();
    if device > plan.memory_limit {
        warnings.push(format!(
            "peak memory of {:.1} GiB exceeds the usable {:.1} GiB",
            device.to_gib(),
            plan.memory_limit.to_gib()
        ));
    }
    if host > plan.deployment.machine.host_memory {
        warnings.push(format!(
            "swapping needs {:.1} GiB of host memory per device, the host has {:.1} GiB for each",
            host.to_gib(),
            plan.deployment.machine.host_memory.to_gib()
        ));
    }
    if plan.schedule.timing == Timing::Simulated && step.pipeline.phases.is_none() {
        warnings.push(String::from(
            "too many stages and micro-batches to simulate: times are the closed form's",
        ));
    }
    if plan.design().schedule.overlap_p2p_comm
        && plan.deployment.ranks.pp > 1
        && plan.deployment.ranks.vpp == 1
        && !plan.overlap.in_pairs
    {
        warnings.push(String::from("sends between stages are overlapped only with VPP or pairs"));
    }
    if plan.design().schedule.scatter_gather_tensors_in_pipeline
        && !(plan.schedule.scatters_sends && plan.deployment.ranks.pp > 1)
    {
        warnings.push(String::from("sends are scattered only with PP and TP, and without SP"));
    }
    warnings.extend(crate::training::load_imbalance::warning(plan));
    if plan.overlap.is_hierarchical && plan.deployment.ep_group().domains == 1 {
        warnings.push(String::from(
            "the hierarchical all-to-all has no effect: an EP group is inside one node",
        ));
    }
    warnings
}
