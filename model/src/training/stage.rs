//! One stage's work for one micro-batch: compute, communication, and what hides what.
//!
//! A stage is the sum of its chunks of layers: their kernels, their exchanges per axis and link,
//! their launches. Chunks of the same content are taken once. What a pass that runs alone waits for
//! beside its kernels is computed here; passes that run as pairs are scheduled in
//! [`crate::training::pair`].

mod parts;
mod waiting;

use alloc::vec::Vec;

use crate::device::kernel::Cost;
use crate::device::topology::Machine;
use crate::ground::axis::{Axis, LinkLevel};
use crate::ground::choice::{CudaGraph, RecomputeModule, ShardingStrategy};
use crate::layer::embedding_head::Ends;
use crate::layer::layout::Stage;
use crate::schedule::StageTimes;
use crate::training::data_parallel::{DataGroups, data_rows};
use crate::training::overlap::Overlap;
use crate::training::plan::Plan;

use parts::{Cover, LayerLinks};
pub(crate) use parts::{LayerCost, LayerHops, LayerPart, Parts};
pub(crate) use waiting::{Waiting, Waits};
use waiting::{alone, exposed_copy};

/// Axes whose traffic belongs to a micro-batch.
pub(crate) const AXES: [Axis; 6] = [Axis::Tp, Axis::Cp, Axis::Ep, Axis::Pp, Axis::Host, Axis::Dp];

/// Seconds per axis, in the order of [`AXES`].
pub(crate) type PerAxis = [f64; AXES.len()];

/// The first of them: those on which single layers exchange.
pub(crate) const LAYER_AXES: usize = 3;

pub(crate) const TP: usize = axis_index(Axis::Tp);
pub(crate) const CP: usize = axis_index(Axis::Cp);
pub(crate) const EP: usize = axis_index(Axis::Ep);
pub(crate) const PP: usize = axis_index(Axis::Pp);
pub(crate) const HOST: usize = axis_index(Axis::Host);
pub(crate) const DP: usize = axis_index(Axis::Dp);

/// An axis's place in [`AXES`]; experts' data parallelism is that of all.
const fn axis_index(axis: Axis) -> usize {
    match axis {
        Axis::Tp => 0,
        Axis::Cp => 1,
        Axis::Ep => 2,
        Axis::Pp => 3,
        Axis::Host => 4,
        Axis::Dp | Axis::Edp => 5,
    }
}

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
    /// Ring's part of the context-parallel seconds.
    ring: f64,
    /// First part, of those in which they pass, of the data-parallel seconds.
    sharded_part: f64,
    /// Core attention's part of the compute: it hides a ring.
    core: f64,
    /// Shared experts' part of the compute: they hide a dispatch.
    shared: f64,
    /// Part of the compute in the experts' products.
    experts: f64,
    /// Part of the host's time that reads back the number of rows of each expert: the device waits
    /// then.
    stalls: f64,
}

impl Pass {
    /// Device time without any communication.
    pub(crate) fn compute(&self) -> f64 {
        self.cost.seconds() + self.recompute.seconds() + self.host_wait
    }

    pub(crate) fn axis(&self, axis: usize) -> f64 {
        self.links[axis][0] + self.links[axis][1]
    }

    /// Device time of its kernels.
    pub(crate) fn kernels(&self) -> f64 {
        self.cost.seconds() + self.recompute.seconds()
    }

    fn launches(&self) -> f64 {
        self.cost.launches + self.recompute.launches
    }
}

/// A stage or a chunk with all its passes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StageWork {
    pub(crate) forward: Pass,
    pub(crate) backward: Pass,
    pub(crate) weight_grad: f64,
    pub(crate) waits: Waits,
    /// Times of its passes with these waits.
    pub(crate) times: StageTimes,
    /// Exposed seconds in a pair of the same layers, copies to the host not counted.
    pair_exposed: PerAxis,
}

/// Terms on which the work of a stage or a chunk is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Terms {
    /// Share of the layers that full recomputation takes.
    pub(crate) repeated_share: f64,
    /// Bytes that one micro-batch moves to the host, and back.
    pub(crate) swapped: f64,
    /// Sends of a forward and of a backward.
    pub(crate) sends: [f64; 2],
}

impl StageWork {
    pub(crate) fn new(plan: &Plan, stage: &Stage, parts: &Parts, terms: &Terms) -> Self {
        let mut work = Self::without_copies(plan, stage, parts, terms);
        let copy = terms.swapped / plan.deployment.machine.host.get();
        (work.forward.links[HOST][0], work.backward.links[HOST][0]) = (copy, copy);
        let mut waits = work.waits;
        work.add_copies(plan, terms.swapped, &mut waits);
        (work.waits, work.times) = (waits, work.times_with(&waits));
        work
    }

    /// The work where nothing is copied to the host.
    #[inline(never)]
    pub(crate) fn without_copies(plan: &Plan, stage: &Stage, parts: &Parts, terms: &Terms) -> Self {
        let mut work = Self::default();
        let Self { forward, backward, weight_grad, pair_exposed, .. } = &mut work;
        let repeated_share = terms.repeated_share;
        let mut expert_layers = 0.0;
        let counts = stage.with_mtp(plan.architecture.mtp.kind);
        for (layer, count) in parts.counted(&counts) {
            let LayerCost { total, again, covers, .. } = &*layer.cost;
            forward.cost += total.forward * count;
            backward.cost += (total.input_grad + total.weight_grad) * count;
            *weight_grad += total.weight_grad.seconds() * count;
            backward.recompute += *again * (count * repeated_share);
            backward.recompute += layer.recomputed * count;
            forward.add_cover(&covers[0], count);
            backward.add_cover(&covers[1], count);
            add_layer_links([&mut *forward, &mut *backward], &layer.links, count, repeated_share);
            if layer.cost.has_experts {
                expert_layers += count;
            }
            for (own, of_layer) in pair_exposed.iter_mut().zip(&layer.pair) {
                *own += of_layer * count;
            }
        }
        if stage.has_ends() {
            let ends = parts.work.embedding * stage.embedding
                + parts.work.mtp_extra * stage.mtp
                + parts.work.head * stage.heads()
                + parts.work.source * stage.sources;
            backward.recompute += parts.work.source.forward * (stage.sources * repeated_share);
            forward.cost += ends.forward;
            backward.cost += ends.input_grad + ends.weight_grad;
            *weight_grad += ends.weight_grad.seconds();
        }
        let overlap = &plan.overlap;
        let dispatch = overlap.dispatch_micros * 1e-6;
        for pass in [&mut *forward, &mut *backward] {
            let launching = pass.launches() * dispatch;
            // A host that waits for each kernel launches none ahead.
            let ahead = if overlap.blocks_launches { 0.0 } else { pass.kernels() };
            pass.host_wait = (launching - ahead).max(0.0);
        }
        let [ahead, again, back] = plan.stalls();
        let repeats = if plan.dispatches_again() { 1.0 } else { repeated_share };
        forward.stalls = ahead * expert_layers;
        backward.stalls = (back + again * repeats) * expert_layers;
        for pass in [&mut *forward, &mut *backward] {
            pass.host_wait += pass.stalls;
        }
        if stage.has_ends() {
            add_end_links(stage, parts, [&mut *forward, &mut *backward]);
        }
        if plan.deployment.ranks.pp > 1 {
            add_sends(parts, terms, [&mut *forward, &mut *backward]);
        }
        add_sharding(plan, stage, forward, backward);
        work.waits.alone =
            [alone(overlap, &work.forward, false), alone(overlap, &work.backward, true)];
        let Self { forward, backward, pair_exposed, waits, .. } = &mut work;
        let exposed = plan.schedule.runs_pairs.then_some(*pair_exposed);
        let machine = &plan.deployment.machine;
        add_copies(overlap, machine, [forward, backward], exposed, 0.0, waits);
        work.times = work.times_with(&work.waits);
        work
    }

    /// Makes waits of its passes without copies those in which they copy this many bytes of a
    /// micro-batch to the host and back.
    pub(crate) fn add_copies(&self, plan: &Plan, swapped: f64, waits: &mut Waits) {
        let passes = [&self.forward, &self.backward];
        let exposed = plan.schedule.runs_pairs.then_some(self.pair_exposed);
        let machine = &plan.deployment.machine;
        add_copies(&plan.overlap, machine, passes, exposed, swapped, waits);
    }

    /// Device time of one micro-batch's kernels.
    pub(crate) fn kernels(&self) -> f64 {
        self.forward.kernels() + self.backward.kernels()
    }

    /// A pass that runs alone: 0 forward, 1 backward.
    pub(crate) fn alone_seconds(&self, pass: usize) -> f64 {
        [self.times.forward, self.times.backward][pass]
    }

    /// Times of its passes when they wait for this.
    pub(crate) fn times_with(&self, waits: &Waits) -> StageTimes {
        StageTimes {
            forward: self.forward.kernels() + waits.alone[0].seconds(),
            backward: self.backward.kernels() + waits.alone[1].seconds(),
            weight_grad: self.weight_grad,
            pair: self.kernels() + waits.paired.seconds(),
        }
    }
}

impl Pass {
    fn add_cover(&mut self, cover: &Cover, count: f64) {
        self.core += cover.core * count;
        self.shared += cover.shared * count;
        self.experts += cover.experts * count;
    }
}

/// See [`StageWork::add_copies`]; in a pair, `exposed` without copies.
fn add_copies(
    overlap: &Overlap,
    machine: &Machine,
    passes: [&Pass; 2],
    exposed: Option<PerAxis>,
    swapped: f64,
    waits: &mut Waits,
) {
    let copy = swapped / machine.host.get();
    for (waiting, pass) in waits.alone.iter_mut().zip(passes) {
        waiting.exposed[HOST] = exposed_copy(overlap, pass, copy);
    }
    if let Some(mut exposed) = exposed {
        // Copies go out and come back at the same time.
        let copy = swapped / machine.host_both_ways.get();
        exposed[HOST] = (copy - (passes[0].kernels() + passes[1].kernels())).max(0.0);
        let [ahead, back] = &waits.alone;
        waits.paired = overlap.waiting_of_pair(passes, [ahead, back], exposed);
    }
}

/// The exchanges of this many layers of a kind, of which full recomputation takes a share.
fn add_layer_links(
    [forward, backward]: [&mut Pass; 2],
    links: &LayerLinks,
    count: f64,
    repeated_share: f64,
) {
    let repeated = count * repeated_share;
    for axis in 0..LAYER_AXES {
        for link in 0..2 {
            forward.links[axis][link] += links.passes[0][axis][link] * count;
            backward.links[axis][link] += (links.passes[1][axis][link] + links.chosen[axis][link])
                * count
                + links.whole[axis][link] * repeated;
        }
    }
    let [ahead, back, chosen, whole] = links.ring;
    forward.ring += ahead * count;
    backward.ring += (back + chosen) * count + whole * repeated;
}

/// The exchanges of embedding, heads and projections of MTP.
fn add_end_links(stage: &Stage, parts: &Parts, passes: [&mut Pass; 2]) {
    let Ends { embedding, mtp_extra, head } = &*parts.ends;
    for (index, pass) in passes.into_iter().enumerate() {
        for link in 0..2 {
            pass.links[TP][link] += embedding.hops[index][link] * stage.embedding
                + mtp_extra.hops[index][link] * stage.mtp
                + head.hops[index][link] * stage.heads();
        }
    }
}

/// Adds the sends to the next stage and back.
fn add_sends(parts: &Parts, terms: &Terms, passes: [&mut Pass; 2]) {
    for (pass, sends) in passes.into_iter().zip(terms.sends) {
        for leg in parts.boundary.legs() {
            let link = usize::from(leg.link == LinkLevel::InterNode);
            pass.links[PP][link] += sends * leg.seconds;
        }
    }
}

/// Gradients and parameters that every micro-batch exchanges under ZeRO-2 and ZeRO-3.
fn add_sharding(plan: &Plan, stage: &Stage, forward: &mut Pass, backward: &mut Pass) {
    if !plan.sharding.shards(ShardingStrategy::OptimGrads) {
        return;
    }
    let groups = DataGroups::new(&plan.deployment, plan.sharding.instances);
    let mut rows = Vec::with_capacity(8);
    data_rows(plan, &groups, stage, &plan.stage_params(stage), &mut rows);
    for row in &rows {
        let Some(calls) = row.passes else { continue };
        let link = usize::from(row.link == LinkLevel::InterNode);
        for (pass, calls) in [&mut *forward, &mut *backward].into_iter().zip(calls) {
            pass.links[DP][link] += calls * row.seconds_per_call;
            pass.sharded_part += calls * row.seconds_per_call / row.parts.max(1.0);
        }
    }
}

impl Plan {
    /// Time that the device waits in a MoE layer's forward, recomputation and backward while the
    /// host reads back the number of rows of each expert. Buffers of a fixed size need no such
    /// wait.
    fn stalls(&self) -> [f64; 3] {
        let graph = self.deployment.kernel.cuda_graph_impl;
        let fixed = self.capacity.is_padded || graph == CudaGraph::Local;
        let each = if fixed { 0.0 } else { self.deployment.host.sync_micros * 1e-6 };
        self.deployment.host.syncs.map(|times| times * each)
    }

    /// Do all backwards of MoE layers compute again what has the size of the experts' rows?
    fn dispatches_again(&self) -> bool {
        let modules = self.recomputation.modules;
        modules.has(RecomputeModule::Moe) || modules.has(RecomputeModule::MoePermute)
    }
}
