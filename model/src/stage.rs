//! One stage's work for one micro-batch: compute, communication, and what hides what.

use crate::choice::{
    CudaGraph, Dispatcher, RecomputeGranularity, RecomputeModule, ShardingStrategy,
};
use crate::data_parallel::data_rows;
use crate::estimate::{Axis, Collective, LinkLevel};
use crate::layer::{Layer, Work};
use crate::layout::{Stage, turns_back};
use crate::operator::Cost;
use crate::pipeline::{StageTimes, runs_pairs};
use crate::plan::Plan;
use crate::traffic::Exchange;

/// Axes whose traffic belongs to a micro-batch.
pub(crate) const AXES: [Axis; 6] = [Axis::Tp, Axis::Cp, Axis::Ep, Axis::Pp, Axis::Host, Axis::Dp];

/// Seconds per axis, in the order of [`AXES`].
pub(crate) type PerAxis = [f64; AXES.len()];

/// Pieces in which a TP collective runs beside its product (MindSpeed's CoC).
const TP_PIECES: f64 = 4.0;
/// Pieces in which dispatch and combine run beside the experts.
const EP_PIECES: f64 = 2.0;
/// Share of dispatch and combine that warm-up and cool-down hide.
///
/// Source: MindSpeed `moe-fb-overlap`.
const HIDDEN_IN_WARM_UP: f64 = 0.5;
/// Share of the backward's TP traffic that runs beside its own products: the input gathered again
/// and the gradient scattered, half of the calls. Source: Megatron-Core `layers.py`.
const HIDDEN_TP_BACKWARD: f64 = 0.5;

/// One pass of one micro-batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pass {
    /// Compute, recomputation not counted.
    pub(crate) cost: Cost,
    /// Forward work done again.
    pub(crate) recompute: Cost,
    /// Waiting for the host to launch kernels.
    pub(crate) host_wait: f64,
    /// Seconds of communication per axis, [inside the domain, between domains].
    pub(crate) links: [[f64; 2]; AXES.len()],
    /// Of the context-parallel seconds, those of a ring.
    ring: f64,
    /// Of the compute, core attention: it hides a ring.
    core: f64,
    /// Of the compute, shared experts: they hide a dispatch.
    shared: f64,
    /// Of the compute, the experts' products.
    experts: f64,
}

impl Pass {
    /// Device time without any communication.
    pub(crate) fn compute(&self) -> f64 {
        self.cost.seconds() + self.recompute.seconds() + self.host_wait
    }

    fn axis(&self, axis: usize) -> f64 {
        self.links[axis][0] + self.links[axis][1]
    }

    /// The busiest resource: links inside the domain, between domains, and to the host.
    fn longest_link(&self) -> f64 {
        let (mut intra, mut inter) = (0.0, 0.0);
        for (links, axis) in self.links.iter().zip(AXES) {
            if axis != Axis::Host {
                intra += links[0];
                inter += links[1];
            }
        }
        f64::max(intra, inter).max(self.links[4][0])
    }
}

/// A stage with all its passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StageWork {
    pub(crate) forward: Pass,
    pub(crate) backward: Pass,
    pub(crate) weight_grad: f64,
    /// Exposed seconds per axis of a micro-batch that runs alone.
    pub(crate) solo_exposed: PerAxis,
    /// Exposed seconds per axis of a pair.
    pub(crate) pair_exposed: PerAxis,
}

impl StageWork {
    pub(crate) fn new(
        plan: &Plan,
        index: usize,
        stage: &Stage,
        parts: &Parts,
        swapped: f64,
    ) -> Self {
        let mut forward = Pass::default();
        let mut backward = Pass::default();
        let mut weight_grad = 0.0;
        let mtp_moe = plan.shape.moe_layers > 0;
        let kinds = [
            (&parts.work.dense, false, stage.dense + if mtp_moe { 0.0 } else { stage.mtp }),
            (&parts.work.moe, true, stage.moe + if mtp_moe { stage.mtp } else { 0.0 }),
        ];
        let layers: f64 = kinds.iter().map(|(_, _, count)| count).sum();
        let full = plan.design().memory.recompute_granularity == RecomputeGranularity::Full;
        let repeated = if full { plan.recomputed_layers(index, layers) } else { 0.0 };
        let repeated_share = if layers > 0.0 { repeated / layers } else { 0.0 };
        for (layer, is_moe, count) in kinds {
            if count <= 0.0 {
                continue;
            }
            let total = layer.total();
            forward.cost += total.forward * count;
            backward.cost += (total.input_grad + total.weight_grad) * count;
            weight_grad += total.weight_grad.seconds() * count;
            backward.recompute += total.forward * (count * repeated_share);
            backward.recompute += layer.recomputed(plan, is_moe) * count;
            forward.add_cover(layer, is_moe, count);
            backward.add_backward_cover(layer, is_moe, count);
        }
        let ends = parts.work.embedding * stage.embedding
            + parts.work.mtp_extra * stage.mtp
            + parts.work.head * (stage.head + stage.mtp_head);
        forward.cost += ends.forward;
        backward.cost += ends.input_grad + ends.weight_grad;
        weight_grad += ends.weight_grad.seconds();
        let dispatch = plan.dispatch_micros() * 1e-6;
        for pass in [&mut forward, &mut backward] {
            let launches = pass.cost.launches + pass.recompute.launches;
            let device = pass.cost.seconds() + pass.recompute.seconds();
            pass.host_wait = (launches * dispatch - device).max(0.0);
        }
        let moe_layers = stage.moe + if mtp_moe { stage.mtp } else { 0.0 };
        forward.host_wait += plan.sync_seconds() * moe_layers;
        add_links(plan, stage, parts, repeated_share, &mut forward, &mut backward);
        add_sharding(plan, stage, &mut forward, &mut backward);
        let copy = swapped / plan.machine.host.get();
        (forward.links[4][0], backward.links[4][0]) = (copy, copy);
        let mut work = Self {
            forward,
            backward,
            weight_grad,
            solo_exposed: [0.0; AXES.len()],
            pair_exposed: [0.0; AXES.len()],
        };
        work.expose(plan);
        work
    }

    /// Compute of one micro-batch.
    pub(crate) fn compute(&self) -> f64 {
        self.forward.compute() + self.backward.compute()
    }

    /// The times that a schedule needs.
    pub(crate) fn times(&self, plan: &Plan) -> StageTimes {
        let forward_exposed = exposed_alone(plan, &self.forward, false);
        let forward = self.forward.compute() + forward_exposed.iter().sum::<f64>();
        let whole = self.compute() + self.solo_exposed.iter().sum::<f64>();
        StageTimes {
            forward,
            backward: whole - forward,
            weight_grad: self.weight_grad,
            pair: self.compute() + self.pair_exposed.iter().sum::<f64>(),
        }
    }

    /// What is exposed alone and in a pair.
    ///
    /// In a pair the forward's communication runs under the backward's compute and the other way
    /// round; with weight gradients apart, any communication runs under any compute. The busiest
    /// resource bounds the pair: a lower bound on its time, which dependencies can only lengthen.
    fn expose(&mut self, plan: &Plan) {
        let alone =
            [exposed_alone(plan, &self.forward, false), exposed_alone(plan, &self.backward, true)];
        let steady = self.steady_expert_share(plan);
        let beside = self.beside_others(plan);
        self.solo_exposed = core::array::from_fn(|axis| alone[0][axis] + alone[1][axis]);
        self.solo_exposed[2] = steady * beside + (1.0 - steady) * self.solo_exposed[2];
        if !runs_pairs(plan.design().schedule.method) {
            return;
        }
        let (forward, backward) = (&self.forward, &self.backward);
        let compute = self.compute();
        let (link_f, link_b) = (forward.longest_link(), backward.longest_link());
        let length = if plan.design().schedule.delay_wgrad_compute {
            let mut both = *forward;
            for (links, other) in both.links.iter_mut().zip(backward.links) {
                (links[0], links[1]) = (links[0] + other[0], links[1] + other[1]);
            }
            // Out and in are two directions of one link.
            both.links[4][0] = forward.links[4][0].max(backward.links[4][0]);
            compute.max(both.longest_link())
        } else {
            backward.compute().max(link_f) + forward.compute().max(link_b)
        };
        let solo: f64 = self.solo_exposed.iter().sum();
        let per_axis: PerAxis =
            core::array::from_fn(|axis| forward.axis(axis) + backward.axis(axis));
        let all: f64 = per_axis.iter().sum();
        let exposed = (length - compute).max(0.0);
        let exposed = (exposed + plan.cost_of_hiding(all - per_axis[4] - exposed)).min(solo);
        if all > 0.0 {
            self.pair_exposed = per_axis.map(|seconds| exposed * seconds / all);
        }
    }

    /// Dispatch and combine that another micro-batch's compute can't cover.
    fn beside_others(&self, plan: &Plan) -> f64 {
        let delayed =
            if plan.design().schedule.delay_wgrad_compute { self.weight_grad } else { 0.0 };
        let under = |own: &Pass, other: &Pass, extra: f64| {
            let all = expert_seconds(plan, own);
            let exposed = (all - other.compute() - extra).max(0.0);
            exposed + plan.cost_of_hiding(all - exposed)
        };
        under(&self.forward, &self.backward, 0.0) + under(&self.backward, &self.forward, delayed)
    }

    /// Share of micro-batches with a partner whose compute hides expert communication, where EP
    /// overlap is on but the schedule itself runs no pairs.
    fn steady_expert_share(&self, plan: &Plan) -> f64 {
        let schedule = &plan.design().schedule;
        if !schedule.overlap_moe_expert_parallel_comm || runs_pairs(schedule.method) {
            return 0.0;
        }
        let chunks = (plan.sizes.micro_batches * plan.sizes.vpp) as f64;
        let warm_up = ((plan.sizes.vpp - 1) * plan.sizes.pp + plan.sizes.pp) as f64;
        ((chunks - warm_up) / chunks).max(0.0)
    }
}

impl Pass {
    fn add_cover(&mut self, layer: &Layer, is_moe: bool, count: f64) {
        self.core += layer.core.forward.seconds() * count;
        if is_moe {
            self.shared += layer.mlp.forward.seconds() * count;
            self.experts += layer.experts.forward.seconds() * count;
        }
    }

    fn add_backward_cover(&mut self, layer: &Layer, is_moe: bool, count: f64) {
        self.core += layer.core.input_grad.seconds() * count;
        if is_moe {
            self.shared += (layer.mlp.input_grad + layer.mlp.weight_grad).seconds() * count;
            self.experts +=
                (layer.experts.input_grad + layer.experts.weight_grad).seconds() * count;
        }
    }
}

/// What every stage is made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    pub(crate) work: Work,
    pub(crate) exchanges: alloc::vec::Vec<Exchange>,
}

impl Parts {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut work = Work::new(plan);
        let graph = plan.design().kernel.cuda_graph_impl;
        if graph != CudaGraph::None {
            replay(&mut work.dense, true);
            replay(&mut work.moe, graph == CudaGraph::Local);
        }
        Self { work, exchanges: plan.exchanges() }
    }
}

/// A recorded graph launches all its kernels at once. Transformer Engine's covers attention, the
/// router and a dense MLP; how many rows an expert gets is known too late for it. Megatron's own
/// covers a whole iteration, whose experts get buffers of a fixed size.
///
/// Source: Megatron-Core, `--cuda-graph-impl` and `--cuda-graph-scope`.
fn replay(layer: &mut Layer, everything: bool) {
    let attention = [
        &mut layer.norms,
        &mut layer.residuals,
        &mut layer.latents,
        &mut layer.query,
        &mut layer.key_value,
        &mut layer.core,
        &mut layer.output,
        &mut layer.mlp,
        &mut layer.router,
    ];
    let experts =
        [&mut layer.permute, &mut layer.experts, &mut layer.activation, &mut layer.unpermute];
    for block in attention.into_iter().chain(experts.into_iter().filter(|_| everything)) {
        for pass in [&mut block.forward, &mut block.input_grad, &mut block.weight_grad] {
            pass.launches = 0.0;
        }
    }
    layer.norms.forward.launches = 1.0;
    layer.norms.input_grad.launches = 1.0;
}

/// Calls that a stage's recomputation makes again.
pub(crate) fn repeated_calls(
    plan: &Plan,
    stage: &Stage,
    exchange: &Exchange,
    repeated_share: f64,
) -> f64 {
    let moe_layers = stage.moe + if plan.shape.moe_layers > 0 { stage.mtp } else { 0.0 };
    let dense_layers = stage.dense + stage.mtp - (moe_layers - stage.moe);
    let memory = &plan.design().memory;
    if memory.recompute_granularity == RecomputeGranularity::Full {
        let calls = exchange.layer_calls(true, 0) * moe_layers
            + exchange.layer_calls(false, 0) * dense_layers;
        return calls * repeated_share;
    }
    if memory.recompute_granularity != RecomputeGranularity::Selective {
        return 0.0;
    }
    let has = |module| memory.recompute_modules.has(module);
    let calls = &exchange.calls;
    let layers = moe_layers + dense_layers;
    let whole_moe = has(RecomputeModule::Moe);
    match exchange.axis {
        Axis::Ep if whole_moe => calls.moe[0] * moe_layers,
        Axis::Ep if has(RecomputeModule::MoePermute) => calls.dispatch * moe_layers,
        Axis::Cp if has(RecomputeModule::CoreAttn) => calls.dense[0] * layers,
        Axis::Tp => {
            let mlp = if has(RecomputeModule::Mlp) { dense_layers } else { 0.0 };
            let shared =
                if whole_moe || has(RecomputeModule::SharedExperts) { moe_layers } else { 0.0 };
            let up = has(RecomputeModule::MlaQkv)
                || has(RecomputeModule::MlaUpProj)
                || has(RecomputeModule::MlaKv);
            calls.mlp * mlp + calls.shared * shared + if up { calls.latents * layers } else { 0.0 }
        }
        Axis::Ep | Axis::Cp | Axis::Pp | Axis::Dp | Axis::Edp | Axis::Host => 0.0,
    }
}

fn add_links(
    plan: &Plan,
    stage: &Stage,
    parts: &Parts,
    repeated_share: f64,
    forward: &mut Pass,
    backward: &mut Pass,
) {
    for exchange in &parts.exchanges {
        let Some(axis) = AXES.iter().position(|axis| *axis == exchange.axis) else { continue };
        let link = usize::from(exchange.link == LinkLevel::InterNode);
        let [calls_f, calls_b] = exchange.calls_on(stage, plan.shape.moe_layers > 0);
        let again = repeated_calls(plan, stage, exchange, repeated_share);
        forward.links[axis][link] += calls_f * exchange.seconds;
        backward.links[axis][link] += (calls_b + again) * exchange.seconds;
        if exchange.axis == Axis::Cp && exchange.collective == Collective::P2p {
            forward.ring += calls_f * exchange.seconds;
            backward.ring += (calls_b + again) * exchange.seconds;
        }
    }
    if plan.sizes.pp > 1 {
        let (level, _, seconds) = plan.boundary();
        let link = usize::from(level == LinkLevel::InterNode);
        let sends = plan.boundaries_per_stage();
        forward.links[3][link] += sends * seconds;
        backward.links[3][link] += sends * seconds;
    }
}

/// Gradients and parameters that every micro-batch exchanges under ZeRO-2 and ZeRO-3.
fn add_sharding(plan: &Plan, stage: &Stage, forward: &mut Pass, backward: &mut Pass) {
    if !plan.shards(ShardingStrategy::OptimGrads) {
        return;
    }
    for row in data_rows(plan, &plan.stage_params(stage)) {
        let Some([calls_f, calls_b]) = row.passes else { continue };
        let link = usize::from(row.link == LinkLevel::InterNode);
        forward.links[5][link] += calls_f * row.seconds_per_call;
        backward.links[5][link] += calls_b * row.seconds_per_call;
    }
}

impl Plan {
    /// Sends of a stage per pass of a micro-batch, mean over the stages: (p v - 1) / p. Where the
    /// chunks turn back, the last stage keeps what it would send itself.
    pub(crate) fn boundaries_per_stage(&self) -> f64 {
        let chunks = (self.sizes.pp * self.sizes.vpp) as f64;
        let turns = if turns_back(self.design().schedule.method) { 1.0 } else { 0.0 };
        (chunks - 1.0 - turns) / self.sizes.pp as f64
    }
}

impl Plan {
    /// Host time between learning how many rows each expert of a layer gets and having its kernels
    /// queued. Buffers of a fixed size need no such wait; backward the counts are known.
    fn sync_seconds(&self) -> f64 {
        let fixed = self.design().training.moe_pad_expert_input_to_capacity
            || self.design().kernel.cuda_graph_impl == CudaGraph::Local;
        if fixed { 0.0 } else { self.host.sync_micros * 1e-6 }
    }

    /// What seconds of communication under compute cost: a collective occupies some of the cores.
    pub(crate) fn cost_of_hiding(&self, hidden: f64) -> f64 {
        hidden.max(0.0) * self.accelerator().communication_core_share
    }
}

/// Exposed seconds per axis of a pass that runs without a partner.
fn exposed_alone(plan: &Plan, pass: &Pass, is_backward: bool) -> PerAxis {
    let schedule = &plan.design().schedule;
    let compute = pass.compute();
    let mut tp = pass.axis(0);
    if is_backward && plan.sizes.sp > 1 {
        tp -= (tp * HIDDEN_TP_BACKWARD).min(compute);
    }
    if schedule.tp_comm_overlap {
        tp = piecewise(tp, pass.cost.tensor, TP_PIECES);
    }
    // A ring runs under core attention; an exchange of heads and a gather are waited for.
    let cp = pass.axis(1) - pass.ring + (pass.ring - pass.core).max(0.0);
    // Megatron-Core overlaps sends only between several chunks; pairs hide them as well.
    let overlaps = plan.sizes.vpp > 1 || runs_pairs(schedule.method);
    let pp = if schedule.overlap_p2p_comm && overlaps { 0.0 } else { pass.axis(3) };
    let swap = if plan.design().memory.swap_prefetch {
        (pass.axis(4) - compute).max(0.0)
    } else {
        pass.axis(4)
    };
    let sharding = if schedule.overlap_grad_reduce
        && (schedule.overlap_param_gather || !plan.shards(ShardingStrategy::OptimGradsParams))
    {
        (pass.axis(5) - compute).max(0.0)
    } else {
        pass.axis(5)
    };
    let mut exposed = [tp, cp, exposed_experts(plan, pass), pp, swap, sharding];
    for axis in [0, 1, 2, 5] {
        exposed[axis] += plan.cost_of_hiding(pass.axis(axis) - exposed[axis]);
    }
    exposed
}

/// Time of communication that runs in pieces beside `compute`: the longer one and a last piece.
fn piecewise(communication: f64, compute: f64, pieces: f64) -> f64 {
    (communication - compute).max(0.0) + communication.min(compute) / pieces
}

/// Time of dispatch and combine: the copies of a flat exchange take both links at once, two
/// levels follow each other.
fn expert_seconds(plan: &Plan, pass: &Pass) -> f64 {
    let schedule = &plan.design().schedule;
    let [intra, inter] = pass.links[2];
    let levels = schedule.moe_hierarchical_alltoallv
        || schedule.moe_token_dispatcher_type != Dispatcher::Alltoall;
    if levels { intra + inter } else { intra.max(inter) }
}

fn exposed_experts(plan: &Plan, pass: &Pass) -> f64 {
    let schedule = &plan.design().schedule;
    let mut seconds = expert_seconds(plan, pass);
    if schedule.moe_shared_expert_overlap {
        seconds = (seconds - pass.shared).max(0.0);
    }
    if schedule.moe_alltoall_overlap_comm {
        seconds = piecewise(seconds, pass.experts, EP_PIECES);
    }
    if schedule.overlap_moe_expert_parallel_comm || runs_pairs(schedule.method) {
        seconds *= 1.0 - HIDDEN_IN_WARM_UP;
    }
    seconds
}
