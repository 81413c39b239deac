//! A chunk's operators in the order in which a pass runs them.

use crate::device::exchange::{Hop, HopSeconds};
use crate::device::kernel::{Block, Cost};
use crate::device::operator::Place;
use crate::ground::axis::{Collective, LinkLevel};
use crate::ground::choice::ContextParallelAlgo;
use crate::layer::transformer_layer::RESIDUALS;
use crate::training::stage::{CP, EP, HOST, LayerPart, PP, Parts, TP};

use super::graph::{Graph, Lane, Tail};
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
    parts: &'a Parts,
    hiding: &'a Hiding,
    graph: &'a mut Graph,
}

impl<'a> Builder<'a> {
    pub(super) fn new(parts: &'a Parts, hiding: &'a Hiding, graph: &'a mut Graph) -> Self {
        Self { parts, hiding, graph }
    }

    /// The layers of a chunk in the order of a forward, and whether each is one of MTP.
    fn layers<'s>(
        &self,
        side: &Side<'s>,
    ) -> impl DoubleEndedIterator<Item = (&'a LayerPart, bool)> + use<'a, 's> {
        let parts = self.parts;
        let mtp = parts.mtp;
        let of_mtp = 0..libm::round(side.content.mtp) as u32;
        let own = side.layers.iter().map(move |kind| (parts.layer(*kind), false));
        own.chain(of_mtp.map(move |_| (parts.layer(mtp), true)))
    }

    #[inline(never)]
    pub(super) fn forward_chunk(&mut self, side: &Side<'_>) {
        let (work, ends) = (&self.parts.work, &self.parts.ends);
        let (embeddings, heads) = (side.content.embedding, side.content.heads());
        let embedding = work.embedding.forward * embeddings;
        let mut at = self.compute("embedding", Pass::Forward, embedding, Tail::default());
        let scattered = times(ends.embedding.hops[0], embeddings);
        at = self.hop(("TP", TP), Pass::Forward, scattered, at);
        let mixed = work.source.forward * side.content.sources;
        at = self.compute(RESIDUALS, Pass::Forward, mixed, at);
        for (layer, is_mtp) in self.layers(side) {
            if is_mtp {
                at = self.hop(("TP", TP), Pass::Forward, ends.mtp_extra.hops[0], at);
                at = self.compute("MTP projection", Pass::Forward, work.mtp_extra.forward, at);
            }
            at = self.forward(layer, Pass::Forward, 1.0, at);
            self.graph.add(Lane::ToHost, swap("swap out", side), at);
        }
        at = self.hop(("TP", TP), Pass::Forward, times(ends.head.hops[0], heads), at);
        self.compute("head and loss", Pass::Forward, work.head.forward * heads, at);
    }

    #[inline(never)]
    pub(super) fn backward_chunk(&mut self, side: &Side<'_>) {
        let (work, ends) = (&self.parts.work, &self.parts.ends);
        let (embeddings, heads) = (side.content.embedding, side.content.heads());
        let mut at = self.gradients("head and loss", work.head * heads, Tail::default());
        at = self.hop(("TP", TP), Pass::InputGrad, times(ends.head.hops[1], heads), at);
        // Swapped tensors are on their way while the layer before runs, if they are fetched ahead.
        let mut ahead = Tail::default();
        let prefetch = self.parts.overlap.prefetches;
        for (layer, is_mtp) in self.layers(side).rev() {
            let after = if prefetch { ahead } else { at };
            let fetched = self.graph.add(Lane::FromHost, swap("swap in", side), after);
            ahead = at;
            at = self.backward(layer, side.repeated_share, at, fetched);
            if is_mtp {
                at = self.gradients("MTP projection", work.mtp_extra, at);
                at = self.hop(("TP", TP), Pass::InputGrad, ends.mtp_extra.hops[1], at);
            }
        }
        let mixed = side.content.sources;
        let again = work.source.forward * (mixed * side.repeated_share);
        at = self.compute(RESIDUALS, Pass::Recompute, again, at);
        at = self.gradients(RESIDUALS, work.source * mixed, at);
        let gathered = times(ends.embedding.hops[1], embeddings);
        at = self.hop(("TP", TP), Pass::InputGrad, gathered, at);
        self.gradients("embedding", work.embedding * embeddings, at);
    }

    /// Adds the sends to the next stage and to the previous one, which run beside the pair.
    pub(super) fn sends(&mut self) {
        let schedule = &self.parts.schedule;
        if schedule.stages == 1 || *self.hiding != Hiding::Everything {
            return;
        }
        let share = schedule.sends_of_pair();
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
        self.run(name, pass, cost.seconds(), after)
    }

    /// Kernels of this many seconds.
    #[inline(never)]
    fn run(&mut self, name: &'static str, pass: Pass, seconds: f64, after: Tail) -> Tail {
        self.graph.add(Lane::Compute, Operator { name, pass, axis: None, seconds }, after)
    }

    /// Gradients of an end's input and weights.
    fn gradients(&mut self, name: &'static str, block: Block, after: Tail) -> Tail {
        let seconds = [block.input_grad.seconds(), block.weight_grad.seconds()];
        self.run_gradients(name, seconds, after)
    }

    /// The gradients of a layer's operators at a place.
    fn gradients_at(
        &mut self,
        name: &'static str,
        layer: &LayerPart,
        place: Place,
        after: Tail,
    ) -> Tail {
        let places = &layer.cost.places;
        let seconds = [places.input_grad[place as usize], places.weight_grad[place as usize]];
        self.run_gradients(name, seconds, after)
    }

    /// Gradient of an input, then the weights' one: in its place, or whenever compute is free.
    #[inline(never)]
    fn run_gradients(
        &mut self,
        name: &'static str,
        [input, weights]: [f64; 2],
        after: Tail,
    ) -> Tail {
        let at = self.run(name, Pass::InputGrad, input, after);
        let weights = self.run(name, Pass::WeightGrad, weights, at);
        if self.parts.schedule.splits_weight_grads { at } else { weights }
    }

    /// An exchange over its two levels: on the links, or in the way of compute.
    #[inline(never)]
    fn hop(
        &mut self,
        (name, axis): (&'static str, usize),
        pass: Pass,
        hop: HopSeconds,
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
        if axis != EP || !self.parts.overlap.is_hierarchical {
            return Levels::Together;
        }
        let outward = (name == DISPATCH) == (pass != Pass::InputGrad);
        if outward { Levels::InterFirst } else { Levels::IntraFirst }
    }

    /// One layer's forward, or its share when it is done again.
    #[inline(never)]
    fn forward(&mut self, layer: &LayerPart, pass: Pass, share: f64, after: Tail) -> Tail {
        let hop = |hop: Hop| times(layer.hops.passes[0][hop as usize], share);
        let is_again = pass == Pass::Recompute;
        let places = if is_again { &layer.cost.places.again } else { &layer.cost.places.forward };
        let of = |place: Place| places[place as usize] * share;
        let at = self.run("norm, latents", pass, of(Place::MixerInput), after);
        let at = self.hop(("TP", TP), pass, hop(Hop::MixerIn), at);
        let mixer = [of(Place::Projection), of(Place::Core), of(Place::Output)];
        let at = self.mixer(mixer, pass, hop(Hop::Context), at);
        let at = self.hop(("TP", TP), pass, hop(Hop::MixerOut), at);
        let at = self.run(names(layer).input, pass, of(Place::MlpInput), at);
        let mlp = self.hop(("TP", TP), pass, hop(Hop::MlpIn), at);
        let mlp = self.run(names(layer).mlp, pass, of(Place::Mlp), mlp);
        let mut joined = self.hop(("TP", TP), pass, hop(Hop::MlpOut), mlp);
        if layer.cost.has_experts {
            let sent = self.hop((DISPATCH, EP), pass, hop(Hop::Dispatch), at);
            let done = self.run("experts", pass, of(Place::Experts), sent);
            joined = joined.and(&self.hop((COMBINE, EP), pass, hop(Hop::Combine), done));
        }
        self.run("unpermute, residual", pass, of(Place::MlpOutput), joined)
    }

    /// Projections, core and output of a mixer: a ring runs beside the core, other exchanges in
    /// front of it.
    #[inline(never)]
    fn mixer(
        &mut self,
        [first, core, last]: [f64; 3],
        pass: Pass,
        context: HopSeconds,
        after: Tail,
    ) -> Tail {
        let Some(algo) = self.parts.context else {
            return self.run("attention", pass, first + core + last, after);
        };
        let at = self.run("projections", pass, first, after);
        let ring = algo == ContextParallelAlgo::P2p;
        let exchanged = self.hop(("CP", CP), pass, context, at);
        let start = if ring { at } else { exchanged };
        let at = self.run("core attention", pass, core, start).and(&exchanged);
        self.run("projections", pass, last, at)
    }

    /// One layer's backward; `fetched` is what comes back from the host for it.
    #[inline(never)]
    fn backward(&mut self, layer: &LayerPart, share: f64, after: Tail, fetched: Tail) -> Tail {
        let after = after.and(&fetched);
        let full = self.parts.repeats_layers;
        let ahead = if full { self.forward(layer, Pass::Recompute, share, after) } else { after };
        let hop = |hop: Hop| layer.hops.passes[1][hop as usize];
        let recomputed = self.recompute_mlp(layer, ahead);
        let pass = Pass::InputGrad;
        let output = layer.cost.places.input_grad[Place::MlpOutput as usize];
        let at = self.run("unpermute, residual", pass, output, ahead);
        let mlp = self.hop(("TP", TP), pass, hop(Hop::MlpOut), at).and(&recomputed);
        let mlp = self.gradients_at(names(layer).mlp, layer, Place::Mlp, mlp);
        let mut joined = self.hop(("TP", TP), pass, hop(Hop::MlpIn), mlp);
        if layer.cost.has_experts {
            let sent = self.hop((COMBINE, EP), pass, hop(Hop::Combine), at).and(&recomputed);
            let done = self.gradients_at("experts", layer, Place::Experts, sent);
            joined = joined.and(&self.hop((DISPATCH, EP), pass, hop(Hop::Dispatch), done));
        }
        self.backward_mixer(layer, joined)
    }

    #[inline(never)]
    fn backward_mixer(&mut self, layer: &LayerPart, after: Tail) -> Tail {
        let hop = |hop: Hop| layer.hops.passes[1][hop as usize];
        let pass = Pass::InputGrad;
        let recomputed = self.recompute_mixer(layer, after);
        let at = self.gradients_at(names(layer).input, layer, Place::MlpInput, after);
        let at = self.hop(("TP", TP), pass, hop(Hop::MixerOut), at).and(&recomputed);
        let places = [Place::Output, Place::Core, Place::Projection];
        let inputs = places.map(|place| layer.cost.places.input_grad[place as usize]);
        let at = self.mixer(inputs, pass, hop(Hop::Context), at);
        let weights = places.map(|place| layer.cost.places.weight_grad[place as usize]);
        let weights = self.run("attention", Pass::WeightGrad, weights.iter().sum(), at);
        let at = if self.parts.schedule.splits_weight_grads { at } else { weights };
        let at = self.hop(("TP", TP), pass, hop(Hop::MixerIn), at);
        self.gradients_at("norm, latents", layer, Place::MixerInput, at)
    }

    /// Adds the selective recomputation before the MLP's or the experts' backward, with its
    /// exchanges; it needs nothing from the backward, so exchanges can hide it.
    #[inline(never)]
    fn recompute_mlp(&mut self, layer: &LayerPart, after: Tail) -> Tail {
        let [tensor, expert] = layer.hops.again_mlp;
        let sent = self.hop((DISPATCH, EP), Pass::Recompute, expert, after);
        let sent = self.hop(("TP", TP), Pass::Recompute, tensor, sent);
        self.run("recompute", Pass::Recompute, layer.recomputed_places[1], sent)
    }

    #[inline(never)]
    fn recompute_mixer(&mut self, layer: &LayerPart, after: Tail) -> Tail {
        let is_split = self.parts.context.is_some();
        let axis = if is_split { ("CP", CP) } else { ("TP", TP) };
        let sent = self.hop(axis, Pass::Recompute, layer.hops.again_mixer, after);
        self.run("recompute", Pass::Recompute, layer.recomputed_places[0], sent)
    }
}

/// The names of a layer's operators that its kind of MLP decides.
struct Names {
    input: &'static str,
    mlp: &'static str,
}

fn names(layer: &LayerPart) -> Names {
    if layer.cost.has_experts {
        Names { input: "norm, router, permute", mlp: "shared experts" }
    } else {
        Names { input: "norm", mlp: "MLP" }
    }
}

/// An exchange so many times.
fn times(hop: HopSeconds, count: f64) -> HopSeconds {
    hop.map(|seconds| seconds * count)
}

/// One layer's tensors on their way to the host, or back.
const fn swap(name: &'static str, side: &Side<'_>) -> Operator {
    Operator { name, pass: Pass::Swap, axis: Some(HOST), seconds: side.copy }
}

const DISPATCH: &str = "dispatch";
const COMBINE: &str = "combine";
