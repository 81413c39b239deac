//! From a plan to its estimate: stages, pipeline, data parallelism, optimizer, and the sums.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::choice::{Optimizer, RecomputeGranularity, ShardingStrategy, Timing};
use crate::data_parallel::{DataRow, data_rows};
use crate::estimate::{
    Axis, Collective, Communication, Estimate, LinkLevel, Metrics, PhaseOverlap, StageEstimate,
    StepPart, StepTime,
};
use crate::memory::{LayerMemory, Occupancy};
use crate::operator::Device;
use crate::params::RankParams;
use crate::pipeline::simulated::PerMicroBatch;
use crate::pipeline::{Held, Phase, PhaseTraffic, Pipeline};
use crate::plan::Plan;
use crate::stage::{AXES, Parts, StageWork, Terms, Waiting, repeated_calls};
use crate::units::{Bytes, Seconds};

/// Parameters of one gradient bucket. Source: Megatron-Core `distributed_data_parallel_config.py`.
const BUCKET_PARAMS: f64 = 40e6;

/// What the model says of a plan.
#[must_use]
#[inline(never)]
pub fn estimate(plan: &Plan) -> Estimate {
    crate::uneven::estimate(plan, of_loads)
}

/// The estimate with every layer's rows as the plan's loads have them.
#[inline(never)]
fn of_loads(plan: &Plan) -> Estimate {
    let parts = Parts::new(plan);
    let layers = LayerMemory::new(plan);
    let each = plan.per_micro_batch(&layers);
    let work = stage_works(plan, &parts, &each);
    let simulated = match plan.design().schedule.timing {
        Timing::Simulated => plan.simulated_pipeline(&parts, &layers, &each),
        Timing::ClosedForm => None,
    };
    let pipeline = simulated.unwrap_or_else(|| plan.closed_form_pipeline(&work));
    let occupancy = plan.occupancies(&layers, &each, pipeline.held.as_deref());
    let data = DataParallel::new(plan, &each, &work);
    let waiting = mean_waiting(&pipeline);
    let step = step_time(plan, &work, &pipeline, &waiting, &data, &occupancy);
    let communication = communication(plan, &parts, &each, &waiting, &data, &occupancy);
    let stages = stages(plan, &each, &work, &pipeline, &occupancy);
    let metrics = metrics(plan, &step, &work, &pipeline, &stages, &communication);
    let warnings = warnings(plan, &metrics, &pipeline, &occupancy);
    let timing = if pipeline.phases.is_some() { Timing::Simulated } else { Timing::ClosedForm };
    let overlap = pipeline.phases.as_ref().map_or_else(Vec::new, phases);
    Estimate { metrics, timing, step, stages, communication, overlap, warnings }
}

/// The work of each stage; a stage like the one before it does the same work.
fn stage_works(plan: &Plan, parts: &Parts, each: &[PerMicroBatch]) -> Vec<StageWork> {
    let mut works: Vec<StageWork> = Vec::with_capacity(plan.stages.len());
    for (stage, of_stage) in plan.stages.iter().zip(each) {
        let work = match works.last() {
            Some(work) if of_stage.as_before => *work,
            _ => {
                let sends = plan.boundaries_per_stage();
                let PerMicroBatch { kept, repeated_share, .. } = of_stage;
                let terms = Terms {
                    repeated_share: *repeated_share,
                    swapped: kept.host,
                    sends: [sends; 2],
                };
                StageWork::new(plan, stage, parts, &terms)
            }
        };
        works.push(work);
    }
    works
}

impl Plan {
    /// What each stage keeps for one micro-batch; like stages keep alike.
    pub(crate) fn per_micro_batch(&self, layers: &LayerMemory) -> Vec<PerMicroBatch> {
        let full = self.design().memory.recompute_granularity == RecomputeGranularity::Full;
        let mut each: Vec<PerMicroBatch> = Vec::with_capacity(self.stages.len());
        for (index, stage) in self.stages.iter().enumerate() {
            let as_before = index > 0
                && self.stages[index - 1] == *stage
                && self.recomputes_alike(index - 1, index);
            each.push(match each.last() {
                Some(known) if as_before => PerMicroBatch { as_before, ..*known },
                _ => {
                    let count = stage.layers() + stage.mtp;
                    let repeated = if full { self.recomputed_layers(index, count) } else { 0.0 };
                    PerMicroBatch {
                        kept: self.stage_activations(index, stage, layers),
                        repeated_share: if count > 0.0 { repeated / count } else { 0.0 },
                        as_before,
                    }
                }
            });
        }
        each
    }

    /// Memory of every stage.
    pub(crate) fn occupancies(
        &self,
        layers: &LayerMemory,
        each: &[PerMicroBatch],
        held: Option<&[Held]>,
    ) -> Vec<Occupancy> {
        let of = |(index, stage)| {
            let held = held.and_then(|held| held.get(index)).copied();
            self.occupancy(index, stage, layers, &each[index].kept, held)
        };
        self.stages.iter().enumerate().map(of).collect()
    }
}

/// Shares of communication that are hidden, per axis and phase; axes without any are left out.
fn phases(phases: &[PhaseTraffic; 3]) -> Vec<PhaseOverlap> {
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

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// What the mean stage spends beside its kernels in a step.
fn mean_waiting(pipeline: &Pipeline) -> Waiting {
    let mut all = Waiting::default();
    let share = 1.0 / pipeline.waiting.len() as f64;
    for waiting in &pipeline.waiting {
        all.add(waiting, share);
    }
    all
}

/// Gradient reduction, parameter gathering and the optimizer's step of the slowest stage.
#[derive(Clone, Debug, Default, PartialEq)]
struct DataParallel {
    /// Bytes of the mean stage, time of the slowest one: the step waits for that.
    rows: Vec<DataRow>,
    exposed: f64,
    /// What kernels lose to it while it is hidden.
    contention: f64,
    optimizer: f64,
}

impl DataParallel {
    fn new(plan: &Plan, each: &[PerMicroBatch], work: &[StageWork]) -> Self {
        let mut all = Self::default();
        let count = plan.stages.len() as f64;
        let memory_rate = Device::new(plan).vector_bytes;
        let mut rows: Vec<DataRow> = Vec::new();
        for ((stage, of_stage), stage_work) in plan.stages.iter().zip(each).zip(work) {
            // A stage like the one before it has the same rows and waits for as long.
            if !of_stage.as_before {
                let params = plan.stage_params(stage);
                rows = data_rows(plan, &params);
                let buckets = ((params.dense + params.expert) / BUCKET_PARAMS).max(1.0);
                let [exposed, contention] = exposed_rows(plan, &rows, buckets, stage_work);
                all.exposed = all.exposed.max(exposed);
                all.contention = all.contention.max(contention);
                let update = optimizer_seconds(plan, params.dense, params.expert, memory_rate);
                all.optimizer = all.optimizer.max(update);
            }
            for row in &rows {
                let bytes_per_call = row.bytes_per_call / count;
                match all.rows.iter_mut().find(|known| known.is_like(row)) {
                    Some(known) => {
                        known.bytes_per_call += bytes_per_call;
                        known.seconds_per_call = known.seconds_per_call.max(row.seconds_per_call);
                    }
                    None => all.rows.push(DataRow { bytes_per_call, ..*row }),
                }
            }
        }
        all
    }
}

/// What a stage waits for once a step, and what hiding the rest costs its kernels.
///
/// Overlapped gradients run under the last backward, all but the last bucket; overlapped
/// parameters under the next step's first forward, all but the first bucket. The levels of a ring
/// work at the same time, piece by piece.
fn exposed_rows(plan: &Plan, rows: &[DataRow], buckets: f64, work: &StageWork) -> [f64; 2] {
    let schedule = &plan.design().schedule;
    let mut passes = [[0.0_f64; 2]; 2];
    for row in rows.iter().filter(|row| row.once_a_step()) {
        let gather = usize::from(row.collective == Collective::AllGather);
        passes[gather][usize::from(row.link == LinkLevel::InterNode)] += row.seconds_per_call;
    }
    let cover = [
        (schedule.overlap_grad_reduce, work.backward.compute()),
        (schedule.overlap_param_gather, work.forward.compute()),
    ];
    let exposed = |pass: usize| {
        let seconds = passes[pass][0].max(passes[pass][1]);
        let (overlapped, compute) = cover[pass];
        if !overlapped {
            return seconds;
        }
        (seconds - compute).max(seconds / buckets)
    };
    let (scatter, gather) = (exposed(0), exposed(1));
    let hidden: f64 = passes.iter().map(|links| links[0].max(links[1])).sum();
    [scatter + gather, plan.cost_of_hiding(hidden - scatter - gather)]
}

/// What a step does once with gradients and states, in memory traffic.
///
/// On the whole gradients: set to zero, then scaled before they are reduced (read, write). On the
/// rank's share: norm (read), clipping (read, write), then the update, which reads them, reads and
/// writes main copy and moments, and writes the weights.
///
/// All of it moves through memory at the rate of element-wise kernels.
///
/// Muon adds five Newton-Schulz steps of three products on each matrix, 6 x 15 h FLOPs a parameter
/// of width h. Sources: Megatron-Core `param_and_grad_buffer.py`, `clip_grads.py`; Jordan et al.
/// 2024.
fn optimizer_seconds(plan: &Plan, dense: f64, expert: f64, memory_rate: f64) -> f64 {
    let params = if plan.shards(ShardingStrategy::Optim) {
        dense / plan.dense_shards() + expert / plan.expert_shards()
    } else {
        dense + expert
    };
    let held = if plan.shards(ShardingStrategy::OptimGrads) { params } else { dense + expert };
    let gradient = plan.design().memory.gradient_dtype.bytes();
    let update = 4.0 * gradient + 2.0 * plan.optimizer_bytes_per_param() + plan.activation_bytes();
    let bytes = held * 3.0 * gradient + params * update;
    let muon = if plan.design().training.optimizer == Optimizer::Muon {
        30.0 * plan.shape.hidden as f64 * params / (plan.peak().get() * 0.5)
    } else {
        0.0
    };
    bytes / memory_rate + muon
}

fn step_time(
    plan: &Plan,
    work: &[StageWork],
    pipeline: &Pipeline,
    waiting: &Waiting,
    data: &DataParallel,
    occupancy: &[Occupancy],
) -> StepTime {
    let m = plan.sizes.micro_batches as f64;
    let sum = |of: &dyn Fn(&StageWork) -> f64| m * mean(work.iter().map(of));
    let tensor = sum(&|stage| stage.forward.cost.tensor + stage.backward.cost.tensor);
    let ideal = model_flops_per_device(plan) / plan.peak().get();
    let Waiting { exposed, contention, host } = *waiting;
    let states = occupancy.iter().map(|stage| stage.swapped_states).fold(0.0, f64::max);
    let pipeline_mean = mean(pipeline.busy.iter().copied());
    let mut parts = [Seconds::ZERO; StepPart::ALL.len()];
    let mut set = |part: StepPart, seconds: f64| parts[part as usize] = Seconds::new(seconds);
    set(StepPart::Ideal, ideal);
    set(StepPart::Kernels, tensor - ideal);
    set(StepPart::Vector, sum(&|stage| stage.forward.cost.vector + stage.backward.cost.vector));
    set(StepPart::Recompute, sum(&|stage| stage.backward.recompute.seconds()));
    set(StepPart::Host, host);
    set(StepPart::Contention, contention + data.contention);
    set(StepPart::TensorParallel, exposed[0]);
    set(StepPart::ContextParallel, exposed[1]);
    set(StepPart::ExpertParallel, exposed[2]);
    set(StepPart::PipelineParallel, exposed[3]);
    // Optimizer states come from the host and go back, once a step.
    set(StepPart::Swap, exposed[4] + 2.0 * states / plan.machine.host.get());
    set(StepPart::Bubble, pipeline.seconds - pipeline_mean);
    set(StepPart::DataParallel, exposed[5] + data.exposed);
    set(StepPart::Optimizer, data.optimizer);
    set(StepPart::Stragglers, pipeline.seconds * straggler_share(plan));
    StepTime { parts }
}

/// How much longer the slowest of N ranks takes than the mean, for normal times of spread sigma:
/// sigma sqrt(2 ln N), the leading term of the expected maximum.
fn straggler_share(plan: &Plan) -> f64 {
    let sigma = plan.design().kernel.straggler_sigma.unwrap_or(plan.host.straggler_sigma);
    sigma * libm::sqrt(2.0 * libm::log(plan.sizes.world as f64))
}

/// Model FLOPs of a step over the devices.
fn model_flops_per_device(plan: &Plan) -> f64 {
    plan.flops_per_token().get() * tokens_per_step(plan) / plan.sizes.world as f64
}

fn tokens_per_step(plan: &Plan) -> f64 {
    plan.design().training.global_batch_size as f64 * plan.shape.seq as f64
}

fn communication(
    plan: &Plan,
    parts: &Parts,
    each: &[PerMicroBatch],
    waiting: &Waiting,
    data: &DataParallel,
    occupancy: &[Occupancy],
) -> Vec<Communication> {
    let m = plan.sizes.micro_batches as f64;
    let mut rows: Vec<Communication> = Vec::with_capacity(parts.exchanges.len() + 10);
    for exchange in &parts.exchanges {
        let mut calls = 0.0;
        let mut sum = 0.0;
        for (stage, of_stage) in plan.stages.iter().zip(each) {
            if !of_stage.as_before {
                let [forward, backward] = exchange.calls_on(stage, plan.shape.moe_layers > 0);
                let again = repeated_calls(plan, stage, exchange, of_stage.repeated_share);
                calls = forward + backward + again;
            }
            sum += calls;
        }
        let calls = m * (sum / plan.stages.len() as f64);
        let row = (exchange.axis, exchange.link, exchange.collective);
        add_row(&mut rows, row, calls, exchange.bytes, exchange.seconds);
    }
    if plan.sizes.pp > 1 {
        let (link, bytes, seconds) = plan.boundary();
        let calls = 2.0 * m * plan.boundaries_per_stage();
        add_row(&mut rows, (Axis::Pp, link, Collective::P2p), calls, bytes, seconds);
    }
    rows.extend(host_row(plan, occupancy));
    for row in &data.rows {
        let kind = (row.axis, row.link, row.collective);
        let calls = row.calls_of_step(m);
        add_row(&mut rows, kind, calls, row.bytes_per_call, row.seconds_per_call);
    }
    share_exposed(plan, &mut rows, waiting, data, occupancy);
    rows
}

/// Copies to host memory and back: bytes of the mean stage; the step waits for the slowest one's
/// optimizer states.
fn host_row(plan: &Plan, occupancy: &[Occupancy]) -> Option<Communication> {
    let m = plan.sizes.micro_batches as f64;
    let most = |of: &dyn Fn(&Occupancy) -> f64| occupancy.iter().map(of).fold(0.0, f64::max);
    let activations = 2.0 * m * mean(occupancy.iter().map(|stage| stage.swapped));
    let states = 2.0 * mean(occupancy.iter().map(|stage| stage.swapped_states));
    let slowest_states = 2.0 * most(&|stage| stage.swapped_states);
    let rate = plan.machine.host.get();
    (activations + states > 0.0).then(|| Communication {
        axis: Axis::Host,
        link: LinkLevel::Host,
        collective: Collective::Copy,
        bytes_per_call: Bytes::new(most(&|stage| stage.swapped.max(stage.swapped_states))),
        bytes: Bytes::new(activations + states),
        time: Seconds::new((activations + slowest_states) / rate),
        exposed: Seconds::ZERO,
    })
}

/// Adds calls to the row of their kind; its bytes per call are those of the largest call.
fn add_row(
    rows: &mut Vec<Communication>,
    (axis, link, collective): (Axis, LinkLevel, Collective),
    calls: f64,
    bytes_per_call: f64,
    seconds_per_call: f64,
) {
    let (bytes, time) =
        (Bytes::new(calls * bytes_per_call), Seconds::new(calls * seconds_per_call));
    let per_call = Bytes::new(bytes_per_call);
    let known = rows
        .iter_mut()
        .find(|row| (row.axis, row.link, row.collective) == (axis, link, collective));
    match known {
        Some(row) => {
            row.bytes += bytes;
            row.time += time;
            row.bytes_per_call = row.bytes_per_call.max(per_call);
        }
        None => rows.push(Communication {
            axis,
            link,
            collective,
            bytes_per_call: per_call,
            bytes,
            time,
            exposed: Seconds::ZERO,
        }),
    }
}

/// Shares each axis's exposed time among its rows, by their time.
fn share_exposed(
    plan: &Plan,
    rows: &mut [Communication],
    waiting: &Waiting,
    data: &DataParallel,
    occupancy: &[Occupancy],
) {
    let states = occupancy.iter().map(|stage| stage.swapped_states).fold(0.0, f64::max);
    let mut share = |axes: &[Axis], exposed: f64| {
        let of_axes = |row: &&mut Communication| axes.contains(&row.axis);
        let all: f64 = rows.iter_mut().filter(of_axes).map(|row| row.time.get()).sum();
        if all > 0.0 {
            for row in rows.iter_mut().filter(of_axes) {
                row.exposed = Seconds::new(exposed * row.time.get() / all);
            }
        }
    };
    for (axis, exposed) in AXES.iter().zip(waiting.exposed) {
        match axis {
            Axis::Host => share(&[Axis::Host], exposed + 2.0 * states / plan.machine.host.get()),
            Axis::Dp | Axis::Edp => share(&[Axis::Dp, Axis::Edp], exposed + data.exposed),
            Axis::Tp | Axis::Cp | Axis::Ep | Axis::Pp => share(&[*axis], exposed),
        }
    }
}

fn stages(
    plan: &Plan,
    each: &[PerMicroBatch],
    work: &[StageWork],
    pipeline: &Pipeline,
    occupancy: &[Occupancy],
) -> Vec<StageEstimate> {
    let m = plan.sizes.micro_batches as f64;
    let mut params = RankParams::default();
    plan.stages
        .iter()
        .enumerate()
        .map(|(index, stage)| {
            let (work, held) = (&work[index], &occupancy[index]);
            if !each[index].as_before {
                params = plan.stage_params(stage);
            }
            let compute = m * work.kernels() + pipeline.waiting[index].host;
            StageEstimate {
                stage: index as u32,
                num_layers: libm::ceil(stage.layers()) as u32,
                params: (params.dense + params.expert) as u128,
                memory: held.device,
                host_memory: held.host,
                peak_in_flight: held.in_flight,
                fullest: held.fullest,
                forward: Seconds::new(work.alone_seconds(0)),
                backward: Seconds::new(work.alone_seconds(1)),
                compute: Seconds::new(compute),
                exposed: Seconds::new(pipeline.busy[index] - compute),
                idle: Seconds::new(pipeline.seconds - pipeline.busy[index]),
            }
        })
        .collect()
}

fn metrics(
    plan: &Plan,
    step: &StepTime,
    work: &[StageWork],
    pipeline: &Pipeline,
    stages: &[StageEstimate],
    communication: &[Communication],
) -> Metrics {
    let world = plan.sizes.world as f64;
    let step_time = step.total();
    let per_device = model_flops_per_device(plan);
    let m = plan.sizes.micro_batches as f64;
    let executed = m * mean(work.iter().map(|stage| {
        let (forward, backward) = (&stage.forward, &stage.backward);
        forward.cost.flops + backward.cost.flops + backward.recompute.flops
    }));
    let budget = step_time.get() * plan.peak_for_mfu().get();
    let throughput = tokens_per_step(plan) / step_time.get();
    let memory_peak = stages.iter().map(|stage| stage.memory.peak()).fold(Bytes::ZERO, Bytes::max);
    let host_peak = stages.iter().map(|stage| stage.host_memory).fold(Bytes::ZERO, Bytes::max);
    let memory_limit = plan.memory_limit();
    let comm_time: Seconds = communication.iter().map(|row| row.time).sum();
    let comm_exposed: Seconds = communication.iter().map(|row| row.exposed).sum();
    let (total, active) = (plan.params_total(), plan.params_active());
    let embedding = plan.table_params();
    Metrics {
        mfu: per_device / budget,
        hfu: executed / budget,
        tokens_per_second: throughput,
        tokens_per_second_per_device: throughput / world,
        step_time,
        model_tflops_per_device: per_device / step_time.get() / 1e12,
        params_total: total,
        params_active: active,
        params_total_no_input_embedding: total - embedding,
        params_active_no_input_embedding: active - embedding,
        flops_per_token: plan.flops_per_token(),
        memory_peak,
        memory_limit,
        fits: memory_peak <= memory_limit && host_peak <= plan.machine.host_memory,
        bubble_ratio: pipeline.bubble_ratio(),
        bubble_ratio_closed_form: plan.bubble_ratio_closed_form(),
        comm_volume: communication.iter().map(|row| row.bytes).sum(),
        comm_exposed,
        overlap_ratio: if comm_time > Seconds::ZERO {
            (1.0 - comm_exposed / comm_time).max(0.0)
        } else {
            1.0
        },
        imbalance_ratio: plan.effect().imbalance,
        token_drop_ratio: plan
            .design()
            .training
            .moe_expert_capacity_factor
            .map_or(0.0, |factor| (1.0 - factor).max(plan.effect().drop_ratio).max(0.0)),
    }
}

fn warnings(
    plan: &Plan,
    metrics: &Metrics,
    pipeline: &Pipeline,
    occupancy: &[Occupancy],
) -> Vec<String> {
    let mut warnings = Vec::new();
    if metrics.memory_peak > metrics.memory_limit {
        warnings.push(format!(
            "peak memory of {:.1} GiB exceeds the usable {:.1} GiB",
            metrics.memory_peak.to_gib(),
            metrics.memory_limit.to_gib()
        ));
    }
    let host = occupancy.iter().map(|stage| stage.host).fold(Bytes::ZERO, Bytes::max);
    if host > plan.machine.host_memory {
        warnings.push(format!(
            "swapping needs {:.1} GiB of host memory per device, the host has {:.1} GiB for each",
            host.to_gib(),
            plan.machine.host_memory.to_gib()
        ));
    }
    if plan.design().schedule.timing == Timing::Simulated && pipeline.phases.is_none() {
        warnings.push(String::from(
            "too many stages and micro-batches to simulate: times are the closed form's",
        ));
    }
    if plan.design().schedule.overlap_p2p_comm
        && plan.sizes.pp > 1
        && plan.sizes.vpp == 1
        && !plan.form().runs_pairs
    {
        warnings.push(String::from("sends between stages are overlapped only with VPP or pairs"));
    }
    warnings.extend(crate::uneven::warning(plan));
    if plan.design().schedule.moe_hierarchical_alltoallv && plan.ep_group().domains == 1 {
        warnings.push(String::from(
            "the hierarchical all-to-all has no effect: an EP group is inside one node",
        ));
    }
    warnings
}
