//! A chunk's operators in the order in which a pass runs them.

use crate::axis::{Collective, LinkLevel};
use crate::choice::{ContextParallelAlgo, RecomputeGranularity};
use crate::layer::Layer;
use crate::operator::{Block, Cost};
use crate::plan::Plan;
use crate::stage::{CP, EP, HOST, PP, Parts, TP};

use super::graph::{Graph, Lane, Tail};
use super::hops::{Hop, LayerHops};
use super::{Hiding, Operator, Pass, Side};

/// In which order an exchange takes its two levels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Levels {
    /// Between domains first.
    InterFirst,
    /// Inside the domain first.
    IntraFirst,
    /// Both at once.
    Together,
}

pub(super) struct Builder<'a> {
    plan: &'a Plan,
    parts: &'a Parts,
    hiding: &'a Hiding,
    split_weight_grad: bool,
    pub(super) graph: Graph,
}

/// A layer with its kind.
#[derive(Clone, Copy)]
struct Kind<'a> {
    layer: &'a Layer,
    hops: &'a LayerHops,
    is_moe: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(plan: &'a Plan, parts: &'a Parts, hiding: &'a Hiding, graph: Graph) -> Self {
        let split_weight_grad = plan.design().schedule.delay_wgrad_compute;
        Self { plan, parts, hiding, split_weight_grad, graph }
    }

    fn kind(&self, is_moe: bool) -> Kind<'a> {
        let layer = if is_moe { &self.parts.work.moe } else { &self.parts.work.dense };
        Kind { layer, hops: &self.parts.hops[usize::from(is_moe)], is_moe }
    }

    /// How many layers of each kind a chunk has, in the order of a forward; MTP layers are last.
    fn kinds(&self, side: &Side) -> [(Kind<'a>, u32, bool); 3] {
        let mtp_moe = self.plan.shape.moe_layers > 0;
        let count = |layers: f64| libm::round(layers) as u32;
        [
            (self.kind(false), count(side.content.dense), false),
            (self.kind(true), count(side.content.moe), false),
            (self.kind(mtp_moe), count(side.content.mtp), true),
        ]
    }

    #[inline(never)]
    pub(super) fn forward_chunk(&mut self, side: &Side) {
        let work = &self.parts.work;
        let heads = side.content.head + side.content.mtp_head;
        let embedding = work.embedding.forward * side.content.embedding;
        let mut at = self.compute("embedding", Pass::Forward, embedding, Tail::default());
        let ends = self.parts.ends;
        let times = |hop: Hop, count: f64| hop.map(|seconds| seconds * count);
        let scattered = times(ends.embedding[0], side.content.embedding);
        at = self.hop(("TP", TP), Pass::Forward, scattered, at);
        for (kind, count, is_mtp) in self.kinds(side) {
            for _ in 0..count {
                if is_mtp {
                    at = self.hop(("TP", TP), Pass::Forward, ends.mtp_extra[0], at);
                    at = self.compute("MTP projection", Pass::Forward, work.mtp_extra.forward, at);
                }
                at = self.forward(kind, Pass::Forward, 1.0, at);
                let out = Operator {
                    name: "swap out",
                    pass: Pass::Swap,
                    axis: Some(HOST),
                    seconds: side.copy,
                };
                self.graph.add(Lane::ToHost, out, at);
            }
        }
        at = self.hop(("TP", TP), Pass::Forward, times(ends.head[0], heads), at);
        self.compute("head and loss", Pass::Forward, work.head.forward * heads, at);
    }

    #[inline(never)]
    pub(super) fn backward_chunk(&mut self, side: &Side) {
        let work = &self.parts.work;
        let heads = side.content.head + side.content.mtp_head;
        let ends = self.parts.ends;
        let times = |hop: Hop, count: f64| hop.map(|seconds| seconds * count);
        let mut at = self.gradients("head and loss", work.head * heads, Tail::default());
        at = self.hop(("TP", TP), Pass::InputGrad, times(ends.head[1], heads), at);
        // Swapped tensors are on their way while the layer before runs, if they are fetched ahead.
        let mut ahead = Tail::default();
        for (kind, count, is_mtp) in self.kinds(side).into_iter().rev() {
            for _ in 0..count {
                let prefetch = self.plan.prefetches();
                let fetch = Operator {
                    name: "swap in",
                    pass: Pass::Swap,
                    axis: Some(HOST),
                    seconds: side.copy,
                };
                let fetched =
                    self.graph.add(Lane::FromHost, fetch, if prefetch { ahead } else { at });
                ahead = at;
                at = self.backward(kind, side.repeated_share, at, fetched);
                if is_mtp {
                    at = self.gradients("MTP projection", work.mtp_extra, at);
                    at = self.hop(("TP", TP), Pass::InputGrad, ends.mtp_extra[1], at);
                }
            }
        }
        let gathered = times(ends.embedding[1], side.content.embedding);
        at = self.hop(("TP", TP), Pass::InputGrad, gathered, at);
        self.gradients("embedding", work.embedding * side.content.embedding, at);
    }

    /// What the stage before and the stage behind wait for, or waited for, meanwhile.
    pub(super) fn sends(&mut self) {
        if self.plan.sizes.pp == 1 || *self.hiding != Hiding::Everything {
            return;
        }
        let share = self.plan.sends_of_pair();
        for pass in [Pass::Forward, Pass::InputGrad] {
            let mut after = Tail::default();
            for leg in self.parts.boundary.legs() {
                let is_far = leg.link == LinkLevel::InterNode;
                let lane = if is_far { Lane::InterNode } else { Lane::IntraNode };
                let is_send = leg.collective == Collective::P2p;
                let name = if is_send { "send" } else { "gather what arrived" };
                let seconds = share * leg.seconds;
                let operator = Operator { name, pass, axis: Some(PP), seconds };
                after = self.graph.add(lane, operator, after);
            }
        }
    }

    #[inline(never)]
    fn compute(&mut self, name: &'static str, pass: Pass, cost: Cost, after: Tail) -> Tail {
        let operator = Operator { name, pass, axis: None, seconds: cost.seconds() };
        self.graph.add(Lane::Compute, operator, after)
    }

    /// Gradient of an input, then the weights' one: in its place, or whenever compute is free.
    #[inline(never)]
    fn gradients(&mut self, name: &'static str, block: Block, after: Tail) -> Tail {
        let at = self.compute(name, Pass::InputGrad, block.input_grad, after);
        let weights = self.compute(name, Pass::WeightGrad, block.weight_grad, at);
        if self.split_weight_grad { at } else { weights }
    }

    /// An exchange over its two levels: on the links, or in the way of compute.
    #[inline(never)]
    fn hop(
        &mut self,
        (name, axis): (&'static str, usize),
        pass: Pass,
        hop: Hop,
        after: Tail,
    ) -> Tail {
        if hop[0] <= 0.0 && hop[1] <= 0.0 {
            return after;
        }
        let operator = |seconds| Operator { name, pass, axis: Some(axis), seconds };
        if let Hiding::Experts(waits) = self.hiding
            && axis != EP
        {
            let share = waits[usize::from(pass != Pass::Forward)][axis];
            return self.graph.add(Lane::Compute, operator((hop[0] + hop[1]) * share), after);
        }
        let levels = self.levels(axis, pass, name);
        let lanes = [Lane::IntraNode, Lane::InterNode];
        let order = if levels == Levels::InterFirst { [1, 0] } else { [0, 1] };
        let first = self.graph.add(lanes[order[0]], operator(hop[order[0]]), after);
        let second_after = if levels == Levels::Together { after } else { first };
        let second = self.graph.add(lanes[order[1]], operator(hop[order[1]]), second_after);
        if levels == Levels::Together { first.and(&second) } else { second }
    }

    /// A flat all-to-all takes both levels at once. In two levels tokens first reach their domain
    /// and then their rank; sums go the other way. Rings work on both levels piece by piece.
    fn levels(&self, axis: usize, pass: Pass, name: &str) -> Levels {
        if axis != EP || !self.plan.takes_two_levels() {
            return Levels::Together;
        }
        let outward = (name == DISPATCH) == (pass != Pass::InputGrad);
        if outward { Levels::InterFirst } else { Levels::IntraFirst }
    }

    /// One layer's forward, or its share `times` when it is done again.
    #[inline(never)]
    fn forward(&mut self, kind: Kind<'_>, pass: Pass, times: f64, after: Tail) -> Tail {
        let Kind { layer, hops, is_moe } = kind;
        let hops = &hops.passes[0];
        let scaled = |hop: Hop| hop.map(|seconds| seconds * times);
        let norms = layer.norms.forward * (0.5 * times);
        let residuals = layer.residuals.forward * (0.5 * times);
        let at = self.compute("norm, latents", pass, norms + layer.latents.forward * times, after);
        let at = self.hop(("TP", TP), pass, scaled(hops.attention_in), at);
        let projections = (layer.query.forward + layer.key_value.forward) * times;
        let at = self.attention(
            [projections, layer.core.forward * times, layer.output.forward * times],
            pass,
            scaled(hops.context),
            at,
        );
        let at = self.hop(("TP", TP), pass, scaled(hops.attention_out), at);
        let router = (layer.router.forward + layer.permute.forward * 0.5) * times;
        let name = if is_moe { "norm, router, permute" } else { "norm" };
        let at = self.compute(name, pass, norms + residuals + router, at);
        let mlp = self.hop(("TP", TP), pass, scaled(hops.mlp_in), at);
        let name = if is_moe { "shared experts" } else { "MLP" };
        let again = pass == Pass::Recompute;
        let done = if again { layer.mlp_again } else { layer.mlp.forward };
        let mlp = self.compute(name, pass, done * times, mlp);
        let mut joined = self.hop(("TP", TP), pass, scaled(hops.mlp_out), mlp);
        if is_moe {
            let sent = self.hop((DISPATCH, EP), pass, scaled(hops.dispatch), at);
            let experts =
                layer.permute.forward * 0.5 + layer.experts.forward + layer.activation.forward;
            let done = self.compute("experts", pass, experts * times, sent);
            joined = joined.and(&self.hop((COMBINE, EP), pass, scaled(hops.combine), done));
        }
        self.compute(
            "unpermute, residual",
            pass,
            layer.unpermute.forward * times + residuals,
            joined,
        )
    }

    /// Projections, core attention and the output: a ring runs beside the core, other exchanges in
    /// front of it.
    #[inline(never)]
    fn attention(
        &mut self,
        [first, core, last]: [Cost; 3],
        pass: Pass,
        context: Hop,
        after: Tail,
    ) -> Tail {
        if self.plan.sizes.cp == 1 {
            return self.compute("attention", pass, first + core + last, after);
        }
        let at = self.compute("projections", pass, first, after);
        let parallel = &self.plan.design().parallel;
        let ring = parallel.context_parallel_algo == ContextParallelAlgo::P2p;
        let exchanged = self.hop(("CP", CP), pass, context, at);
        let start = if ring { at } else { exchanged };
        let at = self.compute("core attention", pass, core, start).and(&exchanged);
        self.compute("projections", pass, last, at)
    }

    /// One layer's backward; `fetched` is what comes back from the host for it.
    #[inline(never)]
    fn backward(&mut self, kind: Kind<'_>, share: f64, after: Tail, fetched: Tail) -> Tail {
        let Kind { layer, hops, is_moe } = kind;
        let full = self.plan.design().memory.recompute_granularity == RecomputeGranularity::Full;
        let after = after.and(&fetched);
        let after = if full { self.forward(kind, Pass::Recompute, share, after) } else { after };
        let back = &hops.passes[1];
        let [ahead, recomputed] = [after, self.again_mlp(kind, after)];
        let pass = Pass::InputGrad;
        let residuals = layer.residuals.input_grad * 0.5;
        let at = self.compute(
            "unpermute, residual",
            pass,
            layer.unpermute.input_grad + residuals,
            ahead,
        );
        let mlp = self.hop(("TP", TP), pass, back.mlp_out, at).and(&recomputed);
        let name = if is_moe { "shared experts" } else { "MLP" };
        let mlp = self.gradients(name, layer.mlp, mlp);
        let mut joined = self.hop(("TP", TP), pass, back.mlp_in, mlp);
        if is_moe {
            let sent = self.hop((COMBINE, EP), pass, back.combine, at).and(&recomputed);
            let experts = layer.permute * 0.5 + layer.experts + layer.activation;
            let done = self.gradients("experts", experts, sent);
            joined = joined.and(&self.hop((DISPATCH, EP), pass, back.dispatch, done));
        }
        self.backward_attention(kind, joined)
    }

    #[inline(never)]
    fn backward_attention(&mut self, kind: Kind<'_>, after: Tail) -> Tail {
        let Kind { layer, hops, is_moe } = kind;
        let (back, pass) = (&hops.passes[1], Pass::InputGrad);
        let recomputed = self.again_attention(kind, after);
        let norms = layer.norms * 0.5;
        let name = if is_moe { "norm, router, permute" } else { "norm" };
        let router = layer.router + layer.permute * 0.5 + norms + layer.residuals * 0.5;
        let at = self.gradients(name, router, after);
        let at = self.hop(("TP", TP), pass, back.attention_out, at).and(&recomputed);
        let [output, core, query] =
            [layer.output, layer.core, layer.query + layer.key_value].map(|block| block.input_grad);
        let at = self.attention([output, core, query], pass, back.context, at);
        let weights = (layer.output + layer.core + layer.query + layer.key_value).weight_grad;
        let weights = self.compute("attention", Pass::WeightGrad, weights, at);
        let at = if self.split_weight_grad { at } else { weights };
        let at = self.hop(("TP", TP), pass, back.attention_in, at);
        self.gradients("norm, latents", norms + layer.latents, at)
    }

    /// What selective recomputation does again before the MLP's or the experts' backward, with
    /// its exchanges; it needs nothing from the backward, so exchanges can hide it.
    #[inline(never)]
    fn again_mlp(&mut self, kind: Kind<'_>, after: Tail) -> Tail {
        let [tensor, expert] = kind.hops.again_mlp;
        let sent = self.hop((DISPATCH, EP), Pass::Recompute, expert, after);
        let sent = self.hop(("TP", TP), Pass::Recompute, tensor, sent);
        let cost = kind.layer.recomputed_mlp(self.plan, kind.is_moe);
        self.compute("recompute", Pass::Recompute, cost, sent)
    }

    #[inline(never)]
    fn again_attention(&mut self, kind: Kind<'_>, after: Tail) -> Tail {
        let axis = if self.plan.sizes.cp > 1 { ("CP", CP) } else { ("TP", TP) };
        let sent = self.hop(axis, Pass::Recompute, kind.hops.again_attention, after);
        let cost = kind.layer.recomputed_attention(self.plan);
        self.compute("recompute", Pass::Recompute, cost, sent)
    }
}

const DISPATCH: &str = "dispatch";
const COMBINE: &str = "combine";
