//! What a pass or a pair spends beside its kernels: exchanges, contention, the host.

use crate::training::overlap::Overlap;

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
pub(super) fn alone(overlap: &Overlap, pass: &Pass, is_backward: bool) -> Waiting {
    let exposed = exposed_alone(overlap, pass, is_backward);
    let cost = |axis: usize| {
        overlap.core_share_of(axis) * (pass.busy(overlap, axis) - exposed[axis]).max(0.0)
    };
    let contention = [TP, CP, EP, DP].into_iter().map(cost).sum();
    Waiting { exposed, contention, host: pass.host_wait }
}

impl Overlap {
    /// Share of the cores that an axis's exchanges occupy: what a second of them costs compute.
    pub(crate) fn core_share_of(&self, axis: usize) -> f64 {
        if axis == EP { self.expert_core_share } else { self.core_share }
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
            .map(|axis| hidden(axis) * self.core_share_of(axis));
        waiting.contention = costs.sum::<f64>().max(0.0);
        let launches = ahead.launches() + back.launches();
        let device = ahead.kernels() + back.kernels() + waiting.seconds();
        // One thread launches both, so that both wait where it reads back for one of them.
        let stalls = ahead.stalls + back.stalls;
        waiting.host = (launches * self.dispatch_micros * 1e-6 - device).max(0.0) + stalls;
        if !self.blocks_launches && waiting.seconds() < alone[0].seconds() + alone[1].seconds() {
            return waiting;
        }
        let mut apart = *alone[0];
        apart.add(alone[1], 1.0);
        apart
    }
}

/// Exposed seconds per axis of a pass that runs without a partner.
fn exposed_alone(overlap: &Overlap, pass: &Pass, is_backward: bool) -> PerAxis {
    if overlap.blocks_launches {
        return exposed_whole(overlap, pass);
    }
    let compute = pass.compute();
    let mut tp = pass.axis(TP);
    if is_backward && overlap.tensor_backward {
        tp -= (tp * HIDDEN_TP_BACKWARD).min(compute);
    }
    if overlap.tensor {
        tp = piecewise(tp, pass.cost.tensor, TP_PIECES);
    }
    // A ring runs under core attention; an exchange of heads and a gather are waited for.
    let cp = pass.axis(CP) - pass.ring + (pass.ring - pass.core).max(0.0);
    let pp = if overlap.sends { 0.0 } else { pass.axis(PP) };
    let swap = exposed_copy(overlap, pass, pass.axis(HOST));
    let sharding = if overlap.sharding {
        // Nothing runs yet beside the first part that is gathered, nor any more beside the last
        // one that is scattered.
        (pass.axis(DP) - compute).max(pass.sharded_part)
    } else {
        pass.axis(DP)
    };
    [tp, cp, exposed_experts(overlap, pass), pp, swap, sharding]
}

/// Exposed seconds per axis where nothing runs beside anything else.
fn exposed_whole(overlap: &Overlap, pass: &Pass) -> PerAxis {
    [TP, CP, EP, PP, HOST, DP].map(|axis| pass.busy(overlap, axis))
}

/// Exposed seconds of copies to the host, or back, beside a pass without a partner.
pub(super) fn exposed_copy(overlap: &Overlap, pass: &Pass, copy: f64) -> f64 {
    if overlap.prefetches { (copy - pass.compute()).max(0.0) } else { copy }
}

/// Time of communication that runs in pieces beside `compute`: the longer one and a last piece.
fn piecewise(communication: f64, compute: f64, pieces: f64) -> f64 {
    (communication - compute).max(0.0) + communication.min(compute) / pieces
}

/// Time of dispatch and combine: the copies of a flat exchange take both links at once, two
/// levels follow each other.
fn expert_seconds(overlap: &Overlap, pass: &Pass) -> f64 {
    let [intra, inter] = pass.links[EP];
    if overlap.is_hierarchical { intra + inter } else { intra.max(inter) }
}

impl Pass {
    /// Time in which an axis's exchanges run, on one link or on both at once.
    fn busy(&self, overlap: &Overlap, axis: usize) -> f64 {
        if axis == EP { expert_seconds(overlap, self) } else { self.axis(axis) }
    }
}

fn exposed_experts(overlap: &Overlap, pass: &Pass) -> f64 {
    let mut seconds = expert_seconds(overlap, pass);
    if overlap.shared_experts {
        seconds = (seconds - pass.shared).max(0.0);
    }
    if overlap.experts {
        seconds = piecewise(seconds, pass.experts, EP_PIECES);
    }
    if overlap.in_pairs {
        seconds *= 1.0 - HIDDEN_IN_WARM_UP;
    }
    seconds
}
