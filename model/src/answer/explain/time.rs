//! Times, rates and ratios as trees.

use alloc::vec::Vec;
use alloc::{format, vec};

use super::{Breakdown, How, counts};
use crate::ground::axis::Axis;
use crate::ground::source::{DERIVED, MEGATRON};
use crate::layer::ranks::Ranks;
use crate::metric::{MetricId, Unit};
use crate::routing::Effect;
use crate::routing::capacity::Capacity;
use crate::training::estimate::{Communication, Estimate, StageEstimate, StepPart};
use crate::training::plan::{Batch, Plan};

/// The step with its parts.
pub(super) fn step(estimate: &Estimate) -> Breakdown {
    Breakdown::sum("step time", Unit::Seconds, step_parts(estimate)).by("sum of its parts", DERIVED)
}

/// Parts of the time of a step.
pub(super) fn step_parts(estimate: &Estimate) -> Vec<Breakdown> {
    let part = |(part, time): (StepPart, crate::ground::units::Seconds)| {
        let rows: Vec<&Communication> = exchanges(estimate, part).collect();
        let shown =
            Breakdown::given(part.label(), time.get(), Unit::Seconds).by(part.meaning(), DERIVED);
        if rows.is_empty() {
            return shown;
        }
        let terms = rows.into_iter().map(exposed).collect();
        Breakdown { how: How::Sum, ..shown.beside(terms) }
    };
    estimate.step.parts().map(part).collect()
}

/// The exchanges whose exposed time is a part of the step.
fn exchanges(estimate: &Estimate, part: StepPart) -> impl Iterator<Item = &Communication> {
    let axes: &[Axis] = match part {
        StepPart::TensorParallel => &[Axis::Tp],
        StepPart::ContextParallel => &[Axis::Cp],
        StepPart::ExpertParallel => &[Axis::Ep],
        StepPart::PipelineParallel => &[Axis::Pp],
        StepPart::DataParallel => &[Axis::Dp, Axis::Edp],
        StepPart::Swap => &[Axis::Host],
        StepPart::Ideal
        | StepPart::Kernels
        | StepPart::Vector
        | StepPart::Recompute
        | StepPart::Host
        | StepPart::Contention
        | StepPart::Bubble
        | StepPart::Optimizer
        | StepPart::Stragglers
        | StepPart::Imbalance
        | StepPart::Migration => &[],
    };
    estimate.communication.iter().filter(|row| axes.contains(&row.axis))
}

fn exposed(row: &Communication) -> Breakdown {
    traffic(row, row.exposed.get(), Unit::Seconds)
}

fn traffic(row: &Communication, value: f64, unit: Unit) -> Breakdown {
    let name = format!("{} {} ({})", row.axis.name(), row.collective.name(), row.link.name());
    let formula = format!(
        "largest call {:.1} MB, {:.1} GB and {:.3} s a step, {:.3} s exposed",
        row.bytes_per_call.get() / 1e6,
        row.bytes.to_gb(),
        row.time.get(),
        row.exposed.get()
    );
    Breakdown::given(&name, value, unit).by(&formula, DERIVED)
}

/// Terms of a metric of traffic: rows for a sum, exposed and all time for a share.
pub(super) fn traffic_terms<'a>(
    rows: impl Iterator<Item = &'a Communication>,
    metric: MetricId,
) -> Vec<Breakdown> {
    if metric == MetricId::comm_volume_bytes {
        return rows.map(|row| traffic(row, row.bytes.get(), Unit::TrafficBytes)).collect();
    }
    let rows: Vec<&Communication> = rows.collect();
    if metric == MetricId::comm_exposed_seconds {
        return rows.into_iter().map(exposed).collect();
    }
    let time: Vec<_> = rows.iter().map(|row| traffic(row, row.time.get(), Unit::Seconds)).collect();
    let time =
        Breakdown::sum("communication time", Unit::Seconds, time).by("hidden or not", DERIVED);
    if time.value <= 0.0 {
        return vec![];
    }
    let exposed = rows.into_iter().map(exposed).collect();
    let exposed = Breakdown::sum("exposed communication", Unit::Seconds, exposed)
        .by("time in which devices wait for it", DERIVED);
    vec![exposed, time]
}

/// The FLOPs that MFU counts.
pub(super) fn model_flops(plan: &Plan) -> Breakdown {
    let per_token = Breakdown::sum("FLOPs per token", Unit::Flop, counts::flop_terms(plan));
    let terms = vec![per_token.by("sum of its parts", MEGATRON), counts::tokens(&plan.batch)];
    Breakdown::product("model FLOPs of a step", Unit::Flop, terms)
        .by("FLOPs per token x tokens", MEGATRON)
}

/// The devices.
pub(super) fn devices(ranks: &Ranks) -> Breakdown {
    Breakdown::given("devices", ranks.world as f64, Unit::Count)
}

/// Terms of MFU: model FLOPs over step time, devices and peak.
pub(super) fn utilisation_terms(plan: &Plan, estimate: &Estimate) -> Vec<Breakdown> {
    let accelerator = &plan.deployment.accelerator;
    let peak = Breakdown::given("peak for MFU", plan.flops.peak_for_mfu.get(), Unit::FlopPerSecond)
        .by(accelerator.title, accelerator.source);
    vec![model_flops(plan), step(estimate), devices(&plan.deployment.ranks), peak]
}

/// Mean time with a task resident, and the pipeline's time.
pub(super) fn bubble_terms(estimate: &Estimate) -> Vec<Breakdown> {
    let busy = |stage: &StageEstimate| stage.compute.get() + stage.exposed.get();
    let whole = estimate.stages.first().map_or(0.0, |stage| busy(stage) + stage.idle.get());
    let stages: Vec<_> = estimate
        .stages
        .iter()
        .map(|stage| {
            Breakdown::given(&format!("stage {}", stage.stage), busy(stage), Unit::Seconds)
        })
        .collect();
    let count = Breakdown::given("stages", stages.len() as f64, Unit::Count);
    let all = Breakdown::sum("all stages", Unit::Seconds, stages).by("compute + exposed", DERIVED);
    let mean = Breakdown::made(
        "mean time with a task resident",
        Unit::Seconds,
        How::Quotient,
        vec![all, count],
    );
    vec![
        mean.by("all stages / stages", DERIVED),
        Breakdown::given("pipeline time", whole, Unit::Seconds),
    ]
}

/// The counts that a schedule's published formula takes.
pub(super) fn schedule_counts(batch: &Batch, ranks: &Ranks) -> Vec<Breakdown> {
    let batches = vec![
        Breakdown::given("global batch", batch.global as f64, Unit::Sequences),
        Breakdown::given("DP", ranks.dp as f64, Unit::Count),
        Breakdown::given("micro-batch", batch.micro_batch as f64, Unit::Sequences),
    ];
    vec![
        Breakdown::given("p, pipeline stages", ranks.pp as f64, Unit::Count),
        Breakdown::given("v, virtual stages", ranks.vpp as f64, Unit::Count),
        Breakdown::made("m, micro-batches", Unit::Count, How::Quotient, batches)
            .by("global batch / (DP x micro-batch)", MEGATRON),
    ]
}

/// Terms of the load imbalance beside the mean: without a planner, and as memory holds it.
pub(super) fn imbalance_terms(effect: &Effect) -> Vec<Breakdown> {
    vec![
        Breakdown::given("tokens of the mean rank", 1.0, Unit::Count),
        Breakdown::given("without a planner", effect.imbalance_unplanned, Unit::Count),
        Breakdown::given("that memory holds", effect.fullest, Unit::Count),
    ]
}

/// Terms of the share of dropped tokens: the capacity factor.
pub(super) fn drop_terms(capacity: &Capacity) -> Vec<Breakdown> {
    let factor = capacity.factor.unwrap_or(1.0);
    vec![Breakdown::given("capacity factor", factor, Unit::Count)]
}
