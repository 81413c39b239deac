//! What a pass or a pair spends beside its kernels: exchanges, contention, the host.

use crate::ground::choice::{Framework, ShardingStrategy};
use crate::training::plan::Plan;

use super::{AXES, CP, DP, EP, HOST, PP, Pass, PerAxis, TP};

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

/// Time of a pass or a pair beyond its kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Waiting {
    /// Seconds in which compute waits for an exchange, per axis.
    pub(crate) exposed: PerAxis,
    /// Time that kernels lose to the collectives that run beside them.
    pub(crate) contention: f64,
    /// Waiting for the host to launch kernels.
    pub(crate) host: f64,
}

impl Waiting {
    pub(crate) fn seconds(&self) -> f64 {
        self.exposed.iter().sum::<f64>() + self.contention + self.host
    }

    /// Adds `times` of another.
    pub(crate) fn add(&mut self, other: &Self, times: f64) {
        for (own, others) in self.exposed.iter_mut().zip(other.exposed) {
            *own += others * times;
        }
        self.contention += other.contention * times;
        self.host += other.host * times;
    }
}

/// Time of the passes of a stage or a chunk beyond their kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Waits {
    /// A forward and a backward that run alone.
    pub(crate) alone: [Waiting; 2],
    /// A forward and a backward of the same layers that run as a pair; by layers, see
    /// [`super::LayerPart::pair`]. Nothing where no pairs run.
    pub(crate) paired: Waiting,
}

/// Time beyond its kernels of a pass that runs without a partner.
pub(super) fn alone(plan: &Plan, pass: &Pass, is_backward: bool) -> Waiting {
    let exposed = exposed_alone(plan, pass, is_backward);
    let cost =
        |axis: usize| plan.core_share(axis) * (pass.busy(plan, axis) - exposed[axis]).max(0.0);
    let contention = [TP, CP, EP, DP].into_iter().map(cost).sum();
    Waiting { exposed, contention, host: pass.host_wait }
}

impl Plan {
    /// Are sends between stages hidden? Megatron-Core overlaps them only between several chunks;
    /// pairs hide them as well.
    pub(crate) fn overlaps_sends(&self) -> bool {
        let schedule = &self.design().schedule;
        schedule.overlap_p2p_comm && (self.deployment.ranks.vpp > 1 || self.form().runs_pairs)
    }

    /// Are gradients reduced while the backward computes? FSDP has no switch for it.
    ///
    /// Source: PyTorch, `fully_shard`: reductions on a stream of their own, the next layer's
    /// parameters gathered ahead.
    pub(crate) fn overlaps_reductions(&self) -> bool {
        self.design().schedule.overlap_grad_reduce || self.overlaps_by_itself()
    }

    /// Are parameters gathered while layers compute?
    pub(crate) fn overlaps_gathers(&self) -> bool {
        self.design().schedule.overlap_param_gather || self.overlaps_by_itself()
    }

    fn overlaps_by_itself(&self) -> bool {
        self.design().kernel.framework == Framework::Fsdp && !self.blocks_launches()
    }

    /// Do dispatch and combine take their two levels one after the other?
    ///
    /// A flat exchange takes both links at once. DeepEP and HybridEP forward what arrives while
    /// more is on its way, as a ring does; MindSpeed's hierarchical exchange is two collectives.
    pub(crate) fn takes_two_levels(&self) -> bool {
        self.design().schedule.moe_hierarchical_alltoallv
    }

    /// Share of the cores that an axis's exchanges occupy: what a second of them costs compute.
    pub(crate) fn core_share(&self, axis: usize) -> f64 {
        if axis == EP {
            self.deployment.expert_exchange_core_share()
        } else {
            self.accelerator().communication_core_share
        }
    }

    /// Time beyond their kernels of a forward and a backward as a pair in which compute waits this
    /// long for each axis, where they spend `alone` without a partner.
    ///
    /// Sends between stages are waited for unless they are overlapped; parameters and gradients of
    /// every micro-batch (ZeRO-2 and 3) as in a pass alone. A pair is never longer than its passes
    /// one after the other.
    pub(crate) fn waiting_of_pair(
        &self,
        [ahead, back]: [&Pass; 2],
        alone: [&Waiting; 2],
        exposed: PerAxis,
    ) -> Waiting {
        let mut waiting = Waiting { exposed, ..Waiting::default() };
        for axis in [PP, DP] {
            waiting.exposed[axis] = alone[0].exposed[axis] + alone[1].exposed[axis];
        }
        let hidden = |axis| ahead.busy(self, axis) + back.busy(self, axis) - waiting.exposed[axis];
        let costs = (0..AXES.len())
            .filter(|axis| ![PP, HOST].contains(axis))
            .map(|axis| hidden(axis) * self.core_share(axis));
        waiting.contention = costs.sum::<f64>().max(0.0);
        let launches = ahead.launches() + back.launches();
        let device = ahead.kernels() + back.kernels() + waiting.seconds();
        // One thread launches both, so that both wait where it reads back for one of them.
        let stalls = ahead.stalls + back.stalls;
        waiting.host = (launches * self.dispatch_micros() * 1e-6 - device).max(0.0) + stalls;
        if !self.blocks_launches() && waiting.seconds() < alone[0].seconds() + alone[1].seconds() {
            return waiting;
        }
        let mut apart = *alone[0];
        apart.add(alone[1], 1.0);
        apart
    }
}

/// Exposed seconds per axis of a pass that runs without a partner.
fn exposed_alone(plan: &Plan, pass: &Pass, is_backward: bool) -> PerAxis {
    let schedule = &plan.design().schedule;
    if plan.blocks_launches() {
        return exposed_whole(plan, pass);
    }
    let compute = pass.compute();
    let mut tp = pass.axis(TP);
    if is_backward && plan.deployment.ranks.sp > 1 {
        tp -= (tp * HIDDEN_TP_BACKWARD).min(compute);
    }
    if schedule.tp_comm_overlap {
        tp = piecewise(tp, pass.cost.tensor, TP_PIECES);
    }
    // A ring runs under core attention; an exchange of heads and a gather are waited for.
    let cp = pass.axis(CP) - pass.ring + (pass.ring - pass.core).max(0.0);
    let pp = if plan.overlaps_sends() { 0.0 } else { pass.axis(PP) };
    let swap = exposed_copy(plan, pass, pass.axis(HOST));
    let sharding = if plan.overlaps_reductions()
        && (plan.overlaps_gathers() || !plan.shards(ShardingStrategy::OptimGradsParams))
    {
        // Nothing runs yet beside the first part that is gathered, nor any more beside the last
        // one that is scattered.
        (pass.axis(DP) - compute).max(pass.sharded_part)
    } else {
        pass.axis(DP)
    };
    [tp, cp, exposed_experts(plan, pass), pp, swap, sharding]
}

/// Exposed seconds per axis where nothing runs beside anything else.
fn exposed_whole(plan: &Plan, pass: &Pass) -> PerAxis {
    [TP, CP, EP, PP, HOST, DP].map(|axis| pass.busy(plan, axis))
}

/// Exposed seconds of copies to the host, or back, beside a pass without a partner.
pub(super) fn exposed_copy(plan: &Plan, pass: &Pass, copy: f64) -> f64 {
    if plan.prefetches() { (copy - pass.compute()).max(0.0) } else { copy }
}

/// Time of communication that runs in pieces beside `compute`: the longer one and a last piece.
fn piecewise(communication: f64, compute: f64, pieces: f64) -> f64 {
    (communication - compute).max(0.0) + communication.min(compute) / pieces
}

/// Time of dispatch and combine: the copies of a flat exchange take both links at once, two
/// levels follow each other.
fn expert_seconds(plan: &Plan, pass: &Pass) -> f64 {
    let [intra, inter] = pass.links[EP];
    if plan.takes_two_levels() { intra + inter } else { intra.max(inter) }
}

impl Pass {
    /// Time in which an axis's exchanges run, on one link or on both at once.
    fn busy(&self, plan: &Plan, axis: usize) -> f64 {
        if axis == EP { expert_seconds(plan, self) } else { self.axis(axis) }
    }
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
    if plan.form().runs_pairs {
        seconds *= 1.0 - HIDDEN_IN_WARM_UP;
    }
    seconds
}
